import type { Tenant } from '../../runs/model.ts'
import type { RunStore } from '../../runs/run-store.ts'
import { type Database, type SqlSession, WHOLE_TABLE } from './driver/database.ts'
import { repairUse } from './workspace-use.ts'

/** Tables with rows that belong to a deployment but not to a thread. */
const TABLES = [
  'crons',
  'webhooks',
  'stateless_ends',
  'assistant_versions',
  'assistants',
  'store_vectors',
  'store_prefixes',
  'store_items',
] as const
/** Number of threads that are deleted in one transaction. */
const THREADS = 100

/**
 * Deletes all rows of a deployment. No process may still execute its runs. A repeated call after a crash deletes the
 * remaining rows. Returns the number of deleted rows by table.
 */
export async function eraseDeployment(
  database: Database,
  store: Pick<RunStore, 'deleteThreads'>,
  tenant: Tenant,
): Promise<Record<string, number>> {
  const { deployment_id, workspace_id } = tenant
  const erased: Record<string, number> = { threads: 0 }
  const counts = TABLES.map(async (table) => {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} WHERE deployment_id = ? AND workspace_id = ?`,
      [deployment_id, workspace_id],
      WHOLE_TABLE,
    )
    erased[table] = row?.count ?? 0
  })
  await Promise.all(counts)
  for (;;) {
    const threads = await database.query<{ thread_id: string }>(
      `SELECT thread_id FROM threads WHERE deployment_id = ? AND workspace_id = ? LIMIT ${THREADS}`,
      [deployment_id, workspace_id],
    )
    if (threads.length === 0) break
    const ids = threads.map(({ thread_id }) => thread_id)
    erased['threads'] = (erased['threads'] ?? 0) + (await store.deleteThreads(tenant, ids, 'nothing'))
  }
  for (const table of TABLES) {
    const sql = `DELETE FROM ${table} WHERE deployment_id = ? AND workspace_id = ?`
    const erase = async (session: SqlSession): Promise<void> => {
      await session.query(sql, [deployment_id, workspace_id])
    }
    await database.tx(`erase ${table}`, erase, WHOLE_TABLE)
  }
  await repairUse(database, tenant)
  return erased
}
