import type { Decimal } from './decimal.ts'
import type { CostDetails } from './cost-details.ts'
import type { Cost, Counts } from './token-costs.ts'
import type { PricedCounts } from './call-costs.ts'
import type { PriceIssue } from './issues.ts'

/** Costs of one TraceRun in 10^-18 dollars; undefined where unknown. */
export interface Costs {
  input_cost?: Decimal | undefined
  output_cost?: Decimal | undefined
  total_cost?: Decimal | undefined
  /** Parts of input_cost and output_cost; undefined if the cost is unknown. */
  input_cost_details?: CostDetails | undefined
  output_cost_details?: CostDetails | undefined
}

/**
 * Bits for costs that a client or the vendor stated. They take precedence over computed costs, and stay unchanged when prices change.
 */
export const SENT = { input_cost: 1, output_cost: 2, total_cost: 4 } as const
const ALL_SENT = SENT.input_cost | SENT.output_cost | SENT.total_cost

export interface CompletedCosts extends Costs {
  /** The price of the computed costs; undefined if all costs were sent, or no price is known. */
  price_model_id: string | undefined
  /** What a computed total has beside both sides; undefined for another total. */
  unit_costs: CostDetails | undefined
  /** What the prices say, if another total was stated. */
  computed_cost: Decimal | undefined
  issues: PriceIssue[]
}

/**
 * The costs to store: stated costs unchanged, other costs computed field by field; a total that was not stated is input
 * plus output. Sides that do not add up to a stated total are left out, so a total that was stated alone has no sides.
 */
export function completeCosts(
  stored: Costs,
  sent: number,
  counts: Counts,
  priced: PricedCounts | undefined,
): CompletedCosts {
  const own = (field: keyof typeof SENT): Decimal | undefined =>
    (sent & SENT[field]) === 0 ? undefined : stored[field]
  const isStatedWhole = sent === ALL_SENT || (sent === SENT.total_cost && stored.total_cost !== undefined)
  const reckoned = isStatedWhole ? undefined : priced?.cost
  const computed = contradicts(own, reckoned) ? undefined : reckoned
  const input_cost = own('input_cost') ?? computed?.input_cost
  const output_cost = own('output_cost') ?? computed?.output_cost
  const total_cost = own('total_cost') ?? totalOf(input_cost, output_cost, counts, sent, computed)
  const detailsOf = (field: 'input_cost' | 'output_cost'): CostDetails | undefined => {
    if (own(field) !== undefined) return stored[`${field}_details`]
    return computed?.[field] === undefined ? undefined : computed[`${field}_details`]
  }
  const isComputed =
    computed !== undefined &&
    ((own('input_cost') === undefined && computed.input_cost !== undefined) ||
      (own('output_cost') === undefined && computed.output_cost !== undefined) ||
      (own('total_cost') === undefined && total_cost !== undefined && total_cost === computed.total_cost))
  return {
    input_cost,
    output_cost,
    total_cost,
    input_cost_details: detailsOf('input_cost'),
    output_cost_details: detailsOf('output_cost'),
    unit_costs: sent === 0 && total_cost !== undefined ? computed?.unit_costs : undefined,
    price_model_id: isComputed ? computed.price_model_id : undefined,
    computed_cost: own('total_cost') === undefined ? undefined : priced?.cost?.total_cost,
    issues: isStatedWhole ? [] : issuesOf(counts, total_cost, priced, isComputed),
  }
}

/** Whether the costs of the two sides, each sent or else computed, do not add up to the sent total. */
function contradicts(
  own: (field: keyof typeof SENT) => Decimal | undefined,
  computed: Cost | undefined,
): boolean {
  const total = own('total_cost')
  if (total === undefined || computed === undefined) return false
  const side = (field: 'input_cost' | 'output_cost'): Decimal => own(field) ?? computed[field] ?? 0n
  return side('input_cost') + side('output_cost') !== total
}

function issuesOf(
  counts: Counts,
  total: Decimal | undefined,
  priced: PricedCounts | undefined,
  isComputed: boolean,
): PriceIssue[] {
  const hasTokens = !!counts.input_tokens || !!counts.output_tokens
  const issues: PriceIssue[] = []
  if (hasTokens && total === undefined && priced?.cost === undefined) issues.push('no_price')
  if (priced === undefined || (!isComputed && priced.cost !== undefined)) return issues
  if (priced.cost !== undefined && priced.conditions.length > 0) issues.push('condition_not_priced')
  if (priced.cost !== undefined && priced.details.length > 0) issues.push('detail_not_priced')
  if (priced.units.length > 0) issues.push('unit_not_priced')
  return issues
}

/** Input plus output; undefined if a side of a priced call has tokens but no price. */
function totalOf(
  input: Decimal | undefined,
  output: Decimal | undefined,
  counts: Counts,
  sent: number,
  computed: Cost | undefined,
): Decimal | undefined {
  if ((sent & (SENT.input_cost | SENT.output_cost)) === 0) return computed?.total_cost
  const lacks =
    computed !== undefined &&
    ((input === undefined && !!counts.input_tokens) || (output === undefined && !!counts.output_tokens))
  return lacks ? undefined : (input ?? 0n) + (output ?? 0n)
}
