import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { RecentMap } from '../../base/recent-map.ts'

/** Counts the calls of each key; the latest 100,000 keys are kept. */
export interface AttemptLimit {
  /** @throws AppError rate_limited when the key has made `max` calls in the current window */
  take(key: string): void
  /** As `take`, but the call is not counted. */
  assertFree(key: string): void
  /** Subtracts one call from the current window. */
  giveBack(key: string): void
}

const MAX_KEYS = 100_000

/** Allows each key `max` calls in windows of `window_ms` that begin with its first call. */
export function createAttemptLimit({
  max,
  window_ms,
  clock,
}: {
  max: number
  window_ms: number
  clock: Clock
}): AttemptLimit {
  const windows = new RecentMap<string, { until: number; taken: number }>(MAX_KEYS)
  const freeWindow = (key: string): { until: number; taken: number } => {
    const now = clock.steady()
    const known = windows.get(key)
    const window = known !== undefined && now < known.until ? known : { until: now + window_ms, taken: 0 }
    if (window.taken < max) return window
    const retry_after = Math.max(1, Math.ceil((window.until - now) / 1000))
    throw new AppError('rate_limited', { details: { retry_after } })
  }
  return {
    take(key) {
      const window = freeWindow(key)
      window.taken++
      windows.set(key, window)
    },
    assertFree: (key) => void freeWindow(key),
    giveBack(key) {
      const known = windows.get(key)
      if (known !== undefined && known.taken > 0) known.taken--
    },
  }
}
