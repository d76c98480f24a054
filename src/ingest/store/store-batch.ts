import { allSettled } from '../derive/all-settled.ts'
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
 * A batch of log frames on its way to the store. Both steps are safe to repeat: after a failure, what is confirmed is
 * not inserted again. The bytes of the frames must stay unchanged until the second step ends.
 */
export interface BatchInStore {
  /** Stores fragments and feedback, and derives. When it has ended, the next batch may begin with this step. */
  derive(signal: AbortSignal): Promise<void>
  /**
   * Writes the derived rows, and returns the number of lean rows. Begins after `derive`, and after `finish` of the batch
   * before has ended.
   */
  finish(signal: AbortSignal): Promise<number>
}

/** `earlierRows` resolves when the batch before has finished. */
export type StoreBatch = (frames: readonly LogFrame[], earlierRows: Promise<void>) => BatchInStore

/**
 * The steps from log frames to confirmed rows. When several processes write to one store, fragments are confirmed
 * before anything is read back. If two processes have parts of one TraceRun, the process that reads later then finds
 * both parts (ADR 0003). A process that alone writes to the store inserts and reads at the same time.
 *
 * Batches overlap: one is derived while the rows of the one before are written. What deriving reads of earlier batches
 * is confirmed then: fragments, copies of fragments and waiting children. The only rows that it reads are those below a
 * root that may have changed; it waits for them.
 */
export function createStoreBatch(deps: StoreBatchDeps): StoreBatch {
  const timed = createStepTimer(deps.metrics)
  const deriver = createBatchDeriver(deps, timed)
  const parts: StoringParts = { ...deps, timed, deriver, alone: oneAfterTheOther() }
  return (frames, earlierRows) => new BatchSteps(parts, frames, earlierRows)
}

interface StoringParts extends StoreBatchDeps {
  timed: StepTimer
  deriver: BatchDeriver
  /** Runs a work when the works before it have ended. */
  alone: <T>(work: () => Promise<T>) => Promise<T>
}

const NOTHING = Promise.resolve()

class BatchSteps implements BatchInStore {
  readonly #parts: StoringParts
  readonly #fragments: readonly Uint8Array[]
  readonly #feedback: readonly Uint8Array[]
  readonly #earlierRows: Promise<void>
  readonly #confirmed = new ConfirmedInserts()
  #derived: readonly Derived[] = []

  constructor(parts: StoringParts, frames: readonly LogFrame[], earlierRows: Promise<void>) {
    this.#parts = parts
    this.#fragments = payloadsOf(frames, RECORD.fragments)
    this.#feedback = payloadsOf(frames, RECORD.feedback)
    this.#earlierRows = earlierRows
  }

  async derive(signal: AbortSignal): Promise<void> {
    const { timed, exclusive } = this.#parts
    const feedback = this.#feedback
    const works: Promise<void>[] = []
    if (feedback.length > 0)
      works.push(timed('insert_feedback', () => this.#insert('feedback', feedback, signal)))
    if (this.#fragments.length > 0) {
      const inserting = timed('insert_fragments', async () => {
        for (const part of insertParts(this.#fragments)) await this.#insert('fragments', part, signal)
      })
      works.push(inserting, this.#deriveAfter(inserting, exclusive ? NOTHING : inserting, signal))
    }
    await allSettled(works)
  }

  async #deriveAfter(stored: Promise<void>, begin: Promise<void>, signal: AbortSignal): Promise<void> {
    // Deriving may take minutes on a busy machine, and what it derives is of no use after a failed insert.
    const failed = new AbortController()
    stored.catch((error: unknown) => failed.abort(error))
    await begin
    this.#derived = await this.#derive(stored, AbortSignal.any([signal, failed.signal]))
  }

  async finish(signal: AbortSignal): Promise<number> {
    let stored = await this.#storeRows(this.#derived, signal)
    while (!this.#parts.exclusive && (await this.#rootsHaveCome(this.#derived))) {
      this.#derived = await this.#derive(NOTHING, signal)
      stored += await this.#storeRows(this.#derived, signal)
    }
    return stored
  }

  #insert(table: StoredTable, rows: readonly Uint8Array[], signal: AbortSignal): Promise<void> {
    return this.#confirmed.once(table, rows, () => this.#parts.store.insert(table, rows, signal))
  }

  /** Derives until no unknown parent has come through another process meanwhile. */
  async #derive(stored: Promise<void>, signal: AbortSignal): Promise<Derived[]> {
    const { deriver, exclusive, alone } = this.#parts
    const state = { stored, earlierRows: this.#earlierRows }
    const missed = new Set<string>()
    for (;;) {
      const derived = await alone(() => deriver.derive(this.#fragments, state, signal))
      await this.#noteWaiting(derived, signal)
      if (exclusive || !(await this.#haveCome(derived, missed))) return derived
    }
  }

  /**
   * Records waiting children, and copies of fragments. This happens before provisional rows are written, so that a crash
   * in between loses no child.
   */
  async #noteWaiting(derived: readonly Derived[], signal: AbortSignal): Promise<void> {
    const adopted = derived.filter((part) => part.adopted_count > 0).map((part) => part.adopted)
    if (adopted.length > 0) await this.#insert('fragments', adopted, signal)
    const waiting = derived.filter((part) => part.waiting_count > 0).map((part) => part.waiting)
    if (waiting.length === 0) return
    // Of several rows about a child the last one counts, and the batch before may write that it no longer waits.
    await this.#earlierRows
    await this.#insert('waiting_children', waiting, signal)
    this.#parts.deriver.waitingChanged()
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
      groupKeys(unknown).map(({ workspace_id, run_ids }) =>
        this.#parts.store.outlines(workspace_id, run_ids),
      ),
    )
    return found.some((rows) => rows.length > 0)
  }

  /**
   * Whether another process has stored fragments under the id of a trace in which this batch placed spans. These
   * fragments may be an earlier root, which then has the id of the trace. The other process could not find the rows of
   * this batch below that root, because they were not stored yet (docs/adr/0012).
   */
  async #rootsHaveCome(derived: readonly Derived[]): Promise<boolean> {
    /** The fewest fragments that a lane knew, since lanes read at different times. */
    const known = new Map<string, number>()
    for (const { key, fragments } of derived.flatMap(({ roots }) => roots))
      known.set(key, Math.min(fragments, known.get(key) ?? fragments))
    const found = new Map<string, Set<string>>()
    for (const { workspace_id, run_ids } of groupKeys([...known.keys()])) {
      for (const { key, hash } of readOutlines(await this.#parts.store.outlines(workspace_id, run_ids))) {
        const hashes = found.get(key)
        if (hashes) hashes.add(hash)
        else found.set(key, new Set([hash]))
      }
    }
    return [...found].some(([key, hashes]) => hashes.size > (known.get(key) ?? 0))
  }

  /** Writes the rows. Rows about children that no longer wait are written after the final rows of these children. */
  async #storeRows(derived: readonly Derived[], signal: AbortSignal): Promise<number> {
    const { usage, timed, live, deriver } = this.#parts
    const rows = derived.filter((part) => part.count > 0).map((part) => part.rows)
    const claims = derived.filter((part) => part.claims_count > 0).map((part) => part.claims)
    const works: Promise<void>[] = []
    if (rows.length > 0) works.push(timed('insert_runs', () => this.#insert('runs', rows, signal)))
    if (claims.length > 0) works.push(timed('count_traces', () => usage.record(claims, signal)))
    await allSettled(works)
    for (const { changes } of derived) live?.publish(changes)
    const resolved = derived.filter((part) => part.resolved_count > 0).map((part) => part.resolved)
    if (resolved.length > 0) await this.#insert('waiting_children', resolved, signal)
    if (resolved.length > 0) deriver.waitingChanged()
    return derived.reduce((sum, part) => sum + part.count, 0)
  }
}

function payloadsOf(frames: readonly LogFrame[], kind: number): Uint8Array[] {
  return frames.filter((frame) => frame.kind === kind).map((frame) => frame.payload)
}

function oneAfterTheOther(): StoringParts['alone'] {
  let last: Promise<unknown> = NOTHING
  return (work) => {
    const run = last.then(work)
    last = run.catch(() => undefined)
    return run
  }
}
