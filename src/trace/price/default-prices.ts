import {
  type ConditionalPrice,
  type ModelInfo,
  type ModelPrice,
  type PriceCalculation,
  type TieredPrices,
  calcPrice,
  waitForUpdate,
} from '@pydantic/genai-prices'
import { type Decimal, divide, parseDecimal } from './decimal.ts'
import { candidates } from './default-price-match.ts'
import type { Price, PriceQuery, PriceSource, Rates } from './price.ts'

/** Maximum number of models whose prices are cached, since clients choose the names. */
const MAX_KNOWN = 5_000
const PER_MILLION = 1_000_000n

/** The names of the price data for the detail keys of usage_metadata. */
const INPUT_KEYS: Readonly<Record<string, readonly string[]>> = {
  cache_read: ['cache_read_mtok'],
  ephemeral_1h_input_tokens: ['cache_write_1h_mtok', 'cache_write_mtok'],
  ephemeral_5m_input_tokens: ['cache_write_5m_mtok', 'cache_write_mtok'],
  cache_creation: ['cache_write_mtok'],
  audio: ['input_audio_mtok'],
  image: ['input_image_mtok'],
  video: ['input_video_mtok'],
  text: ['input_text_mtok'],
}
const OUTPUT_KEYS: Readonly<Record<string, readonly string[]>> = {
  reasoning: ['output_reasoning_mtok'],
  audio: ['output_audio_mtok'],
  image: ['output_image_mtok'],
  video: ['output_video_mtok'],
  text: ['output_text_mtok'],
}

/** The price data of this release; package.json pins it. */
export interface PriceData {
  package: string
  version: string
  /** Start date of the newest price that has taken effect, e.g. `2026-09-01`. */
  newest_price: string
}

/** The version and age of the price data; `now` in epoch milliseconds. */
export async function describePriceData(now: number): Promise<PriceData> {
  let newest_price = ''
  const today = new Date(now).toISOString().slice(0, 10)
  for (const { models } of (await waitForUpdate()) ?? []) {
    for (const { prices } of models) {
      for (const { constraint } of isConditional(prices) ? prices : []) {
        if (constraint?.type !== 'start_date' || constraint.start_date > today) continue
        if (constraint.start_date > newest_price) newest_price = constraint.start_date
      }
    }
  }
  return { package: '@pydantic/genai-prices', version: '0.1.8', newest_price }
}

/** Names of the priced models by the provider's id in the data, in the order of the data. */
export async function listPricedModels(): Promise<Readonly<Record<string, readonly string[]>>> {
  const providers = (await waitForUpdate()) ?? []
  return Object.fromEntries(providers.map(({ id, models }) => [id, models.map((model) => model.id)]))
}

interface Found {
  provider: string
  model: ModelInfo
}

/** The default prices: the data of genai-prices, with Weir's look-up of names and Weir's formula. */
export function createDefaultPrices(): PriceSource {
  const known = new Map<string, Found | null>()
  const resolve = (model: string, provider: string | undefined): Found | null => {
    const key = `${provider ?? ''}\n${model}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    if (known.size >= MAX_KNOWN) known.clear()
    const found = firstFound(model, provider)
    known.set(key, found)
    return found
  }
  const converted = new WeakMap<ModelPrice, Map<number, Omit<Price, 'price_model_id'>>>()
  return {
    find({ model, provider, at, input_tokens }: PriceQuery): Price | undefined {
      if (model === undefined) return undefined
      const found = resolve(model, provider)
      if (!found) return undefined
      const { prices, since } = pricesAt(found.model.prices, at)
      let byTier = converted.get(prices)
      if (!byTier) converted.set(prices, (byTier = new Map()))
      const tier = tierStart(prices, input_tokens ?? 0)
      let rates = byTier.get(tier)
      if (!rates) byTier.set(tier, (rates = toPrice(prices, input_tokens ?? 0, found.provider)))
      const id = `genai-prices:${found.provider}/${found.model.id}`
      return { ...rates, price_model_id: since === undefined ? id : `${id}@${since}` }
    },
  }
}

function firstFound(model: string, provider: string | undefined): Found | null {
  for (const candidate of candidates(model, provider)) {
    const price = lookUp(candidate.model, candidate.provider)
    if (price && isSameVersion(model, price.model.id))
      return { provider: price.provider.id, model: price.model }
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

/** Looks up a price. The package checks its data during a lookup; a faulty entry counts as no price. */
function lookUp(model: string, providerId: string | undefined): PriceCalculation | null {
  try {
    return calcPrice({ input_tokens: 0 }, model, providerId === undefined ? {} : { providerId })
  } catch {
    return null
  }
}

/** The prices at a moment: the last matching entry, by the rule of the data; the first entry if none matches. */
function pricesAt(
  prices: ConditionalPrice[] | ModelPrice,
  at: number,
): { prices: ModelPrice; since: string | undefined } {
  if (!isConditional(prices)) return { prices, since: undefined }
  const time = new Date(at / 1000)
  for (let i = prices.length - 1; i >= 0; i--) {
    const { constraint, prices: those } = prices[i]!
    if (constraint === undefined) return { prices: those, since: undefined }
    if (constraint.type === 'start_date') {
      if (time >= new Date(constraint.start_date)) return { prices: those, since: constraint.start_date }
    } else if (isWithin(time, constraint.start_time, constraint.end_time)) {
      return { prices: those, since: undefined }
    }
  }
  return { prices: prices[0]!.prices, since: undefined }
}

function isConditional(prices: ConditionalPrice[] | ModelPrice): prices is ConditionalPrice[] {
  return Array.isArray(prices)
}

/** Hours of the day such as `16:30:00Z`; they may reach over midnight. */
function isWithin(time: Date, start: string, end: string): boolean {
  const day = '2000-01-01T'
  const seconds = (clock: string): number => (((Date.parse(day + clock) / 1000) % 86_400) + 86_400) % 86_400
  const now = (time.getTime() / 1000) % 86_400
  const [from, to] = [seconds(start), seconds(end)]
  return to < from ? now >= from || now < to : now >= from && now < to
}

/** The highest threshold that a prompt exceeds; 0 if it exceeds none. */
function tierStart(prices: ModelPrice, inputTokens: number): number {
  let start = 0
  for (const price of Object.values(prices)) {
    if (typeof price !== 'object') continue
    for (const tier of price.tiers) if (inputTokens > tier.start) start = Math.max(start, tier.start)
  }
  return start
}

function toPrice(prices: ModelPrice, inputTokens: number, provider: string): Omit<Price, 'price_model_id'> {
  const amount = (key: string): Decimal | undefined => rateOf(prices[key], inputTokens)
  const input = toRates(amount, 'input_mtok', INPUT_KEYS)
  const output = toRates(amount, 'output_mtok', OUTPUT_KEYS)
  const calls = prices['requests_kcount']
  return {
    input: provider === 'openai' ? withFlex(input) : input,
    output: provider === 'openai' ? withFlex(output) : output,
    request: typeof calls === 'number' ? divide(parseDecimal(calls) ?? 0n, 1000n) : 0n,
  }
}

function toRates(
  amount: (key: string) => Decimal | undefined,
  base: string,
  keys: Readonly<Record<string, readonly string[]>>,
): Rates {
  const details: Record<string, Decimal> = {}
  for (const [detail, names] of Object.entries(keys)) {
    const rate = names.map(amount).find((it) => it !== undefined)
    if (rate !== undefined) details[detail] = rate
  }
  return { base: amount(base), details }
}

/** The rate of a request: that of the highest threshold that its prompt exceeds, for all of its tokens. */
function rateOf(price: number | TieredPrices | undefined, inputTokens: number): Decimal | undefined {
  let dollars = typeof price === 'object' ? price.base : price
  if (typeof price === 'object') {
    const reached = price.tiers.filter((tier) => inputTokens > tier.start)
    dollars = reached.reduce((most, tier) => (tier.start >= most.start ? tier : most), {
      start: -1,
      price: price.base,
    }).price
  }
  const perMillion = parseDecimal(dollars)
  return perMillion === undefined ? undefined : divide(perMillion, PER_MILLION)
}

/**
 * Adds the rates of OpenAI's flex processing, which are half of the standard rates. The data contains only the
 * standard rates.
 */
function withFlex({ base, details }: Rates): Rates {
  if (base === undefined) return { base, details }
  const flex: Record<string, Decimal> = { flex: divide(base, 2n) }
  for (const [key, rate] of Object.entries(details)) flex[`flex_${key}`] = divide(rate, 2n)
  return { base, details: { ...details, ...flex } }
}
