import { type DeriveContext, type TraceRun, deriveMerged, startTimeOf } from '../trace/derive.ts'
import { idsOf, keyOf, readFragments } from '../trace/fragment.ts'
import { type ParentLineage, deriveLineage } from '../trace/lineage.ts'
import type { LlmContext } from '../trace/llm.ts'
import { type MergedTraceRun, mergeFragments } from '../trace/merge.ts'
import { spanParts } from '../trace/otel/span-parts.ts'
import { RowWriter } from '../trace/row-binary.ts'
import { toRow, tombstones, writeTraceRunRow } from '../trace/trace-run-row.ts'
import { writeWaitingChild } from '../trace/waiting-child.ts'
import { type BatchNeeds, DeriveBatch, type WorkspaceIds } from './derive-batch.ts'
import type { OpenFragments } from './open-fragments.ts'

/** What a batch needs next: fragments to be read back, or nothing more because its rows are there. */
export type DeriveStep =
  | BatchNeeds
  | {
      kind: 'done'
      rows: Uint8Array<ArrayBuffer>
      count: number
      waiting: Uint8Array<ArrayBuffer>
      waiting_count: number
      /** Fragments that turned out to belong to another TraceRun, filed under that. */
      adopted: Uint8Array<ArrayBuffer>
      adopted_count: number
      /** What went wrong with TraceRuns that could not be derived. */
      failures: string[]
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

export function createDeriver(context: LlmContext, memory: OpenFragments): Deriver {
  let batch: DeriveBatch | undefined
  return {
    begin(payloads) {
      batch = new DeriveBatch()
      for (const payload of payloads) for (const fragment of readFragments(payload)) batch.touch(fragment)
      batch.remember(memory)
      return go()
    },
    goOn(read) {
      if (!batch) throw new Error('no batch has begun')
      for (const rows of read.fragments) for (const fragment of readFragments(rows)) batch.add(fragment)
      for (const { workspace_id, run_ids } of read.children)
        for (const id of run_ids) batch.touched.add(keyOf(workspace_id, id))
      batch.touchOwners()
      return go()
    },
  }

  function go(): DeriveStep {
    const needs = batch!.ask()
    if (needs !== undefined) return needs
    const step = finish(batch!, context, memory)
    batch = undefined
    return step
  }
}

function finish(batch: DeriveBatch, context: LlmContext, memory: OpenFragments): DeriveStep {
  const rows = new RowWriter(batch.touched.size * 1024)
  const waiting = new RowWriter()
  const adopted = new RowWriter()
  let count = 0
  let waiting_count = 0
  let adopted_count = 0
  const failures: string[] = []
  const lineages = createLineages(batch)
  for (const key of batch.touched) {
    const fragments = batch.fragments.get(key)
    if (!fragments) continue
    adopted_count += batch.adopt(key, adopted)
    const written = rows.length
    const traceRun = attempt(failures, () => {
      const derived = derive(batch, key, context, lineages)
      if (derived) count += writeRows(rows, derived)
      return derived
    })
    if (traceRun) waiting_count += writeWaiting(waiting, traceRun)
    else rows.length = written
    if (traceRun?.end_time === undefined) memory.set(key, fragments)
    else memory.delete(key)
  }
  return {
    kind: 'done',
    rows: rows.finish(),
    count,
    waiting: waiting.finish(),
    waiting_count,
    adopted: adopted.finish(),
    adopted_count,
    failures,
  }
}

/** One TraceRun that cannot be derived must not cost those that came with it. */
function attempt<T>(failures: string[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    // Where it happened only: messages may quote what was sent.
    failures.push(
      error instanceof Error
        ? `${error.name}\n${error.stack?.split('\n').slice(1).join('\n')}`
        : typeof error,
    )
    return undefined
  }
}

function writeRows(rows: RowWriter, traceRun: TraceRun): number {
  const row = toRow(traceRun)
  const dead = tombstones(traceRun, row)
  for (const each of dead) writeTraceRunRow(rows, each)
  writeTraceRunRow(rows, row)
  return dead.length + 1
}

function writeWaiting(waiting: RowWriter, { merged, awaits }: TraceRun): number {
  if (awaits === undefined) return 0
  const { workspace_id, id, received_at } = merged
  writeWaitingChild(waiting, { workspace_id, parent_run_id: awaits, run_id: id, received_at })
  return 1
}

/** Undefined for parts whose TraceRun is another, or has not come yet. */
function derive(
  batch: DeriveBatch,
  key: string,
  context: LlmContext,
  lineages: Lineages,
): TraceRun | undefined {
  const merged = mergeFragments(batch.fragments.get(key)!)
  if (spanParts(merged) !== undefined) return undefined
  const withParents: DeriveContext = { ...context, parentOf: (id) => lineages(merged.workspace_id, id) }
  return deriveMerged(merged, withParents)
}

/** A trace deeper than this, sent without any dotted_order, stays provisional below: orders grow with the depth. */
const MAX_DEPTH = 256

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
        ? placeOf(batch.head(key), (id) => lineageOf(workspace_id, id, depth + 1))
        : lineageOf(workspace_id, idsOf(owner).run_id, depth + 1)
    known.set(key, place)
    return place
  }
  return lineageOf
}

function placeOf(
  merged: MergedTraceRun | undefined,
  parentOf: (id: string) => ParentLineage | undefined,
): ParentLineage | undefined {
  if (!merged?.created) return undefined
  const { trace_id, dotted_order, awaits } = deriveLineage(merged, startTimeOf(merged), parentOf, [])
  if (dotted_order.length >= MAX_DEPTH * 60) return undefined
  const span_id = merged.head['span_id']
  return {
    id: merged.id,
    trace_id,
    dotted_order,
    provisional: awaits !== undefined,
    span_id: typeof span_id === 'string' ? span_id : undefined,
  }
}
