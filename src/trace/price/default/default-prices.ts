import { RecentMap } from '../../../base/recent-map.ts'
import { type Decimal, divide, parseDecimal } from '../decimal.ts'
import { candidates } from './default-price-match.ts'
import {
  type DataFile,
  type DataModel,
  type DataPrice,
  type DataPrices,
  type DataVariant,
  findModelPrice,
  isValidAt,
  loadPriceData,
} from './price-data.ts'
import type { Price, PriceQuery, PriceSource, Rates } from '../price.ts'
import { contextOf } from '../conditions.ts'

/** Maximum number of models whose prices are cached, since clients choose the names. */
const MAX_KNOWN = 5_000
const PER_MILLION = 1_000_000n

/** The names of the price data for the detail keys of usage_metadata. */
const INPUT_KEYS: Readonly<Record<string, readonly string[]>> = {
  cache_read: ['cache_read_mtok'],
  cache_read_audio: ['cache_audio_read_mtok'],
  cache_read_image: ['cache_image_read_mtok'],
  cache_read_video: ['cache_video_read_mtok'],
  ephemeral_12h_input_tokens: ['cache_write_12h_mtok'],
  ephemeral_1h_input_tokens: ['cache_write_1h_mtok'],
  ephemeral_5m_input_tokens: ['cache_write_5m_mtok', 'cache_write_mtok'],
  cache_creation: ['cache_write_mtok'],
  audio: ['input_audio_mtok'],
  image: ['input_image_mtok'],
  video: ['input_video_mtok'],
  text: ['input_text_mtok'],
}
const OUTPUT_KEYS: Readonly<Record<string, readonly string[]>> = {
  reasoning: ['output_reasoning_mtok'],
  citation: ['output_citation_mtok'],
  audio: ['output_audio_mtok'],
  image: ['output_image_mtok'],
  video: ['output_video_mtok'],
  text: ['output_text_mtok'],
}
/** The names of the price data for units, and how many units each price is for. */
const UNIT_KEYS: Readonly<Record<string, readonly (readonly [key: string, per: bigint])[]>> = {
  web_searches: [['web_searches_kcount', 1000n]],
  social_searches: [['social_searches_kcount', 1000n]],
  storage_searches: [['storage_searches_kcount', 1000n]],
  code_executions: [['code_executions_kcount', 1000n]],
  rerank_searches: [['rerank_searches_kcount', 1000n]],
  map_searches: [['map_searches_kcount', 1000n]],
  audio_seconds: [
    ['audio_hours', 3600n],
    ['input_audio_hours', 3600n],
  ],
  input_audio_seconds: [
    ['input_audio_hours', 3600n],
    ['audio_hours', 3600n],
  ],
  output_audio_seconds: [['output_audio_hours', 3600n]],
  input_characters: [['input_mchars', PER_MILLION]],
  input_document_pages: [['input_document_kpages', 1000n]],
  input_text_messages: [['input_text_messages_kcount', 1000n]],
}

export interface PriceData {
  package: string
  version: string
  /** Start date of the newest price that has taken effect, e.g. `2026-09-01`. */
  newest_price: string
}

/** The version and age of the price data; `now` in epoch milliseconds. */
export function describePriceData(now: number): PriceData {
  const { providers, sources } = loadPriceData()
  const today = new Date(now).toISOString().slice(0, 10)
  let newest_price = ''
  for (const { models } of providers) {
    for (const { prices, variants = [] } of models) {
      for (const { since } of [...prices, ...variants])
        if (since !== undefined && since <= today && since > newest_price) newest_price = since
    }
  }
  return { package: sources[0]!.package, version: sources[0]!.version, newest_price }
}

/** Names of the priced models by the provider's id in the data, in the order of the data. */
export function listPricedModels(): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    loadPriceData().providers.map(({ id, models }) => [id, models.map((it) => it.id)]),
  )
}

interface Found {
  provider: string
  model: DataModel
}

/** The default prices: the price data, with Weir's look-up of names and Weir's formula. */
export function createDefaultPrices(): PriceSource {
  const data = loadPriceData()
  const known = new RecentMap<string, Found | null>(MAX_KNOWN)
  const resolve = (model: string, provider: string | undefined): Found | null => {
    const key = `${provider ?? ''}\n${model}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const found = firstFound(data, model, provider)
    known.set(key, found)
    return found
  }
  const converted = new RecentMap<string, Omit<Price, 'price_model_id'>>(MAX_KNOWN)
  return {
    find({ model, provider, at, input_tokens = 0, conditions = {} }: PriceQuery): Price | undefined {
      if (model === undefined) return undefined
      const found = resolve(model, provider)
      if (!found) return undefined
      const standard = pricesAt(found.model, at)
      const valid = (found.model.variants ?? []).filter((it) => isValidAt(it, at))
      const context = contextOf(conditions)
      const chosen = valid.filter(
        ({ when }) => !isTier(when) && Object.entries(when).every(([key, it]) => context[key] === it),
      )
      const id = `genai-prices:${found.provider}/${found.model.id}`
      const tier = tierStart([standard.prices, ...valid.map((it) => it.prices ?? {})], input_tokens)
      const key = `${id} ${found.model.prices.indexOf(standard)} ${valid.map((it) => found.model.variants!.indexOf(it)).join()} ${chosen.map((it) => JSON.stringify(it.when)).join()} ${tier}`
      let rates = converted.get(key)
      if (!rates) {
        rates = toPrice(standard.prices, valid, chosen, input_tokens, found.provider)
        converted.set(key, rates)
      }
      return { ...rates, price_model_id: standard.since === undefined ? id : `${id}@${standard.since}` }
    },
  }
}

function firstFound(data: DataFile, model: string, provider: string | undefined): Found | null {
  for (const candidate of candidates(model, provider)) {
    const price = findModelPrice(data, candidate.model, candidate.provider)
    if (price && isSameVersion(model, price.model.id)) return price
  }
  return null
}

/**
 * Whether two names have the same version. Bedrock's model names end in a version, `-v2:0`, and some patterns of the
 * data match any version.
 */
function isSameVersion(sent: string, known: string): boolean {
  const [a, b] = [sent, known].map((name) => /-v(\d+)(?::\d+)?$/.exec(name.trim())?.[1])
  return a === undefined || b === undefined || a === b
}

/** The prices at a moment: the last entry that holds, by the rule of the data; the first entry if none does. */
function pricesAt({ prices }: DataModel, at: number): DataModel['prices'][number] {
  return prices.findLast((it) => isValidAt(it, at)) ?? prices[0]!
}

/** Tiers are details of the counts, so their prices are details of the rates: `flex`, `flex_cache_read`. */
function isTier(when: DataVariant['when']): boolean {
  return tierOf(when) !== undefined
}

function tierOf({ service_tier, processing }: DataVariant['when']): string | undefined {
  return service_tier ?? processing
}

/** The highest threshold that a prompt exceeds; 0 if it exceeds none. */
function tierStart(all: readonly DataPrices[], inputTokens: number): number {
  let start = 0
  for (const prices of all)
    for (const price of Object.values(prices)) {
      if (typeof price !== 'object') continue
      for (const tier of price.tiers) if (inputTokens > tier.start) start = Math.max(start, tier.start)
    }
  return start
}

/** The rates of a call. `chosen` are the variants whose conditions the call has; those of tiers are in `valid`. */
function toPrice(
  standard: DataPrices,
  valid: readonly DataVariant[],
  chosen: readonly DataVariant[],
  inputTokens: number,
  provider: string,
): Omit<Price, 'price_model_id'> {
  const factors = chosen.flatMap(({ factor }) => factor ?? [])
  const prices = Object.assign(
    {},
    standard,
    ...chosen.map((it) => it.prices ?? {}).toReversed(),
  ) as DataPrices
  const sides = sideRates(prices, inputTokens, factors)
  for (const { when, prices: ofTier = {} } of valid.toReversed()) {
    const tier = tierOf(when)
    if (tier === undefined) continue
    addTier(sides, tier, sideRates({ ...standard, ...ofTier }, inputTokens, factors))
  }
  if (provider === 'openai' && !Object.hasOwn(sides.input.details, 'flex')) addHalf(sides, 'flex')
  const calls = rateOf(prices['requests_kcount'], inputTokens, 1000n)
  return {
    ...sides,
    units: unitRates(prices, inputTokens),
    request: calls ?? 0n,
    conditions: [...new Set(chosen.flatMap(({ when }) => Object.keys(when)))],
  }
}

interface SideRates {
  input: Rates & { details: Record<string, Decimal> }
  output: Rates & { details: Record<string, Decimal> }
}

function sideRates(prices: DataPrices, inputTokens: number, factors: readonly number[]): SideRates {
  const amount = (key: string): Decimal | undefined => {
    const rate = rateOf(prices[key], inputTokens, PER_MILLION)
    return factors.reduce<Decimal | undefined>(
      (sum, factor) => sum && divide(sum * parseDecimal(factor)!, 10n ** 18n),
      rate,
    )
  }
  return {
    input: toRates(amount, 'input_mtok', INPUT_KEYS),
    output: toRates(amount, 'output_mtok', OUTPUT_KEYS),
  }
}

function toRates(
  amount: (key: string) => Decimal | undefined,
  base: string,
  keys: Readonly<Record<string, readonly string[]>>,
): SideRates['input'] {
  const details: Record<string, Decimal> = {}
  for (const [detail, names] of Object.entries(keys)) {
    const rate = names.map(amount).find((it) => it !== undefined)
    if (rate !== undefined) details[detail] = rate
  }
  return { base: amount(base), details }
}

/** Adds the rates of a service tier as details: `flex` is its base rate. */
function addTier(sides: SideRates, tier: string, rates: SideRates): void {
  for (const side of ['input', 'output'] as const) {
    const { base, details } = rates[side]
    if (base === undefined) continue
    const own = sides[side].details
    own[tier] = base
    for (const [key, rate] of Object.entries(details)) own[`${tier}_${key}`] = rate
  }
}

/** OpenAI's flex processing costs half. The data has it for newer models only. */
function addHalf(sides: SideRates, tier: string): void {
  const half = ({ base, details }: Rates): SideRates['input'] => ({
    base: base === undefined ? undefined : divide(base, 2n),
    details: Object.fromEntries(Object.entries(details).map(([key, rate]) => [key, divide(rate, 2n)])),
  })
  const without = ({ base, details }: Rates): Rates => ({
    base,
    details: Object.fromEntries(
      Object.entries(details).filter(([key]) => !/^(?:priority|batch|fast|scale)(?:_|$)/.test(key)),
    ),
  })
  addTier(sides, tier, { input: half(without(sides.input)), output: half(without(sides.output)) })
}

function unitRates(prices: DataPrices, inputTokens: number): Record<string, Decimal> {
  const units: Record<string, Decimal> = {}
  for (const [unit, keys] of Object.entries(UNIT_KEYS)) {
    const rate = keys
      .map(([key, per]) => rateOf(prices[key], inputTokens, per))
      .find((it) => it !== undefined)
    if (rate !== undefined) units[unit] = rate
  }
  return units
}

/** The rate of a request: that of the highest threshold that its prompt exceeds, for all of its tokens. */
function rateOf(price: DataPrice | undefined, inputTokens: number, per: bigint): Decimal | undefined {
  let dollars = typeof price === 'object' ? price.base : price
  if (typeof price === 'object') {
    const reached = price.tiers.filter((tier) => inputTokens > tier.start)
    dollars = reached.reduce((most, tier) => (tier.start >= most.start ? tier : most), {
      start: -1,
      price: price.base,
    }).price
  }
  const whole = parseDecimal(dollars)
  return whole === undefined ? undefined : divide(whole, per)
}
