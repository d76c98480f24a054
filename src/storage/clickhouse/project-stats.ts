import { NIL_UUID } from '../../base/ids.ts'
import type { ProjectCounts, ProjectStats, TraceStore } from '../../ingest/store/trace-store.ts'
import type { ClickHouse } from './connect.ts'
import { countedSql, isCallSql, type UsageShape, usageShape } from './usage/counted-sql.ts'
import { ESTIMATED_COLUMNS, USAGE_SUMS } from './usage/sums-sql.ts'

const SCOPE = 'workspace_id = {workspace_id:UUID} AND project_id IN {project_ids:Array(UUID)}'
const COUNTS = 'project_id, count() AS run_count, toUnixTimestamp64Micro(max(sort_time)) AS last_start'

const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`
const IS_LLM = "run_type = 'llm'"
const HAS_ENDED = "status != 'pending'"

/**
 * SQL of the median and the 99th percentile of the seconds from the start to `column`; null if no row has a value in
 * it.
 */
function seconds(column: string, condition: string): string {
  const value = `greatest(0, toUnixTimestamp64Micro(${column}) - toUnixTimestamp64Micro(start_time)) / 1000000`
  return `quantilesExactInclusiveIf(0.5, 0.99)(${value}, ${condition} AND isNotNull(${column}))`
}

/** SQL of the share of rows that satisfy `part` among those that satisfy `whole`; null if there are none. */
function share(part: string, whole: string): string {
  return `if(countIf(${whole}) = 0, NULL, countIf(${whole} AND ${part}) / countIf(${whole}))`
}

const statsSql = (shape: UsageShape): string => `SELECT ${COUNTS},
  uniqExactIf(trace_id, ${IS_ROOT}) AS trace_count,
  countIf(is_call) AS llm_runs,
  ${seconds('end_time', IS_ROOT)} AS latency,
  ${seconds('first_token_time', IS_LLM)} AS first_token,
  ${USAGE_SUMS},
  ${share("status = 'error'", `${IS_ROOT} AND ${HAS_ENDED}`)} AS error_rate,
  ${share('isNotNull(first_token_time)', `${IS_LLM} AND ${HAS_ENDED}`)} AS streaming_rate
FROM (SELECT *, ${countedSql(SCOPE, shape)} AS counted, ${isCallSql(SCOPE, shape.doubles)} AS is_call,
  ${ESTIMATED_COLUMNS}
  FROM runs FINAL WHERE ${SCOPE})
GROUP BY project_id`

type CountsRow = ProjectCounts & { project_id: string }
type Percentiles = [number | null, number | null] | []
type PercentileField = 'latency_p50' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'
type StatsRow = { project_id: string; latency: Percentiles; first_token: Percentiles } & Omit<
  ProjectStats,
  PercentileField
>

/** Statistics of projects over all their TraceRuns. */
export function readingProjects(clickhouse: ClickHouse) {
  return {
    projectCounts: async (workspace_id: string, project_ids: readonly string[]) => {
      if (project_ids.length === 0) return new Map()
      const rows = await clickhouse.rows<CountsRow>(
        `SELECT ${COUNTS} FROM runs FINAL WHERE ${SCOPE} GROUP BY project_id`,
        { params: { workspace_id, project_ids } },
      )
      return new Map(rows.map(({ project_id, ...counts }): [string, ProjectCounts] => [project_id, counts]))
    },

    projectStats: async (workspace_id: string, project_ids: readonly string[]) => {
      if (project_ids.length === 0) return new Map()
      const params = { workspace_id, project_ids }
      const shape = await usageShape(clickhouse, SCOPE, { params })
      const rows = await clickhouse.rows<StatsRow>(statsSql(shape), { params })
      return new Map(rows.map(({ project_id, ...row }): [string, ProjectStats] => [project_id, toStats(row)]))
    },
  } satisfies Partial<TraceStore>
}

function toStats({ latency, first_token, ...stats }: Omit<StatsRow, 'project_id'>): ProjectStats {
  return {
    ...stats,
    latency_p50: latency[0] ?? null,
    latency_p99: latency[1] ?? null,
    first_token_p50: first_token[0] ?? null,
    first_token_p99: first_token[1] ?? null,
  }
}
