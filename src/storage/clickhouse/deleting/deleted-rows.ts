import { AppError } from '../../../base/errors.ts'
import { pause } from '../../../base/pause.ts'
import { fitting } from '../../../base/portions.ts'
import { isOfTable, systemRows } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'

/**
 * The share of deleted rows from which a partition is rewritten without them: about four bytes are then written for one
 * that becomes free (docs/adr/0034).
 */
const DELETED_SHARE = 0.2
/** Milliseconds between looks at a mutation, of which most take little: first, and at most. */
const FIRST_LOOK_MS = 10
const LOOK_MS = 250

/** Maximum size of the partitions that one statement rewrites, unless a single one is larger: both copies are on disk. */
const TOGETHER_BYTES = 1024 ** 3

interface Partition {
  partition_id: string
  stored: number
  bytes: number
}

/**
 * Frees the space of deleted rows, which ClickHouse only hides until parts are merged: rewrites the partitions of which
 * many rows are deleted, small ones together, because each statement makes a new version of every part of the table.
 * Resolves when they are written.
 * @throws AppError store_unavailable when ClickHouse cannot rewrite a partition, for example because its disk is full
 */
export async function freeDeletedRows(
  clickhouse: ClickHouse,
  table: string,
  signal: AbortSignal,
): Promise<void> {
  const stored = await clickhouse.rows<Partition>(
    `SELECT partition_id, sum(rows) AS stored, sum(bytes_on_disk) AS bytes
     FROM ${systemRows('parts', table, clickhouse)} AND active
     GROUP BY partition_id HAVING max(has_lightweight_delete) = 1`,
  )
  if (stored.length === 0) return
  const kept = await clickhouse.rows<{ partition_id: string; rows: number }>(
    `SELECT _partition_id AS partition_id, count() AS rows FROM ${table}
     WHERE _partition_id IN {partitions:Array(String)} GROUP BY partition_id`,
    { params: { partitions: stored.map(({ partition_id }) => partition_id) } },
  )
  const rowsOf = new Map(kept.map(({ partition_id, rows }) => [partition_id, rows]))
  const due = stored.filter(
    ({ partition_id, stored: rows }) => rows - (rowsOf.get(partition_id) ?? 0) >= DELETED_SHARE * rows,
  )
  for (let left = due; left.length > 0 && !signal.aborted; ) {
    const some = fitting(left, TOGETHER_BYTES)
    left = left.slice(some.length)
    const steps = some.map(({ partition_id }) => `APPLY DELETED MASK IN PARTITION ID '${partition_id}'`)
    await clickhouse.command(`ALTER TABLE ${table} ${steps.join(', ')}`, { settings: { mutations_sync: 0 } })
    await mutated(clickhouse, table, 'APPLY DELETED MASK', signal)
  }
}

/**
 * Waits for the mutations of a table whose command contains the text. Later deletions wait for them in ClickHouse, beyond
 * the time limit of a statement, so one that fails is ended.
 * @throws AppError store_unavailable when ClickHouse cannot execute one
 */
export async function mutated(
  clickhouse: ClickHouse,
  table: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const named = 'position(command, {text:String}) > 0'
  const params = { text }
  for (let look = FIRST_LOOK_MS; !signal.aborted; look = Math.min(2 * look, LOOK_MS)) {
    const running = await clickhouse.rows<{ reason: string }>(
      `SELECT latest_fail_reason AS reason FROM ${systemRows('mutations', table, clickhouse)}
         AND ${named} AND NOT is_done`,
      { params },
    )
    if (running.length === 0) return
    const failed = running.find(({ reason }) => reason !== '')
    if (failed !== undefined) {
      await clickhouse.command(`KILL MUTATION WHERE ${isOfTable(table, clickhouse)} AND ${named}`, { params })
      const message = `The space of deleted rows of ${table} is not free yet: ${failed.reason}`
      throw new AppError('store_unavailable', { message })
    }
    await pause(look, signal)
  }
}
