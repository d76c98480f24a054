import { AppError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** Work that removes what has expired, repeated until it is stopped. */
export interface Sweep {
  /** Label of the metric, and the name in log and health. */
  name: string
  /** Milliseconds between two sweeps. */
  everyMs: number
  /** When the first sweep begins; default: after `everyMs`. */
  begins?: Promise<unknown>
  /** Ends early when the signal aborts. */
  work(signal: AbortSignal): Promise<unknown>
}

export interface StartedSweep {
  /** Sweeps now, or joins the running sweep; resolves with the result of `work`, and rejects if it fails. */
  now(): Promise<unknown>
  /** Stops; waits for the end of the running sweep. */
  stop(): Promise<void>
}

/** All sweeps of a server. A failed sweep is counted and logged, and tried again after its interval. */
export interface Sweeps {
  /** A sweep never runs twice at the same time. */
  start(sweep: Sweep): StartedSweep
  /** @throws AppError sweep_failing, with the names of the sweeps whose last three tries failed */
  assertWorking(): void
}

const FAILING_AFTER = 3

export function createSweeps({ logger, metrics }: { logger: Logger; metrics: Metrics }): Sweeps {
  const failed = metrics.counter(
    'weir_sweep_failures_total',
    'Failed sweeps, by sweep. What has expired stays until a later try succeeds.',
  )
  /** Failures in a row of each sweep. */
  const inRow = new Map<string, number>()

  function count(name: string, error: unknown): void {
    const failures = (inRow.get(name) ?? 0) + 1
    inRow.set(name, failures)
    failed.inc({ sweep: name })
    logger.warn({ err: error, sweep: name, failures }, 'a sweep failed; it is tried again')
  }

  function start({ name, everyMs, begins, work }: Sweep): StartedSweep {
    const stopping = new AbortController()
    const { signal } = stopping
    let sweeping: Promise<unknown> | undefined
    const once = async (): Promise<unknown> => {
      try {
        const result = await work(signal)
        inRow.delete(name)
        return result
      } catch (error) {
        if (!signal.aborted) count(name, error)
        throw error
      } finally {
        sweeping = undefined
      }
    }
    const now = (): Promise<unknown> => (sweeping ??= once())
    const tick = (): void => {
      if (!signal.aborted) void now().catch(() => undefined)
    }
    void begins?.then(tick)
    const timer = setInterval(tick, everyMs).unref()
    return {
      now,
      async stop() {
        stopping.abort()
        clearInterval(timer)
        await sweeping?.catch(() => undefined)
      },
    }
  }

  return {
    start,
    assertWorking() {
      const failing = [...inRow].flatMap(([name, failures]) => (failures >= FAILING_AFTER ? [name] : []))
      if (failing.length === 0) return
      const message = `What has expired is not deleted: ${failing.join(', ')} failed ${FAILING_AFTER} times in a row. The log has the errors.`
      throw new AppError('sweep_failing', { message })
    },
  }
}
