import { NIL_UUID } from '../base/ids.ts'
import type { TraceRun } from '../trace/derive/trace-run.ts'
import type { LlmContext } from '../trace/derive/llm.ts'
import type { RollUp } from '../trace/derive/roll-up.ts'
import type { RunLinks } from '../trace/json/run-links.ts'
import { type RunSelect, selectedFields } from '../trace/json/selected-run.ts'
import { costNumber, ownCounts, time } from '../trace/json/row-fields.ts'
import { aboutInTrace, joinPieces, jsonObject, type Piece } from '../trace/json/trace-run.ts'
import type { TraceRunRow } from '../trace/rows/trace-run-row.ts'
import { deriveAll, freshest, rollUps } from './derive-read.ts'
import { type ReadRows, separated, shownRows } from './trace-assembly.ts'

/** The store's results for a response of API v2, and the form of the response. */
export interface SelectedRead extends ReadRows {
  columns: readonly (keyof TraceRunRow)[]
  selects: readonly RunSelect[]
  /** Whether a TraceRun shows its own tokens, costs and first token, or those of its subtree. */
  usage: 'own' | 'subtree'
  /** One TraceRun, a list of all, a page of them, or a page of traces. */
  shape: 'one' | 'list' | 'page' | 'traces'
  links: RunLinks
  /** Cursor of the next page. */
  next: string | null
}

/** Selected fields of a page of traces that are computed from the whole trace. */
const AGGREGATES: readonly RunSelect[] = ['TOTAL_TOKENS', 'TOTAL_COST', 'FIRST_TOKEN_TIME']

/** Makes a response from stored bytes; undefined if there is no data for it. Runs off the event loop. */
export function assembleSelected(
  read: SelectedRead,
  context: LlmContext,
): Uint8Array<ArrayBuffer> | undefined {
  const rows = shownRows(read)
  const derived = deriveAll(read.fragments, rows, context)
  const roll = rollUps(read.roll_up)
  const items = rows.map((row) => {
    const traceRun = derived.get(row.run_id)
    const shown = traceRun ? freshest(row, traceRun) : row
    return itemOf(read, shown, traceRun, roll.get(row.trace_id))
  })
  if (read.shape === 'one') return items[0] && joinPieces(items[0])
  const next = read.shape === 'list' ? '' : `,"next_cursor":${JSON.stringify(read.next)}`
  return joinPieces(['{"items":[', ...separated(items), `]${next}}`])
}

function itemOf(
  { selects, usage, shape, feedback, links }: SelectedRead,
  row: TraceRunRow,
  traceRun: TraceRun | undefined,
  trace: RollUp | undefined,
): Piece[] {
  const { counts, thread_id } = aboutInTrace(row, trace)
  const { first_token_time } = trace?.of(row.run_id) ?? row
  const shown =
    usage === 'own'
      ? { ...ownCounts(row), first_token_time: row.first_token_time }
      : { ...counts, first_token_time }
  const parts = { row, traceRun, thread_id, counts: shown, feedback: feedback.get(row.run_id), links }
  if (shape !== 'traces') {
    const fields = selectedFields(new Set(selects), parts)
    return jsonObject(shape === 'page' ? [...fields, ['query_metadata', null]] : fields)
  }
  const aggregates = selects.filter((select) => AGGREGATES.includes(select))
  const ofRoot = selects.filter((select) => !AGGREGATES.includes(select))
  return [
    '{"root_run":',
    ...jsonObject(selectedFields(new Set(ofRoot), parts)),
    ...(aggregates.length === 0 ? [] : [',"trace_aggregates":', aggregatesJson(aggregates, trace)]),
    ',"query_metadata":null}',
  ]
}

function aggregatesJson(selects: readonly RunSelect[], trace: RollUp | undefined): string {
  const totals = trace?.trace
  const all: Partial<Record<RunSelect, unknown>> = {
    TOTAL_TOKENS: totals ? totals.prompt_tokens + totals.completion_tokens : 0,
    TOTAL_COST: costNumber(totals?.total_cost ?? null),
    FIRST_TOKEN_TIME: time(totals?.first_token_time),
  }
  return JSON.stringify(Object.fromEntries(selects.map((select) => [select.toLowerCase(), all[select]])))
}

/** Whether this is a root that names no thread, and may get that of another TraceRun of its trace. */
export function isThreadOfTrace({ parent_run_id, thread_id }: TraceRunRow): boolean {
  return parent_run_id === NIL_UUID && thread_id === ''
}
