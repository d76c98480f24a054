/** A token bucket that fills within a minute. */
export interface Bucket {
  /** Tokens that are not back yet; more than `per_minute` after a request that was larger than the bucket. */
  used: number
  per_minute: number
  /** Time of `used`, in steady milliseconds. */
  at: number
}

export const MINUTE_MS = 60_000
/** A request that comes this early passes, because timers of clients are not exact. */
export const EARLY_MS = 20

/** The bucket at `now`; a new one is full. */
export function refilled(bucket: Bucket | undefined, per_minute: number, now: number): Bucket {
  if (bucket === undefined) return { used: 0, per_minute, at: now }
  const back = (Math.max(0, now - bucket.at) * per_minute) / MINUTE_MS
  return { used: Math.max(0, bucket.used - back), per_minute, at: now }
}

/** Milliseconds until the bucket has `cost`; a cost above its size passes when it is full. */
export function waitFor({ used, per_minute }: Bucket, cost: number): number {
  const missing = Math.min(cost, per_minute) - (per_minute - used)
  return missing <= 0 ? 0 : (missing * MINUTE_MS) / per_minute
}
