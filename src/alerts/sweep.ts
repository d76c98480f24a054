import { toAppError } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { TraceReads } from '../query/trace-reads.ts'
import type { Alert, AlertStore } from './alert.ts'
import {
  figuresQuery,
  ALLOWED_LATE_MS,
  stateAfter,
  figureValue,
  evaluationWindow,
  unpricedRuns,
} from './evaluate.ts'

export interface AlertSweepDeps {
  store: Pick<AlertStore, 'takeDue' | 'settle' | 'fail'>
  reads: Pick<TraceReads, 'stats'>
  /** When the oldest record was received that this server has not stored yet, ISO 8601; null for none. */
  oldestWaiting(): string | null
  /** Tells the sender that there may be something to send. */
  changed(): void
  clock: Clock
  logger: Logger
}

/** How often each rule is evaluated. */
export const EVERY_MS = 60_000
/** Rules that are taken at a time. They are read one after the other, so that they leave room for people. */
const BATCH = 10
/** The holder of reads in the queue that is fair between keys. */
const HOLDER = 'alerts'

/**
 * Evaluates the rules that are due. Each is taken by one of the servers that share the store. While this server has
 * records that wait for longer than a window allows for, it takes none: a window that lacks them would say too little.
 */
export function createAlertSweep(deps: AlertSweepDeps): (signal: AbortSignal) => Promise<void> {
  const { store, reads, clock, logger } = deps

  async function evaluate(alert: Alert, gone: AbortSignal): Promise<void> {
    const at = clock.now()
    const window = evaluationWindow(alert, at)
    try {
      const query = figuresQuery(alert, window)
      const { figures } = await reads.stats(alert.workspace_id, query, { holder: HOLDER, gone })
      const [found] = figures
      const value = found === undefined ? null : figureValue(alert.figure, found)
      const unpriced_runs = found === undefined ? null : unpricedRuns(alert.figure, found)
      await store.settle(alert, { ...stateAfter(alert, value), value, unpriced_runs, window, at })
    } catch (error) {
      const { code, message } = toAppError(error)
      if (code !== 'invalid_request') throw error
      await store.fail(alert, message, at)
    }
  }

  return async (signal) => {
    const oldest = deps.oldestWaiting()
    if (oldest !== null && clock.now() - Date.parse(oldest) > ALLOWED_LATE_MS) {
      logger.warn({ oldest_waiting_at: oldest }, 'alerts are not evaluated while records wait to be stored')
      return
    }
    let failure: Error | undefined
    while (!signal.aborted) {
      const due = await store.takeDue(BATCH, EVERY_MS)
      for (const alert of due) {
        if (signal.aborted) return
        await evaluate(alert, signal).catch((error: unknown) => (failure ??= toAppError(error)))
      }
      deps.changed()
      if (due.length < BATCH) break
    }
    if (failure !== undefined) throw failure
  }
}
