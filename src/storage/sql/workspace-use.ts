import type { Tenant } from '../../runs/model.ts'
import { type Quota, QUOTAS, type Quotas, quotaError } from '../../base/quotas.ts'
import type { Database, SqlSession, TxSession } from './driver/database.ts'
import { storedBytes } from './driver/large-values.ts'

const COUNT = `INSERT INTO workspace_use (workspace_id, quota, used) VALUES (?, ?, ?)
  ON CONFLICT (workspace_id, quota) DO UPDATE SET used = workspace_use.used + excluded.used RETURNING used`
/** For Postgres: as COUNT, but fails if the use exceeds the quota. */
const COUNT_OR_FAIL = `WITH counted AS (${COUNT})
  SELECT CAST(CASE WHEN used > ? THEN 'quota reached' END AS INTEGER) FROM counted`

/**
 * Updates the counts of a workspace. It must be called last in the transaction that creates (`amount` > 0) or deletes
 * something. Until the commit, no other transaction can count for the workspace, so that the counts are exact with
 * several writers. @throws AppError quota_reached or store_full if `amount` would exceed the quota; on Postgres, the
 * transaction throws it at the commit
 */
export async function countUse(
  session: TxSession,
  { workspace_id }: Pick<Tenant, 'workspace_id'>,
  quota: Quota,
  amount: number,
  quotas: Quotas,
): Promise<void> {
  if (amount === 0) return
  const params = [workspace_id, quota, amount]
  if (session.atCommit !== undefined) {
    const most = amount > 0 ? Math.min(quotas[quota], Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
    session.atCommit({
      sql: COUNT_OR_FAIL,
      params: [...params, most],
      refusal: () => quotaError(quota, quotas[quota]),
    })
    return
  }
  const [row] = await session.query<{ used: number }>(COUNT, params)
  if (amount > 0 && (row?.used ?? 0) > quotas[quota]) throw quotaError(quota, quotas[quota])
}

/** Reads the stored counts of a workspace. */
export async function readUse(
  session: SqlSession,
  { workspace_id }: Pick<Tenant, 'workspace_id'>,
): Promise<Record<Quota, number>> {
  const rows = await session.query<{ quota: Quota; used: number }>(
    'SELECT quota, used FROM workspace_use WHERE workspace_id = ?',
    [workspace_id],
  )
  const known = new Map(rows.map(({ quota, used }) => [quota, used]))
  const of = (quota: Quota): number => known.get(quota) ?? 0
  return {
    threads: of('threads'),
    crons: of('crons'),
    assistants: of('assistants'),
    store_bytes: of('store_bytes'),
  }
}

/** SQL of each count of a workspace, computed from its tables. */
const COUNTED: Record<Quota, string> = {
  threads: '(SELECT count(*) FROM threads t WHERE t.workspace_id = ?)',
  crons: '(SELECT count(*) FROM crons c WHERE c.workspace_id = ?)',
  assistants: '(SELECT count(*) FROM assistants a WHERE a.workspace_id = ?)',
  store_bytes: '(SELECT coalesce(sum(octet_length(item)), 0) FROM store_items i WHERE i.workspace_id = ?)',
}

/**
 * SELECT of the size of a SQLite database, an upper bound of the bytes that a statement reads. With it, small databases
 * are counted on the main thread.
 */
const DATABASE_BYTES = 'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size'

/**
 * Counts a workspace again and corrects the counts if they are wrong, for example after tables were changed by hand or
 * a server of an older version has written. Returns the quotas whose counts were wrong.
 */
export async function repairUse(
  database: Database,
  { workspace_id }: Pick<Tenant, 'workspace_id'>,
): Promise<Quota[]> {
  const mended: Quota[] = []
  const bytes = await storedBytes(database, DATABASE_BYTES, [])
  for (const quota of QUOTAS) {
    // One statement, so that both values are from the same moment.
    const [seen] = await database.query<{ used: number; counted: number }>(
      `SELECT coalesce((SELECT used FROM workspace_use WHERE workspace_id = ? AND quota = ?), 0) AS used,
        ${COUNTED[quota]} AS counted`,
      [workspace_id, quota, workspace_id],
      bytes,
    )
    if (seen === undefined || seen.used === seen.counted) continue
    const count = async (session: SqlSession): Promise<void> => {
      // This statement locks the count. It waits for transactions that have counted but not committed, and blocks new
      // ones.
      await session.query(
        `INSERT INTO workspace_use (workspace_id, quota, used) VALUES (?, ?, 0)
          ON CONFLICT (workspace_id, quota) DO UPDATE SET used = workspace_use.used`,
        [workspace_id, quota],
      )
      await session.query(
        `UPDATE workspace_use SET used = ${COUNTED[quota]} WHERE workspace_id = ? AND quota = ?`,
        [workspace_id, workspace_id, quota],
      )
    }
    await database.tx('workspace use', count, bytes)
    mended.push(quota)
  }
  return mended
}
