import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../base/log.ts'

type End = Parameters<AsyncDisposableStack['defer']>[0]

const MOMENT_MS = 100

/**
 * The parts of a server that have started. They end one after the other, in reverse order of their start; the failure
 * of one is logged, so that `disposeAsync` never rejects.
 */
export class PartStack extends AsyncDisposableStack {
  readonly #logger: Logger
  #until = Number.POSITIVE_INFINITY

  constructor(logger: Logger) {
    super()
    this.#logger = logger
  }

  /** From now on all parts together get this time to end; after it, each gets only a moment. */
  limitTo(ms: number): void {
    this.#until = performance.now() + ms
  }

  override defer(end: End): void {
    super.defer(() => Promise.race([this.#end(end), ...this.#late()]))
  }

  async #end(end: End): Promise<void> {
    try {
      await end()
    } catch (error) {
      this.#logger.error({ err: error }, 'stop: a part failed to stop')
    }
  }

  #late(): Promise<void>[] {
    if (this.#until === Number.POSITIVE_INFINITY) return []
    return [delay(Math.max(MOMENT_MS, this.#until - performance.now()))]
  }
}
