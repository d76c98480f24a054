/** Epoch microseconds of an ISO time with up to six decimals of a second; undefined for any other text. */
export function microsOf(time: string | null | undefined): number | undefined {
  if (time === null || time === undefined) return undefined
  const millis = Date.parse(time)
  if (Number.isNaN(millis)) return undefined
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ''
  return Math.floor(millis / 1000) * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

/** Microseconds from one time to another; undefined when one is not known. */
export function microsBetween(start?: string | null, end?: string | null): number | undefined {
  const [from, to] = [microsOf(start), microsOf(end)]
  return from === undefined || to === undefined ? undefined : to - from
}

const SAME_DAY = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const SAME_YEAR = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const ANY = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' })

/** A time in the reader's zone, as short as it can be beside `now`. */
export function shortTime(time: string, now: Date = new Date()): string {
  const date = new Date(time)
  if (date.toDateString() === now.toDateString()) return SAME_DAY.format(date)
  return (date.getFullYear() === now.getFullYear() ? SAME_YEAR : ANY).format(date)
}

const MINUTE_MS = 60_000

/** A time as fields of a form have it, in the reader's zone: `2026-11-22T10:30:00`; '' for what is no time. */
export function localText(time: string): string {
  if (time === '' || Number.isNaN(Date.parse(time))) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19)
}

/** The ISO time of such a field; '' for an empty one. */
export function isoOfLocal(local: unknown): string {
  return typeof local === 'string' && local !== '' ? new Date(local).toISOString() : ''
}
