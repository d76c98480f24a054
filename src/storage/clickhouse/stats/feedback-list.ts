import { NIL_UUID } from '../../../base/ids.ts'
import type { FeedbackPlace, FeedbackQuery } from '../../../ingest/store/trace-store.ts'
import type { ClickHouse } from '../connect.ts'

/** Feedback of projects: what names one of them, and what is on one of their TraceRuns. */
const OF_PROJECTS = `(has({project_ids:Array(UUID)}, toUUIDOrZero(JSONExtractString(body, 'session_id')))
  OR run_id IN (SELECT run_id FROM run_places FINAL WHERE workspace_id = {workspace_id:UUID}
    AND run_id IN (SELECT run_id FROM feedback WHERE workspace_id = {workspace_id:UUID})
    AND has({project_ids:Array(UUID)}, project_id)))`

/** SQL of the time at which a record was created: its `created_at`, otherwise its receive time. */
const CREATED = `ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, 'created_at'), 6, 'UTC'), toDateTime64(feedback.received_at, 6, 'UTC'))`

/** SQL for whether a field of the record is not null. */
function given(field: string, isGiven: boolean): string {
  return `JSONType(body, '${field}') ${isGiven ? '!=' : '='} 'Null'`
}

function conditionsOf(wanted: FeedbackQuery): string {
  const { run_ids, project_ids, keys, sources, level, has_score, has_comment } = wanted
  const conditions = ['workspace_id = {workspace_id:UUID}']
  if (run_ids.length > 0) conditions.push('run_id IN {run_ids:Array(UUID)}')
  if (project_ids.length > 0) conditions.push(OF_PROJECTS)
  if (keys.length > 0) conditions.push('has({keys:Array(String)}, key)')
  if (sources.length > 0) conditions.push('has({sources:Array(String)}, source)')
  if (level !== undefined) conditions.push(`run_id ${level === 'run' ? '!=' : '='} toUUID('${NIL_UUID}')`)
  if (has_score !== undefined) conditions.push(given('score', has_score))
  if (has_comment !== undefined) conditions.push(given('comment', has_comment))
  return conditions.join(' AND ')
}

/** Feedback records without their bodies, newest first; `fields` are those whose presence is read. */
export function listFeedback(
  clickhouse: ClickHouse,
  workspace_id: string,
  wanted: FeedbackQuery,
  fields: readonly string[],
): Promise<FeedbackPlace[]> {
  const { run_ids, project_ids, keys, sources, limit, offset } = wanted
  return clickhouse.rows<FeedbackPlace>(
    `SELECT run_id, feedback_id, toUInt32(length(body)) AS bytes, JSONExtractString(body, 'key') AS key,
       JSONExtractString(body, 'feedback_source', 'type') AS source,
       JSONExtractString(body, 'created_at') AS created_at,
       toUnixTimestamp64Milli(received_at) AS received_at,
       arrayFilter(field -> JSONHas(body, field), {fields:Array(String)}) AS sent
     FROM feedback FINAL
     WHERE ${conditionsOf(wanted)}
     ORDER BY ${CREATED} DESC, feedback.received_at DESC, feedback_id, run_id
     LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    { params: { workspace_id, fields, run_ids, project_ids, keys, sources, limit, offset } },
  )
}
