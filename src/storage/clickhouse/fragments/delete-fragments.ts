import { isOneServer } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'
import type { RunSet } from '../deleting/run-set.ts'
import { hideFragments } from './hidden-fragments.ts'

const DAY_MS = 24 * 3_600_000

/** A partition of `fragments`, and the range of `begun` (epoch seconds) in which it has fragments of some TraceRuns. */
export interface FragmentRange {
  keep_days: number
  /** First day of the partition, as `YYYY-MM-DD`. */
  day: string
  first: number
  last: number
}

export interface FragmentsToDelete {
  /** A further condition on the fragments, with its parameters; then the TraceRuns keep their other fragments. */
  only?: { sql: string; params: Record<string, unknown> }
  /**
   * The time at which the TraceRuns expired, in epoch milliseconds. Fragments whose partition is freed within a day are
   * then hidden, and stay on disk until then. Undefined: all fragments are deleted.
   */
  expired_at?: number | undefined
}

/** Deletes fragments of TraceRuns. When it resolves, no read returns them. */
export async function deleteFragments(
  clickhouse: ClickHouse,
  runs: RunSet,
  { only, expired_at }: FragmentsToDelete = {},
): Promise<void> {
  const params = { ...runs.params, ...only?.params, ...(expired_at !== undefined && { expired_at }) }
  const some = { ...runs, params }
  const staying = expired_at === undefined ? '1' : STAYING
  const condition = only?.sql ?? '1'
  await clickhouse.command(`DELETE FROM run_fragments WHERE ${runs.sql} AND ${condition}`, { params })
  const isAlone = isOneServer(clickhouse.layout)
  if (isAlone && only === undefined) return await hideFragments(clickhouse, some, staying)
  const ranges = await rangesOf(clickhouse, some, staying)
  if (isAlone) return await deleteAtOnce(clickhouse, ranges, some, condition)
  for (const range of ranges) await deleteInRange(clickhouse, range, some, condition)
  if (only !== undefined) return
  // Places go after the fragments, because an interrupted deletion finds the rest of the fragments through them.
  await clickhouse.command(`DELETE FROM fragment_places WHERE ${runs.sql}`, { params })
  for (const range of ranges) await restorePlaces(clickhouse, range, some)
}

/** Condition on places: their partition is not freed as a whole within a day after `expired_at`. */
const STAYING = `NOT (keep_days > 0
  AND toInt64(toUnixTimestamp(toDateTime(day, 'UTC'))) * 1000 + keep_days * ${DAY_MS} <= {expired_at:Int64})`

/** Time between the end of a partition's last day of retention and its removal: what is late in a log is there by then. */
const FREED_LATER_MS = 3_600_000

/** When a partition may be freed, in epoch milliseconds: all its fragments have expired, by the retention they came with. */
export function freedAt(keep_days: number, day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + (1 + keep_days) * DAY_MS + FREED_LATER_MS
}

async function rangesOf(
  clickhouse: ClickHouse,
  { sql, params }: RunSet,
  condition: string,
): Promise<FragmentRange[]> {
  return await clickhouse.rows<FragmentRange>(
    `SELECT keep_days, toString(day) AS day, toUnixTimestamp(min(begun)) AS first, toUnixTimestamp(max(begun)) AS last
     FROM fragment_places WHERE ${sql} AND ${condition} GROUP BY keep_days, day`,
    { params },
  )
}

const IN_RANGE = 'begun >= fromUnixTimestamp({first:UInt32}) AND begun <= fromUnixTimestamp({last:UInt32})'

/** Deletes fragments in all partitions: on one server, a deletion in one partition costs as much. */
async function deleteAtOnce(
  clickhouse: ClickHouse,
  ranges: readonly FragmentRange[],
  { sql, params }: RunSet,
  condition: string,
): Promise<void> {
  if (ranges.length === 0) return
  const first = Math.min(...ranges.map((range) => range.first))
  const last = Math.max(...ranges.map((range) => range.last))
  await clickhouse.command(`DELETE FROM fragments WHERE ${sql} AND ${IN_RANGE} AND ${condition}`, {
    params: { ...params, first, last },
  })
}

/** Deletes fragments in one partition. */
export async function deleteInRange(
  clickhouse: ClickHouse,
  { keep_days, day, first, last }: FragmentRange,
  { sql, params }: RunSet,
  condition = '1',
): Promise<void> {
  await clickhouse.command(
    `DELETE FROM fragments IN PARTITION (${keep_days}, '${day}') WHERE ${sql} AND ${IN_RANGE} AND ${condition}`,
    { params: { ...params, first, last } },
  )
}

/** Fragments that came between the two deletions have lost their places, and a later deletion would not find them. */
async function restorePlaces(
  clickhouse: ClickHouse,
  { keep_days, day, first, last }: FragmentRange,
  { sql, params }: RunSet,
): Promise<void> {
  await clickhouse.command(
    `INSERT INTO fragment_places (workspace_id, run_id, keep_days, day, begun)
     SELECT DISTINCT workspace_id, run_id, keep_days, day, begun FROM fragments
     WHERE keep_days = {keep_days:UInt16} AND day = toDate({day:String}) AND ${sql} AND ${IN_RANGE}`,
    { params: { ...params, keep_days, day, first, last } },
  )
}
