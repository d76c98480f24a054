import type { ClickHouse } from '../connect.ts'
import { THREAD_HOUR_COLUMNS, threadHoursSql } from '../threads/hours-sql.ts'
import { KEPT_GROUPINGS, RUN_HOUR_COLUMNS, type RunHours, runHoursSql } from '../stats/run-hours-sql.ts'
import { PROJECT } from '../threads/turns-sql.ts'
import { usageShape } from '../usage/counted-sql.ts'
import { type Due, MAX_NAMES, removeVanished, rollSlices } from './due-hours.ts'
import { type HourRows, inHours, TRACE_HOUR } from './trace-hour.ts'

/** Seconds without a change after which the figures of an hour are computed again. */
const QUIET_SECONDS = 15
/** Seconds after which an interrupted deletion has certainly ended. */
const DELETION_SECONDS = 3_600
/** Maximum number of hours of one call, and of hours that are computed together. */
export const MAX_HOURS = 5_000
const MAX_TOGETHER = 240
/** Seconds of `recent`: after a look at all hours, those that changed longer ago than this are computed. */
const RECENT_SECONDS = 2 * DELETION_SECONDS
/** SQL condition on rows of hour_changes. */
export const RECENT = `changed_at >= now64(6, 'UTC') - toIntervalSecond(${RECENT_SECONDS})`
const PATIENT = { max_execution_time: 300 }

type DueHour = Due & HourRows

/**
 * Computes the figures of the hours that have changed since they were last computed. Hours that changed within the last
 * `quiet` seconds are left for a later call. Returns the number of due hours, at most MAX_HOURS. With `among` recent only
 * hours that changed within the last two hours are looked at. Several processes may call this at the same time.
 * @throws AppError of the last hours that could not be computed
 */
export async function rollHours(
  clickhouse: ClickHouse,
  signal: AbortSignal,
  among: 'all' | 'recent' = 'all',
  quiet = QUIET_SECONDS,
): Promise<number> {
  const due = await clickhouse.rows<DueHour>(dueSql(among), { params: { quiet } })
  await rollSlices(clickhouse, { due, most: MAX_TOGETHER, signal }, (slice) =>
    rollSlice(clickhouse, slice, signal),
  )
  return due.length
}

// The number of changes is read before the rows. It only grows, and it grows after the rows of a change can be read, so
// that figures which lack a row never have the current number.
function dueSql(among: 'all' | 'recent'): string {
  const recent = `(workspace_id, project_id, hour) IN (SELECT workspace_id, project_id, hour FROM hour_changes
    WHERE ${RECENT})`
  const looked = among === 'all' ? '1' : recent
  return `SELECT workspace_id, project_id, hour, now_changes AS changes, run_hours FROM (
    SELECT workspace_id, project_id, hour, sum(changes) AS now_changes, sum(deletions) AS deleting,
      max(changed_at) AS last_change, groupUniqArray(run_hour) AS run_hours
    FROM hour_changes WHERE ${looked} GROUP BY workspace_id, project_id, hour) AS marked
  LEFT JOIN (SELECT workspace_id, project_id, hour, maxIf(changes, has_unpriced != 0) AS changes FROM figure_hours
             WHERE ${looked} GROUP BY workspace_id, project_id, hour) AS rolled
  USING (workspace_id, project_id, hour)
  WHERE now_changes != rolled.changes AND last_change <= now64(6, 'UTC') - toIntervalSecond({quiet:UInt32})
    AND (deleting <= 0 OR last_change < now64(6, 'UTC') - toIntervalSecond(${DELETION_SECONDS}))
  ORDER BY workspace_id, project_id, hour DESC LIMIT ${MAX_HOURS}`
}

async function rollSlice(
  clickhouse: ClickHouse,
  hours: readonly DueHour[],
  signal: AbortSignal,
): Promise<void> {
  const [{ workspace_id, project_id }] = hours as [DueHour]
  const scope = inHours(hours)
  const params = {
    workspace_id,
    project: project_id,
    hours: hours.map(({ hour }) => hour),
    changes: hours.map(({ changes }) => changes),
  }
  const options = { params, settings: PATIENT, signal }
  const [clock] = await clickhouse.rows<{ now: string }>("SELECT toString(now64(6, 'UTC')) AS now", {
    signal,
  })
  const shape = await usageShape(clickhouse, scope, options)
  await clickhouse.command(
    `INSERT INTO thread_hours (workspace_id, project_id, changes, ${THREAD_HOUR_COLUMNS.join(', ')})
     SELECT {workspace_id:UUID}, {project:UUID},
       transform(hour, {hours:Array(Int32)}, {changes:Array(UInt64)}, toUInt64(0)) AS changes,
       ${THREAD_HOUR_COLUMNS.join(', ')}
     FROM (${threadHoursSql(scope, shape)})`,
    options,
  )
  const has_runs = await keepRuns(clickhouse, { scope, shape }, options)
  await clickhouse.command(stateSql(scope), {
    ...options,
    params: { ...params, as_of: clock!.now, has_runs },
  })
  for (const table of ['thread_hours', 'run_hours'] as const) await removeVanished(clickhouse, table, options)
}

/**
 * Computes the figures of runs. Returns 1, or 2 if there are too many names or it is not possible: their figures are then
 * added up at each read, and those of threads are kept all the same.
 */
async function keepRuns(
  clickhouse: ClickHouse,
  of: Pick<RunHours, 'scope' | 'shape'>,
  options: { params: Readonly<Record<string, unknown>>; signal: AbortSignal },
): Promise<1 | 2> {
  const [found] = await clickhouse.rows<{ names: number }>(
    `SELECT uniq(name) AS names FROM runs WHERE ${of.scope}`,
    options,
  )
  if (found!.names > MAX_NAMES) return 2
  try {
    for (const subject of ['trace', 'run'] as const)
      await clickhouse.command(runsOfHoursSql({ ...of, subject }), options)
    return 1
  } catch (thrown) {
    if (options.signal.aborted || !(await clickhouse.ping())) throw thrown
    return 2
  }
}

function runsOfHoursSql(of: Omit<RunHours, 'groupings'>): string {
  const groupings = ['', ...Object.keys(KEPT_GROUPINGS)] as RunHours['groupings']
  return `INSERT INTO run_hours (workspace_id, project_id, changes, ${RUN_HOUR_COLUMNS.join(', ')})
    SELECT {workspace_id:UUID}, project_id, transform(hour, {hours:Array(Int32)}, {changes:Array(UInt64)}, toUInt64(0)) AS changes,
      ${RUN_HOUR_COLUMNS.join(', ')}
    FROM (${runHoursSql({ ...of, groupings })})`
}

/** Writes that the hours are computed, after their figures. */
function stateSql(scope: string): string {
  return `INSERT INTO figure_hours (workspace_id, project_id, hour, changes, as_of, first_start, last_start, strays,
      has_runs, has_unpriced, root_times, run_times, several_roots)
    SELECT {workspace_id:UUID}, {project:UUID}, due_hours.hour, due_hours.changes,
      toDateTime64({as_of:String}, 6, 'UTC'), first_start, last_start, strays, {has_runs:UInt8}, 1, root_times, run_times, several_roots
    FROM (
      SELECT due.1 AS hour, due.2 AS changes
      FROM (SELECT arrayJoin(arrayZip({hours:Array(Int32)}, {changes:Array(UInt64)})) AS due)) AS due_hours
    LEFT JOIN (
      SELECT hour, changes, min(first_root.1) AS first_start, max(last_root.1) AS last_start FROM thread_hours FINAL
      WHERE ${PROJECT} AND hour IN {hours:Array(Int32)} GROUP BY hour, changes) AS times
    ON due_hours.hour = times.hour AND due_hours.changes = times.changes
    LEFT JOIN (
      SELECT hour, changes, ${timesSql('trace')} AS root_times, ${timesSql('run')} AS run_times,
        toUInt8(sumIf(runs, subject = 'trace') != sumIf(traces, subject = 'trace')) AS several_roots
      FROM run_hours FINAL WHERE ${PROJECT} AND grouping = '' AND hour IN {hours:Array(Int32)}
      GROUP BY hour, changes) AS of_runs
    ON due_hours.hour = of_runs.hour AND due_hours.changes = of_runs.changes
    LEFT JOIN (${straysSql(scope)}) AS others ON due_hours.hour = others.hour`
}

/** SQL of the least and the greatest start in run_hours; empty if there is none. */
function timesSql(subject: RunHours['subject']): string {
  const of = `subject = '${subject}'`
  return `if(countIf(${of}) = 0, [], [minIf(first_time, ${of}), maxIf(last_time, ${of})])`
}

/**
 * SQL of the other hours in which traces of `scope` have rows. The root of a trace has the id of the trace, so a trace
 * that is in several hours lacks its root in at least one of them.
 */
function straysSql(scope: string): string {
  const rootless = `SELECT ${TRACE_HOUR} AS hour, trace_id FROM runs FINAL WHERE ${scope}
    GROUP BY hour, trace_id HAVING countIf(run_id = trace_id) = 0`
  return `SELECT hour, groupUniqArray(other) AS strays
    FROM (${rootless}) AS lacking
    INNER JOIN (
      SELECT DISTINCT trace_id, ${TRACE_HOUR} AS other FROM runs FINAL
      WHERE ${PROJECT} AND trace_id IN (SELECT trace_id FROM (${rootless})) AND (sort_time, run_id) IN (
        SELECT sort_time, run_id FROM trace_runs
        WHERE workspace_id = {workspace_id:UUID} AND trace_id IN (SELECT trace_id FROM (${rootless})))) AS rows
    USING (trace_id)
    WHERE other != hour
    GROUP BY hour`
}
