import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Counter, Metrics } from '../../base/metrics.ts'
import { idsOf } from '../../trace/rows/fragment.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import type { Derived } from '../store/derived-writer.ts'
import type { DeriveNeeds, ReadBack, WaitingChildren } from './deriver.ts'
import { fetchPayloads, movable } from './fetch-payloads.ts'
import type { LaneTasks } from '../lane-tasks.ts'
import type { PriceStore } from '../prices/price-store.ts'
import { type Payloads, splitBatch } from './split-batch.ts'
import type { StepTimer } from '../store/step-timer.ts'
import type { TraceStore } from '../store/trace-store.ts'
import type { UsageRecorder } from '../../usage/counting/recorder.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'

export interface BatchDeriverDeps {
  store: Pick<TraceStore, 'outlines' | 'payloads' | 'hasWaitingChildren' | 'waitingChildren' | 'belowRoots'>
  /** The lane that derives: one thread, because a batch is derived in steps. */
  deriveLane: WorkerPool
  /** Own prices, for costs that were not sent. */
  prices: PriceStore
  /** The periods in which operations count for usage. */
  usage: Pick<UsageRecorder, 'periods'>
  /** Whether this is the only process that writes to the store. */
  exclusive: boolean
  logger: Logger
  metrics: Metrics
}

/** Derives batches in the derive lane, and reads back the data that the lane requests. */
export interface BatchDeriver {
  /** @throws LaneFailure when deriving itself failed, AppError when the store failed */
  derive(payloads: Payloads, signal: AbortSignal): Promise<Derived>
  /**
   * Derives a failed batch again in ever smaller groups, so that one bad TraceRun does not delay all others. A
   * TraceRun that fails alone is derived from its head only until the process ends, and this is logged. The whole
   * batch must be stored already.
   */
  deriveApart(payloads: Payloads, signal: AbortSignal): Promise<Derived[]>
  /** Must be called after rows about waiting children were written. */
  waitingChanged(): void
}

/** Deriving failed for a reason other than the store, so that another try would usually fail too. */
export class LaneFailure extends Error {}

/** Maximum number of TraceRuns that are recorded as not derivable. */
const MAX_HEAD_ONLY = 1000

export function createBatchDeriver(deps: BatchDeriverDeps, timed: StepTimer): BatchDeriver {
  return new LaneBatchDeriver(deps, timed)
}

class LaneBatchDeriver implements BatchDeriver {
  readonly #deps: BatchDeriverDeps
  readonly #timed: StepTimer
  readonly #underived: Counter
  /** Keys of TraceRuns to derive from their heads. */
  readonly #headOnly = new Set<string>()
  /**
   * Whether any TraceRun waits for its parent; undefined until this was read from the store. A process that alone
   * writes to the store reads it only once.
   */
  #someWait: boolean | undefined

  constructor(deps: BatchDeriverDeps, timed: StepTimer) {
    this.#deps = deps
    this.#timed = timed
    this.#underived = deps.metrics.counter(
      'weir_ingest_underived_total',
      'TraceRuns whose fragments are stored but could not be derived whole.',
    )
  }

  waitingChanged(): void {
    this.#someWait = undefined
  }

  async derive(payloads: Payloads, signal: AbortSignal): Promise<Derived> {
    const prices = await this.#deps.prices.snapshot()
    const { periods } = this.#deps.usage
    const input = { payloads: [...payloads], prices, headOnly: this.#headOnly, periods }
    let step = await this.#timed('sort', () => this.#task('derive-begin', input, [], signal))
    while (step.kind === 'needs') {
      const needs = step
      const read = await this.#timed('read_back', () => this.#readBack(needs))
      const moved = movable(read.payloads)
      step = await this.#timed('derive', () => this.#task('derive-go-on', read, moved, signal))
    }
    for (const failure of step.failures) this.#left({ err: failure })
    return step
  }

  async deriveApart(payloads: Payloads, signal: AbortSignal): Promise<Derived[]> {
    const split = splitBatch(payloads)
    if ('halves' in split) {
      const [first, second] = split.halves
      return [...(await this.#deriveOrSplit(first, signal)), ...(await this.#deriveOrSplit(second, signal))]
    }
    // A second try, since the thread may have ended for another reason.
    const again = await this.#unlessLane(this.derive(payloads, signal))
    if (again instanceof LaneFailure) return this.#deriveBare(split.only, payloads, again, signal)
    return [again]
  }

  async #deriveOrSplit(payloads: Payloads, signal: AbortSignal): Promise<Derived[]> {
    const derived = await this.#unlessLane(this.derive(payloads, signal))
    return derived instanceof LaneFailure ? this.deriveApart(payloads, signal) : [derived]
  }

  async #deriveBare(
    key: string,
    payloads: Payloads,
    failure: LaneFailure,
    signal: AbortSignal,
  ): Promise<Derived[]> {
    this.#left({ err: failure, ...idsOf(key) })
    this.#headOnly.add(key)
    for (const oldest of this.#headOnly) {
      if (this.#headOnly.size <= MAX_HEAD_ONLY) break
      this.#headOnly.delete(oldest)
    }
    const derived = await this.#unlessLane(this.derive(payloads, signal))
    return derived instanceof LaneFailure ? [] : [derived]
  }

  async #unlessLane(derived: Promise<Derived>): Promise<Derived | LaneFailure> {
    try {
      return await derived
    } catch (error) {
      if (error instanceof LaneFailure) return error
      throw error
    }
  }

  async #task<N extends 'derive-begin' | 'derive-go-on'>(
    name: N,
    input: LaneTasks[N]['input'],
    transfer: readonly ArrayBuffer[],
    signal: AbortSignal,
  ): Promise<LaneTasks[N]['output']> {
    try {
      return await this.#deps.deriveLane.run<LaneTasks[N]['output']>({ name, input, transfer }, signal)
    } catch (cause) {
      const isStopping = signal.aborted || (cause instanceof AppError && cause.code === 'shutting_down')
      throw isStopping ? cause : new LaneFailure('the derive lane failed', { cause })
    }
  }

  /** Logs that fragments could not be derived. They are stored and can be read by id. */
  #left(what: object): void {
    this.#deps.logger.error(
      what,
      'derive: a TraceRun could not be derived from its payload; its fragments are stored',
    )
    this.#underived.inc()
  }

  async #readBack(needs: DeriveNeeds): Promise<ReadBack> {
    const { store } = this.#deps
    const [outlines, payloads, children, below] = await Promise.all([
      Promise.all(needs.outlines.map(({ workspace_id, run_ids }) => store.outlines(workspace_id, run_ids))),
      fetchPayloads(store, needs.payloads),
      this.#waitingChildren(needs.children_of),
      Promise.all(
        needs.below.map(async ({ workspace_id, run_ids }) => ({
          workspace_id,
          run_ids: await store.belowRoots(workspace_id, run_ids),
        })),
      ),
    ])
    return { outlines, payloads, children, below }
  }

  async #waitingChildren(groups: readonly WorkspaceIds[]): Promise<WaitingChildren[]> {
    if (groups.length === 0) return []
    const { store, exclusive } = this.#deps
    this.#someWait ??= await store.hasWaitingChildren()
    if (!this.#someWait && exclusive) return []
    const found = await Promise.all(
      groups.map(async ({ workspace_id, run_ids }) => ({
        workspace_id,
        pairs: await store.waitingChildren(workspace_id, run_ids),
      })),
    )
    return found.filter(({ pairs }) => pairs.length > 0)
  }
}
