import { type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Logger } from '../base/log.ts'
import type { Counter, Metrics } from '../base/metrics.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import type { DeriveStep, ReadBack } from './deriver.ts'
import type { LogFrame } from './ingest-log.ts'
import type { LaneTasks } from './lanes.ts'
import type { PriceStore } from './price-store.ts'
import type { TraceStore } from './trace-store.ts'
import type { WorkerPool } from './worker-pool.ts'

/** What log records hold. */
export const RECORD = { fragments: 1, feedback: 2 } as const

export interface StoreBatchDeps {
  store: TraceStore
  /** The lane that derives: one thread, because a batch is derived in steps. */
  deriveLane: WorkerPool
  /** Own prices, for the costs that nobody sent. */
  prices: PriceStore
  /** No other process writes to the store, so what is read back cannot miss a fragment on its way. */
  exclusive: boolean
  logger: Logger
  metrics: Metrics
}

/** Stores one batch of log frames, derived, and returns the number of lean rows written. Safe to repeat. */
export type StoreBatch = (frames: readonly LogFrame[], signal: AbortSignal) => Promise<number>

/**
 * The steps from log frames to confirmed rows. Where several processes write to one store, fragments are confirmed
 * before anything is read back: of two processes that hold parts of one TraceRun, the later reader then sees both
 * (ADR 0003). A process that writes alone does both at once.
 */
export function createStoreBatch(deps: StoreBatchDeps): StoreBatch {
  const steps = new BatchSteps(deps)
  return (frames, signal) => steps.store(frames, signal)
}

type Derived = Extract<DeriveStep, { kind: 'done' }>

/** Deriving itself failed, not the store: trying again would fail again. */
class LaneFailure extends Error {}

class BatchSteps {
  readonly #deps: StoreBatchDeps
  readonly #timed: StepTimer
  readonly #underived: Counter
  /** Undefined until the store has been asked; a process that writes alone need not ask twice. */
  #someWait: boolean | undefined

  constructor(deps: StoreBatchDeps) {
    this.#deps = deps
    this.#timed = createStepTimer(deps.metrics)
    this.#underived = deps.metrics.counter(
      'weir_ingest_underived_total',
      'TraceRuns, or whole requests of them, whose fragments are stored but could not be derived.',
    )
  }

  async store(frames: readonly LogFrame[], signal: AbortSignal): Promise<number> {
    const { store, exclusive } = this.#deps
    const fragments = payloadsOf(frames, RECORD.fragments)
    const feedback = payloadsOf(frames, RECORD.feedback)
    if (feedback.length > 0)
      await this.#timed('insert_feedback', () => store.insert('feedback', feedback, signal))
    if (fragments.length === 0) return 0
    const inserting = this.#timed('insert_fragments', () => store.insert('run_fragments', fragments, signal))
    inserting.catch(() => undefined) // awaited below, whatever the derivation says first
    if (!exclusive) await inserting
    let derived: Derived[]
    try {
      derived = [await this.#derive(fragments, signal)]
    } catch (thrown) {
      await inserting // its bytes are of this batch, and what is derived next must find all of it
      derived = await this.#deriveEach(fragments, thrown, signal)
    }
    await inserting
    return this.#storeRows(derived, signal)
  }

  /** Children that wait are noted before their provisional rows, so that a crash in between forgets none. */
  async #storeRows(derived: readonly Derived[], signal: AbortSignal): Promise<number> {
    const { store } = this.#deps
    const waiting = derived.filter((part) => part.waiting_count > 0).map((part) => part.waiting)
    if (waiting.length > 0) {
      this.#someWait = true
      await store.insert('waiting_children', waiting, signal)
    }
    const adopted = derived.filter((part) => part.adopted_count > 0).map((part) => part.adopted)
    if (adopted.length > 0) await store.insert('run_fragments', adopted, signal)
    const rows = derived.filter((part) => part.count > 0).map((part) => part.rows)
    if (rows.length > 0) await this.#timed('insert_runs', () => store.insert('runs', rows, signal))
    return derived.reduce((sum, part) => sum + part.count, 0)
  }

  /**
   * Derives each payload alone after all together failed. What fails alone twice is left underived and said: its
   * fragments are stored and readable by id, and one bad TraceRun must not hold up all others.
   */
  async #deriveEach(
    payloads: readonly Uint8Array[],
    thrown: unknown,
    signal: AbortSignal,
  ): Promise<Derived[]> {
    if (signal.aborted || !(thrown instanceof LaneFailure)) throw thrown
    const derived: Derived[] = []
    for (const payload of payloads) {
      const again = (): Promise<Derived> => this.#derive([payload], signal)
      const part =
        (await again().catch((error: unknown) => this.#unlessLane(error))) ??
        (await again().catch((error: unknown) => this.#unlessLane(error)))
      if (part) derived.push(part)
      else this.#left(thrown)
    }
    return derived
  }

  #unlessLane(error: unknown): undefined {
    if (!(error instanceof LaneFailure)) throw error
    return undefined
  }

  async #derive(payloads: readonly Uint8Array[], signal: AbortSignal): Promise<Derived> {
    const task = async <N extends keyof LaneTasks>(name: N, input: LaneTasks[N]['input']) => {
      try {
        return await this.#deps.deriveLane.run<LaneTasks[N]['output']>({ name, input }, signal)
      } catch (cause) {
        throw new LaneFailure('the derive lane failed', { cause })
      }
    }
    const prices = await this.#deps.prices.snapshot()
    let step = await this.#timed('sort', () => task('derive-begin', { payloads: [...payloads], prices }))
    while (step.kind === 'needs') {
      const needs = step
      const read = await this.#timed('read_back', () => this.#readBack(needs))
      step = await this.#timed('derive', () => task('derive-go-on', read))
    }
    for (const failure of step.failures) this.#left(failure)
    return step
  }

  /** Fragments that could not be derived are stored and readable by id; this says so. */
  #left(failure: unknown): void {
    this.#deps.logger.error(
      { err: failure },
      'derive: a TraceRun could not be derived; its fragments are stored',
    )
    this.#underived.inc()
  }

  async #readBack(needs: Extract<DeriveStep, { kind: 'needs' }>): Promise<ReadBack> {
    const { store, exclusive } = this.#deps
    const atHand = exclusive ? [] : needs.at_hand
    const [fragments, children] = await Promise.all([
      Promise.all(
        needs.fragments.map(({ workspace_id, run_ids }) => store.fragments(workspace_id, run_ids, atHand)),
      ),
      this.#waitingChildren(needs.children_of),
    ])
    return { fragments, children }
  }

  async #waitingChildren(groups: readonly WorkspaceIds[]): Promise<WorkspaceIds[]> {
    const { store, exclusive } = this.#deps
    this.#someWait ??= await store.hasWaitingChildren()
    if (!this.#someWait && exclusive) return []
    const found = await Promise.all(
      groups.map(async ({ workspace_id, run_ids }) => ({
        workspace_id,
        run_ids: await store.waitingChildren(workspace_id, run_ids),
      })),
    )
    return found.filter(({ run_ids }) => run_ids.length > 0)
  }
}

function payloadsOf(frames: readonly LogFrame[], kind: number): Uint8Array[] {
  return frames.filter((frame) => frame.kind === kind).map((frame) => frame.payload)
}

type StepTimer = <T>(step: string, work: () => Promise<T>) => Promise<T>

/** Measures each step as a histogram, and as a span when export is on. */
function createStepTimer(metrics: Metrics): StepTimer {
  const seconds = metrics.histogram('weir_ingest_step_seconds', 'Duration of the steps that store a batch.')
  const tracer = trace.getTracer('weir')
  return async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    return tracer.startActiveSpan(`ingest ${step}`, async (span: Span) => {
      try {
        return await work()
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        seconds.observe((performance.now() - started) / 1000, { step })
        span.end()
      }
    })
  }
}
