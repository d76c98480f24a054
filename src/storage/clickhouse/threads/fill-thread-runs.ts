import type { Logger } from '../../../base/log.ts'
import type { ClickHouse } from '../connect.ts'

const NAME = 'thread_runs'
const DAY = 86_400_000

/**
 * Copies rows of earlier releases into `thread_runs`, the newest first, so that their threads are listed. The copy is done
 * once for each store; if interrupted, the copy starts again, and repeating it changes nothing.
 */
export async function fillThreadRuns(
  clickhouse: ClickHouse,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  const done = await clickhouse.rows('SELECT 1 FROM repairs WHERE name = {name:String} LIMIT 1', {
    params: { name: NAME },
  })
  if (done.length > 0) return
  const days = await clickhouse.rows<{ day: number }>(
    `SELECT DISTINCT toInt32(floor(toUnixTimestamp64Milli(sort_time) / ${DAY})) AS day FROM runs ORDER BY day DESC`,
  )
  for (const { day } of days) {
    if (signal.aborted) return
    await clickhouse.command(fillSql, { params: { from: day * DAY, to: (day + 1) * DAY } })
  }
  await clickhouse.command('INSERT INTO repairs (name) SELECT {name:String}', { params: { name: NAME } })
  if (days.length > 0) logger.info({ days: days.length }, 'the threads of stored traces can be listed')
}

/**
 * Writes for older rows what the view of migration 0014 writes for new ones, but with a `written_at` in the year 1970.
 */
const fillSql = `INSERT INTO thread_runs (workspace_id, project_id, filed, root_time, thread, trace_id, run_id, sort_time,
    start_time, thread_id, is_deleted, version, written_at)
  WITH parent_run_id = toUUID('00000000-0000-0000-0000-000000000000') AS is_root
  SELECT workspace_id, project_id,
    arrayJoin(multiIf(
      NOT is_root, ['below_by_trace', 'below_by_thread'],
      thread_id = '', ['root_by_time'],
      ['root_by_time', 'root_by_thread'])) AS filed,
    if(filed = 'root_by_time', sort_time, toDateTime64(0, 6, 'UTC')) AS root_time,
    if(filed IN ('root_by_thread', 'below_by_thread'), thread_id, '') AS thread,
    trace_id, run_id, sort_time, start_time, thread_id, is_deleted, version, toDateTime64(0, 6, 'UTC') AS written_at
  FROM runs
  WHERE sort_time >= fromUnixTimestamp64Milli({from:Int64}) AND sort_time < fromUnixTimestamp64Milli({to:Int64})
    AND (is_root OR thread_id != '')`
