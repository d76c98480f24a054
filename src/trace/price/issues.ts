import type { Issue } from '../../schema/issue.ts'
import type { Usage } from '../tokens/usage/record.ts'
import { contextOf, tierInConditions } from './conditions.ts'

/** The facts of a TraceRun that issues about prices depend on. */
export interface UnpricedCall {
  provider: string | undefined
  model: string | undefined
  /** Conditions, units and details that the counts have. */
  conditions: readonly string[]
  units: readonly string[]
  details: readonly string[]
}

/** Issues that depend on prices. They are found when costs are computed; the lean row stores their codes. */
export const PRICE_ISSUES = [
  'no_price',
  'condition_not_priced',
  'unit_not_priced',
  'detail_not_priced',
] as const
export type PriceIssue = (typeof PRICE_ISSUES)[number]

/** What the issues of a stored row are about, as far as its usage tells. */
export function unpricedFacts(usage: Usage): Pick<UnpricedCall, 'conditions' | 'units' | 'details'> {
  const tier = tierInConditions(usage.conditions)
  const context = Object.entries(contextOf(usage.conditions)).map(([name, value]) => `${name} ${value}`)
  return {
    conditions: tier === undefined || tier === 'standard' ? context : [...context, `service_tier ${tier}`],
    units: Object.keys(usage.units).map((unit) => namedUnit(usage, unit)),
    details: Object.keys(usage.input_token_details).filter((key) => /^(?:cache_read_|ephemeral_1)/.test(key)),
  }
}

/** A unit with its number and place: `rerank_searches 3 (outputs.meta.billed_units.search_units)`. */
export function namedUnit({ units, unit_paths }: Usage, unit: string): string {
  const path = unit_paths?.[unit]
  return `${unit} ${units[unit] ?? ''}${path ? ` (${path})` : ''}`
}

/** The issue for a code, the same at ingest, at read and after repricing. */
export function priceIssue(code: PriceIssue, call: UnpricedCall): Issue {
  return code === 'no_price' ? noPrice(call) : notPriced(code, call)
}

function noPrice({ provider, model }: UnpricedCall): Issue {
  const named = model === undefined ? 'the model is missing' : `no price matches ${nameOf(provider, model)}`
  return {
    code: 'no_price',
    severity: 'info',
    path: 'total_cost',
    message: `The cost is unknown: ${named}.`,
    fix:
      model === undefined
        ? 'Put ls_provider and ls_model_name into extra.metadata.'
        : addPrice(provider, model),
  }
}

/** What the price of a call lacks, what was done instead, and what an own price must name. */
const LACKING = {
  condition_not_priced: {
    of: 'conditions',
    path: 'total_cost',
    instead: 'the standard price was used',
    own: 'Add a price for calls with this condition',
  },
  unit_not_priced: {
    of: 'units',
    path: 'usage_metadata.units',
    instead: 'they are not in the cost',
    own: 'Add a price whose prompt_cost_details name the unit',
  },
  detail_not_priced: {
    of: 'details',
    path: 'total_cost',
    instead: 'the next wider price was used',
    own: 'Add a price whose prompt_cost_details name the detail',
  },
} as const

function notPriced(code: keyof typeof LACKING, call: UnpricedCall): Issue {
  const { of, path, instead, own } = LACKING[code]
  const named = call[of].join(' and ') || `some ${of}`
  return {
    code,
    severity: 'warning',
    path,
    message: `The call has ${named}, which the price of ${nameOf(call.provider, call.model)} lacks: ${instead}.`,
    fix: `${own}, or send the cost (docs/using/prices.md).`,
  }
}

function nameOf(provider: string | undefined, model: string | undefined): string {
  return `model ${model ?? '?'} of ${provider === undefined ? 'an unknown provider' : `provider ${provider}`}`
}

/** A command for a shell with the variables of `weir env`, in which the user replaces the amounts. */
function addPrice(provider: string | undefined, model: string): string {
  const body = priceRequest(provider, model).replaceAll("'", String.raw`'\''`)
  const headers = '-H "x-api-key: $LANGSMITH_API_KEY" -H "content-type: application/json"'
  const request = `curl -s "$LANGSMITH_ENDPOINT/api/v1/model-price-map" ${headers} -d '${body}'`
  return `Add a price, in dollars per token (weir env sets both variables): ${request} Then POST /api/v1/runs/reprice with a start_time and an end_time gives the stored runs between them their costs (docs/using/prices.md).`
}

/** Body of the request that adds a price for the model, with placeholders as amounts. */
function priceRequest(provider: string | undefined, model: string): string {
  const match_pattern = `^${model.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`
  return JSON.stringify({
    name: model,
    match_pattern,
    ...(provider === undefined ? {} : { provider }),
    prompt_cost: '0.000001',
    completion_cost: '0.000002',
  })
}
