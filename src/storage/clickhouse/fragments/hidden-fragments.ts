import type { ClickHouse } from '../connect.ts'
import { mutated } from '../deleting/deleted-rows.ts'
import type { RunSet } from '../deleting/run-set.ts'

const PLACE = 'keep_days, day, begun, workspace_id, run_id'
/** Maximum number of places whose fragments one statement deletes: the engine has them in memory. */
const PLACES = 500_000
const HIDDEN = `SELECT ${PLACE} FROM hidden_fragments ORDER BY ${PLACE} LIMIT ${PLACES}`
const MAX_ROUNDS = 20
const DAY_SECONDS = 86_400

/** Condition on rows of `fragments`: those that do not wait for their deletion. */
export const NOT_HIDDEN = `(${PLACE}) NOT IN (SELECT ${PLACE} FROM hidden_fragments)`

/**
 * Hides the fragments of TraceRuns whose place satisfies `condition`, and notes them for `deleteHiddenFragments`. An
 * interruption in between leaves notes about fragments that still have a place; these are not deleted.
 */
export async function hideFragments(
  clickhouse: ClickHouse,
  { sql, params }: RunSet,
  condition: string,
): Promise<void> {
  await clickhouse.command(
    `INSERT INTO hidden_fragments (${PLACE}) SELECT ${PLACE} FROM fragment_places WHERE ${sql} AND ${condition}`,
    { params },
  )
  await clickhouse.command(`DELETE FROM fragment_places WHERE ${sql}`, { params })
}

/** Notes the fragments without a place among those that satisfy `condition`, which also holds for their places. */
export async function noteHiddenFragments(
  clickhouse: ClickHouse,
  condition: string,
  params: Readonly<Record<string, unknown>>,
): Promise<void> {
  await clickhouse.command(
    `INSERT INTO hidden_fragments (${PLACE}) SELECT DISTINCT ${PLACE} FROM fragments
     WHERE ${condition} AND (${PLACE}) NOT IN (SELECT ${PLACE} FROM fragment_places WHERE ${condition})`,
    { params },
  )
}

/**
 * Deletes the fragments that were hidden, and forgets the notes about them. A note about fragments that still have a
 * place is kept for a day: a deletion may be about to take the place.
 */
export async function deleteHiddenFragments(clickhouse: ClickHouse, signal: AbortSignal): Promise<void> {
  const placed = `SELECT ${PLACE} FROM fragment_places WHERE (${PLACE}) IN (${HIDDEN})`
  for (let round = 0; round < MAX_ROUNDS && !signal.aborted; round++) {
    const [found] = await clickhouse.rows<{ n: number }>(`SELECT toUInt32(count()) AS n FROM (${HIDDEN})`)
    if (found === undefined || found.n === 0) return
    // With hundreds of days this takes longer than a statement may.
    await clickhouse.command(
      `DELETE FROM fragments WHERE (${PLACE}) IN (${HIDDEN}) AND (${PLACE}) NOT IN (${placed})`,
      { settings: { lightweight_deletes_sync: 0 } },
    )
    await mutated(clickhouse, 'fragments', 'hidden_fragments', signal)
    if (signal.aborted) return
    await clickhouse.command(
      `DELETE FROM hidden_fragments WHERE (${PLACE}) IN (${HIDDEN}) AND (
         (${PLACE}) NOT IN (SELECT ${PLACE} FROM fragments WHERE (${PLACE}) IN (${HIDDEN}))
         OR hidden_at < now() - ${DAY_SECONDS} AND (${PLACE}) IN (${placed}))`,
    )
    if (found.n < PLACES) return
  }
}
