import { type DeriveContext, deriveHead, deriveMerged } from '../trace/derive/derive.ts'
import type { TraceRun } from '../trace/derive/trace-run.ts'
import { idsOf, type StoredFragment } from '../trace/rows/fragment.ts'
import type { ParentLineage } from '../trace/derive/lineage/lineage.ts'
import type { Estimator, LlmContext } from '../trace/derive/llm.ts'
import { metadataOf } from '../trace/derive/merge.ts'
import { spanParts } from '../trace/otel/span/parts.ts'
import { mergeHeads, mergePlanned, NOT_DERIVED } from '../trace/derive/payload-plan.ts'
import { type RollUp, rollUp } from '../trace/derive/roll-up.ts'
import {
  type RollUpColumns,
  ROLL_UP_COLUMNS,
  TRACE_RUN_ROWS,
  type TraceRunRow,
  isOutdated,
  toRow,
} from '../trace/rows/trace-run-row.ts'
import { orderAbove } from '../trace/derive/lineage/parent-lineage.ts'
import { NIL_UUID } from '../base/ids.ts'
import { tokenModelFor } from '../trace/tokens/token-model.ts'
import { fragmentsIn, type ReadFragments } from './read-plan.ts'

/** Derives every TraceRun that has fragments; counts that were estimated at ingest are taken from its row. */
export function deriveAll(
  read: ReadFragments,
  rows: readonly TraceRunRow[],
  context: LlmContext,
): Map<string, TraceRun> {
  const fragments = fragmentsIn(read)
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const derived = new Map<string, TraceRun>()
  for (const key of fragments.keys()) {
    const { run_id } = idsOf(key)
    const row = byId.get(run_id)
    if (rows.length > 0 && !row) continue
    const own: DeriveContext = {
      ...context,
      startEstimate: () => (row ? storedEstimates(row, context.startEstimate) : context.startEstimate()),
      parentOf: () => row && parentPlace(row),
    }
    const traceRun = deriveOne(fragments.of(key), own, row?.issues.includes(NOT_DERIVED) === true)
    if (traceRun) derived.set(run_id, traceRun)
  }
  return derived
}

/**
 * Derives a TraceRun for a response; undefined if the fragments are only parts of another TraceRun, or a span that a
 * filter left out. A TraceRun that
 * cannot be derived is returned with its fields as sent.
 */
function deriveOne(
  fragments: readonly StoredFragment[],
  context: DeriveContext,
  isHeadOnly: boolean,
): TraceRun | undefined {
  const merged = mergePlanned(fragments)
  if (merged.filtered || spanParts(merged) !== undefined) return undefined
  if (!isHeadOnly) {
    try {
      return deriveMerged(merged, context)
    } catch {
      // Ingest has already logged it.
    }
  }
  const head = deriveHead(mergeHeads(fragments), context.parentOf)
  const { raw, extra } = merged
  return { ...head, metadata: metadataOf(merged), merged: { ...head.merged, raw, extra } }
}

/** The parent's place from the row; undefined unless the row was derived with the parent. */
function parentPlace(row: TraceRunRow): ParentLineage | undefined {
  const { parent_run_id, trace_id, dotted_order, issues } = row
  if (issues.includes('parent_unknown')) return undefined
  const order = orderAbove(dotted_order)
  if (order !== '') return { id: parent_run_id, trace_id, dotted_order: order }
  // Filters left out everything above.
  return parent_run_id === NIL_UUID
    ? { trace_id, dotted_order: '', above: { id: undefined, dotted_order: '' } }
    : undefined
}

/** An estimator that returns the counts that ingest estimated, so that a read need not count again. */
function storedEstimates(row: TraceRunRow, fallback: () => Estimator): Estimator {
  const { encoding } = tokenModelFor(row.model, row.provider)
  const sampled = row.issues.includes('estimate_sampled')
  return {
    input: (side) =>
      row.input_source === 'estimate' && row.input_tokens !== null
        ? { tokens: row.input_tokens, encoding, sampled }
        : fallback().input(side),
    output: (side) =>
      row.output_source === 'estimate' && row.output_tokens !== null
        ? { tokens: row.output_tokens, encoding, sampled }
        : fallback().output(side),
  }
}

export function rollUps(bytes: Uint8Array): Map<string, RollUp> {
  const traces = byTrace<RollUpColumns>(TRACE_RUN_ROWS.read(bytes, ROLL_UP_COLUMNS))
  return new Map([...traces].map(([trace_id, rows]) => [trace_id, rollUp(rows)]))
}

export function byTrace<R extends { trace_id: string }>(rows: Iterable<R>): Map<string, R[]> {
  const traces = new Map<string, R[]>()
  for (const row of rows) {
    const known = traces.get(row.trace_id)
    if (known) known.push(row)
    else traces.set(row.trace_id, [row])
  }
  return traces
}

/** The stored row, unless fragments have arrived since then. */
export function freshest(row: TraceRunRow, traceRun: TraceRun): TraceRunRow {
  const now = toRow(traceRun)
  return isOutdated(row, now) ? now : row
}
