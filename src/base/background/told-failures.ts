import { RecentMap } from '../recent-map.ts'

/** Pause after the first line about something that fails; it doubles with each further line. */
const FIRST_PAUSE_MS = 1_000
/** The same message is told again after this time, and the pause grows no longer than it. */
const LONGEST_PAUSE_MS = 3_600_000
const MAX_SUBJECTS = 1_000

/** Decides which failures of something that is tried again and again are told: once, then seldom. */
export interface ToldFailures {
  /**
   * Whether a failure is to be told; it then counts as told. The same message of a subject is due an hour later, another
   * one after the pause, because messages that name a time or a process id differ each time. After a quiet hour a
   * failure is a first one.
   */
  isDue(subject: string, message: string): boolean
  /** Must be called when the code has changed: every failure is a first one. */
  reset(): void
}

interface Told {
  message: string
  /** Time of the last line, and of the last failure, by `performance.now()`. */
  at: number
  seen: number
  pause: number
}

export function createToldFailures(): ToldFailures {
  const told = new RecentMap<string, Told>(MAX_SUBJECTS)
  return {
    isDue(subject, message) {
      const now = performance.now()
      const last = told.get(subject)
      if (last === undefined || now - last.seen >= LONGEST_PAUSE_MS) {
        told.set(subject, { message, at: now, seen: now, pause: FIRST_PAUSE_MS })
        return true
      }
      last.seen = now
      if (now - last.at < (last.message === message ? LONGEST_PAUSE_MS : last.pause)) return false
      const pause = Math.min(2 * last.pause, LONGEST_PAUSE_MS)
      told.set(subject, { message, at: now, seen: now, pause })
      return true
    },
    reset: () => told.clear(),
  }
}
