import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Counter, Metrics } from '../../base/metrics.ts'
import { idsOf } from '../../trace/rows/fragment.ts'
import { allSettled } from './all-settled.ts'
import { aborted } from '../../base/pause.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import type { Derived } from '../store/derived-writer.ts'
import type { DeriveNeeds, ReadBack, WaitingChildren } from './deriver.ts'
import { fetchPayloads, movable } from './fetch-payloads.ts'
import { type BatchPart, type LaneRoutes, payloadsOf } from './lane-routes.ts'
import type { LaneTasks } from '../lane-tasks.ts'
import type { PriceStore } from '../prices/price-store.ts'
import { type Payloads, splitBatch } from './split-batch.ts'
import type { StepTimer } from '../store/step-timer.ts'
import type { TraceStore } from '../store/trace-store.ts'
import type { UsageRecorder } from '../../usage/counting/recorder.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'

export interface DeriveLanes {
  /** Each of one thread, which has the state of its part of a batch and a cache. */
  pools: readonly WorkerPool[]
  routes: LaneRoutes
}

export interface BatchDeriverDeps {
  store: Pick<TraceStore, 'outlines' | 'payloads' | 'hasWaitingChildren' | 'waitingChildren' | 'belowRoots'>
  deriveLanes: DeriveLanes
  /** Own prices, for costs that were not sent. */
  prices: PriceStore
  /** The periods in which operations count for usage. */
  usage: Pick<UsageRecorder, 'periods'>
  /** Whether this is the only process that writes to the store. */
  exclusive: boolean
  logger: Logger
  metrics: Metrics
}

/** What a batch may wait for before it reads from the store. */
export interface BatchState {
  /** Resolves when the fragments of the batch are confirmed. */
  stored: Promise<void>
  /** Resolves when the rows of the batch before are confirmed. */
  earlierRows: Promise<void>
}

/** Derives batches in the derive lanes, and reads back the data that they request. One batch at a time. */
export interface BatchDeriver {
  /**
   * A part of the batch that fails in its lane is derived again in ever smaller groups, so that one bad TraceRun does
   * not delay all others. A TraceRun that fails alone is derived from its head only until the process ends, and this is
   * logged. @throws AppError when the store failed; no part is still being derived then
   */
  derive(payloads: Payloads, state: BatchState, signal: AbortSignal): Promise<Derived[]>
  /** Must be called after rows about waiting children were written. */
  waitingChanged(): void
}

/** Deriving failed for a reason other than the store, so that another try would usually fail too. */
class LaneFailure extends Error {}

/** The work on one part of a batch. */
interface PartWork extends BatchState {
  /** Whether other lanes derive other parts. */
  isDivided: boolean
  signal: AbortSignal
}

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

  async derive(payloads: Payloads, state: BatchState, signal: AbortSignal): Promise<Derived[]> {
    const parts = this.#deps.deriveLanes.routes.divide(payloads)
    const work = { ...state, isDivided: parts.length > 1, signal }
    return (await allSettled(parts.map((part) => this.#deriveOrSplit(part, work)))).flat()
  }

  async #deriveOrSplit(part: BatchPart, work: PartWork): Promise<Derived[]> {
    const derived = await this.#unlessLane(this.#derivePart(part, work))
    if (!(derived instanceof LaneFailure)) return [derived]
    await work.stored // the groups read back each other's fragments
    return this.#deriveApart({ ...part, payloads: payloadsOf(part), rows: undefined }, work)
  }

  async #derivePart(part: BatchPart, work: PartWork): Promise<Derived> {
    const { lane, ...given } = part
    const prices = await this.#deps.prices.snapshot()
    const input = { ...given, prices, headOnly: this.#headOnly, periods: this.#deps.usage.periods }
    let step = await this.#timed('sort', () => this.#task(lane, 'derive-begin', input, [], work.signal))
    while (step.kind === 'needs') {
      const needs = step
      const read = await this.#timed('read_back', () => this.#readBack(needs, work))
      const moved = movable(read.payloads)
      step = await this.#timed('derive', () => this.#task(lane, 'derive-go-on', read, moved, work.signal))
    }
    for (const failure of step.failures) this.#left({ err: failure })
    return step
  }

  async #deriveApart(part: BatchPart, work: PartWork): Promise<Derived[]> {
    const split = splitBatch(part.payloads)
    if ('halves' in split) {
      const [first, second] = split.halves.map((payloads) => ({ ...part, payloads }))
      return [...(await this.#deriveOrSplit(first!, work)), ...(await this.#deriveOrSplit(second!, work))]
    }
    // A second try, since the thread may have ended for another reason.
    const again = await this.#unlessLane(this.#derivePart(part, work))
    if (again instanceof LaneFailure) return this.#deriveBare(split.only, part, again, work)
    return [again]
  }

  async #deriveBare(key: string, part: BatchPart, failure: LaneFailure, work: PartWork): Promise<Derived[]> {
    this.#left({ err: failure, ...idsOf(key) })
    this.#headOnly.add(key)
    for (const oldest of this.#headOnly) {
      if (this.#headOnly.size <= MAX_HEAD_ONLY) break
      this.#headOnly.delete(oldest)
    }
    const derived = await this.#unlessLane(this.#derivePart(part, work))
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
    lane: number,
    name: N,
    input: LaneTasks[N]['input'],
    transfer: readonly ArrayBuffer[],
    signal: AbortSignal,
  ): Promise<LaneTasks[N]['output']> {
    try {
      const pool = this.#deps.deriveLanes.pools[lane]!
      return await pool.run<LaneTasks[N]['output']>({ name, input, transfer }, signal)
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

  async #readBack(
    needs: DeriveNeeds,
    { isDivided, stored, earlierRows, signal }: PartWork,
  ): Promise<ReadBack> {
    const { store, exclusive } = this.#deps
    // Other processes' batches need neither: a process that is not alone stores before it reads, and looks for roots
    // once more after its rows are stored.
    if (exclusive && isDivided && needs.of_others) await stored
    if (exclusive && needs.below.length > 0) await unlessAborted(earlierRows, signal)
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

/** As `promise`, but @throws the signal's reason as soon as it aborts */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([promise, aborted(signal)])
  signal.throwIfAborted()
}
