import type { Logger } from '../../../base/log.ts'
import type { ClickHouse } from '../connect.ts'
import { repairByDay } from '../repairs.ts'
import { RUN_HOUR, TRACE_HOUR } from './trace-hour.ts'

/** The repair after which every row of `runs` is marked in `hour_changes`. */
export const FILLED = 'hour_changes'

/** Marks the hours of rows of earlier releases. Marking one several times only computes its figures again. */
export function fillHourChanges(clickhouse: ClickHouse, signal: AbortSignal, logger: Logger): Promise<void> {
  const logged = 'figures of stored traces are computed from now on'
  return repairByDay(clickhouse, { name: FILLED, sql: markSql, logged }, signal, logger)
}

/** Writes for older rows what the view of migration 0018 writes for new ones. */
const markSql = `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes, changed_at)
  SELECT workspace_id, project_id, arrayJoin(arrayDistinct([${TRACE_HOUR}, ${RUN_HOUR}])) AS hour, ${RUN_HOUR} AS run_hour,
    count(), now64(6, 'UTC')
  FROM runs
  WHERE sort_time >= fromUnixTimestamp64Milli({from:Int64}) AND sort_time < fromUnixTimestamp64Milli({to:Int64})
  GROUP BY workspace_id, project_id, hour, run_hour`
