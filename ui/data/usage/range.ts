import { midnight } from '../filter/ranges.ts'

/**
 * The ranges that a report can have, back from now. The server chooses the size of the buckets by the length of the
 * range.
 */
export const USAGE_RANGES = [
  ['30d', 'Last 30 days'],
  ['12h', 'Last 12 hours'],
  ['today', 'Today (UTC)'],
  ['yesterday', 'Yesterday (UTC)'],
  ['7d', 'Last 7 days'],
  ['90d', 'Last 90 days'],
  ['365d', 'Last 365 days'],
  ['month', 'This month (UTC)'],
] as const
export type RangeName = (typeof USAGE_RANGES)[number][0]

/** ISO times; `from` is included and `to` is not. */
export interface UsageRange {
  from: string
  to: string
}

const HOUR_MS = 3_600_000

/** The range in whole hours or days of UTC, up to the end of the current hour or day. */
export function rangeOf(name: RangeName, now: number): UsageRange {
  if (name === 'month') return monthOf(now)
  if (name === 'today') return { from: midnight(now, 'utc'), to: midnight(now, 'utc', 1) }
  if (name === 'yesterday') return { from: midnight(now, 'utc', -1), to: midnight(now, 'utc') }
  const unit = name.endsWith('h') ? HOUR_MS : 24 * HOUR_MS
  const end = (Math.floor(now / unit) + 1) * unit
  const from = end - Number.parseInt(name, 10) * unit
  return { from: new Date(from).toISOString(), to: new Date(end).toISOString() }
}

/** The current month of UTC, in which limits count. */
export function monthOf(now: number): UsageRange {
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const start = (index: number): string => new Date(Date.UTC(year, index)).toISOString()
  return { from: start(month), to: start(month + 1) }
}

/** The range `from` to `to`. An end that is '' is taken from `usual`. */
export function customRangeOf({ from, to }: UsageRange, usual: UsageRange): UsageRange {
  return { from: from === '' ? usual.from : from, to: to === '' ? usual.to : to }
}
