import { NIL_UUID } from '../../base/ids.ts'
import type { ThreadSummary } from '../../ingest/store/thread-store.ts'
import type { CostDetails } from '../../trace/price/cost-details.ts'
import { formatDecimal } from '../../trace/price/decimal.ts'
import { type RollUp, rollUp } from '../../trace/derive/roll-up.ts'
import { ROLL_UP_COLUMNS, TRACE_RUN_ROWS, type TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import { byTrace } from '../derive-read.ts'

export const TURN_COLUMNS = [
  ...ROLL_UP_COLUMNS,
  'version',
  'sort_time',
  'error',
  'inputs_preview',
  'outputs_preview',
  'input_token_details',
  'output_token_details',
  'input_cost_details',
  'output_cost_details',
] as const satisfies readonly (keyof TraceRunRow)[]

/** A row with at least these columns. */
type TurnRow = Pick<TraceRunRow, (typeof TURN_COLUMNS)[number]>
type Columns = readonly (keyof TraceRunRow)[]

/** Tokens and costs by category. */
interface Details {
  prompt_token_details: Record<string, number>
  completion_token_details: Record<string, number>
  prompt_cost_details: CostDetails
  completion_cost_details: CostDetails
}

/** A trace of a thread: its root, and the sums over all of its TraceRuns. */
export interface Turn {
  thread_id: string
  root: TurnRow
  sums: RollUp['trace']
  details: Details
}

/**
 * The traces in `rows` that are in a thread, oldest first. The rows are all TraceRuns of each trace, and their
 * `columns` include TURN_COLUMNS. The thread is the one that the root names, otherwise that of the earliest TraceRun
 * that names one (D-54). A trace without a root is in no thread.
 */
export function readTurns(rows: Uint8Array, columns: Columns = TURN_COLUMNS): Turn[] {
  return turnsIn([...TRACE_RUN_ROWS.read(rows, columns)] as TurnRow[])
}

/** As `readTurns`; undefined for more than `max` rows. */
export function readFewTurns(
  rows: Uint8Array,
  max: number,
  columns: Columns = TURN_COLUMNS,
): Turn[] | undefined {
  const found = [...TRACE_RUN_ROWS.read(rows, columns)] as TurnRow[]
  return found.length > max ? undefined : turnsIn(found)
}

function turnsIn(rows: readonly TurnRow[]): Turn[] {
  const turns = [...byTrace(rows).values()].flatMap((own) => turnOf(own) ?? [])
  return turns.sort((a, b) => byPlace(a.root, b.root))
}

function turnOf(rows: readonly TurnRow[]): Turn | undefined {
  const root = rows
    .filter((row) => row.parent_run_id === NIL_UUID)
    .reduce<TurnRow | undefined>(moreOfARoot, undefined)
  if (root === undefined) return undefined
  const { trace, thread_id, counted } = rollUp(rows)
  const thread = root.thread_id || thread_id
  if (thread === undefined) return undefined
  return {
    thread_id: thread,
    root,
    sums: trace,
    details: detailsOf(rows.filter(({ run_id }) => counted.has(run_id))),
  }
}

/** The better of two roots: the one with the trace's id, as in storage/clickhouse/threads/turns-sql.ts. */
function moreOfARoot(known: TurnRow | undefined, row: TurnRow): TurnRow {
  if (known === undefined || row.run_id === row.trace_id) return row
  return known.run_id === known.trace_id || known.version >= row.version ? known : row
}

/** Sorts by the position of the root in lists. */
function byPlace(a: TurnRow, b: TurnRow): number {
  return a.sort_time - b.sort_time || (a.trace_id < b.trace_id ? -1 : 1)
}

function detailsOf(rows: readonly TurnRow[]): Details {
  return {
    prompt_token_details: tokenSums(rows.map((row) => row.input_token_details)),
    completion_token_details: tokenSums(rows.map((row) => row.output_token_details)),
    prompt_cost_details: costSums(rows.map((row) => row.input_cost_details)),
    completion_cost_details: costSums(rows.map((row) => row.output_cost_details)),
  }
}

const tokenSums = (all: readonly Record<string, number>[]) => sumsOf(all, (a, b) => a + b)
const costSums = (all: readonly CostDetails[]) => sumsOf(all, (a, b) => a + b)

function sumsOf<V>(all: readonly Record<string, V>[], add: (a: V, b: V) => V): Record<string, V> {
  const sums = new Map<string, V>()
  for (const one of all) {
    for (const [key, value] of Object.entries(one)) {
      const known = sums.get(key)
      sums.set(key, known === undefined ? value : add(known, value))
    }
  }
  return Object.fromEntries(sums)
}

const asText = (costs: CostDetails): Record<string, string> =>
  Object.fromEntries(Object.entries(costs).map(([key, cost]) => [key, formatDecimal(cost)]))

/** Figures of each thread in `turns`. The turns must be sorted, the oldest first. */
export function summarize(turns: readonly Turn[]): ThreadSummary[] {
  const threads = new Map<string, Turn[]>()
  for (const turn of turns) {
    const known = threads.get(turn.thread_id)
    if (known) known.push(turn)
    else threads.set(turn.thread_id, [turn])
  }
  return [...threads].map(([thread_id, own]) => summaryOf(thread_id, own))
}

function summaryOf(thread_id: string, turns: readonly Turn[]): ThreadSummary {
  const [first, last] = [turns[0]!.root, turns.at(-1)!.root]
  const failed = turns.filter(({ root }) => root.status === 'error')
  const ended = turns.flatMap(({ root: { start_time, end_time } }) =>
    end_time === null ? [] : { end_time, seconds: Math.max(0, end_time - start_time) / 1e6 },
  )
  const seconds = ended.map((one) => one.seconds).sort((a, b) => a - b)
  const details = turns.map((turn) => turn.details)
  return {
    thread_id,
    turns: turns.length,
    errored_turns: failed.length,
    first_trace_id: first.trace_id,
    last_trace_id: last.trace_id,
    first_start: first.sort_time,
    last_start: last.sort_time,
    last_end: ended.length === 0 ? null : Math.max(...ended.map(({ end_time }) => end_time)),
    first_inputs: first.inputs_preview,
    last_outputs: last.outputs_preview,
    last_error: failed.at(-1)?.root.error ?? '',
    latency: [quantile(seconds, 0.5), quantile(seconds, 0.95), quantile(seconds, 0.99)],
    prompt_tokens: turns.reduce((sum, { sums }) => sum + sums.prompt_tokens, 0),
    completion_tokens: turns.reduce((sum, { sums }) => sum + sums.completion_tokens, 0),
    prompt_cost: dollars(turns.map(({ sums }) => sums.prompt_cost)),
    completion_cost: dollars(turns.map(({ sums }) => sums.completion_cost)),
    total_cost: dollars(turns.map(({ sums }) => sums.total_cost)),
    unpriced_runs: turns.reduce((sum, { sums }) => sum + sums.unpriced_runs, 0),
    prompt_token_details: tokenSums(details.map((one) => one.prompt_token_details)),
    completion_token_details: tokenSums(details.map((one) => one.completion_token_details)),
    prompt_cost_details: asText(costSums(details.map((one) => one.prompt_cost_details))),
    completion_cost_details: asText(costSums(details.map((one) => one.completion_cost_details))),
  }
}

/** A quantile, interpolated between the two nearest of the sorted values, like ClickHouse's quantileExactInclusive. */
function quantile(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

function dollars(costs: readonly (bigint | null)[]): string | null {
  const known = costs.filter((cost) => cost !== null)
  return known.length === 0 ? null : formatDecimal(known.reduce((a, b) => a + b))
}
