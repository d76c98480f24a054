import { createRequire } from 'node:module'

/** A price of a unit; one with tiers depends on the number of tokens of the whole prompt. */
export type DataPrice = number | { base: number; tiers: { start: number; price: number }[] }
/** Prices under the keys of genai-prices: `input_mtok`, `web_searches_kcount`, `audio_hours`, … */
export type DataPrices = Readonly<Record<string, DataPrice>>

/** When an entry holds: from a day on, or between two times of the day; always if nothing is stated. */
interface Validity {
  since?: string
  from?: string
  to?: string
}

/** Prices of calls with a condition: those of a tier, or a factor for all standard ones. */
export interface DataVariant extends Validity {
  when: Readonly<Record<string, string>>
  prices?: DataPrices
  factor?: number
}

interface Clause {
  equals?: string
  starts_with?: string
  ends_with?: string
  contains?: string
  regex?: string
  or?: Clause[]
  and?: Clause[]
}

export interface DataModel {
  id: string
  match: Clause
  prices: (Validity & { prices: DataPrices })[]
  variants?: DataVariant[]
}

export interface DataProvider {
  id: string
  model_match?: Clause
  /** Ids of providers whose prices are used for models that this provider lacks. */
  fallback?: string[]
  models: DataModel[]
}

/** The price data of this release, made by scripts/generate/price-data.py. */
export interface DataFile {
  sources: { package: string; version: string; licence: string; owner: string }[]
  providers: DataProvider[]
}

export function loadPriceData(): DataFile {
  return createRequire(import.meta.url)('./prices.json') as DataFile
}

/** The model of a name, and the provider in whose list it is; undefined if no list has it. */
export function findModelPrice(
  { providers }: DataFile,
  model: string,
  providerId: string | undefined,
): { provider: string; model: DataModel } | undefined {
  const name = model.toLowerCase()
  const provider =
    providerId === undefined
      ? providers.find((it) => it.model_match !== undefined && fits(it.model_match, name))
      : providers.find((it) => it.id === providerId)
  if (provider === undefined) return undefined
  for (const id of [provider.id, ...(provider.fallback ?? [])]) {
    const found = providers.find((it) => it.id === id)?.models.find((it) => fits(it.match, name))
    if (found !== undefined) return { provider: provider.id, model: found }
  }
  return undefined
}

function fits(clause: Clause, name: string): boolean {
  const { equals, starts_with, ends_with, contains, regex, or, and } = clause
  if (or !== undefined) return or.some((it) => fits(it, name))
  if (and !== undefined) return and.every((it) => fits(it, name))
  if (equals !== undefined) return name === equals.toLowerCase()
  if (starts_with !== undefined) return name.startsWith(starts_with.toLowerCase())
  if (ends_with !== undefined) return name.endsWith(ends_with.toLowerCase())
  if (contains !== undefined) return name.includes(contains.toLowerCase())
  return regex !== undefined && new RegExp(regex).test(name)
}

/** Whether an entry holds at a time in epoch microseconds. */
export function isValidAt({ since, from, to }: Validity, at: number): boolean {
  const time = new Date(at / 1000)
  if (since !== undefined) return time >= new Date(since)
  return from === undefined || to === undefined || isWithin(time, from, to)
}

/** Hours of the day such as `16:30:00Z`; they may reach over midnight. */
function isWithin(time: Date, start: string, end: string): boolean {
  const day = '2000-01-01T'
  const clock = (text: string): number => {
    const stated = Date.parse(day + text)
    const utc =
      Number.isNaN(stated) || !/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(`${day}${text}Z`) : stated
    return (((utc / 1000) % 86_400) + 86_400) % 86_400
  }
  const now = (time.getTime() / 1000) % 86_400
  const [from, to] = [clock(start), clock(end)]
  return to < from ? now >= from || now < to : now >= from && now < to
}
