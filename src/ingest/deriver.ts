import { type DeriveContext, type TraceRun, deriveMerged, startTimeOf } from '../trace/derive.ts'
import { type StoredFragment, idsOf, keyOf, readFragments } from '../trace/fragment.ts'
import { type ParentLineage, deriveLineage, neededParent } from '../trace/lineage.ts'
import type { LlmContext } from '../trace/llm.ts'
import { type MergedTraceRun, mergeFragments } from '../trace/merge.ts'
import { RowWriter } from '../trace/row-binary.ts'
import { toRow, tombstones, writeTraceRunRow } from '../trace/trace-run-row.ts'
import { writeWaitingChild } from '../trace/waiting-child.ts'
import type { OpenFragments } from './open-fragments.ts'

/** TraceRuns of one workspace. */
export interface WorkspaceIds {
  workspace_id: string
  run_ids: string[]
}

/** What a batch needs next: fragments to be read back, or nothing more because its rows are there. */
export type DeriveStep =
  | {
      kind: 'needs'
      fragments: WorkspaceIds[]
      children_of: WorkspaceIds[]
      /** Content hashes of the batch's own fragments, hex: they need not be read back. */
      at_hand: string[]
    }
  | {
      kind: 'done'
      rows: Uint8Array<ArrayBuffer>
      count: number
      waiting: Uint8Array<ArrayBuffer>
      waiting_count: number
    }

/** What was read back for a batch. */
export interface ReadBack {
  /** Fragments as RowBinary rows. */
  fragments: Uint8Array[]
  /** TraceRuns found to wait for one of the asked parents: to be derived again. */
  children: WorkspaceIds[]
}

/**
 * Turns batches of fragments into lean rows, in steps: `begin` takes a batch and says what must be read back,
 * `go_on` takes that and either asks for more (parents of parents) or gives the rows. One batch at a time.
 */
export interface Deriver {
  begin(payloads: readonly Uint8Array[]): DeriveStep
  goOn(read: ReadBack): DeriveStep
}

/** Parents are looked up this far; deeper chains without any dotted_order stay provisional. */
const MAX_ROUNDS = 20

interface Batch {
  /** Fragments by TraceRun: those of the batch, remembered ones, read-back ones. */
  fragments: Map<string, StoredFragment[]>
  /** TraceRuns to derive, in order of arrival. */
  touched: Set<string>
  /** TraceRuns whose fragments have been asked for or are complete. */
  complete: Set<string>
  /** Content hashes of the batch's own fragments, until they have been told. */
  own: string[]
  rounds: number
}

export function createDeriver(context: LlmContext, memory: OpenFragments): Deriver {
  let batch: Batch | undefined
  return {
    begin(payloads) {
      batch = { fragments: new Map(), touched: new Set(), complete: new Set(), own: [], rounds: 0 }
      for (const payload of payloads) for (const fragment of readFragments(payload)) touch(batch, fragment)
      for (const key of batch.touched) {
        const remembered = memory.get(key)
        if (!remembered) continue
        batch.fragments.get(key)!.push(...remembered)
        batch.complete.add(key)
      }
      return ask(batch, [...batch.touched])
    },
    goOn(read) {
      if (!batch) throw new Error('no batch has begun')
      for (const rows of read.fragments) for (const fragment of readFragments(rows)) add(batch, fragment)
      const children = read.children.flatMap(({ workspace_id, run_ids }) =>
        run_ids.map((id) => keyOf(workspace_id, id)),
      )
      for (const key of children) batch.touched.add(key)
      const parents = batch.rounds++ < MAX_ROUNDS ? missingParents(batch) : []
      const missing = [...children, ...parents].filter((key) => !batch!.complete.has(key))
      if (missing.length > 0) return ask(batch, missing)
      const step = finish(batch, context, memory)
      batch = undefined
      return step
    },
  }
}

function add(batch: Batch, fragment: StoredFragment): void {
  const known = batch.fragments.get(fragment.key)
  if (known) known.push(fragment)
  else batch.fragments.set(fragment.key, [fragment])
}

function touch(batch: Batch, fragment: StoredFragment): void {
  add(batch, fragment)
  batch.own.push(Buffer.from(fragment.hash, 'latin1').toString('hex'))
  batch.touched.add(fragment.key)
}

/** Asks for the fragments of `keys` that are not complete, and for the children that wait for any of them. */
function ask(batch: Batch, keys: readonly string[]): DeriveStep {
  const missing = keys.filter((key) => !batch.complete.has(key))
  for (const key of missing) batch.complete.add(key)
  const touched = keys.filter((key) => batch.touched.has(key))
  return {
    kind: 'needs',
    fragments: grouped(missing),
    children_of: grouped(touched),
    at_hand: batch.own.splice(0),
  }
}

/** Parents that touched TraceRuns need and whose fragments are not at hand. */
function missingParents(batch: Batch): string[] {
  const missing = new Set<string>()
  for (const fragments of batch.fragments.values()) {
    if (
      fragments.some((fragment) =>
        Buffer.from(fragment.head.buffer, fragment.head.byteOffset, fragment.head.byteLength).includes(
          '"dotted_order"',
        ),
      )
    )
      continue
    const merged = mergeFragments(fragments)
    const parent = neededParent(merged)
    if (parent === undefined) continue
    const key = keyOf(merged.workspace_id, parent)
    if (!batch.complete.has(key)) missing.add(key)
  }
  return [...missing]
}

function finish(batch: Batch, context: LlmContext, memory: OpenFragments): DeriveStep {
  const rows = new RowWriter(batch.touched.size * 1024)
  const waiting = new RowWriter()
  let count = 0
  let waiting_count = 0
  const lineages = createLineages(batch)
  for (const key of batch.touched) {
    const fragments = batch.fragments.get(key)
    if (!fragments) continue
    const traceRun = derive(fragments, context, lineages)
    const row = toRow(traceRun)
    const dead = tombstones(traceRun, row)
    for (const each of dead) writeTraceRunRow(rows, each)
    writeTraceRunRow(rows, row)
    count += dead.length + 1
    if (traceRun.awaits !== undefined) {
      writeWaitingChild(waiting, {
        workspace_id: row.workspace_id,
        parent_run_id: traceRun.awaits,
        run_id: row.run_id,
        received_at: row.received_at,
      })
      waiting_count++
    }
    if (traceRun.end_time === undefined) memory.set(key, fragments)
    else memory.delete(key)
  }
  return { kind: 'done', rows: rows.finish(), count, waiting: waiting.finish(), waiting_count }
}

function derive(fragments: readonly StoredFragment[], context: LlmContext, lineages: Lineages): TraceRun {
  const merged = mergeFragments(fragments)
  const withParents: DeriveContext = { ...context, parentOf: (id) => lineages(merged.workspace_id, id) }
  return deriveMerged(merged, withParents)
}

/** A trace deeper than this, sent without any dotted_order, stays provisional below: orders grow with the depth. */
const MAX_DEPTH = 256

type Lineages = (workspace_id: string, run_id: string) => ParentLineage | undefined

/** Places of TraceRuns whose fragments are in the batch, each worked out once; a cycle of parents ends as unknown. */
function createLineages(batch: Batch): Lineages {
  const known = new Map<string, ParentLineage | undefined>()
  const lineageOf = (workspace_id: string, run_id: string, depth = 0): ParentLineage | undefined => {
    const key = keyOf(workspace_id, run_id)
    if (known.has(key)) return known.get(key)
    if (depth > MAX_DEPTH) return undefined
    known.set(key, undefined)
    const fragments = batch.fragments.get(key)
    if (!fragments) return undefined
    const merged: MergedTraceRun = mergeFragments(fragments)
    if (!merged.created) return undefined
    const lineage = deriveLineage(
      merged,
      startTimeOf(merged),
      (id) => lineageOf(workspace_id, id, depth + 1),
      [],
    )
    const place =
      lineage.awaits === undefined && lineage.dotted_order.length < MAX_DEPTH * 60 ? lineage : undefined
    known.set(key, place)
    return place
  }
  return lineageOf
}

/** TraceRuns by workspace, as the store is asked. */
function grouped(keys: readonly string[]): WorkspaceIds[] {
  const groups = new Map<string, string[]>()
  for (const key of keys) {
    const { workspace_id, run_id } = idsOf(key)
    const group = groups.get(workspace_id)
    if (group) group.push(run_id)
    else groups.set(workspace_id, [run_id])
  }
  return [...groups].map(([workspace_id, run_ids]) => ({ workspace_id, run_ids }))
}
