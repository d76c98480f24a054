import type {
  ThreadPlace,
  ThreadQuery,
  ThreadSelection,
  ThreadStore,
  ThreadTurn,
  TurnQuery,
} from '../../../ingest/store/thread-store.ts'
import type { ClickHouse } from '../connect.ts'
import { THREAD_TIMES, threadConditions, turnCondition } from '../list-sql.ts'
import { type KnownHours, knownHours } from '../hours/known-hours.ts'
import { inRunHours } from '../hours/trace-hour.ts'
import { ROOTS_NAME_ALL, turnsSql } from './turns-sql.ts'

const HOUR = 3_600_000_000
/**
 * Share of the window that the first read covers. Each further read covers GROWTH times as much, including the part
 * already read.
 */
const FIRST_PART = 1 / 720
const GROWTH = 8
/** Time after which a written row is in the result of every read. */
const SETTLED = 'INTERVAL 10 SECOND'

export function readingThreads(clickhouse: ClickHouse) {
  const pageFrom = async (workspace_id: string, query: ThreadQuery, from: number, isFiltered: boolean) => {
    const window = { project_id: query.project_id, from, to: query.to }
    const known = isFiltered ? undefined : await knownHours(clickhouse, workspace_id, window, query.written)
    const { sql, params } = known ? knownPageSql(query, known) : pageSql(query)
    return clickhouse.rows<ThreadPlace>(sql, { params: { ...params, workspace_id, threads_from: from } })
  }
  return {
    threadMark: async (workspace_id: string, project_id: string) => {
      const [row] = await clickhouse.rows<{ mark: number }>(
        `SELECT toUnixTimestamp64Micro(max(at)) AS mark FROM (
           SELECT written_at AS at FROM thread_runs
           WHERE workspace_id = {workspace_id:UUID} AND project_id = {project:UUID} AND written_at > now64(6) - ${SETTLED}
           UNION ALL SELECT now64(6) - ${SETTLED})`,
        { params: { workspace_id, project: project_id } },
      )
      return row!.mark
    },

    // The latest threads have a trace in the last part of the window. So this part is read first, and a larger part
    // only if it has too few threads.
    threads: async (workspace_id: string, query: ThreadQuery) => {
      const { from, to, after, limit } = query
      const isFiltered = threadConditions(query).having.length > 0
      const latest = Math.min(to, after?.last_start ?? to)
      let part = Math.max(HOUR, Math.ceil((to - from) * FIRST_PART))
      while (!isFiltered && latest - part > from) {
        // A whole hour may have kept figures, the rest of one has none.
        const start = Math.max(from, Math.floor((latest - part) / HOUR) * HOUR)
        const found = await pageFrom(workspace_id, query, start, isFiltered)
        if (found.length === limit) return found
        part *= GROWTH
      }
      return pageFrom(workspace_id, query, from, isFiltered)
    },

    countThreads: async (workspace_id: string, query: ThreadSelection) => {
      const { having, params } = threadConditions(query)
      const [row] = await clickhouse.rows<{ threads: number; traces: number }>(
        `SELECT count() AS threads, sum(turns) AS traces FROM (
           SELECT thread, count() AS turns FROM (${turnsSql({ times: THREAD_TIMES, named: false })})
           GROUP BY thread ${having.length > 0 ? `HAVING ${having.join(' AND ')}` : ''})`,
        { params: { ...params, workspace_id } },
      )
      return row!
    },

    turns: async (workspace_id: string, query: TurnQuery) => {
      const of = { workspace_id, project: query.project_id, threads: [query.thread_id] }
      const [roots] = await clickhouse.rows<{ named: number }>(ROOTS_NAME_ALL, { params: of })
      const { sql, params } = turnListSql(query, roots?.named === 1)
      return clickhouse.rows<ThreadTurn>(sql, { params: { ...params, ...of } })
    },
  } satisfies Partial<ThreadStore>
}

function pageSql(query: ThreadQuery): { sql: string; params: Record<string, unknown> } {
  const { having, params } = threadConditions(query)
  const { after, written, limit } = query
  if (after) {
    having.push('place < (fromUnixTimestamp64Micro({after_time:Int64}), {after_id:UUID})')
    Object.assign(params, { after_time: after.last_start, after_id: after.last_trace_id })
  }
  const isSeen = 'written <= fromUnixTimestamp64Micro({written:Int64})'
  const sql = `SELECT thread AS thread_id, toUnixTimestamp64Micro(place.1) AS last_start, place.2 AS last_trace_id FROM (
      SELECT thread, maxIf((root_time, trace_id), ${isSeen}) AS place
      FROM (${turnsSql({ times: THREAD_TIMES, named: false })})
      GROUP BY thread HAVING ${[`countIf(${isSeen}) > 0`, ...having].join(' AND ')})
    ORDER BY place DESC LIMIT {limit:UInt32}`
  return { sql, params: { ...params, written, limit } }
}

/**
 * As pageSql, for a query without filters: the latest trace of each thread in the kept hours, and in the hours in which
 * the others have rows. A trace may be in both.
 */
function knownPageSql(
  query: ThreadQuery,
  { live, kept, params: known }: KnownHours,
): { sql: string; params: Record<string, unknown> } {
  const { project_id, to, after, written, limit } = query
  const params: Record<string, unknown> = { ...known, project: project_id, threads_to: to, written, limit }
  const keptPlaces = `SELECT thread, (last_root.1, last_root.2) AS place FROM thread_hours FINAL
    WHERE workspace_id = {workspace_id:UUID} AND project_id = {project:UUID} AND (hour, changes) IN (${kept})`
  const times = `${THREAD_TIMES} AND ${inRunHours(live, 'root_time')}`
  const livePlaces = `SELECT thread, (root_time, trace_id) AS place FROM (${turnsSql({ times, named: false })})
    WHERE written <= fromUnixTimestamp64Micro({written:Int64})`
  if (after) Object.assign(params, { after_time: after.last_start, after_id: after.last_trace_id })
  const sql = `SELECT thread AS thread_id, toUnixTimestamp64Micro(latest.1) AS last_start, latest.2 AS last_trace_id FROM (
      SELECT thread, max(place) AS latest
      FROM (${live.length > 0 ? `${keptPlaces} UNION ALL ${livePlaces}` : keptPlaces})
      GROUP BY thread
      ${after ? 'HAVING latest < (fromUnixTimestamp64Micro({after_time:Int64}), {after_id:UUID})' : ''})
    ORDER BY latest DESC LIMIT {limit:UInt32}`
  return { sql, params }
}

const TRACE = 'toString(trace_id)'

/**
 * The traces of the thread are numbered before filters and paging are applied. Ids are compared as texts, as in
 * query/threads/sums.ts.
 */
function turnListSql(query: TurnQuery, byRoots: boolean): { sql: string; params: Record<string, unknown> } {
  const { project_id, thread_id, after, limit, ...filters } = query
  const wanted = turnCondition({ project_id, thread_ids: [thread_id], ...filters })
  const conditions = wanted === undefined ? [] : [wanted.sql]
  const params: Record<string, unknown> = {
    ...wanted?.params,
    limit,
  }
  const turns = turnsSql({ named: true, byRoots })
  if (after) {
    conditions.push(
      `(root_time, ${TRACE}) > (fromUnixTimestamp64Micro({after_time:Int64}), {after_id:String})`,
    )
    Object.assign(params, { after_time: after.sort_time, after_id: after.trace_id })
  }
  const sql = `SELECT trace_id, run_id, toUnixTimestamp64Micro(root_time) AS sort_time, turn FROM (
      SELECT trace_id, run_id, root_time, row_number() OVER (ORDER BY root_time, ${TRACE}) AS turn FROM (${turns}))
    ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY root_time, ${TRACE} LIMIT {limit:UInt32}`
  return { sql, params }
}
