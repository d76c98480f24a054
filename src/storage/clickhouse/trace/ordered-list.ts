import type { ListQuery, OrderedBy } from '../../../ingest/store/trace-store.ts'
import { OWN_COUNTS, type SqlCondition } from '../filter-sql.ts'
import { listConditions, usageScope } from '../list-sql.ts'
import { countedSql, LINE } from '../usage/counted-sql.ts'
import { wide } from '../usage/sums-sql.ts'

export interface RunPlace {
  project_id: string
  run_id: string
  /** Epoch microseconds. */
  at: number
}

const LATENCY = 'toUnixTimestamp64Micro(end_time) - toUnixTimestamp64Micro(start_time)'
/** SQL of the value that a TraceRun itself has. */
const OWN: Record<OrderedBy, string> = {
  latency: LATENCY,
  total_tokens: 'toFloat64(ifNull(input_tokens, 0) + ifNull(output_tokens, 0))',
  total_cost: wide('total_cost'),
}

/**
 * A SELECT that adds to the rows the value by which they are ordered: a TraceRun's own value, or the sum over the
 * TraceRuns below it, in which each call counts once.
 */
function valuesSql(by: OrderedBy, rows: string, scope: string): string {
  if (by === 'latency') return `SELECT *, ${LATENCY} AS value FROM (${rows})`
  return `SELECT listed.*, if(${OWN_COUNTS}, ${OWN[by]}, below) AS value
    FROM (${rows}) AS listed
    LEFT JOIN (
      SELECT ancestor, sum(${OWN[by]}) AS below FROM (
        SELECT arrayJoin(${LINE}) AS ancestor, input_tokens, output_tokens, total_cost
        FROM runs FINAL WHERE ${scope} AND ${countedSql(scope)})
      GROUP BY ancestor) AS sums ON listed.run_id = sums.ancestor`
}

/**
 * The places of one page of a list that is ordered by a value; TraceRuns without a value come last. The statement also
 * needs the parameter `workspace_id`.
 */
export function orderedPlacesSql(query: ListQuery, by: OrderedBy): SqlCondition {
  const { keys, scope, rest, params } = listConditions(query)
  const below = usageScope(query, scope, params) ?? scope.join(' AND ')
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  const rows = `SELECT project_id, run_id, sort_time, start_time, end_time, run_type, input_tokens, output_tokens, total_cost
    FROM runs FINAL WHERE ${[...keys, ...rest].join(' AND ')}`
  const sql = `SELECT project_id, run_id, toUnixTimestamp64Micro(sort_time) AS at FROM (${valuesSql(by, rows, below)})
    ORDER BY value ${direction} NULLS LAST, sort_time ${direction}, run_id ${direction}
    LIMIT {limit:UInt32} OFFSET ${query.offset ?? 0}`
  return { sql, params }
}

/** The rows at these places, in the order of the places. */
export function rowsOfPlacesSql(places: readonly RunPlace[], wanted: readonly string[]): SqlCondition {
  const sql = `SELECT ${wanted.join(', ')} FROM runs FINAL
    WHERE workspace_id = {workspace_id:UUID} AND project_id IN {projects:Array(UUID)}
      AND sort_time IN (SELECT fromUnixTimestamp64Micro(arrayJoin({times:Array(Int64)})))
      AND run_id IN {ids:Array(UUID)}
    ORDER BY indexOf({ids:Array(UUID)}, run_id)`
  const params = {
    projects: [...new Set(places.map(({ project_id }) => project_id))],
    times: places.map(({ at }) => at),
    ids: places.map(({ run_id }) => run_id),
  }
  return { sql, params }
}
