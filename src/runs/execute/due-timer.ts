import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'

export interface DueTimerDeps {
  /** Does the due work; returns the time at which further work becomes due. */
  look(): Promise<number | undefined>
  /** Maximum number of milliseconds between two checks. */
  maxWaitMs: number
  clock: Clock
  logger: Logger
}

/** Checks a store when needed: on request, or when something becomes due. */
export interface DueTimer {
  /**
   * Requests a check for due work. Several requests cause one check; requests during a check cause one more after it.
   */
  ask(): void
  /** Sets a time, epoch milliseconds, at which something becomes due. */
  dueAt(time: number): void
  /** Resolves when the check in progress has ended. */
  stop(): Promise<void>
}

/** Pause after a failed check. */
const RETRY_MS = 1_000

export function createDueTimer({ look, maxWaitMs, clock, logger }: DueTimerDeps): DueTimer {
  let looking: Promise<void> | undefined
  let again = false
  let stopped = false
  let due: { at: number; timer: NodeJS.Timeout } | undefined

  async function lookOnce(): Promise<void> {
    try {
      const next = await look()
      if (next !== undefined) dueAt(next)
    } catch (error) {
      logger.warn({ err: error }, 'the store of runs cannot be read now')
      dueAt(clock.now() + RETRY_MS)
    }
  }

  async function lookAlways(): Promise<void> {
    while (again && !stopped) {
      again = false
      await lookOnce()
    }
    looking = undefined
  }

  function ask(): void {
    again = true
    if (!stopped) looking ??= lookAlways()
  }

  function dueAt(at: number): void {
    if (stopped || (due !== undefined && due.at <= at)) return
    clearTimeout(due?.timer)
    const timer = setTimeout(
      () => {
        due = undefined
        ask()
      },
      Math.min(Math.max(at - clock.now(), 1), maxWaitMs),
    )
    timer.unref()
    due = { at, timer }
  }

  return {
    ask,
    dueAt,
    async stop() {
      stopped = true
      clearTimeout(due?.timer)
      await looking
    },
  }
}
