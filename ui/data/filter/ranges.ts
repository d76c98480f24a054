/** The named ranges of lists, by their words in addresses. */
export const RANGES = [
  ['all', 'Any time'],
  ['1h', 'Last hour'],
  ['1d', 'Last 24 hours'],
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['month', 'This month'],
] as const
export type RangeWord = (typeof RANGES)[number][0]
export const RANGE_WORDS = RANGES.map(([word]) => word) as [RangeWord, ...RangeWord[]]

/** The zone whose days are meant: that of the browser, or UTC. */
type Zone = 'local' | 'utc'

/** Both ends as ISO times; '' for no limit. */
export interface RangeEnds {
  since: string
  until: string
}

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]
const HOURS: Partial<Record<RangeWord, number>> = { '1h': 1, '1d': 24, '7d': 168, '30d': 720 }

/** The midnight of a zone that is `days` days after the one before `now`, as ISO time. */
export function midnight(now: number, zone: Zone, days = 0): string {
  const date = new Date(now)
  const time =
    zone === 'utc'
      ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + days)
      : new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
  return new Date(time).toISOString()
}

function monthStart(now: number, zone: Zone): string {
  const date = new Date(now)
  const day = zone === 'utc' ? date.getUTCDate() : date.getDate()
  return midnight(now, zone, 1 - day)
}

/**
 * The ends of a named range. Days and months are those of the zone; other starts are cut to a minute, so that a list
 * keeps its cache key for that long.
 */
export function endsOf(range: RangeWord, zone: Zone, now = Date.now()): RangeEnds {
  const hours = HOURS[range]
  if (hours !== undefined) {
    const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
    return { since: new Date(minute - hours * HOUR_MS).toISOString(), until: '' }
  }
  if (range === 'today') return { since: midnight(now, zone), until: '' }
  if (range === 'yesterday') return { since: midnight(now, zone, -1), until: midnight(now, zone) }
  if (range === 'month') return { since: monthStart(now, zone), until: '' }
  return { since: '', until: '' }
}
