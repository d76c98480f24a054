import type { ClickHouse, SqlParams } from '../connect.ts'
import { FILLED } from './fill-hour-changes.ts'
import { DAY_OF_HOUR, type HourRows, hourOf, hoursHash, inRunHours, TRACE_HOUR } from './trace-hour.ts'

/** Maximum number of hours that a read computes itself. */
const MAX_LIVE = 1_000
/** Maximum number of days that a read takes as a whole; the hours of others are read one by one. */
const MAX_DAYS = 1_000
/** The last hour whose start is a DateTime64. */
const LAST_HOUR = 2_800_000
const MAX_INT32 = 2 ** 31 - 1

const PROJECTS = 'workspace_id = {workspace_id:UUID} AND project_id IN {figure_projects:Array(UUID)}'
const timeOf = (name: string): string => `fromUnixTimestamp64Micro({${name}:Int64})`

/** The runs whose figures are wanted: those of projects that start in a window, which is open without an end. */
export interface FigureWindow {
  project_ids: readonly string[]
  /** Epoch microseconds. */
  from: number | undefined
  to: number | undefined
  /** Whether the starts are those of roots or of all runs. */
  subject: 'trace' | 'run'
  /** Whether figures of days are not used. */
  by_hours: boolean
}

/** Numbers of changes from which kept figures are used: if all hours have them, and if some do not. */
export interface KeptFrom {
  all: number
  some: number
}

/**
 * Figures of fewer changes are computed from rows, which takes as long and makes percentiles exact. A statement that
 * also computes hours takes 0.15 s of CPU more.
 */
export const KEPT_FROM: KeptFrom = { all: 1_000, some: 100_000 }

/** Which hours of projects have complete figures of runs for a window. */
export interface KnownRunHours {
  /** Condition on rows of `runs`: those of the hours that a read computes itself. Undefined if there are none. */
  live: string | undefined
  /** Condition on rows of `run_hours`: those of the days and hours with kept figures. */
  kept: string
  params: SqlParams
  /** Condition on `sort_time`. */
  times: string
  /** Whether a trace of the kept hours has several roots. */
  several_roots: boolean
}

type LiveHour = [project_id: string, hour: number, run_hours: number[]]
type KeptDay = [project_id: string, day: number, changes: number]

/**
 * The kept and the live hours of the window, as knownHours does it for threads. Undefined if kept figures must not be
 * used, or if there are fewer changes than `least`, which are at least as many as runs.
 */
export async function knownRunHours(
  clickhouse: ClickHouse,
  workspace_id: string,
  window: FigureWindow,
  least: KeptFrom = KEPT_FROM,
): Promise<KnownRunHours | undefined> {
  const { project_ids, from, to } = window
  const params = {
    workspace_id,
    figure_projects: project_ids,
    figures_from: from ?? 0,
    figures_to: Math.min(to ?? 0, LAST_HOUR * 3_600_000_000),
  }
  const hours = {
    first_hour: hourOf(params.figures_from),
    last_hour: to === undefined ? MAX_INT32 : hourOf(params.figures_to),
  }
  const [row] = await clickhouse.rows<{
    filled: number
    live: LiveHour[]
    open: number
    changes: number
    several_roots: number
    days: KeptDay[]
    all_days: number
  }>(hoursSql(window), { params: { ...params, ...hours } })
  const { filled, live, open, changes, several_roots, days, all_days } = row!
  if (filled === 0 || open > 0 || live.length > MAX_LIVE) return undefined
  if (changes < (live.length === 0 ? least.all : least.some)) return undefined
  return {
    live: live.length === 0 ? undefined : liveSql(live),
    kept: keptSql(window, live, { days, isAll: days.length > 0 && days.length === all_days }),
    params: { ...params, ...daysParams(days) },
    times: timesSql(window),
    several_roots: several_roots > 0,
  }
}

function timesSql({ from, to }: FigureWindow): string {
  const conditions = [
    ...(from === undefined ? [] : [`sort_time >= ${timeOf('figures_from')}`]),
    ...(to === undefined ? [] : [`sort_time < ${timeOf('figures_to')}`]),
  ]
  return conditions.length === 0 ? '1' : conditions.join(' AND ')
}

/** SQL of the array of the least and the greatest start; empty if the hour has no such run. */
const startsOf = ({ subject }: Pick<FigureWindow, 'subject'>): string =>
  subject === 'trace' ? 'root_times' : 'run_times'

function insideSql({ from, to, ...window }: FigureWindow): string {
  const starts = startsOf(window)
  const bounds = [
    ...(from === undefined ? [] : [`${starts}[1] >= ${timeOf('figures_from')}`]),
    ...(to === undefined ? [] : [`${starts}[2] < ${timeOf('figures_to')}`]),
  ]
  return bounds.length === 0 ? '1' : `(empty(${starts}) OR ${bounds.join(' AND ')})`
}

function outsideSql({ from, to, ...window }: FigureWindow): string {
  const starts = startsOf(window)
  const bounds = [
    ...(from === undefined ? [] : [`${starts}[2] < ${timeOf('figures_from')}`]),
    ...(to === undefined ? [] : [`${starts}[1] >= ${timeOf('figures_to')}`]),
  ]
  return bounds.length === 0 ? '0' : `(${bounds.join(' OR ')})`
}

/** Traces that have rows in several hours are in none of them whole. */
const OPEN = `SELECT project_id, arrayJoin(arrayPushBack(strays, hour)) FROM figure_hours FINAL
  WHERE ${PROJECTS} AND notEmpty(strays)`

/** Hours by days. A day is whole if its hours are those of which figure_days has the figures, all inside of the window. */
function hoursSql(window: FigureWindow): string {
  const isKept = `(project_id, day, hash) IN (
    SELECT project_id, day, hours FROM figure_days FINAL WHERE ${PROJECTS} AND has_runs = 1)`
  return `SELECT (SELECT count() FROM repairs WHERE name = '${FILLED}') AS filled, sum(open_hours) AS open, sum(day_changes) AS changes,
      sum(with_several_roots) AS several_roots, groupArrayArray(${MAX_LIVE + 1})(live_hours) AS live,
      groupArrayIf(${MAX_DAYS})((project_id, day, day_changes), ${window.by_hours ? '0' : `is_whole AND ${isKept}`}) AS days, count() AS all_days
    FROM (
      SELECT project_id, ${DAY_OF_HOUR} AS day, countIf((project_id, hour) IN (${OPEN})) AS open_hours, sum(now_changes) AS day_changes,
        sum(roots) AS with_several_roots, groupArrayIf((project_id, hour, run_hours), is_live) AS live_hours,
        min(is_inside AND NOT is_live) AS is_whole, ${hoursHash('now_changes')} AS hash
      FROM (
        SELECT project_id, hour, now_changes, run_hours, rolled.several_roots AS roots, ${insideSql(window)} AS is_inside,
          now_changes != rolled.changes OR has_runs != 1 OR has_unpriced = 0 OR NOT (is_inside OR ${outsideSql(window)}) AS is_live
        FROM (
          SELECT project_id, hour, sum(changes) AS now_changes, groupUniqArray(run_hour) AS run_hours FROM hour_changes
          WHERE ${PROJECTS} GROUP BY project_id, hour
          HAVING max(run_hour >= {first_hour:Int32} AND run_hour <= {last_hour:Int32}) = 1) AS marked
        LEFT JOIN (SELECT project_id, hour, changes, has_runs, has_unpriced, root_times, run_times, several_roots FROM figure_hours FINAL
                   WHERE ${PROJECTS}) AS rolled
        USING (project_id, hour))
      GROUP BY project_id, day)`
}

function daysParams(days: readonly KeptDay[]): SqlParams {
  return {
    day_projects: days.map(([project]) => project),
    days: days.map(([, day]) => day),
    day_changes: days.map(([, , changes]) => changes),
  }
}

function keptSql(
  window: FigureWindow,
  live: readonly LiveHour[],
  { days, isAll }: { days: readonly KeptDay[]; isAll: boolean },
): string {
  const ofDays = `(project_id, hour, changes) IN arrayZip({day_projects:Array(UUID)}, {days:Array(Int32)}, {day_changes:Array(UInt64)})`
  if (isAll) return ofDays
  const conditions = [
    ...[PROJECTS, 'has_runs = 1', `notEmpty(${startsOf(window)})`, insideSql(window)],
    ...(live.length === 0 ? [] : [`(project_id, hour) NOT IN (${pairs(live)})`]),
    ...(days.length === 0
      ? []
      : [`(project_id, ${DAY_OF_HOUR}) NOT IN arrayZip({day_projects:Array(UUID)}, {days:Array(Int32)})`]),
  ]
  const ofHours = `(project_id, hour, changes) IN (SELECT project_id, hour, changes FROM figure_hours FINAL
    WHERE ${conditions.join(' AND ')})`
  return days.length === 0 ? ofHours : `(${ofDays} OR ${ofHours})`
}

function liveSql(live: readonly LiveHour[]): string {
  const hours = live.map(([, hour, run_hours]): HourRows => ({ hour, run_hours }))
  return `${PROJECTS} AND ${inRunHours(hours, 'sort_time')} AND (project_id, ${TRACE_HOUR}) IN (${pairs(live)})`
}

const pairs = (live: readonly LiveHour[]): string =>
  live.map(([project, hour]) => `(toUUID('${project}'), toInt32(${hour}))`).join(', ')
