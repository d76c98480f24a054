import type { Logger } from '../../../base/log.ts'
import type { ClickHouse } from '../connect.ts'
import { RUN_HOUR, TRACE_HOUR } from './trace-hour.ts'

/** The repair after which every row of `runs` is marked in `hour_changes`. */
export const FILLED = 'hour_changes'
const DAY = 86_400_000

/**
 * Marks the hours of rows of earlier releases, the newest first. It is done once for each store; if interrupted, it
 * starts again, and marking an hour several times only means that its figures are computed again.
 */
export async function fillHourChanges(
  clickhouse: ClickHouse,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  const done = await clickhouse.rows('SELECT 1 FROM repairs WHERE name = {name:String} LIMIT 1', {
    params: { name: FILLED },
  })
  if (done.length > 0) return
  const days = await clickhouse.rows<{ day: number }>(
    `SELECT DISTINCT toInt32(floor(toUnixTimestamp64Milli(sort_time) / ${DAY})) AS day FROM runs ORDER BY day DESC`,
  )
  for (const { day } of days) {
    if (signal.aborted) return
    await clickhouse.command(markSql, { params: { from: day * DAY, to: (day + 1) * DAY } })
  }
  await clickhouse.command('INSERT INTO repairs (name) SELECT {name:String}', { params: { name: FILLED } })
  if (days.length > 0) logger.info({ days: days.length }, 'figures of stored traces are computed from now on')
}

/** Writes for older rows what the view of migration 0018 writes for new ones. */
const markSql = `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes, changed_at)
  SELECT workspace_id, project_id, arrayJoin(arrayDistinct([${TRACE_HOUR}, ${RUN_HOUR}])) AS hour, ${RUN_HOUR} AS run_hour,
    count(), now64(6, 'UTC')
  FROM runs
  WHERE sort_time >= fromUnixTimestamp64Milli({from:Int64}) AND sort_time < fromUnixTimestamp64Milli({to:Int64})
  GROUP BY workspace_id, project_id, hour, run_hour`
