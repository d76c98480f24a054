/** A part of a time axis; ISO times, the end is not included. */
export interface Bucket {
  start: string
  end: string
}

/** A range of time: ISO times, the end is not included. */
export interface Span {
  from: string
  to: string
}

/** Length of buckets: as the server writes it, and in milliseconds. */
export interface Interval {
  text: string
  size: number
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const INTERVALS: readonly Interval[] = [
  ...['1s', '5s', '15s', '30s', '1m', '2m', '5m', '10m', '15m', '30m', '1h', '2h', '3h', '6h', '12h'],
  ...['1d', '2d', '7d', '14d', '30d', '90d', '365d', '3650d'],
].map((text) => ({
  text,
  size: Number.parseInt(text, 10) * UNITS[text.slice(-1) as keyof typeof UNITS],
}))
/** Maximum number of bars, because more are hard to tell apart. */
const MOST_BUCKETS = 60
const [LONGEST] = INTERVALS.slice(-1) as [Interval]

/** The shortest interval that makes at most 60 buckets of a range. */
export function intervalOf(from: string, to: string): Interval {
  const span = Date.parse(to) - Date.parse(from)
  return INTERVALS.find(({ size }) => span / size <= MOST_BUCKETS) ?? LONGEST
}

/** All buckets of a range. They begin at multiples of the interval in UTC; the first and the last one are cut to the range. */
export function bucketsOf(from: string, to: string, { size }: Interval): Bucket[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const buckets: Bucket[] = []
  for (let at = Math.floor(first / size) * size; at < last; at += size) {
    buckets.push({
      start: new Date(Math.max(at, first)).toISOString(),
      end: new Date(Math.min(at + size, last)).toISOString(),
    })
  }
  return buckets
}

/** Index of the bucket that contains `time`, counted from the bucket that contains `from`. */
export function placeOfBucket(time: string, from: string, { size }: Interval): number {
  return Math.floor(Date.parse(time) / size) - Math.floor(Date.parse(from) / size)
}

const MINUTE_MS = 60_000

/** The ends of a range as the user chose them. */
export interface Ends {
  /**
   * ISO time. If the user chose no start, that of the first run: null if there is no run, undefined before it is known.
   */
  from: string | null | undefined
  /** ISO time; '' for no end. */
  until: string
}

/** The range whose figures are read now. Without a chosen end, it ends at the next whole minute. */
export function spanOf(from: Ends['from'], until: string): Span | undefined {
  if (from === null || from === undefined) return undefined
  const end =
    until === '' ? new Date((Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS).toISOString() : until
  const start = new Date(Math.floor(Date.parse(from) / 1000) * 1000).toISOString()
  return start < end ? { from: start, to: end } : undefined
}
