import { createToldFailures } from '../../base/background/told-failures.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { GraphLoadError, type LoadFailure } from '../project/load-failure.ts'

/** Pause before a caller may start a host after one could not be opened. */
const START_PAUSE_MS = 1_000

/** A host that ends later than this after it was opened, without a run, does not count as ending at once. */
const LIVED_MS = 60_000
/** Pause before a start that no caller asks for; it doubles with each further host that fails. */
const RESTART_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

interface Waiter {
  resolve(): void
  reject(error: AppError): void
}

/** The result of the last load of a deployment's graphs, and the callers that wait for a host. */
export class Readiness {
  readonly #logger: Logger
  readonly #waiters = new Set<Waiter>()
  /** The last host, if it could not be opened, and the number of such hosts in a row. */
  #failed: { error: AppError; at: number; count: number } | undefined
  #failures: readonly LoadFailure[] = []
  /** The number of hosts in a row that ended by themselves soon after they were opened, and the time of the next start. */
  #ends = { count: 0, next: 0 }
  readonly #told = createToldFailures()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get failures(): readonly LoadFailure[] {
    return this.#failures
  }

  /** Milliseconds until another start is allowed. */
  get pauseMs(): number {
    const failed = this.#failed === undefined ? 0 : this.#failed.at + START_PAUSE_MS
    return Math.max(0, failed - performance.now(), this.restartPauseMs)
  }

  /** Milliseconds until a host may be started that no caller waits for. */
  get ownPauseMs(): number {
    const { at, count } = this.#failed ?? { at: 0, count: 0 }
    const failed = count === 0 ? 0 : at + pauseAfter(count) - performance.now()
    return Math.max(0, failed, this.restartPauseMs)
  }

  /** Milliseconds until a host may be started in place of one that has ended by itself. */
  get restartPauseMs(): number {
    return Math.max(0, this.#ends.next - performance.now())
  }

  /**
   * Must be called when an open host has ended unexpectedly and without a run, `lived_ms` after it was opened. Hosts that
   * end again and again are started less and less often.
   */
  ended(lived_ms: number, message: string): void {
    const count = lived_ms > LIVED_MS ? 0 : this.#ends.count + 1
    const pause = count < 2 ? 0 : pauseAfter(count - 1)
    this.#ends = { count, next: performance.now() + pause }
    if (pause > 0 && this.#told.isDue('end of a host', `${count}`))
      this.#logger.warn(
        { reason: message, ends: count, pause_ms: pause },
        'graph hosts end soon after their start',
      )
  }

  /** Drops the results of earlier loads, because the code has changed. */
  reset(): void {
    this.#failed = undefined
    this.#ends = { count: 0, next: 0 }
    this.#told.reset()
  }

  /** Must be called when a host has opened. The host serves all graphs except those of `failures`. */
  opened(failures: readonly LoadFailure[]): void {
    this.#failed = undefined
    this.#note(failures)
    for (const waiter of this.#waiters) waiter.resolve()
    this.#waiters.clear()
  }

  /** Must be called when a host could not be opened. */
  failed(message: string, failures: readonly LoadFailure[]): void {
    const error =
      failures.length > 0 ? new GraphLoadError({ message }) : new AppError('host_unavailable', { message })
    this.#failed = { error, at: performance.now(), count: (this.#failed?.count ?? 0) + 1 }
    this.#note(failures)
    if (failures.length > 0 || !this.#told.isDue('all graphs', message)) return
    this.#logger.error({ reason: message }, 'the graphs of the deployment cannot be loaded')
  }

  /** Rejects all waiting callers. */
  giveUp(): void {
    for (const waiter of this.#waiters) waiter.reject(this.#failed?.error ?? new AppError('host_unavailable'))
    this.#waiters.clear()
  }

  /** Calls `start`; resolves when a host opens. @throws AppError host_unavailable, at once after a recent failure */
  wait(start: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.pauseMs > 0) return reject(this.#failed?.error ?? new AppError('host_unavailable'))
      this.#waiters.add({ resolve, reject })
      start()
    })
  }

  #note(failures: readonly LoadFailure[]): void {
    this.#failures = failures
    for (const { graph_id, file, line, reason, message } of failures) {
      if (!this.#told.isDue(`graph ${graph_id}`, message)) continue
      this.#logger.error({ graph: graph_id, file, line, reason }, 'a graph cannot be loaded')
    }
  }
}

/** The pause after this number of hosts in a row that failed. */
function pauseAfter(count: number): number {
  return Math.min(RESTART_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS)
}
