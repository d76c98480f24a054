import { UNLIMITED } from '../../../../base/quotas.ts'
import type { Tenant } from '../../../../runs/model.ts'
import { countUse } from '../../workspace-use.ts'
import { inList } from '../rows.ts'
import type { RunSession } from '../session.ts'

/** Tables with rows of a thread, besides its runs and its crons. */
const TABLES_OF_THREAD = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes', 'thread_states', 'threads']

/**
 * Deletes the pieces of threads, unless their streams can still be read: then they are deleted with the log. Does not
 * wait for transactions that store pieces, which are refused because the runs are gone.
 */
const UNUSED_PIECES = (threads: string): string => `DELETE FROM value_pieces
  WHERE of_thread IN ${threads} AND of_deployment = ? AND of_workspace = ? AND NOT EXISTS (SELECT 1 FROM event_logs l
    WHERE l.thread_id = of_thread AND l.deployment_id = of_deployment AND l.workspace_id = of_workspace)`

/** Deletes locked threads of a tenant, with everything that belongs to them, at the end of a transaction. */
export async function removeThreads(
  session: RunSession,
  tenant: Tenant,
  thread_ids: readonly string[],
): Promise<void> {
  const { deployment_id, workspace_id } = tenant
  const { places, values } = inList(thread_ids)
  const where = `thread_id IN ${places} AND deployment_id = ? AND workspace_id = ?`
  const key = [...values, deployment_id, workspace_id]
  // Runs are first: a checkpoint that is being written for one of them is then either complete or refused.
  session.send(`DELETE FROM runs WHERE ${where}`, key)
  for (const thread_id of thread_ids) await session.retireLog({ thread_id, deployment_id, workspace_id })
  const deletes = [
    ...TABLES_OF_THREAD.map((table) => `DELETE FROM ${table} WHERE ${where}`),
    UNUSED_PIECES(places),
    `DELETE FROM crons WHERE ${where}`,
  ]
  const crons = await deleteAll(session, deletes, key)
  await countUse(session, tenant, 'crons', -crons, UNLIMITED)
  await countUse(session, tenant, 'threads', -thread_ids.length, UNLIMITED)
}

/**
 * Executes statements that have the same parameters; returns the number of rows that the last one deletes. On Postgres
 * they are parts of one statement, since each statement costs as much as what it deletes.
 */
async function deleteAll(
  session: RunSession,
  deletes: readonly string[],
  params: readonly string[],
): Promise<number> {
  const last = deletes.length - 1
  if (session.dialect === 'sqlite') {
    for (const sql of deletes.slice(0, last)) session.send(sql, params)
    return (await session.query(`${deletes[last]} RETURNING 1`, params)).length
  }
  const parts = deletes.map((sql, at) => `part_${at} AS (${sql}${at === last ? ' RETURNING 1' : ''})`)
  const [row] = await session.query<{ deleted: number }>(
    `WITH ${parts.join(', ')} SELECT count(*) AS deleted FROM part_${last}`,
    deletes.flatMap(() => params),
  )
  return row?.deleted ?? 0
}
