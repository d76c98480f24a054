import { allSettled } from '../../base/all-settled.ts'
import { ConfirmedInserts } from '../../trace/rows/confirmed-inserts.ts'
import { type BatchDeriver, type BatchDeriverDeps, createBatchDeriver } from '../derive/batch-deriver.ts'
import { readOutlines } from '../../trace/rows/fragment.ts'
import { groupKeys } from '../derive/derive-batch.ts'
import type { Derived } from './derived-writer.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { LogFrame } from '../log/ingest-log.ts'
import { insertParts } from '../derive/split-batch.ts'
import { createStepTimer, type StepTimer } from './step-timer.ts'
import type { StoredTable, TraceStore } from './trace-store.ts'
import type { UsageRecorder } from '../../usage/counting/recorder.ts'

/** Kinds of log records. */
export const RECORD = { fragments: 1, feedback: 2 } as const

export interface StoreBatchDeps extends BatchDeriverDeps {
  store: TraceStore
  usage: UsageRecorder
  /** Receives the TraceRuns that can be read now. */
  live?: Pick<LiveFeed, 'publish'>
}

/**
 * Stores one batch of log frames and its derived rows; returns the number of lean rows written. Safe to repeat: a call
 * with the same array, after one that failed, does not insert again what is confirmed.
 */
export type StoreBatch = (frames: readonly LogFrame[], signal: AbortSignal) => Promise<number>

/**
 * The steps from log frames to confirmed rows. When several processes write to one store, fragments are confirmed
 * before anything is read back. If two processes have parts of one TraceRun, the process that reads later then finds
 * both parts (ADR 0003). A process that alone writes to the store inserts and reads at the same time.
 */
export function createStoreBatch(deps: StoreBatchDeps): StoreBatch {
  const steps = new BatchSteps(deps)
  return (frames, signal) => steps.store(frames, signal)
}

class BatchSteps {
  readonly #deps: StoreBatchDeps
  readonly #timed: StepTimer
  readonly #deriver: BatchDeriver
  readonly #confirmed = new ConfirmedInserts()
  /** The batch of #confirmed. */
  #frames: readonly LogFrame[] | undefined

  constructor(deps: StoreBatchDeps) {
    this.#deps = deps
    this.#timed = createStepTimer(deps.metrics)
    this.#deriver = createBatchDeriver(deps, this.#timed)
  }

  async store(frames: readonly LogFrame[], signal: AbortSignal): Promise<number> {
    if (frames !== this.#frames) this.#confirmed.clear()
    this.#frames = frames
    const stored = await this.#store(frames, signal)
    this.#confirmed.clear()
    return stored
  }

  async #store(frames: readonly LogFrame[], signal: AbortSignal): Promise<number> {
    const { exclusive } = this.#deps
    const fragments = payloadsOf(frames, RECORD.fragments)
    const feedback = payloadsOf(frames, RECORD.feedback)
    if (feedback.length > 0)
      await this.#timed('insert_feedback', () => this.#insert('feedback', feedback, signal))
    if (fragments.length === 0) return 0
    const inserting = this.#timed('insert_fragments', async () => {
      for (const part of insertParts(fragments)) await this.#insert('fragments', part, signal)
    })
    // Deriving may take minutes on a busy machine, and what it derives is of no use after a failed insert.
    const failed = new AbortController()
    inserting.catch((error: unknown) => failed.abort(error))
    const deriving = AbortSignal.any([signal, failed.signal])
    if (!exclusive) await inserting
    const missed = new Set<string>()
    let derived: Derived[]
    let stored = 0
    do {
      do {
        derived = await this.#derive(fragments, inserting, deriving)
        await this.#noteWaiting(derived, signal)
      } while (!exclusive && (await this.#haveCome(derived, missed)))
      stored += await this.#storeRows(derived, signal)
    } while (!exclusive && (await this.#rootsHaveCome(derived)))
    return stored
  }

  #insert(table: StoredTable, rows: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    return this.#confirmed.once(table, rows, () => this.#deps.store.insert(table, rows, signal))
  }

  async #derive(
    fragments: readonly Uint8Array[],
    inserting: Promise<void>,
    signal: AbortSignal,
  ): Promise<Derived[]> {
    const state = { stored: inserting, earlierRows: Promise.resolve() }
    try {
      return await this.#deriver.derive(fragments, state, signal)
    } finally {
      await inserting
    }
  }

  /**
   * Records waiting children. This happens before their provisional rows are written, so that a crash in between loses
   * no child.
   */
  async #noteWaiting(derived: readonly Derived[], signal: AbortSignal): Promise<void> {
    const waiting = derived.filter((part) => part.waiting_count > 0).map((part) => part.waiting)
    if (waiting.length === 0) return
    await this.#insert('waiting_children', waiting, signal)
    this.#deriver.waitingChanged()
  }

  /**
   * Whether unknown parents have arrived through another process meanwhile. That process may have searched for
   * waiting children before these were recorded. Each parent is checked once, because a process that stores it later
   * finds the record.
   */
  async #haveCome(derived: readonly Derived[], asked: Set<string>): Promise<boolean> {
    const unknown = derived.flatMap((part) => part.unknown_parents).filter((key) => !asked.has(key))
    for (const key of unknown) asked.add(key)
    const found = await Promise.all(
      groupKeys(unknown).map(({ workspace_id, run_ids }) => this.#deps.store.outlines(workspace_id, run_ids)),
    )
    return found.some((rows) => rows.length > 0)
  }

  /**
   * Whether another process has stored fragments under the id of a trace in which this batch placed spans. These
   * fragments may be an earlier root, which then has the id of the trace. The other process could not find the rows of
   * this batch below that root, because they were not stored yet (docs/adr/0012).
   */
  async #rootsHaveCome(derived: readonly Derived[]): Promise<boolean> {
    const known = new Map(derived.flatMap(({ roots }) => roots.map(({ key, fragments }) => [key, fragments])))
    const found = new Map<string, Set<string>>()
    for (const { workspace_id, run_ids } of groupKeys([...known.keys()])) {
      for (const { key, hash } of readOutlines(await this.#deps.store.outlines(workspace_id, run_ids))) {
        const hashes = found.get(key)
        if (hashes) hashes.add(hash)
        else found.set(key, new Set([hash]))
      }
    }
    return [...found].some(([key, hashes]) => hashes.size > (known.get(key) ?? 0))
  }

  /** Writes the rows. Rows about children that no longer wait are written after the final rows of these children. */
  async #storeRows(derived: readonly Derived[], signal: AbortSignal): Promise<number> {
    const { usage } = this.#deps
    const adopted = derived.filter((part) => part.adopted_count > 0).map((part) => part.adopted)
    if (adopted.length > 0) await this.#insert('fragments', adopted, signal)
    const rows = derived.filter((part) => part.count > 0).map((part) => part.rows)
    const claims = derived.filter((part) => part.claims_count > 0).map((part) => part.claims)
    const works: Promise<void>[] = []
    if (rows.length > 0) works.push(this.#timed('insert_runs', () => this.#insert('runs', rows, signal)))
    if (claims.length > 0) works.push(this.#timed('count_traces', () => usage.record(claims, signal)))
    await allSettled(works)
    for (const { changes } of derived) this.#deps.live?.publish(changes)
    const resolved = derived.filter((part) => part.resolved_count > 0).map((part) => part.resolved)
    if (resolved.length > 0) await this.#insert('waiting_children', resolved, signal)
    if (resolved.length > 0) this.#deriver.waitingChanged()
    return derived.reduce((sum, part) => sum + part.count, 0)
  }
}

function payloadsOf(frames: readonly LogFrame[], kind: number): Uint8Array[] {
  return frames.filter((frame) => frame.kind === kind).map((frame) => frame.payload)
}
