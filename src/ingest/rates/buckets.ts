import type { Clock } from '../../base/clock.ts'
import { RecentMap } from '../../base/recent-map.ts'
import { type Bucket, EARLY_MS, refilled, waitFor } from './bucket.ts'

/** What a request takes from one bucket. */
export interface Draw {
  key: string
  per_minute: number
  cost: number
}

export interface Drawn {
  isTaken: boolean
  /** The buckets afterwards, in the order of the draws. */
  buckets: Bucket[]
}

export interface Buckets {
  /**
   * Takes every cost from its bucket, or nothing if one of them has too little. With `force` the costs are always taken.
   */
  take(draws: readonly Draw[], force: boolean): Drawn | Promise<Drawn>
}

/** The newest buckets are kept; a dropped one is full again. */
const MAX_BUCKETS = 100_000

/** Buckets in the memory of this server, each with the server's share of the limit. */
export function createLocalBuckets({
  clock,
  servers,
}: {
  clock: Pick<Clock, 'steady'>
  /** Number of servers that share the limits. */
  servers(): number
}): Buckets {
  const kept = new RecentMap<string, Bucket>(MAX_BUCKETS)
  return {
    take(draws, force) {
      const now = clock.steady()
      const share = servers()
      const buckets = draws.map(({ key, per_minute }) => refilled(kept.get(key), per_minute / share, now))
      const isTaken = force || buckets.every((bucket, i) => waitFor(bucket, draws[i]!.cost) <= EARLY_MS)
      for (const [i, { key, cost }] of draws.entries()) {
        const bucket = buckets[i]!
        if (isTaken) bucket.used += cost
        kept.set(key, bucket)
      }
      return { isTaken, buckets }
    },
  }
}
