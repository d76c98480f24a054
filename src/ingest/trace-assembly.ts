import { type DeriveContext, type TraceRun, carriesUsage, deriveHead, deriveMerged } from '../trace/derive.ts'
import { idsOf, type StoredFragment } from '../trace/fragment.ts'
import type { ParentLineage } from '../trace/lineage.ts'
import type { Estimator, LlmContext } from '../trace/llm.ts'
import { metadataOf } from '../trace/merge.ts'
import { spanParts } from '../trace/otel/span-parts.ts'
import { mergeHeads, mergePlanned, NOT_DERIVED } from '../trace/payload-plan.ts'
import { type RollUp, rollUp } from '../trace/roll-up.ts'
import {
  type RollUpColumns,
  ROLL_UP_COLUMNS,
  TRACE_RUN_COLUMNS,
  type TraceRunRow,
  isOutdated,
  readRows,
  toRow,
} from '../trace/trace-run-row.ts'
import { tokenModelFor } from '../trace/token-model.ts'
import {
  type FieldChoice,
  fullPieces,
  joinPieces,
  leanPieces,
  ownCounts,
  totalsJson,
} from '../trace/trace-run-json.ts'
import { fragmentsIn, type ReadFragments } from './read-plan.ts'

/** What the store gave for one read, as RowBinary. */
export interface ReadRows {
  /** Lean rows in answer order. */
  rows: Uint8Array
  /** ROLL_UP_COLUMNS of every TraceRun of the traces concerned; no bytes where none is needed. */
  roll_up: Uint8Array
  /** Those of the TraceRuns that are answered whole; empty for lean answers. */
  fragments: ReadFragments
  /** How many of the rows are answered; the others are for later pages. */
  shown: number
}

type Piece = string | Uint8Array

/** Makes answers of reads from stored bytes; runs off the event loop. */
export interface TraceAssembly {
  /** One TraceRun whole; undefined when there are neither fragments nor a row. */
  traceRun(read: ReadRows, choice: FieldChoice): Uint8Array<ArrayBuffer> | undefined
  /** A page of a trace. `totals` are over the whole trace, `next` is the next page's cursor. */
  trace(read: ReadRows, page: { trace_id: string; next: string | null }): Uint8Array<ArrayBuffer> | undefined
  /** A page of a list. */
  page(
    read: ReadRows,
    cursors: { next: string | null; prev: string | null },
    choice: FieldChoice,
  ): Uint8Array<ArrayBuffer>
}

export function createTraceAssembly(context: LlmContext): TraceAssembly {
  return {
    traceRun(read, choice) {
      const rows = shownRows(read)
      const derived = deriveAll(read.fragments, rows, context)
      const pieces = assemble(
        rows.length > 0 ? rows : [...derived.values()].map(toRow),
        derived,
        rollUps(read.roll_up),
        choice,
      )
      return pieces.length === 0 ? undefined : joinPieces(pieces[0]!)
    },
    trace(read, { trace_id, next }) {
      const rows = shownRows(read)
      if (rows.length === 0) return undefined
      const roll = rollUps(read.roll_up)
      const pieces = assemble(rows, deriveAll(read.fragments, rows, context), roll, {})
      const totals = roll.get(trace_id)
      const root = rows.findIndex((row) => row.run_id === trace_id)
      const starts = rows.map((row) => row.start_time)
      const ends = rows.map((row) => row.end_time ?? row.start_time)
      return joinPieces([
        `{"trace_id":${JSON.stringify(trace_id)},"root":`,
        ...(root < 0 ? ['null'] : pieces[root]!),
        ',"runs":[',
        ...separated(pieces),
        `],"totals":${JSON.stringify(totals ? totalsJson(totals.trace) : null)}`,
        `,"duration_ms":${(ends.reduce((a, b) => Math.max(a, b)) - starts.reduce((a, b) => Math.min(a, b))) / 1000}`,
        `,"cursors":{"next":${JSON.stringify(next)}}}`,
      ])
    },
    page(read, cursors, choice) {
      const rows = shownRows(read)
      const derived = deriveAll(read.fragments, rows, context)
      const pieces = assemble(rows, derived, rollUps(read.roll_up), choice)
      return joinPieces(['{"runs":[', ...separated(pieces), `],"cursors":${JSON.stringify(cursors)}}`])
    },
  }
}

function shownRows(read: ReadRows): TraceRunRow[] {
  return [...readRows(read.rows, TRACE_RUN_COLUMNS)].slice(0, read.shown)
}

/** Derives every TraceRun that has fragments; counts that were estimated at ingest are taken from its row. */
function deriveAll(
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
 * A TraceRun as it is read; undefined for parts of another. One that could not be derived at ingest, or cannot be
 * now, is answered as it was sent.
 */
function deriveOne(
  fragments: readonly StoredFragment[],
  context: DeriveContext,
  isBare: boolean,
): TraceRun | undefined {
  const merged = mergePlanned(fragments)
  if (spanParts(merged) !== undefined) return undefined
  if (!isBare) {
    try {
      return deriveMerged(merged, context)
    } catch {
      // Said at ingest already.
    }
  }
  const bare = deriveHead(mergeHeads(fragments), context.parentOf)
  const { raw, extra } = merged
  return { ...bare, metadata: metadataOf(merged), merged: { ...bare.merged, raw, extra } }
}

/** The parent's place as the row tells it: known since the row was derived with it, else undefined. */
function parentPlace(row: TraceRunRow): ParentLineage | undefined {
  const { parent_run_id, trace_id, dotted_order, issues } = row
  const end = dotted_order.lastIndexOf('.')
  if (end < 0 || issues.includes('parent_unknown')) return undefined
  return { id: parent_run_id, trace_id, dotted_order: dotted_order.slice(0, end) }
}

/** The counts that ingest estimated, so that a read need not count again. */
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

function rollUps(bytes: Uint8Array): Map<string, RollUp> {
  const traces = new Map<string, RollUpColumns[]>()
  for (const row of readRows(bytes, ROLL_UP_COLUMNS)) {
    const rows = traces.get(row.trace_id)
    if (rows) rows.push(row)
    else traces.set(row.trace_id, [row])
  }
  return new Map([...traces].map(([trace_id, rows]) => [trace_id, rollUp(rows)]))
}

/** Each row as JSON: whole where it was derived, else lean. */
function assemble(
  rows: readonly TraceRunRow[],
  derived: ReadonlyMap<string, TraceRun>,
  roll: ReadonlyMap<string, RollUp>,
  choice: FieldChoice,
): Piece[][] {
  return rows.map((row) => {
    const counts = carriesUsage(row.run_type)
      ? ownCounts(row)
      : (roll.get(row.trace_id)?.of(row.run_id) ?? ownCounts(row))
    const traceRun = derived.get(row.run_id)
    return traceRun
      ? fullPieces(traceRun, freshest(row, traceRun), counts, choice)
      : leanPieces(row, counts, choice)
  })
}

/** The stored row, unless fragments have come since that it does not know of. */
function freshest(row: TraceRunRow, traceRun: TraceRun): TraceRunRow {
  const now = toRow(traceRun)
  return isOutdated(row, now) ? now : row
}

function separated(items: readonly Piece[][]): Piece[] {
  return items.flatMap((pieces, i) => (i === 0 ? pieces : [',', ...pieces]))
}
