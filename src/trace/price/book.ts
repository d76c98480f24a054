import { RecentMap } from '../../base/recent-map.ts'
import { contextOf } from './conditions.ts'
import { type Decimal, parseDecimal } from './decimal.ts'
import { withoutProvider } from './model-name.ts'
import { isFramework, normalizeProvider, spellingsOf } from './provider-name.ts'
import { detailName } from './token-costs.ts'
import { UNITS } from './units.ts'
import { priceProvider } from './default/default-price-match.ts'
import type { Price, PriceQuery, PriceSource, Rates } from './price.ts'
import { type PricePattern, compilePricePattern } from './pattern.ts'

/** Places at which LangSmith searches a model's name by default. */
export const DEFAULT_MATCH_PATH = ['model', 'model_name', 'model_id', 'model_path', 'endpoint_name']

/** A price that a workspace has added. Costs are dollars per token as decimal strings. */
export interface PriceEntry {
  id: string
  workspace_id: string
  name: string
  /** Pattern that must occur in the model name; see compilePricePattern. */
  match_pattern: string
  /**
   * Stored and returned for LangSmith's clients, but not used: Weir finds the model name by the rules of the
   * interface.
   */
  match_path: string[]
  /** Null matches every provider. */
  provider: string | null
  /** Time from which the entry is valid, in epoch microseconds; null if it has always been valid. */
  start_time: number | null
  /**
   * Number of prompt tokens above which the entry applies; it then applies to the whole request. Null for all
   * prompts.
   */
  prompt_token_threshold: number | null
  /** Conditions that the call must have, as in usage_metadata: `{speed: 'fast'}`. Tiers are details instead. */
  conditions: Record<string, string>
  /** `requests` in the details of the prompt is the fee of a call. */
  prompt_cost: string
  completion_cost: string
  prompt_cost_details: Record<string, string>
  completion_cost_details: Record<string, string>
}

interface OwnPrice {
  price: Price
  pattern: PricePattern
  /** Whether the pattern may match names with a provider's prefix, such as `^openai/my-model$`. */
  has_slash: boolean
  /** Null matches every provider. */
  provider: string | null
  start_time: number
  threshold: number
  conditions: readonly (readonly [name: string, word: string])[]
}

/** Number of models whose matching entries are cached; names come from clients. */
const MAX_KNOWN = 2_000

/**
 * The prices of one workspace: own entries have precedence over the defaults. Of several matching entries, one that
 * names the provider is used first, then the one with most conditions, then the one with the highest threshold that the
 * prompt exceeds, then the one that began last.
 */
export function createPriceBook(entries: readonly PriceEntry[], defaults: PriceSource): PriceSource {
  const own = entries.flatMap((entry) => toOwnPrice(entry) ?? []).sort(bySpecificity)
  if (own.length === 0) return defaults
  const known = new RecentMap<string, OwnPrice[]>(MAX_KNOWN)
  const fitting = (model: string, provider: string | undefined): OwnPrice[] => {
    const key = `${provider ?? ''}\n${model}`
    let found = known.get(key)
    if (!found) {
      const names = namesOf(model, provider)
      found = own.filter((it) => isOf(it.provider, provider) && isNamed(it, names))
      known.set(key, found)
    }
    return found
  }
  return {
    find(query: PriceQuery): Price | undefined {
      if (query.model === undefined) return undefined
      const tokens = query.input_tokens ?? 0
      const context = contextOf(query.conditions ?? {})
      const first = fitting(query.model, query.provider).find(
        (it) =>
          it.start_time <= query.at &&
          tokens > it.threshold &&
          it.conditions.every(([name, word]) => context[name] === word),
      )
      return first?.price ?? defaults.find(query)
    },
  }
}

export function createPriceBooks(
  entries: readonly PriceEntry[],
  defaults: PriceSource,
): (workspace_id: string) => PriceSource {
  const groups = new Map<string, PriceEntry[]>()
  for (const entry of entries) {
    const group = groups.get(entry.workspace_id)
    if (group) group.push(entry)
    else groups.set(entry.workspace_id, [entry])
  }
  const books = new Map([...groups].map(([id, group]) => [id, createPriceBook(group, defaults)]))
  return (workspace_id) => books.get(workspace_id) ?? defaults
}

/** Converts an entry; undefined if its pattern, stored by another release, does not compile. */
function toOwnPrice(entry: PriceEntry): OwnPrice | undefined {
  const pattern = compilePricePattern(entry.match_pattern)
  if ('error' in pattern) return undefined
  const units = unitRates(entry.prompt_cost_details)
  return {
    pattern,
    has_slash: entry.match_pattern.includes('/'),
    // The name of a framework matches every provider, because a framework is never the provider of a call.
    provider: entry.provider !== null && isFramework(entry.provider) ? null : entry.provider,
    start_time: entry.start_time ?? Number.NEGATIVE_INFINITY,
    threshold: entry.prompt_token_threshold ?? -1,
    conditions: Object.entries(entry.conditions).map(([name, word]) => [name, word.trim().toLowerCase()]),
    price: {
      price_model_id: entry.id,
      input: toRates(entry.prompt_cost, entry.prompt_cost_details),
      output: toRates(entry.completion_cost, entry.completion_cost_details),
      units,
      request: units['requests'] ?? 0n,
      conditions: Object.keys(entry.conditions),
    },
  }
}

function toRates(base: string, sent: Readonly<Record<string, string>>): Rates {
  const details: Record<string, Decimal> = {}
  for (const [key, amount] of Object.entries(sent)) {
    const rate = parseDecimal(amount)
    const name = detailName(key)
    // A price under the proper name takes precedence over one under another spelling.
    if (rate !== undefined && (name === key || !Object.hasOwn(sent, name))) details[name] = rate
  }
  return { base: parseDecimal(base), details }
}

/** The prices of units, which an entry states beside those of details. */
function unitRates(sent: Readonly<Record<string, string>>): Record<string, Decimal> {
  const units: Record<string, Decimal> = {}
  for (const unit of UNITS) {
    const rate = parseDecimal(sent[unit])
    if (rate !== undefined) units[unit] = rate
  }
  return units
}

function bySpecificity(a: OwnPrice, b: OwnPrice): number {
  return (
    Number(b.provider !== null) - Number(a.provider !== null) ||
    b.conditions.length - a.conditions.length ||
    b.threshold - a.threshold ||
    b.start_time - a.start_time ||
    (a.price.price_model_id < b.price.price_model_id ? 1 : -1)
  )
}

interface Names {
  /** The stored name, and the same name without the provider's prefix, which rows of earlier releases contain. */
  plain: string[]
  /** The name with the provider's prefix, as clients send it. */
  prefixed: string[]
}

function namesOf(model: string, provider: string | undefined): Names {
  const shown = provider === undefined ? undefined : normalizeProvider(provider)
  const bare = withoutProvider(model, shown)
  return {
    plain: bare === model ? [model] : [model, bare],
    prefixed: shown === undefined ? [] : spellingsOf(shown).map((name) => `${name}/${bare}`),
  }
}

/**
 * Whether a price matches one of the names. Only a pattern with a slash is tested on prefixed names: `mistral` selects
 * models by name, and not all models of the provider.
 */
function isNamed({ pattern, has_slash }: OwnPrice, { plain, prefixed }: Names): boolean {
  return (has_slash ? [...plain, ...prefixed] : plain).some((name) => pattern.test(name))
}

function isOf(wanted: string | null, provider: string | undefined): boolean {
  if (wanted === null) return true
  if (provider === undefined) return false
  const [a, b] = [normalizeProvider(wanted), normalizeProvider(provider)]
  const known = priceProvider(a)
  return a === b || (known !== undefined && known !== 'local' && known === priceProvider(b))
}
