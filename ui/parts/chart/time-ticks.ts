import type { Zone } from '../format/times.ts'

/** A text at the left edge of a place on the time axis. */
export interface Tick {
  at: number
  text: string
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MONTH_MS = 28 * DAY_MS
/** Distances of ticks, in minutes. */
const DISTANCES = [1, 5, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160, 40_320, 120_960, 525_600]
/** Most ticks of an axis, so that their texts have room in a chart of half a page. */
const MOST = 8
/** Share of the axis that the text of the last tick needs before the end. */
const ROOM = 0.1
/** Share that the first one needs, which may be followed by another after less than a whole unit. */
const FIRST_ROOM = 0.15

interface Formats {
  time: Intl.DateTimeFormat
  day: Intl.DateTimeFormat
  month: Intl.DateTimeFormat
}

function formatsOf(zone: Zone): Formats {
  const inZone = zone === 'utc' ? { timeZone: 'UTC' } : {}
  return {
    time: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', ...inZone }),
    day: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', ...inZone }),
    month: new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', ...inZone }),
  }
}

/** The places at which a new unit of this many milliseconds begins, and the first place, as far as their texts have room. */
function placesOf(locals: readonly number[], unit: number): number[] {
  const unitAt = (place: number): number => Math.floor((locals[place] ?? 0) / unit)
  const places = locals.flatMap((_, place) =>
    place === 0 || unitAt(place) !== unitAt(place - 1) ? [place] : [],
  )
  const [, second = Infinity, third = Infinity] = places
  const isCut = second < Math.min(FIRST_ROOM * locals.length, third - second)
  return places.filter((place, at) => (at === 0 ? !isCut : place <= (1 - ROOM) * locals.length))
}

/** True if the texts need more room than a chart of a third of a page has. */
export function isCrowded(ticks: readonly Tick[]): boolean {
  return ticks.length > 5 && ticks.some(({ text }) => text.length > 6)
}

/** Ticks at whole hours, days or weeks for places that start at these ISO times; a tick in a new day names the day. */
export function timeTicks(starts: readonly string[], zone: Zone): Tick[] {
  const dates = starts.map((start) => new Date(start))
  const locals = dates.map((date) => {
    const behind = zone === 'utc' ? 0 : date.getTimezoneOffset() * MINUTE_MS
    return date.getTime() - behind
  })
  const units = DISTANCES.map((minutes) => minutes * MINUTE_MS)
  const unit = units.find((one) => placesOf(locals, one).length <= MOST) ?? units.at(-1) ?? DAY_MS
  const places = placesOf(locals, unit)
  const { time, day, month } = formatsOf(zone)
  const dayAt = (place: number): number => Math.floor((locals[place] ?? 0) / DAY_MS)
  return places.map((place, at) => {
    const date = dates[place] ?? new Date(0)
    if (unit >= MONTH_MS) return { at: place, text: month.format(date) }
    const before = places[at - 1]
    const isNewDay = before === undefined || dayAt(before) !== dayAt(place)
    const spans = dayAt(0) !== dayAt(locals.length - 1)
    return { at: place, text: unit >= DAY_MS || (isNewDay && spans) ? day.format(date) : time.format(date) }
  })
}
