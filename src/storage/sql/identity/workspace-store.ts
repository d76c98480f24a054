import type { IdentityStore, Workspace } from '../../../identity/identity-store.ts'
import { AppError } from '../../../base/errors.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import { deleteAlertsOf } from '../alerts/alert-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

const SELECT = 'SELECT id, organization_id, display_name, created_at FROM workspaces'

/** The workspaces that are not deleted, oldest first. */
export async function liveWorkspaces(session: SqlSession, organization_id: string): Promise<Workspace[]> {
  return await session.query<Workspace>(
    `${SELECT} WHERE organization_id = ? AND deleted_at IS NULL ORDER BY created_at, id`,
    [organization_id],
  )
}

/** @throws AppError invalid_request when one of the ids is not a workspace of the organization */
export async function requireWorkspaces(
  session: SqlSession,
  organization_id: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const known = new Set((await liveWorkspaces(session, organization_id)).map(({ id }) => id))
  const unknown = ids.find((id) => !known.has(id))
  if (unknown !== undefined) {
    throw new AppError('invalid_request', { message: `There is no workspace ${unknown}.` })
  }
}

export function createWorkspaceStore(
  database: Database,
): Pick<IdentityStore, 'workspaces' | 'createWorkspace' | 'renameWorkspace' | 'deleteWorkspace'> {
  return {
    workspaces: (organization_id) => liveWorkspaces(database, organization_id),
    async createWorkspace({ id, organization_id, display_name, created_at }, actor) {
      await database.tx(organizationLock(organization_id), async (session) => {
        const made = await session.query(
          `INSERT INTO workspaces (id, organization_id, display_name, created_at) VALUES (?, ?, ?, ?)
           ON CONFLICT (id) DO NOTHING RETURNING id`,
          [id, organization_id, display_name, created_at],
        )
        if (made.length === 0)
          throw new AppError('conflict', { message: 'A workspace with this id exists already.' })
        const action = 'workspace.create'
        await recordChange(session, actor, {
          organization_id,
          action,
          subject_id: id,
          details: { display_name },
        })
      })
    },
    renameWorkspace: (organization_id, id, display_name, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const before = (await liveWorkspaces(session, organization_id)).find((one) => one.id === id)
        if (before === undefined || before.display_name === display_name) return before
        await session.query('UPDATE workspaces SET display_name = ? WHERE id = ?', [display_name, id])
        const details = { from: { display_name: before.display_name }, to: { display_name } }
        await recordChange(session, actor, {
          organization_id,
          action: 'workspace.rename',
          subject_id: id,
          details,
        })
        return { ...before, display_name }
      }),
    deleteWorkspace: (organization_id, id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const live = await liveWorkspaces(session, organization_id)
        const gone = live.find((one) => one.id === id)
        if (gone === undefined) return false
        if (live.length === 1) {
          throw new AppError('conflict', {
            message: 'The last workspace of an organization cannot be deleted.',
          })
        }
        await session.query('UPDATE workspaces SET deleted_at = ? WHERE id = ?', [actor.at, id])
        await deleteAlertsOf(session, { workspace_id: id }, actor.at)
        const details = { display_name: gone.display_name }
        await recordChange(session, actor, {
          organization_id,
          action: 'workspace.delete',
          subject_id: id,
          details,
        })
        return true
      }),
  }
}
