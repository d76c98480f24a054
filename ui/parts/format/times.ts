/** Epoch microseconds of an ISO time with up to six decimals of a second; undefined for any other text. */
export function microsOf(time: string | null | undefined): number | undefined {
  if (time === null || time === undefined) return undefined
  const millis = Date.parse(time)
  if (Number.isNaN(millis)) return undefined
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? ''
  return Math.floor(millis / 1000) * 1e6 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

/** Microseconds from one time to another, at least 0: clients send ends before starts. Undefined when one is not known. */
export function microsBetween(start?: string | null, end?: string | null): number | undefined {
  const [from, to] = [microsOf(start), microsOf(end)]
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from)
}

/** The zone in which times are shown: that of the browser, or UTC. */
export type Zone = 'local' | 'utc'

function formatsOf(zone: Zone) {
  const inZone = zone === 'utc' ? { timeZone: 'UTC' } : {}
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(undefined, { ...options, ...inZone })
  return {
    day: format({ year: 'numeric', month: 'numeric', day: 'numeric' }),
    year: format({ year: 'numeric' }),
    sameDay: format({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    sameYear: format({ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }),
    any: format({ year: 'numeric', month: 'short', day: 'numeric' }),
  }
}

const FORMATS = { local: formatsOf('local'), utc: formatsOf('utc') }

/** A time without the date if it is of the same day as `now`, and without the year if it is of the same year. */
export function shortTime(time: string, zone: Zone = 'local', now: Date = new Date()): string {
  const date = new Date(time)
  const { day, year, sameDay, sameYear, any } = FORMATS[zone]
  if (day.format(date) === day.format(now)) return sameDay.format(date)
  return (year.format(date) === year.format(now) ? sameYear : any).format(date)
}

const MINUTE_MS = 60_000

/** A time in the form of input fields, such as `2026-11-22T10:30:00`; '' for an invalid time. */
export function localText(time: string, zone: Zone = 'local'): string {
  if (time === '' || Number.isNaN(Date.parse(time))) return ''
  const date = new Date(time)
  const ahead = zone === 'utc' ? 0 : date.getTimezoneOffset() * MINUTE_MS
  return new Date(date.getTime() - ahead).toISOString().slice(0, 19)
}

/** The ISO time for the text of an input field for times; '' for an empty one. */
export function isoOfLocal(local: unknown, zone: Zone = 'local'): string {
  if (typeof local !== 'string' || local === '') return ''
  return new Date(zone === 'utc' ? `${local}Z` : local).toISOString()
}
