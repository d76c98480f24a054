import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'

export interface DueTimerDeps {
  /** Does what is due; answers when something more becomes due. */
  look(): Promise<number | undefined>
  /** Milliseconds after which it looks in any case. */
  maxWaitMs: number
  clock: Clock
  logger: Logger
}

/** Looks at a store when there is reason to: on a word, or when something becomes due. */
export interface DueTimer {
  /** Look soon. Many words at once are one look; a look that is under way is followed by another. */
  ask(): void
  /** Something becomes due at this time, epoch milliseconds. */
  dueAt(time: number): void
  /** Resolves when the last look has ended. */
  stop(): Promise<void>
}

/** After a look that failed. */
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
      logger.warn({ err: error }, 'the store of runs cannot be looked at now')
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
