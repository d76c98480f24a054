import type { AppError } from '../errors.ts'

/** Minimum pause between a failed start and the next one. */
const START_PAUSE_MS = 1_000
/** After more than this number of processes in a row that lived shorter, the same pause is made. */
const MAX_SHORT_LIVES = 3
const SHORT_LIFE_MS = 10_000

export interface StartedProcess {
  /** Must be called when the process cannot serve. */
  failed(error: AppError): void
  /** Must be called when the process has ended. */
  ended(): void
}

/** Decides when a process that the next call starts may be started again. */
export interface StartPauses {
  /** Must be called before a start. @throws AppError the reason of the last end, soon after it */
  begin(): StartedProcess
  /** Must be called when the code has changed: the ends of earlier processes count no longer. */
  reset(): void
}

/** `endedError`: the error of calls during a pause after processes that ended soon after their start. */
export function createStartPauses(endedError: () => AppError): StartPauses {
  let refused: { error: AppError; until: number } | undefined
  /** Number of processes in a row that ended soon after their start. */
  let short = 0
  let generation = 0
  const pause = (error: AppError): void => {
    refused = { error, until: performance.now() + START_PAUSE_MS }
  }
  return {
    begin() {
      const now = performance.now()
      if (refused !== undefined && now < refused.until) throw refused.error
      refused = undefined
      const own = generation
      return {
        failed: (error) => void (own === generation && pause(error)),
        ended() {
          if (own !== generation) return
          short = performance.now() - now < SHORT_LIFE_MS ? short + 1 : 0
          if (short > MAX_SHORT_LIVES && refused === undefined) pause(endedError())
        },
      }
    },
    reset() {
      refused = undefined
      short = 0
      generation++
    },
  }
}
