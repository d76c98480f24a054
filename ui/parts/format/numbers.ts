import { compareDecimals, fixedDecimal, roundDecimal } from './decimal.ts'

/** Shown for an unknown value. */
export const UNKNOWN = '–'

/**
 * Matches the places where thousands begin in a text of digits. It replaces Intl.NumberFormat, which takes as long to
 * make as a list takes to draw.
 */
const THOUSANDS = /\B(?=(?:\d{3})+$)/g

function isUnknown(value: number | null | undefined): value is null | undefined {
  return value === null || value === undefined || Number.isNaN(value)
}

/** A count as text, with at most three decimals: `12,345`. NaN is unknown. */
export function countText(value: number | null | undefined): string {
  if (isUnknown(value)) return UNKNOWN
  const [whole = '', part] = String(Number(value.toFixed(3))).split('.')
  if (/[^\d-]/.test(whole)) return whole
  return whole.replace(THOUSANDS, ',') + (part === undefined ? '' : `.${part}`)
}

/** A count as short text, for narrow columns: `987`, `12.3k`, `4.56M`. */
export function shortCount(value: number | null | undefined): string {
  if (isUnknown(value)) return UNKNOWN
  for (const [size, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const) {
    if (value >= size) return `${Number((value / (letter === 'k' ? 1e3 : size)).toPrecision(3))}${letter}`
  }
  return countText(value)
}

/** Dollars with all digits: `$0.0000152`. */
export function exactMoney(value: string | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : `$${value}`
}

/** Dollars in three significant digits, for narrow columns: `$0.0121`. */
export function shortMoney(value: string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  return `$${roundDecimal(value, 3) ?? value}`
}

/** `1 call`, `2 calls`. */
export function callsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'call' : 'calls'}`
}

const LEAST_SHOWN = '0.0001'

/**
 * Dollars for columns of tables, with four decimals, so that the points of all rows are below each other; `<$0.0001`
 * for less. Amounts of a thousand and more have two decimals.
 */
export function columnMoney(value: string): string {
  if (compareDecimals(value, '0') > 0 && compareDecimals(value, LEAST_SHOWN) < 0) return '<$0.0001'
  const [whole = '0', part = ''] = fixedDecimal(value, Math.abs(Number(value)) >= 1000 ? 2 : 4).split('.')
  return `$${whole.replace(THOUSANDS, ',')}.${part}`
}

/** Microseconds as text: `0.4 ms`, `12 ms`, `1.23 s`, `2 m 5 s`. */
export function durationText(micros: number | null | undefined): string {
  if (micros === null || micros === undefined) return UNKNOWN
  if (micros < 1000) return `${micros} µs`
  if (micros < 10_000) return `${(micros / 1000).toFixed(1)} ms`
  if (micros < 1e6) return `${Math.round(micros / 1000)} ms`
  if (micros < 6e7) return `${Number((micros / 1e6).toPrecision(3))} s`
  const seconds = Math.round(micros / 1e6)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  return hours > 0 ? `${hours} h ${minutes} m` : `${minutes} m ${seconds % 60} s`
}

/** A duration for columns of tables, with all three digits, so that seconds can be compared at a glance: `2.00 s`. */
export function columnDuration(micros: number | null | undefined): string {
  if (micros === null || micros === undefined || micros < 1e6 || micros >= 6e7) return durationText(micros)
  return `${(micros / 1e6).toFixed(2)} s`
}

/** A share between 0 and 1 as text: `12.3%`. */
export function shareText(share: number | null | undefined): string {
  if (share === null || share === undefined) return UNKNOWN
  return `${Number((share * 100).toFixed(1))}%`
}

/** Bytes as text, in powers of 1024: `1.5 MB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${units[power] ?? 'B'}`
}
