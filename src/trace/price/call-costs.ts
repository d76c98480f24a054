import type { ModelPart } from '../tokens/usage/record.ts'
import { contextOf, unknownTier } from './conditions.ts'
import { BASE, type CostDetails } from './cost-details.ts'
import { modelStem } from './default/default-price-match.ts'
import { type Cost, type Counts, costOf } from './token-costs.ts'
import type { Price, PriceSource } from './price.ts'
import { tierOfCounts } from './service-tier.ts'

/** The facts of a call that select its price. */
export interface PricedCall {
  model: string | undefined
  /** The model that the answer names, if it is another name. */
  answered_model: string | undefined
  provider: string | undefined
  /** Start in epoch microseconds. */
  at: number
}

export interface CallCounts extends Counts {
  conditions: Readonly<Record<string, string>>
  /** The parts of the call by model; empty if one model served it all. */
  models: readonly ModelPart[]
}

/** The computed cost of a call, and what was not priced as it should be. */
export interface PricedCounts {
  /** Undefined if no price is known. */
  cost: Cost | undefined
  /** Conditions without a price, as `speed fast`. */
  conditions: string[]
  /** Details that were charged at the next wider price. */
  details: string[]
  /** Units without a price. */
  units: string[]
}

/**
 * Computes the cost of a call. The model that answered is priced if the requested one has no price, or the answer is by
 * another family of models (rule U16). Parts by other models are priced each by itself (rule U15).
 */
export function priceCounts(call: PricedCall, counts: CallCounts, prices: PriceSource): PricedCounts {
  const find = (model: string | undefined, input_tokens: number | undefined): Price | undefined =>
    prices.find({ ...call, model, input_tokens, conditions: counts.conditions })
  const price = callPrice(call, (model) => find(model, counts.input_tokens))
  const parts = partsOf(call, counts)
  const cost =
    parts === undefined
      ? price && costOf(counts, price)
      : sumOfParts(parts, counts, (model, tokens) =>
          callPrice({ model, answered_model: undefined }, (name) => find(name, tokens)),
        )
  return {
    cost,
    conditions: unpricedConditions(counts, price, cost),
    details: cost?.widened ?? [],
    units: cost?.unpriced_units ?? Object.keys(counts.units ?? {}),
  }
}

function callPrice(
  { model, answered_model: answered }: Pick<PricedCall, 'model' | 'answered_model'>,
  find: (model: string | undefined) => Price | undefined,
): Price | undefined {
  const isOther = answered !== undefined && model !== undefined && !isSameFamily(model, answered)
  return (
    (isOther ? find(answered) : undefined) ??
    find(model) ??
    (answered === undefined ? undefined : find(answered))
  )
}

/** Whether one name, without its version, begins with the other: `gpt-5.6` and `gpt-5.6-sol`. */
function isSameFamily(a: string, b: string): boolean {
  const [one, two] = [modelStem(a), modelStem(b)]
  return one.startsWith(two) || two.startsWith(one)
}

/** The parts of a call that another model than its own served; undefined if there are none. */
function partsOf({ model }: PricedCall, { models }: CallCounts): readonly ModelPart[] | undefined {
  const isOther = models.some(
    (part) => part.model !== undefined && model !== undefined && modelStem(part.model) !== modelStem(model),
  )
  return isOther ? models : undefined
}

function sumOfParts(
  parts: readonly ModelPart[],
  counts: CallCounts,
  find: (model: string | undefined, input_tokens: number) => Price | undefined,
): Cost | undefined {
  let sum: Cost | undefined
  for (const [i, part] of parts.entries()) {
    const price = find(part.model, part.input_tokens)
    if (price === undefined) return undefined
    // Units are told for the whole call.
    const cost = costOf(i === 0 ? { ...part, units: counts.units } : part, price)
    sum = sum === undefined ? cost : addCosts(sum, cost)
  }
  return sum
}

function addCosts(a: Cost, b: Cost): Cost {
  const add = (x: bigint | undefined, y: bigint | undefined): bigint | undefined =>
    x === undefined || y === undefined ? undefined : x + y
  return {
    ...a,
    input_cost: add(a.input_cost, b.input_cost),
    output_cost: add(a.output_cost, b.output_cost),
    total_cost: add(a.total_cost, b.total_cost),
    input_cost_details: addDetails(a.input_cost_details, b.input_cost_details),
    output_cost_details: addDetails(a.output_cost_details, b.output_cost_details),
    unit_costs: addByKey(a.unit_costs, b.unit_costs),
    tier_unknown: a.tier_unknown || b.tier_unknown,
    widened: [...new Set([...a.widened, ...b.widened])],
  }
}

function addByKey(a: CostDetails, b: CostDetails): CostDetails {
  const sum: CostDetails = { ...a }
  for (const [key, cost] of Object.entries(b)) sum[key] = (sum[key] ?? 0n) + cost
  return sum
}

function addDetails(a: CostDetails, b: CostDetails): CostDetails {
  const sum = addByKey(a, b)
  return Object.keys(sum).length === 0 ? { [BASE]: 0n } : sum
}

/** The conditions that change the price, but have no price of their own (rule U8). */
function unpricedConditions(counts: CallCounts, price: Price | undefined, cost: Cost | undefined): string[] {
  const { conditions } = counts
  const named = Object.entries(contextOf(conditions))
    .filter(([name]) => price?.conditions.includes(name) !== true)
    .map(([name, value]) => `${name} ${value}`)
  const tier = unknownTier(conditions)
  if (tier !== undefined) named.push(`service_tier ${tier}`)
  else if (cost?.tier_unknown === true) named.push(`service_tier ${tierOfCounts(counts) ?? '?'}`)
  return named
}
