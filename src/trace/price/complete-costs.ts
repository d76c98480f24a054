import type { Decimal } from './decimal.ts'
import type { CostDetails } from './cost-details.ts'
import type { Price } from './price.ts'
import { type Cost, type Counts, costOf } from './formula.ts'
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
 * Bits for costs that a client sent. They take precedence over computed costs, and stay unchanged when prices change.
 */
export const SENT = { input_cost: 1, output_cost: 2, total_cost: 4 } as const
const ALL_SENT = SENT.input_cost | SENT.output_cost | SENT.total_cost

/** Costs with their origin. */
export interface CompletedCosts extends Costs {
  /** The price of the computed costs; undefined if all costs were sent, or no price is known. */
  price_model_id: string | undefined
  issues: PriceIssue[]
}

/**
 * The costs to store: sent costs unchanged, other costs computed field by field; a total that was not sent is input
 * plus output. Sides that do not add up to a sent total are left out, so a total that was sent alone has no sides.
 * `find` is called only if a cost must be computed.
 */
export function completeCosts(
  stored: Costs,
  sent: number,
  counts: Counts,
  find: () => Price | undefined,
): CompletedCosts {
  const own = (field: keyof typeof SENT): Decimal | undefined =>
    (sent & SENT[field]) === 0 ? undefined : stored[field]
  const isTotalAlone = sent === SENT.total_cost && stored.total_cost !== undefined
  const price = sent === ALL_SENT || isTotalAlone ? undefined : find()
  const reckoned = price && costOf(counts, price)
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
    price_model_id: isComputed ? computed.price_model_id : undefined,
    issues: issuesOf(counts, total_cost, price, isComputed && computed.tier_unknown),
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
  price: Price | undefined,
  tierUnknown: boolean,
): PriceIssue[] {
  const hasTokens = !!counts.input_tokens || !!counts.output_tokens
  if (hasTokens && total === undefined && price === undefined) return ['no_price']
  return tierUnknown ? ['tier_not_priced'] : []
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
