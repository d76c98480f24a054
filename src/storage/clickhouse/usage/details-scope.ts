import type { ClickHouse } from '../connect.ts'

const DAY = 86_400_000
/**
 * Descendants of a TraceRun are searched in a range around its time. The range begins EARLY before that time, because
 * clocks differ, and ends LATE after it, because calls may be long.
 */
const EARLY = DAY
const LATE = 7 * DAY
/** The first time that a DateTime64 can hold. */
const EARLIEST = Date.UTC(1900, 0, 1)

/**
 * Maximum number of rows that one statement reads, so that they fit into memory. A single day with more rows is read by
 * one statement.
 */
export const MAX_ROWS = 3_000_000

/** A range of time, epoch milliseconds; the end is not included. */
export interface Span {
  start: number
  end: number
}

/**
 * SQL condition: rows of the workspaces in parameter `workspace_ids`, from the time in parameter `from` to before the
 * time in parameter `to`.
 */
export function scope(from: string, to: string): string {
  return `workspace_id IN {workspace_ids:Array(UUID)}
    AND sort_time >= fromUnixTimestamp64Milli({${from}:Int64}) AND sort_time < fromUnixTimestamp64Milli({${to}:Int64})`
}

/**
 * The parameters of `scope('near_start', 'near_end')`: the range in which other records of the same calls are searched.
 */
export function nearOf({ start, end }: Span): { near_start: number; near_end: number } {
  return { near_start: Math.max(start - EARLY, EARLIEST), near_end: end + LATE }
}

/** Splits a range into pieces of whole days with at most `maxRows` rows each. Pieces without rows are left out. */
export async function slices(
  clickhouse: ClickHouse,
  { workspace_ids, start, end }: Span & { workspace_ids: readonly string[] },
  maxRows: number,
): Promise<Span[]> {
  const days = await clickhouse.rows<{ day: number; rows: number }>(
    `SELECT intDiv(toUnixTimestamp64Milli(sort_time), ${DAY}) AS day, count() AS rows
     FROM runs WHERE ${scope('start', 'end')} GROUP BY day ORDER BY day`,
    { params: { workspace_ids, start, end } },
  )
  const found: Span[] = []
  let from = start
  let held = 0
  for (const { day, rows } of days) {
    if (held > 0 && held + rows > maxRows) {
      found.push({ start: from, end: day * DAY })
      from = day * DAY
      held = 0
    }
    held += rows
  }
  if (held > 0) found.push({ start: from, end })
  return found
}
