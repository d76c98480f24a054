import type { Bucket, Interval } from '../../../data/overview/buckets.ts'
import { type Tick, timeTicks } from '../../../parts/chart/time-ticks.ts'
import { readPreference } from '../../../parts/preferences.ts'

const DAY_MS = 86_400_000
const TIME = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const

/** The start of a bucket in the chosen time zone; buckets of days are days of UTC and shown as such. */
export function bucketText({ start }: Bucket, { size }: Interval): string {
  if (size >= DAY_MS) return start.slice(0, 10)
  const zone = readPreference('zone') === 'utc' ? { timeZone: 'UTC' } : {}
  const options = { ...TIME, ...(size < 60_000 && { second: '2-digit' as const }), ...zone }
  return new Intl.DateTimeFormat(undefined, options).format(new Date(start))
}

/** The ticks of the time axis over these buckets, in the same zone. */
export function bucketTicks(buckets: readonly Bucket[], { size }: Interval): Tick[] {
  const zone = size >= DAY_MS ? 'utc' : readPreference('zone')
  return timeTicks(
    buckets.map(({ start }) => start),
    zone === 'utc' ? 'utc' : 'local',
  )
}
