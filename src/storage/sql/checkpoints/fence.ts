import { AppError } from '../../../base/errors.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

/**
 * The writer of checkpoints of a thread: the holder of a running run's lease; null for a write that is allowed only
 * while no run is active.
 */
export interface Fence {
  tenant: Tenant
  thread_id: string
  lease: Lease | null
}

/**
 * Why the writer must not write (D-44): `conflict` when its lease is lost, `not_found` when the thread does not exist,
 * `thread_busy` when it has an active run. Undefined when it may; then no other transaction can end the run, or admit
 * one, until this one ends. SQLite always has one writer at a time; on Postgres the row is locked.
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
    // A statement of its own, because it must see runs that were admitted while the first one waited for the row.
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
