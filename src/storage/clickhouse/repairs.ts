import type { Logger } from '../../base/log.ts'
import type { ClickHouse } from './connect.ts'

const DAY = 86_400_000

/** Whether a repair, which each store needs once, is done. */
export async function isRepaired(clickhouse: ClickHouse, name: string): Promise<boolean> {
  const sql = 'SELECT 1 FROM repairs WHERE name = {name:String} LIMIT 1'
  return (await clickhouse.rows(sql, { params: { name } })).length > 0
}

export async function noteRepaired(clickhouse: ClickHouse, name: string): Promise<void> {
  await clickhouse.command('INSERT INTO repairs (name) SELECT {name:String}', { params: { name } })
}

/**
 * Executes `sql` for each day of `runs`, the newest first, with its bounds as {from:Int64} and {to:Int64} in epoch
 * milliseconds. It is done once for each store; if interrupted, it starts again, so repeating it must change nothing.
 */
export async function repairByDay(
  clickhouse: ClickHouse,
  { name, sql, logged }: { name: string; sql: string; logged: string },
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  if (await isRepaired(clickhouse, name)) return
  const days = await clickhouse.rows<{ day: number }>(
    `SELECT DISTINCT toInt32(floor(toUnixTimestamp64Milli(sort_time) / ${DAY})) AS day FROM runs ORDER BY day DESC`,
  )
  for (const { day } of days) {
    if (signal.aborted) return
    await clickhouse.command(sql, { params: { from: day * DAY, to: (day + 1) * DAY } })
  }
  await noteRepaired(clickhouse, name)
  if (days.length > 0) logger.info({ days: days.length }, logged)
}
