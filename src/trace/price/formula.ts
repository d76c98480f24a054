import type { Decimal } from './decimal.ts'
import { BASE, type CostDetails, sumOf } from './cost-details.ts'
import type { Price, Rates } from './price.ts'

/** Counts as normalised by rules N1 to N7; totals include the tokens of the details. */
export interface Counts {
  input_tokens?: number | undefined
  output_tokens?: number | undefined
  input_token_details: Readonly<Record<string, number>>
  output_token_details: Readonly<Record<string, number>>
}

/** Costs in 10^-18 dollars; undefined if a count or a price is unknown. */
export interface Cost {
  input_cost: Decimal | undefined
  output_cost: Decimal | undefined
  total_cost: Decimal | undefined
  /** The cost of each detail with a separate price, and of the rest of the side. */
  input_cost_details: CostDetails
  output_cost_details: CostDetails
  price_model_id: string
  /** Whether the counts have a service tier without a price, so that standard prices were used. */
  tier_unknown: boolean
}

/**
 * The cost of a call: tokens are assigned to details in a fixed order, the most specific first, and never more than
 * remain; the remaining tokens of the side have the base price.
 */
export function costOf(usage: Counts, price: Price): Cost {
  const input = sideCost(usage.input_tokens, usage.input_token_details, price.input)
  const output = sideCost(usage.output_tokens, usage.output_token_details, price.output)
  const isKnown = usage.input_tokens !== undefined || usage.output_tokens !== undefined
  const isWhole =
    (input.cost !== undefined || !usage.input_tokens) && (output.cost !== undefined || !usage.output_tokens)
  return {
    input_cost: input.cost,
    output_cost: output.cost,
    total_cost: isKnown && isWhole ? (input.cost ?? 0n) + (output.cost ?? 0n) + price.request : undefined,
    input_cost_details: input.details,
    output_cost_details: output.details,
    price_model_id: price.price_model_id,
    tier_unknown:
      hasUnknownTier(usage.input_token_details, price.input) ||
      hasUnknownTier(usage.output_token_details, price.output),
  }
}

function hasUnknownTier(details: Readonly<Record<string, number>>, rates: Rates): boolean {
  return Object.entries(details).some(([key, count]) => {
    const tier = tierOf(key)
    return tier !== undefined && count > 0 && !knowsTier(tier, key, rates)
  })
}

function knowsTier(tier: string, key: string, { details }: Rates): boolean {
  return Object.hasOwn(details, tier) || Object.hasOwn(details, key)
}

/**
 * Service tiers. Tokens of a tier that also have a detail are counted under a joint key (`flex_cache_read`), the
 * others under the name of the tier (`flex`).
 */
export const TIERS: readonly string[] = ['flex', 'priority', 'batch', 'scale']
const ORDER = [
  'cache_read_over_200k',
  'cache_read',
  'ephemeral_1h_input_tokens',
  'ephemeral_5m_input_tokens',
  'cache_creation',
  'reasoning',
  'audio',
  'image',
  'video',
]
/** Other spellings that clients use. */
const ALIASES: Readonly<Record<string, string>> = {
  cache_write: 'cache_creation',
  ephemeral_1hr_input_tokens: 'ephemeral_1h_input_tokens',
}

function tierOf(key: string): string | undefined {
  return TIERS.find((tier) => key === tier || key.startsWith(`${tier}_`))
}

/** Place in the order of assignment: tiers with a detail, tiers, the known details, any other, text. */
function rank(key: string): number {
  const tier = tierOf(key)
  if (tier !== undefined) return key === tier ? 1 : rank(key.slice(tier.length + 1)) - 200
  if (key === 'text') return 100
  const place = ORDER.indexOf(key)
  return place < 0 ? 99 : place + 2
}

function sideCost(
  tokens: number | undefined,
  sent: Readonly<Record<string, number>>,
  rates: Rates,
): { cost: Decimal | undefined; details: CostDetails } {
  const details: CostDetails = {}
  if (tokens === undefined) return { cost: undefined, details }
  let left = tokens
  for (const [key, count] of inOrder(sent, tokens, rates)) {
    const rate = rateOf(key, rates)
    const taken = Math.min(count, left)
    if (rate === undefined || taken <= 0) continue
    details[key] = BigInt(taken) * rate
    left -= taken
  }
  const isWhole = rates.base !== undefined || (left === 0 && tokens > 0)
  if (!isWhole) return { cost: undefined, details }
  if (left > 0) details[BASE] = (details[BASE] ?? 0n) + BigInt(left) * rates.base!
  return { cost: sumOf(details), details }
}

function inOrder(sent: Readonly<Record<string, number>>, tokens: number, rates: Rates): [string, number][] {
  const counts: Record<string, number> = {}
  for (const [key, count] of Object.entries(sent)) {
    const known = (Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined) ?? key
    counts[known] = Math.max(counts[known] ?? 0, count)
  }
  // Rule N7: cache writes are reported as one count, by lifetime, or both.
  if (counts['cache_creation'] !== undefined) {
    const byLifetime = (counts['ephemeral_5m_input_tokens'] ?? 0) + (counts['ephemeral_1h_input_tokens'] ?? 0)
    counts['cache_creation'] = Math.max(0, counts['cache_creation'] - byLifetime)
  }
  return Object.entries(inTier(counts, tokens, rates)).sort(
    ([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1),
  )
}

/**
 * If one tier has all tokens of a side, its name is added to the other details: `cache_read` becomes
 * `flex_cache_read`. A tier without a price is left out.
 */
function inTier(
  counts: Readonly<Record<string, number>>,
  tokens: number,
  rates: Rates,
): Readonly<Record<string, number>> {
  const tier = TIERS.find((name) => (counts[name] ?? 0) >= tokens && tokens > 0)
  if (tier === undefined) return counts
  const { [tier]: whole, ...parts } = counts
  if (!Object.hasOwn(rates.details, tier)) return parts
  const inside = Object.entries(parts).map(([key, count]) => [
    tierOf(key) === undefined ? `${tier}_${key}` : key,
    count,
  ])
  return { ...Object.fromEntries(inside), [tier]: whole }
}

/**
 * The rate of a detail: its own price, otherwise that of its tier, otherwise that of the detail without the
 * tier. Cache writes of any lifetime cost the same as other cache writes.
 */
function rateOf(key: string, rates: Rates): Decimal | undefined {
  const { details } = rates
  const own = Object.hasOwn(details, key) ? details[key] : undefined
  if (own !== undefined) return own
  const tier = tierOf(key)
  if (tier !== undefined && Object.hasOwn(details, tier)) return details[tier]
  if (tier !== undefined) return key === tier ? undefined : rateOf(key.slice(tier.length + 1), rates)
  return key.startsWith('ephemeral_') && Object.hasOwn(details, 'cache_creation')
    ? details['cache_creation']
    : undefined
}
