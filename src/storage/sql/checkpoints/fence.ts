import { AppError } from '../../../base/errors.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

/**
 * Identifies the writer of checkpoints of a thread by its lease on a running run. With `lease: null`, the write is
 * allowed only while no run is active.
 */
export interface Fence {
  tenant: Tenant
  thread_id: string
  lease: Lease | null
}

/**
 * Returns the error of a writer that must not write (D-44): `conflict` if its lease is lost; without a lease,
 * `not_found` if the thread does not exist and `thread_busy` if it has an active run. Returns undefined if the write is
 * allowed. In that case no other transaction can end the run, or admit a run, before this one ends: SQLite has one
 * writer at a time, and on Postgres the row is locked.
 */
export async function holdFence(
  session: SqlSession,
  dialect: Database['dialect'],
  { tenant, thread_id, lease }: Fence,
): Promise<AppError | undefined> {
  const lock = dialect === 'postgres' ? ' FOR SHARE' : ''
  const { deployment_id, workspace_id } = tenant
  if (lease !== null) {
    const held = await session.query(
      `SELECT 1 AS held FROM runs WHERE run_id = ? AND deployment_id = ? AND workspace_id = ?
        AND thread_id = ? AND lease_token = ? AND status = 'running'${lock}`,
      [lease.run_id, deployment_id, workspace_id, thread_id, lease.token],
    )
    if (held.length > 0) return undefined
    return new AppError('conflict', { message: 'This worker no longer has the lease of the run.' })
  }
  const [threads, active] = await Promise.all([
    session.query(
      `SELECT 1 AS there FROM threads WHERE thread_id = ? AND deployment_id = ? AND workspace_id = ?${lock}`,
      [thread_id, deployment_id, workspace_id],
    ),
    // This is a separate statement: it must also see runs that were admitted while the first statement waited for the
    // lock.
    session.query(
      `SELECT 1 AS active FROM runs WHERE thread_id = ? AND deployment_id = ? AND workspace_id = ?
        AND status IN ('pending', 'running') LIMIT 1`,
      [thread_id, deployment_id, workspace_id],
    ),
  ])
  if (threads.length === 0)
    return new AppError('not_found', { message: `Thread with ID ${thread_id} not found` })
  return active.length > 0 ? new AppError('thread_busy') : undefined
}
