/** The source of time; a parameter, so that tests control it. */
export interface Clock {
  /** Whole milliseconds since 1970-01-01 UTC: stores refuse times with a fraction (D-67). */
  now(): number
  /**
   * Milliseconds with a fraction since an arbitrary moment, for durations; unaffected by changes of the system time.
   */
  steady(): number
}

export const systemClock: Clock = { now: () => Date.now(), steady: () => performance.now() }

/** Time for which a clock must be ahead before its time is used. */
export const BELIEVED_AFTER_MS = 3_600_000
/** Maximum difference that is an ordinary correction of a clock. */
const CORRECTION_MS = 60_000

/**
 * Returns a clock of whole epoch milliseconds by which expired data is permanently deleted. It follows the given clock,
 * but ignores a jump forwards for an hour, so that a wrong clock that is corrected within the hour deletes nothing.
 */
export function createExpiryTime(clock: Clock): () => number {
  const offsetNow = (): number => clock.now() - clock.steady()
  let offset = offsetNow()
  let aheadSince: number | undefined
  return () => {
    const steady = clock.steady()
    const seen = offsetNow()
    if (seen <= offset + CORRECTION_MS) aheadSince = undefined
    else aheadSince ??= steady
    if (aheadSince === undefined || steady - aheadSince >= BELIEVED_AFTER_MS) {
      offset = seen
      aheadSince = undefined
    }
    return Math.round(steady + offset)
  }
}
