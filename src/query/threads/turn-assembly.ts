import type { TraceTurnSelect } from '../../schema/types.gen.ts'
import type { LlmContext } from '../../trace/derive/llm.ts'
import { jsonObject, joinPieces } from '../../trace/json/trace-run.ts'
import { turnFields } from '../../trace/json/turn.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import { deriveAll, freshest } from '../derive-read.ts'
import type { ReadFragments } from '../read-plan.ts'
import { readTurns, type Turn } from './sums.ts'
import { separated } from '../trace-assembly.ts'

/** Rows of roots, and their columns: those for deriving the roots, and those of the selected fields. */
export interface TurnRoots {
  rows: Uint8Array
  columns: readonly (keyof TraceRunRow)[]
}

/** A page of the traces of a thread, as read from the store. */
export interface TurnPage {
  thread_id: string
  /** All TraceRuns of the traces, and their columns: those of turns, and those of the selected fields. */
  rows: Uint8Array
  columns: readonly (keyof TraceRunRow)[]
  /** The roots, if selected fields are only in their payloads. Otherwise the roots are among `rows`. */
  roots: TurnRoots | undefined
  /** The traces to show, in order, with their numbers. */
  shown: readonly { trace_id: string; turn: number }[]
  selects: readonly TraceTurnSelect[]
  fragments: ReadFragments
  next: string | null
}

/** Makes the response; runs off the event loop. */
export function assembleTurns(page: TurnPage, context: LlmContext): Uint8Array<ArrayBuffer> {
  const turns = new Map(readTurns(page.rows, page.columns).map((turn) => [turn.root.trace_id, turn]))
  const roots = rootsOf(page, turns.values())
  const derived = deriveAll(page.fragments, [...roots.values()], context)
  const selects = new Set(page.selects)
  const items = page.shown.flatMap(({ trace_id, turn: turn_number }) => {
    const turn = turns.get(trace_id)
    const row = turn && roots.get(turn.root.run_id)
    if (turn === undefined || row === undefined) return []
    const traceRun = derived.get(row.run_id)
    const root = traceRun ? freshest(row, traceRun) : row
    const { sums, details } = turn
    return [
      jsonObject(
        turnFields(selects, { root, traceRun, sums, details, turn_number, thread_id: page.thread_id }),
      ),
    ]
  })
  return joinPieces(['{"items":[', ...separated(items), `],"next_cursor":${JSON.stringify(page.next)}}`])
}

/** TraceRuns by id, with the columns of the selected fields. */
function rootsOf({ roots }: TurnPage, turns: Iterable<Turn>): Map<string, TraceRunRow> {
  const rows = roots ? rootRows(roots) : [...turns].map(({ root }) => root as TraceRunRow)
  return new Map(rows.map((row) => [row.run_id, row]))
}

/** The rows, with only their columns set. */
export function rootRows({ rows, columns }: TurnRoots): TraceRunRow[] {
  return [...TRACE_RUN_ROWS.read(rows, columns)] as TraceRunRow[]
}
