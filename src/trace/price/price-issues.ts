import type { Issue } from '../../schema/issue.ts'

/** What of a TraceRun its issues about prices follow from. */
export interface PricedCall {
  provider: string | undefined
  model: string | undefined
  /** Service tier that the counts name; undefined for the standard one. */
  tier: string | undefined
}

/** Issues that depend on prices: they are found where prices are at hand, and kept with the lean row by their codes. */
export const PRICE_ISSUES = ['no_price', 'tier_not_priced'] as const
export type PriceIssue = (typeof PRICE_ISSUES)[number]

/** The issue of that code. Pure: the same at ingest, at read and after repricing. */
export function priceIssue(code: PriceIssue, call: PricedCall): Issue {
  return code === 'no_price' ? noPrice(call) : tierNotPriced(call)
}

function noPrice({ provider, model }: PricedCall): Issue {
  const named = model === undefined ? 'no model is named' : `no price matches ${nameOf(provider, model)}`
  return {
    code: 'no_price',
    severity: 'info',
    path: 'total_cost',
    message: `The cost is unknown: ${named}.`,
    fix:
      model === undefined
        ? 'Put ls_provider and ls_model_name into extra.metadata.'
        : `Add a price (dollars per token; docs/prices.md): POST /api/v1/model-price-map ${priceRequest(provider, model)}`,
  }
}

function tierNotPriced({ provider, model, tier }: PricedCall): Issue {
  return {
    code: 'tier_not_priced',
    severity: 'warning',
    path: 'total_cost',
    message: `The call had the service tier ${tier ?? '?'}, for which the price of ${nameOf(provider, model)} says nothing: it is costed as a standard one.`,
    fix: `Add a price whose prompt_cost_details and completion_cost_details name ${tier ?? 'the tier'} (docs/prices.md).`,
  }
}

function nameOf(provider: string | undefined, model: string | undefined): string {
  return `model ${model ?? '?'} of ${provider === undefined ? 'an unknown provider' : `provider ${provider}`}`
}

/** The body of the request that adds a price for the model; the amounts are to be replaced. */
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
