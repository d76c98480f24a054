import type { TraceRunRead as ReadRun } from '../../../../api/platform.gen.ts'
import { microsOf } from '../../../../parts/format/times.ts'

/** A pause between two tokens; microseconds. */
export interface TokenGap {
  /** Time from the start of the run to the token before the pause. */
  at: number
  length: number
  /** Number of tokens before the pause. */
  after: number
}

/** The times at which the tokens of a model call arrived; microseconds from the start of the run. */
export interface TokenRhythm {
  times: readonly number[]
  median: number
  /** The longest pauses, longest first. */
  longest: readonly TokenGap[]
  /** Pauses of more than STALL times the median, in order. */
  stalls: readonly TokenGap[]
}

const LEAST_TOKENS = 3
const MOST_LISTED = 5
/** A stall is a pause of at least this many median pauses, and of at least LEAST_STALL. */
const STALL = 5
/** Microseconds. */
const LEAST_STALL = 50_000

/** The rhythm of a run's `new_token` events; undefined with fewer than three. */
export function tokenRhythm({
  events,
  start_time,
}: Pick<ReadRun, 'events' | 'start_time'>): TokenRhythm | undefined {
  const start = microsOf(start_time)
  if (start === undefined) return undefined
  const times = (events ?? [])
    .flatMap((event) => {
      const { name, time } = (event ?? {}) as { name?: unknown; time?: unknown }
      return name === 'new_token' && typeof time === 'string' ? (microsOf(time) ?? []) : []
    })
    .map((time) => time - start)
    .toSorted((a, b) => a - b)
  if (times.length < LEAST_TOKENS) return undefined
  const gaps = times.slice(1).map((time, place): TokenGap => {
    const at = times[place] ?? time
    return { at, length: time - at, after: place + 1 }
  })
  const byLength = gaps.toSorted((a, b) => b.length - a.length)
  const median = byLength[Math.floor(byLength.length / 2)]?.length ?? 0
  const least = Math.max(LEAST_STALL, STALL * median)
  return {
    times,
    median,
    longest: byLength.slice(0, MOST_LISTED),
    stalls: gaps.filter(({ length }) => length > least),
  }
}
