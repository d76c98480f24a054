import type { Stride } from './source.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The longest range in whole days for each bucket size; for longer ranges the size is a year. */
const LADDER: readonly { up_to: number; stride: Stride }[] = [
  { up_to: 0, stride: { days: 0, hours: 1 } },
  { up_to: 31, stride: { days: 1, hours: 0 } },
  { up_to: 93, stride: { days: 7, hours: 0 } },
  { up_to: 366, stride: { days: 30, hours: 0 } },
]

/** The bucket size for a range, by its whole days. Times in epoch milliseconds. */
export function chooseStride(start: number, end: number): Stride {
  const days = Math.floor((end - start) / DAY)
  return LADDER.find(({ up_to }) => days <= up_to)?.stride ?? { days: 365, hours: 0 }
}

/** Milliseconds of a bucket. */
export function strideMillis({ days, hours }: Stride): number {
  return days * DAY + hours * HOUR
}

/** Start of the first bucket: the UTC hour or the UTC day of `start`. Epoch milliseconds. */
export function bucketOrigin(start: number, { hours }: Stride): number {
  const unit = hours > 0 ? HOUR : DAY
  return Math.floor(start / unit) * unit
}

/** Start of the bucket that contains `time`, with buckets counted from `origin`. All in epoch milliseconds. */
export function bucketOf(time: number, origin: number, stride: Stride): number {
  const size = strideMillis(stride)
  return origin + Math.floor((time - origin) / size) * size
}
