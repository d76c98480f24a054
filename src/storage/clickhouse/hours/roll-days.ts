import type { ClickHouse } from '../connect.ts'
import { RUN_HOUR_COLUMNS, runDaysSql } from '../stats/run-hours-sql.ts'
import { PROJECT } from '../threads/turns-sql.ts'
import { RECENT } from './roll-hours.ts'
import { type Due, MAX_NAMES, removeVanished, rollSlices } from './due-hours.ts'
import { DAY_OF_HOUR, hoursHash } from './trace-hour.ts'

const DAY_MS = 86_400_000
/** Maximum number of days of one call, for which hours wait, and of days that are added up together. */
export const MAX_DAYS = 500
const MAX_TOGETHER = 31

interface DueDay extends Due {
  day: number
  /** The hash of its hours, as decimal digits. */
  hash: string
  hours: number[]
  hour_changes: number[]
  /** Whether all of its hours have figures of runs. */
  has_runs: 0 | 1
}

/**
 * Adds up the figures of runs of the days whose hours have changed since and are all computed, once the day is over at
 * `now`, in epoch milliseconds. Returns the number of due days, at most MAX_DAYS; otherwise as rollHours.
 */
export async function rollDays(
  clickhouse: ClickHouse,
  signal: AbortSignal,
  among: 'all' | 'recent' = 'all',
  now = Date.now(),
): Promise<number> {
  const params = { today: Math.floor(now / DAY_MS) * 24 }
  const due = await clickhouse.rows<DueDay>(dueSql(among), { params })
  await rollSlices(clickhouse, { due, most: MAX_TOGETHER, signal }, (slice) =>
    rollSlice(clickhouse, slice, signal),
  )
  return due.length
}

function dueSql(among: 'all' | 'recent'): string {
  const recent = `(workspace_id, project_id, ${DAY_OF_HOUR}) IN (
    SELECT workspace_id, project_id, ${DAY_OF_HOUR} FROM hour_changes WHERE ${RECENT})`
  const looked = `hour < {today:Int32} AND ${among === 'all' ? '1' : recent}`
  return `SELECT workspace_id, project_id, ${DAY_OF_HOUR} AS day, sum(now_changes) AS changes,
      toString(${hoursHash('now_changes')}) AS hash, groupArray(hour) AS hours, groupArray(now_changes) AS hour_changes,
      min(rolled.has_runs = 1) AS has_runs
    FROM (
      SELECT workspace_id, project_id, hour, sum(changes) AS now_changes FROM hour_changes WHERE ${looked}
      GROUP BY workspace_id, project_id, hour) AS marked
    LEFT JOIN (SELECT workspace_id, project_id, hour, changes, has_runs, has_unpriced FROM figure_hours FINAL WHERE ${looked}) AS rolled
    USING (workspace_id, project_id, hour)
    GROUP BY workspace_id, project_id, day
    HAVING min(now_changes = rolled.changes AND has_unpriced != 0)
      AND (workspace_id, project_id, day, hash) NOT IN (
        SELECT workspace_id, project_id, day, toString(hours) FROM figure_days FINAL)
    ORDER BY workspace_id, project_id, day DESC LIMIT ${MAX_DAYS}`
}

async function rollSlice(
  clickhouse: ClickHouse,
  days: readonly DueDay[],
  signal: AbortSignal,
): Promise<void> {
  const [{ workspace_id, project_id }] = days as [DueDay]
  const params = {
    workspace_id,
    project: project_id,
    hours: days.map(({ day }) => day),
    changes: days.map(({ changes }) => changes),
    hashes: days.map(({ hash }) => hash),
  }
  const whole = days.filter(({ has_runs }) => has_runs === 1)
  const isKept = whole.length > 0 && (await keepRuns(clickhouse, whole, { params, signal }))
  await clickhouse.command(
    `INSERT INTO figure_days (workspace_id, project_id, day, changes, hours, has_runs)
     SELECT {workspace_id:UUID}, {project:UUID}, due.1, due.2, toUInt64(due.3), due.4
     FROM (SELECT arrayJoin(arrayZip({hours:Array(Int32)}, {changes:Array(UInt64)}, {hashes:Array(String)}, {has_runs:Array(UInt8)})) AS due)`,
    {
      params: { ...params, has_runs: days.map(({ has_runs }) => (has_runs === 1 && isKept ? 1 : 2)) },
      signal,
    },
  )
  await removeVanished(clickhouse, 'run_hours', { params, signal })
}

/** Adds up the figures of the hours. Returns false if they have too many names or it is not possible. */
async function keepRuns(
  clickhouse: ClickHouse,
  days: readonly DueDay[],
  { params, signal }: { params: Readonly<Record<string, unknown>>; signal: AbortSignal },
): Promise<boolean> {
  const of = {
    ...params,
    kept_hours: days.flatMap(({ hours }) => hours),
    kept_changes: days.flatMap(({ hour_changes }) => hour_changes),
  }
  const [found] = await clickhouse.rows<{ names: number }>(
    `SELECT uniq(value) AS names FROM run_hours
     WHERE ${PROJECT} AND grouping = 'name' AND hour IN {kept_hours:Array(Int32)}`,
    { params: of, signal },
  )
  if (found!.names > MAX_NAMES) return false
  const scope = `${PROJECT} AND (hour, changes) IN arrayZip({kept_hours:Array(Int32)}, {kept_changes:Array(UInt64)})`
  try {
    await clickhouse.command(
      `INSERT INTO run_hours (workspace_id, project_id, changes, ${RUN_HOUR_COLUMNS.join(', ')})
       SELECT {workspace_id:UUID}, project_id, transform(day, {hours:Array(Int32)}, {changes:Array(UInt64)}, toUInt64(0)),
         day, first_half_hour, ${RUN_HOUR_COLUMNS.slice(2).join(', ')}
       FROM (${runDaysSql(scope)})`,
      { params: of, signal },
    )
    return true
  } catch (thrown) {
    if (signal.aborted || !(await clickhouse.ping())) throw thrown
    return false
  }
}
