import { isOneServer, systemRows } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'
import { namedRuns } from '../deleting/run-set.ts'
import { deleteInRange, freedAt } from './delete-fragments.ts'
import { noteHiddenFragments } from './hidden-fragments.ts'

/** Maximum number of placed TraceRuns of a partition that are looked at to find out whether it can be freed. */
const MAX_LEFT = 100_000
/** Number of placed TraceRuns that are compared with the fragments of a partition at a time. */
const SLICE = 1_000_000
const PAGE = 4_000

interface Partition {
  keep_days: number
  /** First day, as `YYYY-MM-DD`. */
  day: string
}

const OF_PARTITION = 'keep_days = {keep_days:UInt16} AND day = toDate({day:String})'

/**
 * Frees the partitions of fragments that have expired at `now` (epoch milliseconds), as a whole where no TraceRun is
 * kept longer. Elsewhere, because the retention of a project was raised, only the fragments that retention hides are
 * deleted.
 */
export async function freeExpiredFragments(
  clickhouse: ClickHouse,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  for (const partition of await expiredPartitions(clickhouse, now)) {
    if (signal.aborted) return
    const { keep_days, day } = partition
    if (await isKept(clickhouse, partition)) {
      await deleteUnplaced(clickhouse, partition, signal)
      continue
    }
    await clickhouse.command(`ALTER TABLE fragments DROP PARTITION (${keep_days}, '${day}')`, {
      settings: { max_partition_size_to_drop: 0 },
    })
    const [left] = await clickhouse.rows(`SELECT 1 FROM fragment_places WHERE ${OF_PARTITION} LIMIT 1`, {
      params: { ...partition },
    })
    if (left !== undefined)
      await clickhouse.command(`DELETE FROM fragment_places WHERE ${OF_PARTITION}`, {
        params: { ...partition },
      })
  }
}

async function expiredPartitions(clickhouse: ClickHouse, now: number): Promise<Partition[]> {
  const found = await clickhouse.rows<{ id: string }>(
    `SELECT DISTINCT partition_id AS id FROM ${systemRows('parts', 'fragments', clickhouse)} AND active ORDER BY id`,
  )
  return found.flatMap(({ id }) => {
    const [, days, year, month, date] = /^(\d+)-(\d{4})(\d\d)(\d\d)$/.exec(id) ?? []
    const partition = { keep_days: Number(days ?? 0), day: `${year}-${month}-${date}` }
    return partition.keep_days > 0 && freedAt(partition.keep_days, partition.day) <= now ? [partition] : []
  })
}

/**
 * Whether a TraceRun with fragments in the partition has a row. Fragments without a row, such as log records whose span
 * never came, expire with their day.
 */
async function isKept(clickhouse: ClickHouse, partition: Partition): Promise<boolean> {
  const params = { ...partition }
  const left = `SELECT DISTINCT workspace_id, run_id FROM fragment_places WHERE ${OF_PARTITION} LIMIT ${MAX_LEFT}`
  const [found] = await clickhouse.rows<{ kept: number }>(
    `SELECT (SELECT count() FROM (${left})) = ${MAX_LEFT}
       OR (SELECT count() FROM (SELECT 1 FROM run_places WHERE (workspace_id, run_id) IN (${left}) LIMIT 1)) > 0
       OR (SELECT count() FROM (SELECT 1 FROM filtered_spans WHERE (workspace_id, run_id) IN (${left}) LIMIT 1)) > 0
       AS kept`,
    { params },
  )
  return found?.kept !== 0
}

/** Deletes the fragments of a partition that have no place. On one server, `deleteHiddenFragments` does this later. */
async function deleteUnplaced(
  clickhouse: ClickHouse,
  partition: Partition,
  signal: AbortSignal,
): Promise<void> {
  const [count] = await clickhouse.rows<{ placed: number }>(
    `SELECT toUInt32(count()) AS placed FROM fragment_places WHERE ${OF_PARTITION}`,
    { params: { ...partition } },
  )
  const slices = Math.ceil(((count?.placed ?? 0) + 1) / SLICE)
  for (let slice = 0; slice < slices; slice++) {
    if (signal.aborted) return
    const inSlice = `${OF_PARTITION} AND cityHash64(run_id) % {slices:UInt32} = {slice:UInt32}`
    if (isOneServer(clickhouse.layout)) {
      await noteHiddenFragments(clickhouse, inSlice, { ...partition, slices, slice })
      continue
    }
    const next = () =>
      clickhouse.rows<{ workspace_id: string; run_ids: string[]; first: number; last: number }>(
        `SELECT workspace_id, groupUniqArray(run_id) AS run_ids, toUnixTimestamp(min(begun)) AS first,
           toUnixTimestamp(max(begun)) AS last
         FROM (SELECT workspace_id, run_id, begun FROM fragments WHERE ${inSlice} AND (workspace_id, run_id) NOT IN (
             SELECT workspace_id, run_id FROM fragment_places WHERE ${inSlice})
           ORDER BY workspace_id, begun LIMIT ${PAGE})
         GROUP BY workspace_id`,
        { params: { ...partition, slices, slice } },
      )
    for (let page = await next(); page.length > 0 && !signal.aborted; page = await next())
      for (const { workspace_id, run_ids, ...range } of page)
        await deleteInRange(clickhouse, { ...partition, ...range }, namedRuns(workspace_id, run_ids))
  }
}
