import type { Clock } from '../../../src/base/clock.ts'

/** Time at which clocks of tests start, epoch milliseconds. */
export const NOW = Date.parse('2026-11-20T09:00:00Z')
/** The moment from which steady times count, epoch milliseconds. */
const ORIGIN = Date.parse('2020-01-01T00:00:00Z')
/** Time that passes between two readings of a steady time, milliseconds; binary, so that sums are exact. */
const READING_MS = 1 / 1024

/**
 * A clock whose time of day is what `read` returns. Like that of the system, its steady time has another origin, and
 * fractions of milliseconds that change with each reading.
 */
export function testClock(read: () => number = () => NOW): Clock {
  let readings = 0
  return {
    now: read,
    steady() {
      readings += 1
      return read() - ORIGIN + readings * READING_MS
    },
  }
}

/** A test clock that shows `time` until the test sets another one. */
export function settableClock(time = NOW): Clock & { time: number } {
  const clock: Clock & { time: number } = { time, ...testClock(() => clock.time) }
  return clock
}
