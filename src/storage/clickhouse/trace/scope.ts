import type { ClickHouse, SqlParams } from '../connect.ts'

/**
 * A trace with at least this number of rows is read as a range of time, which is then faster than reading its rows one
 * by one.
 */
const LARGE = 5_000

/** The first TraceRun id in the dotted_order of a row. It follows a time of 22 characters. */
export const FIRST_OF_ORDER = 'toUUIDOrZero(substring(dotted_order, 23, 36))'

export interface TraceScope {
  /** Condition on rows of table `runs`, read FINAL. */
  condition: string
  params: SqlParams
  isLarge: boolean
}

/** Finds the rows of a trace: by their places, or as a range of time for a large trace. */
export async function scopeOfTrace(
  clickhouse: ClickHouse,
  workspace_id: string,
  trace_id: string,
): Promise<TraceScope> {
  const params = { workspace_id, trace_id }
  const [place] = await clickhouse.rows<Place>(
    `SELECT count() AS found, toString(any(project_id)) AS project, min(project_id) = max(project_id) AS is_one,
       toUnixTimestamp64Micro(min(sort_time)) AS scope_from, toUnixTimestamp64Micro(max(sort_time)) AS scope_to
     FROM trace_runs WHERE ${OF_TRACE}`,
    { params },
  )
  if (place === undefined || place.found < LARGE || place.is_one !== 1)
    return { condition: BY_PLACE, params, isLarge: false }
  const { project, scope_from, scope_to } = place
  return { condition: BY_TIME, params: { ...params, project, scope_from, scope_to }, isLarge: true }
}

interface Place {
  found: number
  project: string
  is_one: number
  scope_from: number
  scope_to: number
}

/** Condition on rows of `runs` and `trace_runs`. */
export const OF_TRACE = 'workspace_id = {workspace_id:UUID} AND trace_id = {trace_id:UUID}'

const BY_PLACE = `${OF_TRACE} AND (project_id, sort_time, run_id) IN (
  SELECT project_id, sort_time, run_id FROM trace_runs FINAL WHERE ${OF_TRACE})`
const BY_TIME = `${OF_TRACE} AND project_id = {project:UUID}
  AND sort_time >= fromUnixTimestamp64Micro({scope_from:Int64})
  AND sort_time <= fromUnixTimestamp64Micro({scope_to:Int64})`

const OF_TRACES = `SELECT project_id, sort_time, run_id FROM trace_runs FINAL
  WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {traces:Array(UUID)}`

/** The sort keys of the rows of some traces. */
export const PLACES_OF_TRACES = `(project_id, sort_time, run_id) IN (${OF_TRACES})`

/** PLACES_OF_TRACES and the known places: a row can be read a moment before its place, which a view writes. */
export const PLACES_AND_KNOWN = `(project_id, sort_time, run_id) IN (${OF_TRACES} UNION ALL
  SELECT known.1, fromUnixTimestamp64Micro(known.2, 'UTC'), known.3 FROM (SELECT arrayJoin(arrayZip(
    {projects:Array(UUID)}, {times:Array(Int64)}, {run_ids:Array(UUID)})) AS known))`
