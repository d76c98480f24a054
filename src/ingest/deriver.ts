import { type TraceRun, deriveHead, deriveMerged } from '../trace/derive.ts'
import { idsOf, keyOf, readFragments, readOutlines } from '../trace/fragment.ts'
import type { ParentLineage, ParentOf } from '../trace/lineage.ts'
import type { LlmContext } from '../trace/llm.ts'
import type { MergedTraceRun } from '../trace/merge.ts'
import { spanIdOf } from '../trace/otel/span-ids.ts'
import { spanParts } from '../trace/otel/span-parts.ts'
import { type PayloadWant, mergeHeads, mergePlanned } from '../trace/payload-plan.ts'
import type { UsagePeriod } from '../trace/usage-claim.ts'
import { MAX_DEPTH, placeOf } from '../trace/place.ts'
import { type BatchNeeds, DeriveBatch, type WorkspaceIds } from './derive-batch.ts'
import { byFragment, PORTION_BYTES, takePortion, type WorkspaceWants } from './derive-portions.ts'
import { type Derived, DerivedWriter } from './derived-writer.ts'
import type { OpenFragments } from './open-fragments.ts'

/** What a batch needs next: more from the store, or nothing because its rows are there. */
export type DeriveStep = DeriveNeeds | Derived

/** What must be read back. */
export interface DeriveNeeds extends BatchNeeds {
  kind: 'needs'
  payloads: WorkspaceWants[]
}

/** TraceRuns of one workspace that wait for parents. */
export interface WaitingChildren {
  workspace_id: string
  pairs: { parent_run_id: string; run_id: string }[]
}

/** What was read back for a batch, as RowBinary. */
export interface ReadBack {
  /** OUTLINE_COLUMNS. */
  outlines: Uint8Array[]
  /** PAYLOAD_COLUMNS. */
  payloads: Uint8Array[]
  /** TraceRuns found to wait for one of the asked parents: to be derived again. */
  children: WaitingChildren[]
  /** TraceRuns found to stand under the root of one of the asked traces: to be derived again. */
  below: WorkspaceIds[]
}

/**
 * Turns batches of fragments into lean rows, in steps: `begin` takes a batch and says what must be read back,
 * `goOn` takes that and either asks for more or gives the rows. First come outlines, until the place of every
 * TraceRun is known, then payloads, in portions that are derived and given up one after the other. One batch at a time.
 */
export interface Deriver {
  /** TraceRuns of the keys `bare` are derived from their heads alone; operations of `periods` count for usage. */
  begin(
    payloads: readonly Uint8Array[],
    bare: ReadonlySet<string>,
    periods: readonly UsagePeriod[],
  ): DeriveStep
  goOn(read: ReadBack): DeriveStep
}

/** At most `portionBytes` of payloads are asked for in one step, or one column. */
export function createDeriver(
  context: LlmContext,
  memory: OpenFragments,
  portionBytes = PORTION_BYTES,
): Deriver {
  let work: DeriveWork | undefined
  return {
    begin(payloads, bare, periods) {
      work = new DeriveWork(context, memory, { bare, periods, portionBytes })
      return work.begin(payloads)
    },
    goOn(read) {
      if (!work) throw new Error('no batch has begun')
      const step = work.goOn(read)
      if (step.kind === 'done') work = undefined
      return step
    },
  }
}

/** One batch on its way to rows. */
class DeriveWork {
  readonly #context: LlmContext
  readonly #memory: OpenFragments
  readonly #bare: ReadonlySet<string>
  readonly #portionBytes: number
  readonly #batch = new DeriveBatch()
  readonly #out: DerivedWriter
  readonly #lineages = createLineages(this.#batch)
  /** Parents that a TraceRun was found to wait for. */
  readonly #awaited = new Map<string, Set<string>>()
  /** TraceRuns still to be derived, once the places of all are known. */
  #left: string[] | undefined
  /** TraceRuns of the portion, and what of their payloads is still to be read back. */
  #portion: string[] = []
  #wanted: PayloadWant[] = []

  constructor(
    context: LlmContext,
    memory: OpenFragments,
    options: { bare: ReadonlySet<string>; periods: readonly UsagePeriod[]; portionBytes: number },
  ) {
    this.#context = context
    this.#memory = memory
    this.#bare = options.bare
    this.#portionBytes = options.portionBytes
    this.#out = new DerivedWriter(options.periods)
  }

  begin(payloads: readonly Uint8Array[]): DeriveStep {
    for (const payload of payloads) for (const fragment of readFragments(payload)) this.#batch.touch(fragment)
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
    return { kind: 'needs', outlines: [], children_of: [], below: [], payloads }
  }

  /** Takes as many TraceRuns as can be derived together, at least one. */
  #beginPortion(left: string[]): void {
    let bytes = 0
    let count = 0
    for (const key of left) {
      const wants = this.#bare.has(key) ? [] : this.#batch.wantsOf(key)
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
    const whole = this.#bare.has(key)
      ? undefined
      : this.#attempt(() => this.#write(mergePlanned(fragments.of(key)), deriveMerged))
    const written =
      whole ??
      this.#attempt(() =>
        this.#write(mergeHeads(fragments.of(key)), (heads, { parentOf }) => deriveHead(heads, parentOf)),
      )
    const traceRun = written?.traceRun
    if (traceRun) this.#noteParent(key, traceRun)
    if (traceRun?.end_time === undefined) this.#memory.set(key, fragments.of(key))
  }

  /** Writes no row for parts whose TraceRun is another, or has not come yet. */
  #write(merged: MergedTraceRun, derive: typeof deriveMerged): { traceRun: TraceRun | undefined } {
    if (spanParts(merged) !== undefined) return { traceRun: undefined }
    const parentOf = (id: string) => this.#lineages(merged.workspace_id, id)
    const traceRun = derive(merged, { ...this.#context, parentOf })
    this.#out.add(traceRun)
    return { traceRun }
  }

  /** Notes for which parent it waits, and for which no more. */
  #noteParent(key: string, { merged, awaits, missing, trace_id }: TraceRun): void {
    const { workspace_id, id: run_id } = merged
    if (awaits !== undefined) {
      this.#out.note({ workspace_id, run_id, parent_run_id: awaits, resolved: false })
      const unknown = missing ?? awaits
      this.#out.unknown_parents.add(keyOf(workspace_id, unknown))
      // A span without a parent is filed under the id of its trace.
      if (spanIdOf(unknown) !== undefined) this.#out.unknown_parents.add(keyOf(workspace_id, trace_id))
    }
    for (const parent_run_id of this.#awaited.get(key) ?? [])
      if (parent_run_id !== awaits) this.#out.note({ workspace_id, run_id, parent_run_id, resolved: true })
  }

  /** One TraceRun that cannot be derived must not cost those that came with it. */
  #attempt<T>(work: () => T): T | undefined {
    const written = this.#out.rows.length
    try {
      return work()
    } catch (error) {
      this.#out.rows.length = written
      // Where it happened only: messages may quote what was sent.
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

/** Places of TraceRuns whose fragments are in the batch, each worked out once; a cycle of parents ends as unknown. */
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
  const place = merged && placeOf(merged, parentOf)
  if (place?.span_id === undefined) return place
  return { ...place, other_roots: batch.otherRoots(keyOf(merged!.workspace_id, place.trace_id)) }
}
