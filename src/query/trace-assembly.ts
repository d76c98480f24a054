import type { TraceRun } from '../trace/derive/trace-run.ts'
import type { LlmContext } from '../trace/derive/llm.ts'
import type { PriceSource } from '../trace/price/price.ts'
import { parseDecimal } from '../trace/price/decimal.ts'
import { priceTraceRun } from '../trace/price/price-trace-run.ts'
import type { TraceSums } from '../ingest/store/outline-store.ts'
import { rollUp } from '../trace/derive/roll-up.ts'
import {
  isOutdated,
  ROLL_UP_COLUMNS,
  TRACE_RUN_ROWS,
  type TraceRunRow,
  toRow,
} from '../trace/rows/trace-run-row.ts'
import { totalsJson, type TraceGlimpse } from '../trace/json/row-fields.ts'
import {
  aboutInTrace,
  type FieldChoice,
  fullPieces,
  joinPieces,
  leanPieces,
  type OfTrace,
  type Piece,
} from '../trace/json/trace-run.ts'
import { type FileFormat, partOf } from '../trace/json/run-lines.ts'
import type { FeedbackStats } from '../trace/json/feedback-stats.ts'
import { deriveAll, freshest, rollUps } from './derive-read.ts'
import type { ReadFragments } from './read-plan.ts'

/** The store's results for one read, as RowBinary. */
export interface ReadRows {
  /** Lean rows in the order of the response. */
  rows: Uint8Array
  /** Columns of the rows; absent for all. */
  columns?: readonly (keyof TraceRunRow)[]
  /** ROLL_UP_COLUMNS of every TraceRun of the rows' traces; empty if not needed. */
  roll_up: Uint8Array
  /** Sums of the trace instead of `roll_up`, if its root is read alone. */
  sums?: TraceSums
  /** Fragments of the TraceRuns that are shown completely; empty for lean responses. */
  fragments: ReadFragments
  /** Number of rows to show; further rows are for later pages. */
  shown: number
  /** Feedback by TraceRun, for TraceRuns that have any. */
  feedback: ReadonlyMap<string, FeedbackStats>
  /** The row of a trace's root, for a page of the trace that does not have it; empty if there is none. */
  root?: Uint8Array
  /** By root, for the roots of a list. */
  glimpses?: ReadonlyMap<string, TraceGlimpse>
}

/** Makes the responses of reads from stored bytes, outside of the event loop. */
export interface TraceAssembly {
  /**
   * One complete TraceRun; undefined if there are neither fragments nor a row. `pricesOf` is used for a TraceRun with
   * newer fragments than its row. Without it, such a TraceRun has only sent costs.
   */
  traceRun(
    read: ReadRows,
    choice: FieldChoice,
    pricesOf?: (workspace_id: string) => PriceSource,
  ): Uint8Array<ArrayBuffer> | undefined
  /** A page of a trace. `totals` are over the whole trace, `next` is the next page's cursor. */
  trace(read: ReadRows, page: { trace_id: string; next: string | null }): Uint8Array<ArrayBuffer> | undefined
  page(
    read: ReadRows,
    cursors: { next: string | null; prev: string | null },
    choice: FieldChoice,
  ): Uint8Array<ArrayBuffer>
  /** The TraceRuns of a page as a part of a file. */
  filePart(read: ReadRows, choice: FieldChoice, format: FileFormat): Uint8Array<ArrayBuffer>
}

export function createTraceAssembly(context: LlmContext): TraceAssembly {
  return {
    traceRun(read, choice, pricesOf) {
      const [row] = shownRows(read)
      const derived = deriveAll(read.fragments, row ? [row] : [], context)
      for (const traceRun of derived.values()) {
        if (pricesOf && (row === undefined || isOutdated(row, toRow(traceRun))))
          priceTraceRun(traceRun, pricesOf(traceRun.merged.workspace_id))
      }
      const rows = row ? [row] : [...derived.values()].map(toRow)
      const { sums, roll_up } = read
      const roll = sums && row ? new Map([[row.trace_id, inSums(sums)]]) : rollUps(roll_up)
      const pieces = assemble(read, { rows, derived, roll, choice })
      return pieces.length === 0 ? undefined : joinPieces(pieces[0]!)
    },
    trace(read, { trace_id, next }) {
      const rows = shownRows(read)
      const all = [...TRACE_RUN_ROWS.read(read.roll_up, ROLL_UP_COLUMNS)].filter(
        (row) => row.trace_id === trace_id,
      )
      // Without rows the trace was deleted after the page was read.
      if (rows.length === 0 || all.length === 0) return undefined
      const roll = new Map([[trace_id, rollUp(all)]])
      const derived = deriveAll(read.fragments, rows, context)
      const pieces = assemble(read, { rows, derived, roll, choice: {} })
      return joinPieces([
        `{"trace_id":${JSON.stringify(trace_id)},"root":`,
        ...(pieces[rows.findIndex((row) => row.run_id === trace_id)] ?? rootElsewhere(read, trace_id, roll)),
        ',"runs":[',
        ...separated(pieces),
        `],"totals":${JSON.stringify(totalsJson(roll.get(trace_id)!.trace))}`,
        `,"duration_ms":${durationOf(all) / 1000}`,
        `,"cursors":{"next":${JSON.stringify(next)}}}`,
      ])
    },
    page(read, cursors, choice) {
      const rows = shownRows(read)
      const derived = deriveAll(read.fragments, rows, context)
      const pieces = assemble(read, { rows, derived, roll: rollUps(read.roll_up), choice })
      return joinPieces(['{"runs":[', ...separated(pieces), `],"cursors":${JSON.stringify(cursors)}}`])
    },
    filePart(read, choice, format) {
      const rows = shownRows(read)
      const derived = deriveAll(read.fragments, rows, context)
      const runs = assemble(read, { rows, derived, roll: rollUps(read.roll_up), choice }).map(joinPieces)
      return joinPieces(partOf(runs, format))
    },
  }
}

/** The root of a trace, from its row, for a page that does not have it. */
function rootElsewhere(
  read: Pick<ReadRows, 'root' | 'feedback'>,
  trace_id: string,
  roll: ReadonlyMap<string, OfTrace>,
): Piece[] {
  const rows = read.root === undefined ? [] : [...TRACE_RUN_ROWS.readAll(read.root)]
  const root = rows.filter((row) => row.trace_id === trace_id)
  return assemble(read, { rows: root, derived: new Map(), roll, choice: {} })[0] ?? ['null']
}

/** Microseconds from the first start to the last end. */
function durationOf(rows: readonly Pick<TraceRunRow, 'start_time' | 'end_time'>[]): number {
  const first = rows.reduce((least, { start_time }) => Math.min(least, start_time), Infinity)
  return (
    rows.reduce((most, { start_time, end_time }) => Math.max(most, end_time ?? start_time), -Infinity) - first
  )
}

/** The facts about a trace from the sums of the store, for a trace in which no call is shown twice. */
function inSums({ thread_id, ...sums }: TraceSums): OfTrace {
  const { prompt_cost, completion_cost, total_cost, estimated_cost } = sums
  const counts = {
    ...sums,
    prompt_cost: knownCost(prompt_cost),
    completion_cost: knownCost(completion_cost),
    total_cost: knownCost(total_cost),
    estimated_cost: knownCost(estimated_cost),
  }
  return { of: () => counts, same_calls: new Map(), thread_id: thread_id === '' ? undefined : thread_id }
}

const knownCost = (text: string | null): bigint | null =>
  text === null ? null : (parseDecimal(text) ?? null)

export function shownRows({ rows, columns = TRACE_RUN_ROWS.columns, shown }: ReadRows): TraceRunRow[] {
  return [...TRACE_RUN_ROWS.read(rows, columns)].slice(0, shown)
}

/** Converts each row to JSON: the complete TraceRun if it was derived, otherwise the lean row. */
function assemble(
  { feedback, glimpses }: Pick<ReadRows, 'feedback' | 'glimpses'>,
  {
    rows,
    derived,
    roll,
    choice,
  }: {
    rows: readonly TraceRunRow[]
    derived: ReadonlyMap<string, TraceRun>
    roll: ReadonlyMap<string, OfTrace>
    choice: FieldChoice
  },
): Piece[][] {
  return rows.map((row) => {
    const trace = roll.get(row.trace_id)
    const traceRun = derived.get(row.run_id)
    const shown = traceRun ? freshest(row, traceRun) : row
    const glimpse = glimpses?.get(row.run_id)
    const about = { ...aboutInTrace(shown, trace, feedback.get(row.run_id)), glimpse }
    return traceRun ? fullPieces(traceRun, shown, about, choice) : leanPieces(shown, about, choice)
  })
}

/** Joins items by commas. */
export function separated(items: readonly Piece[][]): Piece[] {
  return items.flatMap((pieces, i) => (i === 0 ? pieces : [',', ...pieces]))
}
