import { deriveHead, deriveMerged } from '../../trace/derive/derive.ts'
import type { TraceRun } from '../../trace/derive/trace-run.ts'
import { idsOf, keyOf, readOutlines } from '../../trace/rows/fragment.ts'
import type { ParentLineage, ParentOf } from '../../trace/derive/lineage/lineage.ts'
import type { LlmContext } from '../../trace/derive/llm.ts'
import type { MergedTraceRun } from '../../trace/derive/merged-trace-run.ts'
import { spanIdOf } from '../../trace/otel/span/ids.ts'
import { spanParts } from '../../trace/otel/span/parts.ts'
import { type PayloadWant, mergeHeads, mergePlanned } from '../../trace/derive/payload-plan.ts'
import type { UsagePeriod } from '../../usage/counting/claim.ts'
import { MAX_DEPTH, parentLineage } from '../../trace/derive/lineage/parent-lineage.ts'
import { type BatchNeeds, DeriveBatch, type WorkspaceIds } from './derive-batch.ts'
import { type BatchPart, fragmentsOfPart } from './lane-routes.ts'
import { byFragment, PORTION_BYTES, takePortion, type WorkspaceWants } from './derive-portions.ts'
import { type Derived, DerivedWriter } from '../store/derived-writer.ts'
import type { OpenFragments } from './open-fragments.ts'

/** The result of a step: either the data needed from the store, or the complete rows of the batch. */
export type DeriveStep = DeriveNeeds | Derived

/** The data that must be read back. */
export interface DeriveNeeds extends BatchNeeds {
  kind: 'needs'
  payloads: WorkspaceWants[]
}

/** TraceRuns of one workspace that wait for parents. */
export interface WaitingChildren {
  workspace_id: string
  pairs: { parent_run_id: string; run_id: string }[]
}

/** The data that was read back for a batch, as RowBinary. */
export interface ReadBack {
  /** Rows of OUTLINE_COLUMNS. */
  outlines: Uint8Array[]
  /** Rows of PAYLOAD_COLUMNS. */
  payloads: Uint8Array[]
  /** TraceRuns that wait for one of the requested parents, and must be derived again. */
  children: WaitingChildren[]
  /** TraceRuns below the root of a requested trace, which must be derived again. */
  below: WorkspaceIds[]
}

/** The part of a batch that a lane derives. */
export interface LaneBatch extends Omit<BatchPart, 'lane'> {
  /** Keys of TraceRuns that are derived from their heads alone. */
  headOnly: ReadonlySet<string>
  /** Operations received in these periods count for usage. */
  periods: readonly UsagePeriod[]
}

/**
 * Converts batches of fragments to lean rows, in steps: `begin` receives a batch and returns the data that must be read
 * back; `goOn` receives this data and returns further needs or the rows. Outlines are read first, until the place of
 * every TraceRun is known; then payloads, in portions that are derived and released one after the other. One batch at a
 * time.
 */
export interface Deriver {
  begin(batch: LaneBatch): DeriveStep
  goOn(read: ReadBack): DeriveStep
}

/** One step requests at most `portionBytes` of payloads, or one column. */
export function createDeriver(
  context: LlmContext,
  memory: OpenFragments,
  portionBytes = PORTION_BYTES,
): Deriver {
  let work: DeriveWork | undefined
  return {
    begin(batch) {
      memory.begin(batch.generation)
      work = new DeriveWork(context, memory, { ...batch, portionBytes })
      return work.begin(batch)
    },
    goOn(read) {
      if (!work) throw new Error('no batch has begun')
      const step = work.goOn(read)
      if (step.kind === 'done') work = undefined
      return step
    },
  }
}

/** The state of one batch. */
class DeriveWork {
  readonly #context: LlmContext
  readonly #memory: OpenFragments
  readonly #headOnly: ReadonlySet<string>
  readonly #portionBytes: number
  readonly #batch = new DeriveBatch()
  readonly #out: DerivedWriter
  readonly #lineages = createLineages(this.#batch)
  /** Parents that each TraceRun waits for. */
  readonly #awaited = new Map<string, Set<string>>()
  /** TraceRuns that are not derived yet; undefined until the places of all are known. */
  #left: string[] | undefined
  /** Keys of the TraceRuns in the current portion. */
  #portion: string[] = []
  /** Payloads of the portion that must still be read back. */
  #wanted: PayloadWant[] = []

  constructor(
    context: LlmContext,
    memory: OpenFragments,
    options: Pick<LaneBatch, 'headOnly' | 'periods'> & { portionBytes: number },
  ) {
    this.#context = context
    this.#memory = memory
    this.#headOnly = options.headOnly
    this.#portionBytes = options.portionBytes
    this.#out = new DerivedWriter(options.periods)
  }

  begin(part: LaneBatch): DeriveStep {
    for (const fragment of fragmentsOfPart(part)) this.#batch.touch(fragment)
    this.#batch.remember(this.#memory)
    return this.#step()
  }

  goOn(read: ReadBack): DeriveStep {
    const { fragments, touched } = this.#batch
    for (const rows of read.outlines) for (const fragment of readOutlines(rows)) fragments.add(fragment)
    for (const { workspace_id, pairs } of read.children) {
      for (const { parent_run_id, run_id } of pairs) {
        const key = keyOf(workspace_id, run_id)
        touched.add(key)
        const parents = this.#awaited.get(key)
        if (parents) parents.add(parent_run_id)
        else this.#awaited.set(key, new Set([parent_run_id]))
      }
    }
    for (const { workspace_id, run_ids } of read.below)
      for (const run_id of run_ids) touched.add(keyOf(workspace_id, run_id))
    for (const rows of read.payloads) fragments.fill(rows)
    if (!this.#left) this.#batch.touchOwners()
    return this.#step()
  }

  #step(): DeriveStep {
    if (!this.#left) {
      const needs = this.#batch.ask()
      if (needs) return { kind: 'needs', ...needs, payloads: [] }
      this.#left = [...this.#batch.touched]
    }
    while (this.#wanted.length === 0) {
      this.#derivePortion()
      if (this.#left.length === 0) return this.#out.finish(this.#batch.rootsUsed())
      this.#beginPortion(this.#left)
    }
    const payloads = byFragment(takePortion(this.#wanted, this.#portionBytes))
    return { kind: 'needs', outlines: [], of_others: false, children_of: [], below: [], payloads }
  }

  /** Selects as many TraceRuns as can be derived together, at least one. */
  #beginPortion(left: string[]): void {
    let bytes = 0
    let count = 0
    for (const key of left) {
      const wants = this.#headOnly.has(key) ? [] : this.#batch.wantsOf(key)
      bytes += wants.reduce((sum, want) => sum + want.bytes, 0)
      if (count > 0 && bytes > this.#portionBytes) break
      this.#wanted.push(...wants)
      count++
    }
    this.#portion = left.splice(0, count)
  }

  #derivePortion(): void {
    for (const key of this.#portion.splice(0)) this.#deriveOne(key)
    this.#batch.fragments.release()
  }

  #deriveOne(key: string): void {
    const { fragments } = this.#batch
    if (fragments.of(key).length === 0) return
    this.#out.adopted_count += this.#batch.adopt(key, this.#out.adopted)
    const whole = this.#headOnly.has(key)
      ? undefined
      : this.#attempt(() => this.#write(mergePlanned(fragments.of(key)), deriveMerged))
    const written =
      whole ??
      this.#attempt(() =>
        this.#write(mergeHeads(fragments.of(key)), (heads, { parentOf }) => deriveHead(heads, parentOf)),
      )
    const traceRun = written?.traceRun
    if (!traceRun) return
    this.#noteParent(key, traceRun)
    const isOpen = traceRun.end_time === undefined
    if (isOpen && this.#mayCache(key, traceRun)) this.#memory.set(key, fragments.of(key))
  }

  /**
   * Only the lane to which the fragments of a TraceRun go may cache it. Other lanes add fragments to spans: those that
   * were stored under another id. An update may come before its span.
   */
  #mayCache(key: string, { merged }: TraceRun): boolean {
    const isSpan = merged.head['span_id'] !== undefined || spanIdOf(merged.id) !== undefined
    return this.#batch.own.has(key) && !isSpan
  }

  /**
   * Derives a TraceRun and adds its row to the output. Adds no row for a span that a filter left out, nor if the
   * fragments are only parts of another TraceRun, which may arrive later.
   */
  #write(merged: MergedTraceRun, derive: typeof deriveMerged): { traceRun: TraceRun | undefined } {
    if (spanParts(merged) !== undefined) return { traceRun: undefined }
    const parentOf = (id: string) => this.#lineages(merged.workspace_id, id)
    const traceRun = derive(merged, { ...this.#context, parentOf })
    if (!merged.filtered) this.#out.add(traceRun)
    return { traceRun }
  }

  /** Records the parent that a TraceRun waits for, and removes it from the parents that it no longer waits for. */
  #noteParent(key: string, { merged, awaits, missing, trace_id }: TraceRun): void {
    const { workspace_id, id: run_id } = merged
    if (awaits !== undefined) {
      this.#out.note({ workspace_id, run_id, parent_run_id: awaits, resolved: false })
      const unknown = missing ?? awaits
      this.#out.unknown_parents.add(keyOf(workspace_id, unknown))
      // A span without a parent is stored under the id of its trace.
      if (spanIdOf(unknown) !== undefined) this.#out.unknown_parents.add(keyOf(workspace_id, trace_id))
    }
    for (const parent_run_id of this.#awaited.get(key) ?? [])
      if (parent_run_id !== awaits) this.#out.note({ workspace_id, run_id, parent_run_id, resolved: true })
  }

  /**
   * Returns the result of `work`. Records an error instead of throwing it, so that a TraceRun that cannot be derived
   * does not affect the others of the batch.
   */
  #attempt<T>(work: () => T): T | undefined {
    const written = this.#out.rows.length
    try {
      return work()
    } catch (error) {
      this.#out.rows.length = written
      // Only the place of the error is kept, because messages may contain data of the client.
      this.#out.failures.push(
        error instanceof Error
          ? `${error.name}\n${error.stack?.split('\n').slice(1).join('\n')}`
          : typeof error,
      )
      return undefined
    }
  }
}

type Lineages = (workspace_id: string, run_id: string) => ParentLineage | undefined

/**
 * Creates a function that finds, and caches, the lineage of a TraceRun in the batch. Its result is undefined in a
 * cycle of parents, and beyond MAX_DEPTH.
 */
function createLineages(batch: DeriveBatch): Lineages {
  const known = new Map<string, ParentLineage | undefined>()
  const lineageOf = (workspace_id: string, run_id: string, depth = 0): ParentLineage | undefined => {
    const key = keyOf(workspace_id, run_id)
    if (known.has(key)) return known.get(key)
    if (depth > MAX_DEPTH) return undefined
    known.set(key, undefined)
    const owner = batch.ownerOf(key)
    const place =
      owner === undefined
        ? placeIn(batch, key, (id) => lineageOf(workspace_id, id, depth + 1))
        : lineageOf(workspace_id, idsOf(owner).run_id, depth + 1)
    known.set(key, place)
    return place
  }
  return lineageOf
}

function placeIn(batch: DeriveBatch, key: string, parentOf: ParentOf): ParentLineage | undefined {
  const merged = batch.head(key)
  const place = merged && parentLineage(merged, parentOf)
  if (place?.span_id === undefined) return place
  return { ...place, other_roots: batch.otherRoots(keyOf(merged!.workspace_id, place.trace_id)) }
}
