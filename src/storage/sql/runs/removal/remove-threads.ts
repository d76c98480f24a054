import { UNLIMITED } from '../../../../base/quotas.ts'
import type { Tenant } from '../../../../runs/model.ts'
import { countUse } from '../../workspace-use.ts'
import { inList } from '../rows.ts'
import type { RunSession } from '../session.ts'

/**
 * Tables with rows of a thread, in the order of deletion. Runs are first: a checkpoint that is being written for one of
 * them is then either complete or refused.
 */
const TABLES_OF_THREAD = [
  'runs',
  'checkpoints',
  'checkpoint_blobs',
  'checkpoint_writes',
  'thread_states',
  'threads',
]

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
  for (const table of TABLES_OF_THREAD) session.send(`DELETE FROM ${table} WHERE ${where}`, key)
  session.send(UNUSED_PIECES(places), key)
  for (const thread_id of thread_ids) await session.retireLog({ thread_id, deployment_id, workspace_id })
  const crons = await session.query(`DELETE FROM crons WHERE ${where} RETURNING cron_id`, key)
  await countUse(session, tenant, 'crons', -crons.length, UNLIMITED)
  await countUse(session, tenant, 'threads', -thread_ids.length, UNLIMITED)
}
