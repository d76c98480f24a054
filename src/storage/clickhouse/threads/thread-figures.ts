import { NIL_UUID } from '../../../base/ids.ts'
import type {
  ThreadStore,
  ThreadSummary,
  ThreadTurn,
  ThreadWindow,
  TurnFilters,
} from '../../../ingest/store/thread-store.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { THREAD_TIMES, turnCondition } from '../list-sql.ts'
import { countedSql, HAS_USAGE, type UsageShape, usageShape } from '../usage/counted-sql.ts'
import { wide, wideMap } from '../usage/sums-sql.ts'
import { threadTotals } from './kept-totals.ts'
import { CANDIDATES, turnsSql } from './turns-sql.ts'

/** Maximum number of traces whose ids are parameters of a statement. */
const MAX_LISTED = 4_000

const DAY = 86_400_000_000

/** A SELECT of `thread`, `trace_id`, `run_id` and `root_time`, with its parameters. */
interface Turns {
  sql: string
  params: SqlParams
}

type Side = 'prompt' | 'completion'
type RootsRow = Omit<
  ThreadSummary,
  `${Side}_tokens` | `${Side | 'total'}_cost` | 'unpriced_runs' | `${Side}_${'token' | 'cost'}_details`
>
type UsageRow = Omit<ThreadSummary, keyof RootsRow> & { thread_id: string }

export function readingThreadRows(clickhouse: ClickHouse) {
  return {
    // `trace_runs` may still contain places of deleted rows, so the rows are read FINAL.
    rowsOfTraces: (
      workspace_id: string,
      project_id: string,
      trace_ids: readonly string[],
      { columns, limit }: { columns: readonly string[]; limit: number },
    ) =>
      clickhouse.rowBinary(
        `SELECT ${columns.join(', ')} FROM runs FINAL
         PREWHERE workspace_id = {workspace_id:UUID} AND project_id = {project:UUID} AND (sort_time, run_id) IN (
           SELECT sort_time, run_id FROM trace_runs
           WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {traces:Array(UUID)})
         WHERE trace_id IN {traces:Array(UUID)} LIMIT {limit:UInt32}`,
        { params: { workspace_id, project: project_id, traces: trace_ids, limit } },
      ),

    rowsAt: (
      workspace_id: string,
      project_id: string,
      places: readonly Pick<ThreadTurn, 'run_id' | 'sort_time'>[],
      columns: readonly string[],
    ) =>
      clickhouse.rowBinary(
        `SELECT ${columns.join(', ')} FROM runs FINAL
         PREWHERE workspace_id = {workspace_id:UUID} AND project_id = {project:UUID} AND (sort_time, run_id) IN (
           SELECT fromUnixTimestamp64Micro(tupleElement(place, 1)), tupleElement(place, 2)
           FROM (SELECT arrayJoin(arrayZip({times:Array(Int64)}, {ids:Array(UUID)})) AS place))`,
        {
          params: {
            workspace_id,
            project: project_id,
            times: places.map(({ sort_time }) => sort_time),
            ids: places.map(({ run_id }) => run_id),
          },
        },
      ),
  } satisfies Partial<ThreadStore>
}

export function readingThreadFigures(clickhouse: ClickHouse) {
  return {
    tracesOfThreads: async (
      workspace_id: string,
      { project_id, from, to }: ThreadWindow,
      thread_ids: readonly string[],
      limit: number,
    ) => {
      const times = { threads_from: from, threads_to: to, below_from: Math.max(0, from - DAY) }
      const rows = await clickhouse.rows<{ trace_id: string }>(`${CANDIDATES} LIMIT {limit:UInt32}`, {
        params: { workspace_id, project: project_id, threads: thread_ids, ...times, limit },
      })
      return rows.map(({ trace_id }) => trace_id)
    },

    threadSummaries: async (
      workspace_id: string,
      window: ThreadWindow & TurnFilters,
      thread_ids: readonly string[],
    ) => {
      if (thread_ids.length === 0) return []
      const { filter, trace_filter, tree_filter } = window
      if ((filter ?? trace_filter ?? tree_filter) === undefined) {
        const totals = await threadTotals(clickhouse, workspace_id, window, thread_ids)
        if (totals !== undefined) return totals
      }
      const turns = await turnsOf(clickhouse, workspace_id, window, thread_ids)
      if (turns === undefined) return []
      const { params } = turns
      const shape = usageShape(clickhouse, scopeOf(turns), { params })
      const [roots, usage] = await Promise.all([
        clickhouse.rows<RootsRow>(rootsSql(turns), { params }),
        shape.then((known) => clickhouse.rows<UsageRow>(usageSql(turns, known), { params })),
      ])
      const usages = new Map(usage.map((row) => [row.thread_id, row]))
      return roots.map((row): ThreadSummary => ({ ...NO_USAGE, ...usages.get(row.thread_id), ...row }))
    },
  } satisfies Partial<ThreadStore>
}

const NO_USAGE: Omit<UsageRow, 'thread_id'> = {
  prompt_tokens: 0,
  completion_tokens: 0,
  prompt_cost: null,
  completion_cost: null,
  total_cost: null,
  unpriced_runs: 0,
  prompt_token_details: {},
  completion_token_details: {},
  prompt_cost_details: {},
  completion_cost_details: {},
}

/**
 * The traces of the threads in the window. Up to MAX_LISTED traces are read at once and returned as parameters, so that
 * further statements do not search them again.
 */
async function turnsOf(
  clickhouse: ClickHouse,
  workspace_id: string,
  { project_id, from, to, ...filters }: ThreadWindow & TurnFilters,
  thread_ids: readonly string[],
): Promise<Turns | undefined> {
  const wanted = turnCondition({ project_id, thread_ids, ...filters })
  const turns = turnsSql({ times: THREAD_TIMES, named: true })
  const sql = wanted === undefined ? turns : `SELECT * FROM (${turns}) WHERE ${wanted.sql}`
  const shared = { ...wanted?.params, workspace_id, project: project_id, threads: thread_ids }
  const params = { ...shared, threads_from: from, threads_to: to }
  const found = await clickhouse.rows<{ thread: string; trace_id: string; run_id: string; at: number }>(
    `SELECT thread, trace_id, run_id, toUnixTimestamp64Micro(root_time) AS at FROM (${sql}) LIMIT ${MAX_LISTED + 1}`,
    { params },
  )
  if (found.length === 0) return undefined
  if (found.length > MAX_LISTED) return { sql, params }
  const places = new Map(thread_ids.map((id, i) => [id, i + 1]))
  return {
    sql: `SELECT {threads:Array(String)}[tupleElement(turn, 1)] AS thread, tupleElement(turn, 2) AS trace_id,
        tupleElement(turn, 3) AS run_id, fromUnixTimestamp64Micro(tupleElement(turn, 4)) AS root_time
      FROM (SELECT arrayJoin(arrayZip({turn_threads:Array(UInt32)}, {turn_traces:Array(UUID)}, {turn_runs:Array(UUID)},
        {turn_times:Array(Int64)})) AS turn)`,
    params: {
      ...shared,
      turn_threads: found.map(({ thread }) => places.get(thread)),
      turn_traces: found.map(({ trace_id }) => trace_id),
      turn_runs: found.map(({ run_id }) => run_id),
      turn_times: found.map(({ at }) => at),
    },
  }
}

/** SQL condition on the rows of the traces. */
function scopeOf({ sql }: Turns): string {
  const traces = `SELECT trace_id FROM (${sql})`
  return `workspace_id = {workspace_id:UUID} AND (project_id, sort_time, run_id) IN (
    SELECT project_id, sort_time, run_id FROM trace_runs FINAL
    WHERE workspace_id = {workspace_id:UUID} AND trace_id IN (${traces})) AND trace_id IN (${traces})`
}

function rootsSql({ sql }: Turns): string {
  const order = '(sort_time, trace_id)'
  const micros = (time: string): string => `toUnixTimestamp64Micro(${time})`
  const latency = `greatest(0, ${micros('assumeNotNull(end_time)')} - ${micros('start_time')}) / 1000000`
  return `SELECT thread AS thread_id, count() AS turns, countIf(status = 'error') AS errored_turns,
      argMin(trace_id, ${order}) AS first_trace_id, argMax(trace_id, ${order}) AS last_trace_id,
      ${micros('min(sort_time)')} AS first_start, ${micros('max(sort_time)')} AS last_start,
      ${micros('max(end_time)')} AS last_end,
      argMin(inputs_preview, ${order}) AS first_inputs, argMax(outputs_preview, ${order}) AS last_outputs,
      argMaxIf(error, ${order}, status = 'error') AS last_error,
      arrayResize(quantilesExactInclusiveIf(0.5, 0.95, 0.99)(${latency}, isNotNull(end_time)), 3) AS latency
    FROM (
      SELECT trace_id, sort_time, start_time, end_time, status, error, inputs_preview, outputs_preview FROM runs FINAL
      WHERE workspace_id = {workspace_id:UUID} AND project_id = {project:UUID} AND parent_run_id = toUUID('${NIL_UUID}')
        AND (sort_time, run_id) IN (SELECT root_time, run_id FROM (${sql}))) AS roots
    INNER JOIN (${sql}) AS turns USING (trace_id)
    GROUP BY thread`
}

function usageSql(turns: Turns, shape: UsageShape): string {
  const scope = scopeOf(turns)
  const cost = (side: string): string =>
    `toString(sum(${wide(`${side}_cost`)})) AS ${side === 'input' ? 'prompt' : 'completion'}_cost`
  return `SELECT thread AS thread_id, toFloat64(sum(ifNull(input_tokens, 0))) AS prompt_tokens,
      toFloat64(sum(ifNull(output_tokens, 0))) AS completion_tokens, ${cost('input')}, ${cost('output')},
      toString(sum(${wide('usage.total_cost')})) AS total_cost, countIf(isNull(usage.total_cost)) AS unpriced_runs,
      sumMap(input_token_details) AS prompt_token_details, sumMap(output_token_details) AS completion_token_details,
      ${costText(`sumMap(${wideMap('input_cost_details')})`)} AS prompt_cost_details,
      ${costText(`sumMap(${wideMap('output_cost_details')})`)} AS completion_cost_details
    FROM (
      SELECT trace_id, input_tokens, output_tokens, input_cost, output_cost, total_cost, input_token_details,
        output_token_details, input_cost_details, output_cost_details
      FROM runs FINAL WHERE ${scope} AND ${HAS_USAGE} AND ${countedSql(scope, shape)}) AS usage
    INNER JOIN (${turns.sql}) AS turns USING (trace_id)
    GROUP BY thread`
}

/** Costs by category as decimal text. */
const costText = (map: string): string => `mapApply((k, v) -> (k, toString(v)), ${map})`
