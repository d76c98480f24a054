/** SQL condition: the row is one of the project. */
export const PROJECT = 'workspace_id = {workspace_id:UUID} AND project_id = {project:UUID}'

/** The traces that the statement reads. */
export interface TurnsScope {
  /** Condition on `root_time`, the time of a trace in lists; without it all traces of the project. */
  times?: string
  /** True: only traces of the threads in parameter `threads`. */
  named: boolean
  /** True: every root names its thread (ROOTS_NAME_ALL), so nothing below the roots is read. */
  byRoots?: boolean
}

/**
 * The traces of a project's threads: `thread`, `trace_id`, `run_id` (of the root), `root_time` and `written` (when the
 * trace became part of the thread). The statement has the parameters `workspace_id` and `project`.
 *
 * The thread is the thread that the root names, or else the thread of the earliest TraceRun that names a thread, as in
 * trace/derive/roll-up.ts. If a TraceRun has several versions, the newest counts. Of rows with equal versions, the live
 * row counts: a change of the root's time writes a deleted row with the old time and a live row with the new time. If a
 * trace has several roots, the root with the trace's id counts.
 */
export function turnsSql({ times, named, byRoots = false }: TurnsScope): string {
  const places = byRoots ? namedRootsSql : `${namedRootsSql} UNION ALL ${namedBelowSql}`
  const conditions = [
    `${PROJECT} AND filed = 'root_by_time'`,
    times ?? [],
    named ? `(root_time, trace_id) IN (${places})` : [],
  ]
  const roots = conditions.flat().join(' AND ')
  const columns = byRoots
    ? 'root.1 AS thread, trace_id, root.2 AS run_id, root.3 AS root_time, root.4 AS written'
    : `if(root.1 != '', root.1, below.1) AS thread, trace_id, root.2 AS run_id, root.3 AS root_time,
      if(root.1 != '', root.4, greatest(root.4, below.2)) AS written`
  return `SELECT ${columns}
    FROM (
      SELECT trace_id, argMax((thread_id, run_id, root_time, written_at, is_deleted),
        (run_id = trace_id, version, 1 - is_deleted)) AS root
      FROM thread_runs FINAL WHERE ${roots} GROUP BY trace_id HAVING root.5 = 0) AS roots
    ${byRoots ? '' : `LEFT JOIN (${belowSql(roots)}) AS named_below USING (trace_id)`}
    WHERE thread ${named ? 'IN {threads:Array(String)}' : "!= ''"}`
}

const OF_THREADS = `root_time = toDateTime64(0, 6, 'UTC') AND thread IN {threads:Array(String)}`
const NAMED_ROOTS = `FROM thread_runs WHERE ${PROJECT} AND filed = 'root_by_thread' AND ${OF_THREADS}`
const NAMED_BELOW = `FROM thread_runs WHERE ${PROJECT} AND filed = 'below_by_thread' AND ${OF_THREADS}`

const namedRootsSql = `SELECT sort_time, trace_id ${NAMED_ROOTS}`

/**
 * Traces whose root named one of the threads and whose start time has not changed since. A root with another time may
 * no longer name a thread; such a trace is found through the TraceRuns below the root.
 */
const UNMOVED = `SELECT trace_id FROM thread_runs
  WHERE ${PROJECT} AND filed = 'root_by_time' AND run_id = trace_id AND (root_time, trace_id) IN (${namedRootsSql})
  GROUP BY trace_id, root_time HAVING argMax(is_deleted, (version, 1 - is_deleted)) = 0`

/**
 * Whether the root of each trace that is or was in one of the threads names a thread, as column `named`: most clients name
 * it in every TraceRun. Reads each root once, where turnsSql reads it four times.
 */
export const ROOTS_NAME_ALL = `SELECT uniqExact(trace_id) = uniqExactIf(trace_id, found) AND max(nameless) = 0 AS named FROM (
    SELECT trace_id, argMax(is_deleted, (version, 1 - is_deleted)) = 0 AS found,
      found AND argMax(thread_id, (version, 1 - is_deleted)) = '' AS nameless
    FROM thread_runs
    WHERE ${PROJECT} AND filed = 'root_by_time' AND run_id = trace_id AND (root_time, trace_id) IN (${namedRootsSql})
    GROUP BY trace_id, root_time
    UNION ALL SELECT trace_id, 0, 0 ${NAMED_BELOW})`

/** The times and traces of TraceRuns that name one of the threads and are below a root that names none. */
const namedBelowSql = `SELECT sort_time, trace_id FROM trace_runs
  WHERE workspace_id = {workspace_id:UUID}
    AND trace_id IN (SELECT trace_id ${NAMED_BELOW} AND trace_id NOT IN (${UNMOVED}))`

/**
 * Ids of traces that may be in one of the threads and start at parameter `threads_from` or later. A TraceRun below a root
 * is assumed to start at most one day before its root. Needs the parameters `threads`, `threads_from`, `threads_to` and
 * `below_from` in addition to those of turnsSql.
 */
export const CANDIDATES = `SELECT DISTINCT trace_id FROM thread_runs
  WHERE ${PROJECT} AND filed IN ('root_by_thread', 'below_by_thread') AND ${OF_THREADS}
    AND sort_time >= fromUnixTimestamp64Micro({below_from:Int64})
    AND (filed = 'below_by_thread' OR (sort_time >= fromUnixTimestamp64Micro({threads_from:Int64})
      AND sort_time < fromUnixTimestamp64Micro({threads_to:Int64})))`

/** The threads of traces whose root names no thread. */
function belowSql(roots: string): string {
  return `SELECT trace_id, argMin((run.1, run.2), (run.3, toString(run_id))) AS below FROM (
      SELECT trace_id, run_id,
        argMax((thread_id, written_at, start_time, is_deleted), (version, 1 - is_deleted)) AS run
      FROM thread_runs FINAL
      WHERE ${PROJECT} AND filed = 'below_by_trace' AND root_time = toDateTime64(0, 6, 'UTC') AND thread = ''
        AND trace_id IN (SELECT trace_id FROM thread_runs WHERE ${roots} AND thread_id = '')
      GROUP BY trace_id, run_id HAVING run.4 = 0)
    GROUP BY trace_id`
}
