import type { ThreadWindow } from '../../../ingest/store/thread-store.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { PROJECT } from '../threads/turns-sql.ts'
import { FILLED } from './fill-hour-changes.ts'
import { type HourRows, hourOf } from './trace-hour.ts'

/** Maximum number of hours that a read computes itself. */
const MAX_LIVE = 1_000
/** The last hour whose start is a DateTime64. */
const LAST_HOUR = 2_800_000

const timeOf = (name: string): string => `fromUnixTimestamp64Micro({${name}:Int64})`

/** SQL conditions on rows of `figure_hours`. An hour without traces of threads has no times. */
const HAS_THREADS = "last_start != toDateTime64(0, 6, 'UTC')"
const IS_INSIDE = `first_start >= ${timeOf('hours_from')} AND last_start < ${timeOf('hours_to')}`
const IS_OUTSIDE = `(last_start < ${timeOf('hours_from')} OR first_start >= ${timeOf('hours_to')})`

/** Which hours of a project have complete figures for a window. */
export interface KnownHours {
  /** The hours that a read computes itself: they changed, or only a part of them is in the window. */
  live: readonly HourRows[]
  /** SELECT of `hour` and `changes` of the hours with kept figures. Needs `params`. */
  kept: string
  params: SqlParams
}

/**
 * The kept and the live hours of the window. Undefined if kept figures must not be used: while rows of earlier releases
 * are not marked yet, if too many hours are live, and if a trace has rows in several hours.
 */
export async function knownHours(
  clickhouse: ClickHouse,
  workspace_id: string,
  { project_id, from, to }: ThreadWindow,
  /** Only figures that were computed before this time, in epoch microseconds. */
  written = Number.MAX_SAFE_INTEGER,
): Promise<KnownHours | undefined> {
  const params = {
    workspace_id,
    project: project_id,
    hours_from: from,
    hours_to: Math.min(to, LAST_HOUR * 3_600_000_000),
    first_hour: hourOf(from),
    last_hour: Math.min(hourOf(to), LAST_HOUR),
    hours_as_of: Math.min(written, LAST_HOUR * 3_600_000_000),
  }
  const [row] = await clickhouse.rows<{ filled: number; live: [number, number[]][]; open: number }>(HOURS, {
    params,
  })
  const { filled, live, open } = row!
  if (filled === 0 || open > 0 || live.length > MAX_LIVE) return undefined
  const hours = live.map(([hour, run_hours]): HourRows => ({ hour, run_hours }))
  return { live: hours, kept: keptSql(hours), params }
}

/** Traces that have rows in several hours are in none of them whole. */
const OPEN = `SELECT arrayJoin(arrayPushBack(strays, hour)) FROM figure_hours FINAL WHERE ${PROJECT} AND notEmpty(strays)`

const HOURS = `SELECT (SELECT count() FROM repairs WHERE name = '${FILLED}') AS filled,
    countIf(hour IN (${OPEN})) AS open, groupArrayIf(${MAX_LIVE + 1})((hour, run_hours), is_live) AS live
  FROM (
    SELECT hour, run_hours, now_changes != changes OR has_unpriced = 0 OR as_of > ${timeOf('hours_as_of')}
      OR (${HAS_THREADS} AND NOT (${IS_INSIDE}) AND NOT ${IS_OUTSIDE}) AS is_live
    FROM (
      SELECT hour, sum(changes) AS now_changes, groupUniqArray(run_hour) AS run_hours FROM hour_changes
      WHERE ${PROJECT} GROUP BY hour
      HAVING max(run_hour >= {first_hour:Int32} AND run_hour <= {last_hour:Int32}) = 1) AS marked
    LEFT JOIN (SELECT hour, changes, has_unpriced, as_of, first_start, last_start FROM figure_hours FINAL WHERE ${PROJECT}) AS rolled
    USING (hour))`

function keptSql(live: readonly HourRows[]): string {
  const others = live.length === 0 ? '' : `AND hour NOT IN (${live.map(({ hour }) => hour).join(', ')})`
  return `SELECT hour, changes FROM figure_hours FINAL
    WHERE ${PROJECT} AND ${HAS_THREADS} AND ${IS_INSIDE} ${others}`
}
