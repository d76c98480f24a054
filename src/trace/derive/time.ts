/**
 * Tolerance, in microseconds, for comparing times of a TraceRun: the JS client writes its execution order into the last
 * three digits of start_time, while its other times are whole milliseconds.
 */
export const SUB_MILLISECOND = 999

/** Earliest time that is kept, in microseconds: 1900-01-01, the minimum of the store's DateTime64. */
const MIN_MICROS = -2_208_988_800_000_000
/** Limit below which numbers are seconds; others are milliseconds. 1e11 s is the year 5138, 1e11 ms is March 1973. */
const SECONDS_LIMIT = 1e11

const OFFSET = /^(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?$/
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/**
 * Parses a time that a client sent, to microseconds since 1970-01-01 UTC: ISO 8601 (`T` or a space; seconds and
 * fraction optional; digits beyond microseconds are cut off; offset or `Z`, without them UTC), or a number of epoch
 * milliseconds, which counts as seconds if it is below 1e11. Undefined for any other value, a date that does not exist,
 * or a time outside of 1900 to 2255 (2^53 microseconds).
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value === 'string') return parseIso(value)
  if (typeof value !== 'number') return undefined
  return bounded(Math.round(Math.abs(value) < SECONDS_LIMIT ? value * 1e6 : value * 1e3))
}

/**
 * Formats `micros` as ISO 8601 in UTC: `2026-11-20T08:59:22.841Z`, with six digits unless it is a whole millisecond.
 */
export function formatTime(micros: number): string {
  const millis = Math.floor(micros / 1000)
  const rest = micros - millis * 1000
  const iso = new Date(millis).toISOString()
  return rest === 0 ? iso : `${iso.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** Days from 1970-01-01 to a date of the Gregorian calendar (month 1 to 12). */
export function daysFromDate(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  )
}

/** Microseconds of a date and a time of day, or undefined if they do not exist. Second 60 is the next minute. */
export function microsOf(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  fraction: number,
): number | undefined {
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= DAYS_IN_MONTH[month - 1]!)) return undefined
  if (month === 2 && day === 29 && (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0)))
    return undefined
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return undefined
  const seconds = daysFromDate(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
  return bounded(seconds * 1e6 + fraction)
}

function bounded(micros: number): number | undefined {
  return micros >= MIN_MICROS && micros <= Number.MAX_SAFE_INTEGER ? micros : undefined
}

/** The decimal digits of `text` in [from, to) as a number; NaN if a character is not a digit. */
export function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

function parseIso(text: string): number | undefined {
  if (text.length < 10 || text.length > 64 || text[4] !== '-' || text[7] !== '-') return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  if (Number.isNaN(year + month + day)) return undefined
  if (text.length === 10) return microsOf(year, month, day, 0, 0, 0, 0)
  const separator = text[10]
  if ((separator !== 'T' && separator !== 't' && separator !== ' ') || text[13] !== ':') return undefined
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  let second = 0
  let fraction = 0
  let at = 16
  if (text[16] === ':') {
    second = digits(text, 17, 19)
    at = 19
    if (text[19] === '.' || text[19] === ',') {
      at = endOfDigits(text, 20)
      if (at === 20) return undefined
      fraction = microsOfFraction(text, 20, at)
    }
  }
  const local = microsOf(year, month, day, hour, minute, second, fraction)
  const offset = offsetMinutes(text, at)
  if (local === undefined || offset === undefined) return undefined
  return offset === 0 ? local : bounded(local - offset * 60_000_000)
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++
  return at
}

/** Fraction digits as microseconds: `5` is 500000; digits after the sixth are cut off. */
function microsOfFraction(text: string, from: number, to: number): number {
  const kept = Math.min(to, from + 6)
  return digits(text, from, kept) * 10 ** (6 - (kept - from))
}

/** Minutes east of UTC of the offset at the end of `text`; 0 without an offset, undefined for a malformed one. */
function offsetMinutes(text: string, at: number): number | undefined {
  if (at === text.length || (at === text.length - 1 && text[at] === 'Z')) return 0
  const match = OFFSET.exec(text.slice(at))
  if (match === null) return undefined
  const [, sign, hours, minutes] = match
  if (sign === undefined) return 0
  if (Number(hours) > 23 || Number(minutes ?? 0) > 59) return undefined
  const total = Number(hours) * 60 + Number(minutes ?? 0)
  return sign === '-' ? -total : total
}
