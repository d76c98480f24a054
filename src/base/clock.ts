/** The source of time; passed in so that tests control it. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /**
   * Milliseconds since an arbitrary moment, unaffected by changes of the system time: for durations. Default: `now`,
   * which suits a test's clock.
   */
  steady?(): number
}

/** A clock's time for durations. */
export function steadyTime(clock: Clock): number {
  return clock.steady?.() ?? clock.now()
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now(), steady: () => performance.now() }

/** The time of a clock that was set forwards is used once it has been ahead for this long. */
export const BELIEVED_AFTER_MS = 3_600_000
/** Differences up to this are the ordinary corrections of a clock. */
const CORRECTION_MS = 60_000

/**
 * The time, in epoch milliseconds, that decides what has expired and is deleted permanently. It follows the
 * clock. When the clock is set forwards, this time ignores the jump for an hour, so a wrong clock that is
 * corrected within the hour deletes nothing.
 */
export function createExpiryTime(clock: Clock): () => number {
  const offsetNow = (): number => clock.now() - steadyTime(clock)
  let offset = offsetNow()
  let aheadSince: number | undefined
  return () => {
    const steady = steadyTime(clock)
    const seen = offsetNow()
    if (seen <= offset + CORRECTION_MS) aheadSince = undefined
    else aheadSince ??= steady
    if (aheadSince === undefined || steady - aheadSince >= BELIEVED_AFTER_MS) {
      offset = seen
      aheadSince = undefined
    }
    return steady + offset
  }
}
