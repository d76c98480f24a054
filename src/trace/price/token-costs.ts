import { type Decimal, divide, parseDecimal } from './decimal.ts'
import { BASE, type CostDetails, sumOf } from './cost-details.ts'
import { lifetimesOf } from '../tokens/usage/reconcile.ts'
import type { Price, Rates } from './price.ts'

/** Counts as normalised by rules N1 to N7; totals include the tokens of the details. */
export interface Counts {
  input_tokens?: number | undefined
  output_tokens?: number | undefined
  input_token_details: Readonly<Record<string, number>>
  output_token_details: Readonly<Record<string, number>>
  /** Numbers that are no tokens. */
  units?: Readonly<Record<string, number>> | undefined
}

/** Costs in 10^-18 dollars; undefined if a count or a price is unknown. */
export interface Cost {
  input_cost: Decimal | undefined
  output_cost: Decimal | undefined
  total_cost: Decimal | undefined
  /** The cost of each detail with a separate price, and of the rest of the side. */
  input_cost_details: CostDetails
  output_cost_details: CostDetails
  /** The cost of each unit with a price; part of the total, beside both sides. The fee of a call is under `requests`. */
  unit_costs: CostDetails
  price_model_id: string
  /** Whether the counts have a service tier without a price, so that standard prices were used. */
  tier_unknown: boolean
  /** Names of details that were charged at the next wider price, which is not theirs. */
  widened: string[]
  /** Names of units without a price. */
  unpriced_units: string[]
}

/**
 * The cost of a call: tokens are assigned to details in a fixed order, the most specific first, and never more than
 * remain; the remaining tokens of the side have the base price. Units are charged besides. A model whose price knows no
 * tokens is charged by its units alone.
 */
export function costOf(usage: Counts, price: Price): Cost {
  const input = sideCost(usage.input_tokens, usage.input_token_details, price.input)
  const output = sideCost(usage.output_tokens, usage.output_token_details, price.output)
  const units = unitCosts(usage, price)
  const hasTokens = usage.input_tokens !== undefined || usage.output_tokens !== undefined
  const hasUnits = Object.keys(units.costs).length > 0
  const isByUnits = hasUnits && price.input.base === undefined && price.output.base === undefined
  const isWhole =
    (input.cost !== undefined || !usage.input_tokens) && (output.cost !== undefined || !usage.output_tokens)
  const isKnown = isByUnits || (hasTokens ? isWhole : hasUnits)
  const unit_costs = hasFee(price, units.costs) ? { ...units.costs, requests: price.request } : units.costs
  return {
    input_cost: input.cost,
    output_cost: output.cost,
    total_cost: isKnown ? (input.cost ?? 0n) + (output.cost ?? 0n) + sumOf(unit_costs) : undefined,
    input_cost_details: input.details,
    output_cost_details: output.details,
    unit_costs,
    price_model_id: price.price_model_id,
    tier_unknown:
      hasUnknownTier(usage.input_token_details, price.input) ||
      hasUnknownTier(usage.output_token_details, price.output),
    widened: [...input.widened, ...output.widened],
    unpriced_units: units.unpriced,
  }
}

/** Units that no vendor charges for. */
const FREE_UNITS: ReadonlySet<string> = new Set(['web_fetches', 'tool_searches', 'sources'])
/** Units that tell in another way what the tokens are charged for. */
const TOLD_BY_TOKENS: ReadonlySet<string> = new Set(['input_characters', 'input_pixels'])
/** Groq charges at least 10 seconds of sound. */
const GROQ_SECONDS = 10

function unitCosts(usage: Counts, price: Price): { costs: CostDetails; unpriced: string[] } {
  const costs: CostDetails = {}
  const unpriced: string[] = []
  for (const [unit, count] of Object.entries(usage.units ?? {})) {
    if (count <= 0) continue
    const rate = Object.hasOwn(price.units, unit) ? price.units[unit] : undefined
    if (rate === undefined) {
      const isTold = TOLD_BY_TOKENS.has(unit) && usage.input_tokens !== undefined
      if (!FREE_UNITS.has(unit) && !isTold) unpriced.push(unit)
      continue
    }
    const isGroq = price.price_model_id.startsWith('genai-prices:groq/') && unit.endsWith('_seconds')
    costs[unit] = timesCount(rate, isGroq ? Math.max(count, GROQ_SECONDS) : count)
  }
  return { costs, unpriced }
}

/** Whether the fee of a call is charged once; an answer that counts its `requests` has it for each of them. */
function hasFee(price: Price, costs: CostDetails): boolean {
  return price.request !== 0n && costs['requests'] === undefined
}

/** Seconds may have fractions. */
function timesCount(rate: Decimal, count: number): Decimal {
  return Number.isInteger(count) ? rate * BigInt(count) : divide(rate * parseDecimal(count)!, 10n ** 18n)
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
export const TIERS: readonly string[] = ['flex', 'priority', 'batch', 'scale', 'fast']
const ORDER = [
  'cache_read_over_200k',
  'cache_read_audio',
  'cache_read_image',
  'cache_read_video',
  'cache_read_document',
  'cache_read',
  'ephemeral_12h_input_tokens',
  'ephemeral_1h_input_tokens',
  'ephemeral_30m_input_tokens',
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

/** The name under which a detail is counted and priced, for any spelling that clients use. */
export function detailName(key: string): string {
  if (Object.hasOwn(ALIASES, key)) return ALIASES[key]!
  const tier = tierOf(key)
  return tier === undefined || key === tier ? key : `${tier}_${detailName(key.slice(tier.length + 1))}`
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
): { cost: Decimal | undefined; details: CostDetails; widened: string[] } {
  const details: CostDetails = {}
  const widened: string[] = []
  if (tokens === undefined) return { cost: undefined, details, widened }
  let left = tokens
  for (const [key, count] of inOrder(sent, tokens, rates)) {
    const rate = rateOf(key, rates)
    const taken = Math.min(count, left)
    if (taken > 0 && isWidened(key, rates)) widened.push(key)
    if (rate === undefined || taken <= 0) continue
    details[key] = BigInt(taken) * rate
    left -= taken
  }
  const isWhole = rates.base !== undefined || (left === 0 && tokens > 0)
  if (!isWhole) return { cost: undefined, details, widened }
  if (left > 0) details[BASE] = (details[BASE] ?? 0n) + BigInt(left) * rates.base!
  return { cost: sumOf(details), details, widened }
}

/** Lifetimes of cache writes whose price is not that of other writes. */
const OWN_LIFETIME = /ephemeral_(?:1h|12h)_input_tokens$/

/**
 * Whether the price of a detail is missing although the model's prices show that it is not the next wider one: a
 * cached kind of content that costs more uncached, or a long lifetime of a cache write.
 */
function isWidened(key: string, { base, details }: Rates): boolean {
  if (Object.hasOwn(details, key)) return false
  const kind = /^cache_read_(audio|image|video|document)$/.exec(key)?.[1]
  if (kind !== undefined) return Object.hasOwn(details, kind) && details[kind] !== base
  return OWN_LIFETIME.test(key) && Object.hasOwn(details, 'cache_creation')
}

function inOrder(sent: Readonly<Record<string, number>>, tokens: number, rates: Rates): [string, number][] {
  const counts: Record<string, number> = {}
  for (const [key, count] of Object.entries(sent)) {
    const known = detailName(key)
    counts[known] = Math.max(counts[known] ?? 0, count)
  }
  // Rule N7: cache writes are reported as one count, by lifetime, or both.
  if (counts['cache_creation'] !== undefined) {
    counts['cache_creation'] = Math.max(0, counts['cache_creation'] - lifetimesOf(counts))
  }
  separateKinds(counts, tokens)
  return Object.entries(inTier(counts, tokens, rates)).sort(
    ([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1),
  )
}

const KINDS = ['document', 'image', 'video', 'audio'] as const

/**
 * Makes the counts of cached tokens and of kinds of content exclude each other (rule U6): `audio` is without cached
 * tokens, and `cache_read` without those of a kind. Cached tokens whose kind is not told are text first.
 */
function separateKinds(counts: Record<string, number>, tokens: number): void {
  const kinds = KINDS.filter((kind) => (counts[kind] ?? 0) > 0)
  delete counts['cache_read_text']
  if (kinds.length === 0) return
  let cached = counts['cache_read'] ?? 0
  let text = tokens
  for (const kind of kinds) {
    text -= counts[kind]!
    const both = Math.min(counts[`cache_read_${kind}`] ?? 0, counts[kind]!, cached)
    counts[`cache_read_${kind}`] = both
    counts[kind]! -= both
    cached -= both
  }
  const written = (counts['cache_creation'] ?? 0) + lifetimesOf(counts)
  let beyond = Math.min(cached, cached + written - Math.max(0, text))
  for (const kind of kinds) {
    if (beyond <= 0) break
    const both = Math.min(beyond, counts[kind]!)
    counts[kind]! -= both
    counts[`cache_read_${kind}`]! += both
    cached -= both
    beyond -= both
  }
  if (counts['cache_read'] !== undefined) counts['cache_read'] = cached
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
  const wider = key.startsWith('ephemeral_')
    ? 'cache_creation'
    : key.startsWith('cache_read_')
      ? 'cache_read'
      : ''
  return Object.hasOwn(details, wider) ? details[wider] : undefined
}
