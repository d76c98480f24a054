import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { LoadFailure } from './load-failure.ts'

/** A host that never opened is not followed by another sooner. */
const START_PAUSE_MS = 1_000

interface Waiter {
  resolve(): void
  reject(error: AppError): void
}

/** How the last load of a deployment's graphs went, and who waits for one. */
export class Readiness {
  readonly #logger: Logger
  readonly #waiters = new Set<Waiter>()
  #failed: { error: AppError; at: number } | undefined
  #failures: readonly LoadFailure[] = []
  /** Messages that have been logged, so that a spare host does not repeat them. */
  #logged = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Graphs that could not be loaded the last time. */
  get failures(): readonly LoadFailure[] {
    return this.#failures
  }

  /** How long it is too early for another start, in ms. */
  get pauseMs(): number {
    return this.#failed === undefined ? 0 : this.#failed.at + START_PAUSE_MS - performance.now()
  }

  /** Other code is loaded from now on. */
  reset(): void {
    this.#failed = undefined
    this.#logged.clear()
  }

  /** A host is there, with all graphs but these. */
  opened(failures: readonly LoadFailure[]): void {
    this.#failed = undefined
    this.#note(failures)
    for (const waiter of this.#waiters) waiter.resolve()
    this.#waiters.clear()
  }

  /** No host could be opened, for none of its graphs or for another reason. */
  failed(message: string, failures: readonly LoadFailure[]): void {
    this.#failed = { error: new AppError('host_unavailable', { message }), at: performance.now() }
    this.#note(failures)
    if (failures.length === 0)
      this.#logger.error({ reason: message }, 'the graphs of the deployment cannot be loaded')
  }

  /** Lets go of all who wait: there is no host for them. */
  giveUp(): void {
    for (const waiter of this.#waiters) waiter.reject(this.#failed?.error ?? new AppError('host_unavailable'))
    this.#waiters.clear()
  }

  /** Resolves when a host opens; `start` is to see to that. @throws AppError host_unavailable */
  wait(start: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined && this.pauseMs > 0) return reject(this.#failed.error)
      this.#waiters.add({ resolve, reject })
      start()
    })
  }

  #note(failures: readonly LoadFailure[]): void {
    this.#failures = failures
    for (const { graph_id, file, line, reason, message } of failures) {
      if (this.#logged.has(message)) continue
      this.#logged.add(message)
      this.#logger.error({ graph: graph_id, file, line, reason }, 'a graph cannot be loaded')
    }
  }
}
