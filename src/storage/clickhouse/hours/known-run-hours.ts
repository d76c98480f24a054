import type { ClickHouse, SqlParams } from '../connect.ts'
import { FILLED } from './fill-hour-changes.ts'
import { type HourRows, hourOf, inRunHours, TRACE_HOUR } from './trace-hour.ts'

/** Maximum number of hours that a read computes itself. */
const MAX_LIVE = 1_000
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
  /** SELECT of `project_id`, `hour` and `changes` of the hours with kept figures. */
  kept: string
  params: SqlParams
  /** Condition on `sort_time`. */
  times: string
  /** Whether a trace of the kept hours has several roots. */
  several_roots: boolean
}

type LiveHour = [project_id: string, hour: number, run_hours: number[]]

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
  }>(hoursSql(window), { params: { ...params, ...hours } })
  const { filled, live, open, changes, several_roots } = row!
  if (filled === 0 || open > 0 || live.length > MAX_LIVE) return undefined
  if (changes < (live.length === 0 ? least.all : least.some)) return undefined
  return {
    live: live.length === 0 ? undefined : liveSql(live),
    kept: keptSql(window, live),
    params,
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

function hoursSql(window: FigureWindow): string {
  return `SELECT (SELECT count() FROM repairs WHERE name = '${FILLED}') AS filled,
      countIf((project_id, hour) IN (${OPEN})) AS open, sum(now_changes) AS changes, sum(rolled.several_roots) AS several_roots,
      groupArrayIf(${MAX_LIVE + 1})((project_id, hour, run_hours), now_changes != rolled.changes OR has_runs != 1 OR has_unpriced = 0
        OR NOT (${insideSql(window)} OR ${outsideSql(window)})) AS live
    FROM (
      SELECT project_id, hour, sum(changes) AS now_changes, groupUniqArray(run_hour) AS run_hours FROM hour_changes
      WHERE ${PROJECTS} GROUP BY project_id, hour
      HAVING max(run_hour >= {first_hour:Int32} AND run_hour <= {last_hour:Int32}) = 1) AS marked
    LEFT JOIN (SELECT project_id, hour, changes, has_runs, has_unpriced, root_times, run_times, several_roots FROM figure_hours FINAL
               WHERE ${PROJECTS}) AS rolled
    USING (project_id, hour)`
}

function keptSql(window: FigureWindow, live: readonly LiveHour[]): string {
  const others = live.length === 0 ? '' : `AND (project_id, hour) NOT IN (${pairs(live)})`
  return `SELECT project_id, hour, changes FROM figure_hours FINAL
    WHERE ${PROJECTS} AND has_runs = 1 AND notEmpty(${startsOf(window)}) AND ${insideSql(window)} ${others}`
}

function liveSql(live: readonly LiveHour[]): string {
  const hours = live.map(([, hour, run_hours]): HourRows => ({ hour, run_hours }))
  return `${PROJECTS} AND ${inRunHours(hours, 'sort_time')} AND (project_id, ${TRACE_HOUR}) IN (${pairs(live)})`
}

const pairs = (live: readonly LiveHour[]): string =>
  live.map(([project, hour]) => `(toUUID('${project}'), toInt32(${hour}))`).join(', ')
