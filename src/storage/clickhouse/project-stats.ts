import { NIL_UUID } from '../../base/ids.ts'
import type { ProjectCounts, ProjectStats, TraceStore } from '../../ingest/store/trace-store.ts'
import type { ClickHouse, SqlParams } from './connect.ts'
import { KEPT_FROM, type KeptFrom, knownRunHours } from './hours/known-run-hours.ts'
import { keptSource } from './stats/kept-stats.ts'
import { MERGED, type RunHours } from './stats/run-hours-sql.ts'
import { addsToSql, hasDoubles } from './usage/counted-sql.ts'
import { ESTIMATED_COLUMNS, USAGE_SUMS } from './usage/sums-sql.ts'

const SCOPE = 'workspace_id = {workspace_id:UUID} AND project_id IN {project_ids:Array(UUID)}'
const COUNTS = 'project_id, count() AS run_count, toUnixTimestamp64Micro(max(sort_time)) AS last_start'

const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`
const IS_LLM = "run_type = 'llm'"
const HAS_ENDED = "status != 'pending'"

/**
 * SQL of the percentiles of the seconds from the start to `column`, in the order of `Percentiles`; null if no row has a
 * value in it.
 */
function seconds(column: string, condition: string): string {
  const value = `greatest(0, toUnixTimestamp64Micro(${column}) - toUnixTimestamp64Micro(start_time)) / 1000000`
  return `quantilesExactInclusiveIf(0.5, 0.99, 0.9, 0.95)(${value}, ${condition} AND isNotNull(${column}))`
}

/** SQL of the share of rows that satisfy `part` among those that satisfy `whole`; null if there are none. */
function share(part: string, whole: string): string {
  return `if(countIf(${whole}) = 0, NULL, countIf(${whole} AND ${part}) / countIf(${whole}))`
}

const statsSql = (doubles: boolean): string => `SELECT ${COUNTS},
  uniqExactIf(trace_id, ${IS_ROOT}) AS trace_count,
  countIf(is_call) AS llm_runs,
  countIf(counted AND is_unpriced) AS unpriced_runs,
  ${seconds('end_time', IS_ROOT)} AS latency,
  ${seconds('first_token_time', IS_LLM)} AS first_token,
  ${USAGE_SUMS},
  ${share("status = 'error'", `${IS_ROOT} AND ${HAS_ENDED}`)} AS error_rate,
  ${share('isNotNull(first_token_time)', `${IS_LLM} AND ${HAS_ENDED}`)} AS streaming_rate
FROM (SELECT *, has(adds_to, 'usage') AS counted, has(adds_to, 'call') AS is_call, isNull(total_cost) AS is_unpriced, ${ESTIMATED_COLUMNS}
  FROM (SELECT *, ${addsToSql(SCOPE, doubles)} AS adds_to FROM runs FINAL WHERE ${SCOPE}))
GROUP BY project_id`

const { sum, percentiles } = MERGED
const OF_TRACES = "subject = 'trace'"
const OF_RUNS = "subject = 'run'"
const rootsIf = (condition: string): string => `sumIf(runs, ${OF_TRACES} AND ${condition})`
const KEPT_COUNTS = `project_id, toUInt64(sumIf(runs, ${OF_RUNS})) AS run_count,
  toUnixTimestamp64Micro(maxIf(last_time, ${OF_RUNS})) AS last_start`

/** As statsSql, from rows like those of run_hours of both subjects. */
const keptStatsSql = (rows: string): string => `SELECT ${KEPT_COUNTS},
  toUInt64(${sum('traces', OF_TRACES)}) AS trace_count,
  toUInt64(${sum('calls', OF_RUNS)}) AS llm_runs,
  toUInt64(${sum('unpriced_runs', OF_RUNS)}) AS unpriced_runs,
  ${percentiles('latency', OF_TRACES)} AS latency,
  ${percentiles('first_token', `${OF_RUNS} AND run_type = 'llm'`)} AS first_token,
  ${KEPT_TOKENS.map((name) => `${sum(name, OF_RUNS)} AS ${name}`).join(', ')},
  ${KEPT_COSTS.map((name) => `toString(${sum(name, OF_RUNS)}) AS ${name}`).join(', ')},
  if(${rootsIf(HAS_ENDED)} = 0, NULL, ${rootsIf("status = 'error'")} / ${rootsIf(HAS_ENDED)}) AS error_rate,
  if(${sum('streams', OF_RUNS)} = 0, NULL, ${sum('streamed', OF_RUNS)} / ${sum('streams', OF_RUNS)}) AS streaming_rate
FROM (${rows})
GROUP BY project_id`

const KEPT_TOKENS = [
  'prompt_tokens',
  'completion_tokens',
  'estimated_prompt_tokens',
  'estimated_completion_tokens',
] as const
const KEPT_COSTS = ['prompt_cost', 'completion_cost', 'total_cost', 'estimated_cost'] as const

/** SQL of rows of run_hours of the projects and subjects; undefined as in keptRows. */
async function keptOf(
  clickhouse: ClickHouse,
  workspace_id: string,
  project_ids: readonly string[],
  subjects: readonly RunHours['subject'][],
  least: KeptFrom,
): Promise<{ sql: string; params: SqlParams } | undefined> {
  const window = { project_ids, from: undefined, to: undefined, subject: subjects[0]!, by_hours: false }
  const known = await knownRunHours(clickhouse, workspace_id, window, least)
  if (known === undefined) return undefined
  const { params } = known
  return {
    sql: await keptSource(clickhouse, known, { subjects, grouping: '', params, without: ['histograms'] }),
    params,
  }
}

type CountsRow = ProjectCounts & { project_id: string }
/** p50, p99, p90 and p95. */
type Percentiles = [number | null, number | null, number | null, number | null] | []
type PercentileField = 'latency_p50' | 'latency_p95' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'
type StatsRow = { project_id: string; latency: Percentiles; first_token: Percentiles } & Omit<
  ProjectStats,
  PercentileField
>

/** Statistics of projects over all their TraceRuns, from kept figures of hours if these are there. */
export function readingProjects(clickhouse: ClickHouse, least = KEPT_FROM) {
  return {
    projectCounts: async (workspace_id: string, project_ids: readonly string[]) => {
      if (project_ids.length === 0) return new Map()
      const kept = await keptOf(clickhouse, workspace_id, project_ids, ['run'], least)
      const rows = kept
        ? await clickhouse.rows<CountsRow>(
            `SELECT ${KEPT_COUNTS} FROM (${kept.sql}) GROUP BY project_id`,
            kept,
          )
        : await clickhouse.rows<CountsRow>(
            `SELECT ${COUNTS} FROM runs FINAL WHERE ${SCOPE} GROUP BY project_id`,
            { params: { workspace_id, project_ids } },
          )
      return new Map(rows.map(({ project_id, ...counts }): [string, ProjectCounts] => [project_id, counts]))
    },

    projectStats: async (workspace_id: string, project_ids: readonly string[]) => {
      if (project_ids.length === 0) return new Map()
      const params = { workspace_id, project_ids }
      const kept = await keptOf(clickhouse, workspace_id, project_ids, ['trace', 'run'], least)
      const direct = async (): Promise<StatsRow[]> => {
        const doubles = await hasDoubles(clickhouse, SCOPE, { params })
        return await clickhouse.rows<StatsRow>(statsSql(doubles), { params })
      }
      const rows = kept ? await clickhouse.rows<StatsRow>(keptStatsSql(kept.sql), kept) : await direct()
      return new Map(rows.map(({ project_id, ...row }): [string, ProjectStats] => [project_id, toStats(row)]))
    },
  } satisfies Partial<TraceStore>
}

function toStats({ latency, first_token, ...stats }: Omit<StatsRow, 'project_id'>): ProjectStats {
  return {
    ...stats,
    latency_p50: latency[0] ?? null,
    latency_p95: latency[3] ?? null,
    latency_p99: latency[1] ?? null,
    first_token_p50: first_token[0] ?? null,
    first_token_p99: first_token[1] ?? null,
  }
}
