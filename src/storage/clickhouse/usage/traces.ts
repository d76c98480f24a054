import type { UsageTrace, UsageTraceSource, UsageTracesQuery } from '../../../usage/report/traces.ts'
import type { ClickHouse } from '../connect.ts'
import { idSlices } from '../id-slices.ts'

const HOUR_MS = 3_600_000

/** The groupings of a list, as columns of `usage_traces`. */
const GROUP_COLUMNS = ['project_id', 'user_id', 'api_key_id'] as const

/**
 * SQL condition on one trace. Its hours are looked up by the key of `usage_claims`, because `usage_traces` is ordered
 * by hour.
 */
const OF_TRACE = `AND trace_id = {trace_id:UUID} AND (workspace_id, hour) IN (
      SELECT workspace_id, hour FROM usage_claims
      WHERE workspace_id IN {workspaces:Array(UUID)} AND trace_id = {trace_id:UUID})`

/** SQL of a page. Ids are compared as texts, so that this process can merge the pages of several statements. */
function listSql(query: UsageTracesQuery): string {
  const groups = GROUP_COLUMNS.filter((column) => query[column] !== undefined).map(
    (column) => `AND ${column} = {${column}:UUID}`,
  )
  const excluded = GROUP_COLUMNS.filter((column) => query.excluded[column].length > 0).map(
    (column) => `AND ${column} NOT IN {excluded_${column}:Array(UUID)}`,
  )
  const after =
    query.after === undefined
      ? ''
      : `AND (start < {after_start:Int64} OR (start = {after_start:Int64}
          AND (toString(workspace_id), toString(trace_id)) > ({after_workspace:String}, {after_trace:String})))`
  const ofTrace = query.trace_id === undefined ? '' : OF_TRACE
  return `SELECT workspace_id, trace_id, start, project_id, user_id, api_key_id, toString(version) AS version
    FROM usage_traces FINAL
    WHERE workspace_id IN {workspaces:Array(UUID)} AND hour >= {first_hour:Int32} AND hour <= {last_hour:Int32}
      AND start >= {start:Int64} AND start < {end:Int64} ${groups.join(' ')} ${excluded.join(' ')} ${ofTrace} ${after}
    ORDER BY start DESC, toString(workspace_id), toString(trace_id) LIMIT {limit:UInt32}`
}

function paramsOf(query: UsageTracesQuery) {
  const { start, end, after, limit, project_id, user_id, api_key_id, trace_id, excluded } = query
  const last = after === undefined ? end - 1 : Math.min(end - 1, after.start)
  return {
    start,
    end,
    limit,
    first_hour: Math.floor(start / HOUR_MS),
    last_hour: Math.floor(last / HOUR_MS),
    excluded_project_id: excluded.project_id,
    excluded_user_id: excluded.user_id,
    excluded_api_key_id: excluded.api_key_id,
    ...(project_id !== undefined && { project_id }),
    ...(user_id !== undefined && { user_id }),
    ...(api_key_id !== undefined && { api_key_id }),
    ...(trace_id !== undefined && { trace_id }),
    ...(after !== undefined && {
      after_start: after.start,
      after_workspace: after.workspace_id,
      after_trace: after.trace_id,
    }),
  }
}

function inOrder(a: UsageTrace, b: UsageTrace): number {
  if (a.start !== b.start) return b.start - a.start
  const [left, right] = [a.workspace_id + a.trace_id, b.workspace_id + b.trace_id]
  return left < right ? -1 : Number(left > right)
}

/** Lists the rows of table `usage_traces`. */
export function createUsageTraceSource(clickhouse: ClickHouse): UsageTraceSource {
  return {
    async list(query) {
      if (query.end <= query.start) return []
      const found: UsageTrace[] = []
      for (const workspaces of idSlices(query.workspace_ids)) {
        const rows = await clickhouse.rows<Omit<UsageTrace, 'version'> & { version: string }>(
          listSql(query),
          {
            params: { workspaces, ...paramsOf(query) },
          },
        )
        found.push(...rows.map((row) => ({ ...row, version: BigInt(row.version) })))
      }
      return found.sort(inOrder).slice(0, query.limit)
    },
  }
}
