import { NIL_UUID } from '../../base/ids.ts'
import type { ProjectCounts, ProjectStats, TraceStore } from '../../ingest/trace-store.ts'
import type { ClickHouse } from './connect.ts'
import { countedSql } from './counted-sql.ts'

const SCOPE = 'workspace_id = {workspace_id:UUID} AND project_id IN {project_ids:Array(UUID)}'
const COUNTS = 'project_id, count() AS run_count, toUnixTimestamp64Micro(max(sort_time)) AS last_start'

const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`
const IS_LLM = "run_type = 'llm'"
const HAS_ENDED = "status != 'pending'"

/** Median and 99th percentile of the seconds from the start to `column`; null where no row has it. */
function seconds(column: string, condition: string): string {
  const value = `greatest(0, toUnixTimestamp64Micro(${column}) - toUnixTimestamp64Micro(start_time)) / 1000000`
  return `quantilesExactInclusiveIf(0.5, 0.99)(${value}, ${condition} AND isNotNull(${column}))`
}

/** Null where there are none to be a share of. */
function share(part: string, whole: string): string {
  return `if(countIf(${whole}) = 0, NULL, countIf(${whole} AND ${part}) / countIf(${whole}))`
}

/** Clients may send costs whose sum Decimal(38, 18) does not hold. */
function cost(column: string): string {
  return `toString(sumIf(toDecimal256(${column}, 18), counted))`
}

/** Counts beyond 2^53 are no longer exact as JSON numbers anyhow, but must not begin again at 0. */
function tokens(column: string): string {
  return `sumIf(toFloat64(ifNull(${column}, 0)), counted)`
}

const STATS = `SELECT ${COUNTS},
  uniqExactIf(trace_id, ${IS_ROOT}) AS trace_count,
  countIf(${IS_LLM}) AS llm_runs,
  ${seconds('end_time', IS_ROOT)} AS latency,
  ${seconds('first_token_time', IS_LLM)} AS first_token,
  ${tokens('input_tokens')} AS prompt_tokens,
  ${tokens('output_tokens')} AS completion_tokens,
  ${cost('input_cost')} AS prompt_cost,
  ${cost('output_cost')} AS completion_cost,
  ${cost('total_cost')} AS total_cost,
  ${share("status = 'error'", `${IS_ROOT} AND ${HAS_ENDED}`)} AS error_rate,
  ${share('isNotNull(first_token_time)', `${IS_LLM} AND ${HAS_ENDED}`)} AS streaming_rate
FROM (SELECT *, ${countedSql(SCOPE)} AS counted FROM runs FINAL WHERE ${SCOPE})
GROUP BY project_id`

type CountsRow = ProjectCounts & { project_id: string }
type Percentiles = [number | null, number | null] | []
type PercentileField = 'latency_p50' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'
type StatsRow = { project_id: string; latency: Percentiles; first_token: Percentiles } & Omit<
  ProjectStats,
  PercentileField
>

/** Figures of projects over all their TraceRuns. */
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
      const rows = await clickhouse.rows<StatsRow>(STATS, { params: { workspace_id, project_ids } })
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
