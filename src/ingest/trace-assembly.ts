import { type TraceRun, carriesUsage, deriveTraceRun } from '../trace/derive.ts'
import { type StoredFragment, readFragments } from '../trace/fragment.ts'
import type { Estimator, LlmContext } from '../trace/llm.ts'
import { type RollUp, rollUp } from '../trace/roll-up.ts'
import {
  type RollUpColumns,
  ROLL_UP_COLUMNS,
  TRACE_RUN_COLUMNS,
  type TraceRunRow,
  readRows,
  toRow,
} from '../trace/trace-run-row.ts'
import { tokenModelFor } from '../trace/token-model.ts'
import { fullTraceRun, joinPieces, leanTraceRun, ownCounts, totalsJson } from '../trace/trace-run-json.ts'

/** What the store gave for one read, as RowBinary. */
export interface ReadRows {
  /** Lean rows in answer order. */
  rows: Uint8Array
  /** ROLL_UP_COLUMNS of every TraceRun of the traces concerned; no bytes where none is needed. */
  roll_up: Uint8Array
  /** Fragments of the TraceRuns that are answered whole; no bytes for lean answers. */
  fragments: Uint8Array
}

type Piece = string | Uint8Array

/** Makes answers of reads from stored bytes; runs off the event loop. */
export interface TraceAssembly {
  /** One TraceRun whole; undefined when there are neither fragments nor a row. */
  traceRun(read: ReadRows): Uint8Array<ArrayBuffer> | undefined
  /** A page of a trace. `totals` are over the whole trace, `next` the cursor of the next page. */
  trace(read: ReadRows, trace_id: string, next: string | null): Uint8Array<ArrayBuffer> | undefined
  /** A page of a list. */
  page(
    read: ReadRows,
    cursors: { next: string | null; prev: string | null },
    select: readonly string[] | undefined,
  ): Uint8Array<ArrayBuffer>
}

export function createTraceAssembly(context: LlmContext): TraceAssembly {
  return {
    traceRun(read) {
      const rows = [...readRows(read.rows, TRACE_RUN_COLUMNS)]
      const derived = deriveAll(read.fragments, rows, context)
      const pieces = assemble(
        rows.length > 0 ? rows : [...derived.values()].map(toRow),
        derived,
        rollUps(read.roll_up),
      )
      return pieces.length === 0 ? undefined : joinPieces(pieces[0]!)
    },
    trace(read, trace_id, next) {
      const rows = [...readRows(read.rows, TRACE_RUN_COLUMNS)]
      if (rows.length === 0) return undefined
      const roll = rollUps(read.roll_up)
      const pieces = assemble(rows, deriveAll(read.fragments, rows, context), roll)
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
    page(read, cursors, select) {
      const rows = [...readRows(read.rows, TRACE_RUN_COLUMNS)]
      const pieces = assemble(rows, deriveAll(read.fragments, rows, context), rollUps(read.roll_up))
      const chosen = select === undefined ? pieces : pieces.map((piece) => [picked(piece, select)])
      return joinPieces(['{"runs":[', ...separated(chosen), `],"cursors":${JSON.stringify(cursors)}}`])
    },
  }
}

/** Derives every TraceRun that has fragments; counts that were estimated at ingest are taken from its row. */
function deriveAll(
  fragments: Uint8Array,
  rows: readonly TraceRunRow[],
  context: LlmContext,
): Map<string, TraceRun> {
  const groups = new Map<string, StoredFragment[]>()
  for (const fragment of readFragments(fragments)) {
    const group = groups.get(fragment.run_id)
    if (group) group.push(fragment)
    else groups.set(fragment.run_id, [fragment])
  }
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const derived = new Map<string, TraceRun>()
  for (const [id, group] of groups) {
    const row = byId.get(id)
    derived.set(
      id,
      deriveTraceRun(group, {
        ...context,
        startEstimate: () => (row ? storedEstimates(row, context.startEstimate) : context.startEstimate()),
        parentOf: () => undefined,
      }),
    )
  }
  return derived
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
): Piece[][] {
  return rows.map((row) => {
    const counts = carriesUsage(row.run_type)
      ? ownCounts(row)
      : (roll.get(row.trace_id)?.of(row.run_id) ?? ownCounts(row))
    const traceRun = derived.get(row.run_id)
    return traceRun
      ? fullTraceRun(traceRun, freshest(row, traceRun), counts)
      : [JSON.stringify(leanTraceRun(row, counts))]
  })
}

/** The stored row, unless fragments have come since that it does not know of. */
function freshest(row: TraceRunRow, traceRun: TraceRun): TraceRunRow {
  const now = toRow(traceRun)
  return now.version > row.version + 1 ? now : row
}

function separated(items: readonly Piece[][]): Piece[] {
  return items.flatMap((pieces, i) => (i === 0 ? pieces : [',', ...pieces]))
}

/** Only the fields that the caller asked for, and `id`. */
function picked(pieces: Piece[], select: readonly string[]): Piece {
  const all = JSON.parse(Buffer.from(joinPieces(pieces)).toString('utf8')) as Record<string, unknown>
  const keep = new Set([...select, 'id'])
  return JSON.stringify(Object.fromEntries(Object.entries(all).filter(([key]) => keep.has(key))))
}
