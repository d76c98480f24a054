import type { Logger } from '../../../base/log.ts'
import type { ClickHouse } from '../connect.ts'
import { repairByDay } from '../repairs.ts'

/** Copies rows of earlier releases into `thread_runs`, so that their threads are listed. */
export function fillThreadRuns(clickhouse: ClickHouse, signal: AbortSignal, logger: Logger): Promise<void> {
  const logged = 'the threads of stored traces can be listed'
  return repairByDay(clickhouse, { name: 'thread_runs', sql: fillSql, logged }, signal, logger)
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
