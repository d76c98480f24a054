import { AppError } from '../../../base/errors.ts'
import type { Actor, Member } from '../../../identity/identity-store.ts'
import { type Invite, type InviteStore, MAX_INVITES } from '../../../identity/invites.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { permissionsOf, ROLE_PERMISSIONS } from '../../../identity/permissions.ts'
import { covers } from '../../../identity/reach.ts'
import { findMemberGrant, insertKey } from './api-key-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import { findOrMakeUser, insertMember } from './member-store.ts'
import { liveWorkspaces, requireWorkspaces } from './workspace-store.ts'

interface InviteRow extends Omit<Invite, 'workspace_ids'> {
  workspace_ids: string | null
}

const COLUMNS =
  'id, organization_id, email, role, workspace_ids, created_by, created_at, expires_at, key_expires_at'

function toInvite({ workspace_ids, ...row }: InviteRow): Invite {
  return { ...row, workspace_ids: workspace_ids === null ? null : (JSON.parse(workspace_ids) as string[]) }
}

async function record(
  session: SqlSession,
  action: 'create' | 'renew' | 'revoke' | 'accept',
  { id, organization_id, email, role, workspace_ids, expires_at }: Invite,
  actor: Actor,
): Promise<void> {
  await recordChange(session, actor, {
    organization_id,
    action: `invite.${action}`,
    subject_id: id,
    details: { email, role, workspace_ids, expires_at: new Date(expires_at).toISOString() },
  })
}

/** Removes an invitation that is accepted, and every other one of its address. */
export async function takeInvite(
  session: SqlSession,
  invite: Invite,
  { user_id, now }: { user_id: string; now: number },
): Promise<void> {
  const { id, organization_id, email } = invite
  const others = 'DELETE FROM invites WHERE id = ? OR (organization_id = ? AND email = ?)'
  await session.query(others, [id, organization_id, email])
  await record(session, 'accept', invite, { api_key_id: user_id, short_key: '', user_id, at: now })
}

/** Whether the member who invites may still give the rights of the invitation (IDENTITY-8). */
async function isBacked(session: SqlSession, invite: Invite): Promise<boolean> {
  const { organization_id, created_by, role, workspace_ids } = invite
  if (created_by === null) return true
  const grant = await findMemberGrant(session, organization_id, created_by)
  if (grant === undefined) return false
  const caller = { ...grant, permissions: permissionsOf(grant) }
  return covers(caller, { permissions: ROLE_PERMISSIONS[role], workspace_ids })
}

/**
 * The invitation that matches, without workspaces that were deleted since; undefined if it has expired, its workspaces
 * are gone, or who invites has lost the rights to do so.
 */
export async function openInvite(
  session: SqlSession,
  {
    column,
    value,
    organization_id,
  }: { column: 'secret_hash' | 'email'; value: string; organization_id?: string },
  now: number,
): Promise<Invite | undefined> {
  const [row] = await session.query<InviteRow>(
    `SELECT ${COLUMNS} FROM invites WHERE ${column} = ? AND expires_at > ?
       AND organization_id = COALESCE(?, organization_id) ORDER BY created_at DESC LIMIT 1`,
    [value, now, organization_id ?? null],
  )
  const invite = row && toInvite(row)
  if (invite === undefined || !(await isBacked(session, invite))) return undefined
  if (invite.workspace_ids === null) return invite
  const live = new Set((await liveWorkspaces(session, invite.organization_id)).map(({ id }) => id))
  const workspace_ids = invite.workspace_ids.filter((id) => live.has(id))
  return workspace_ids.length === 0 ? undefined : { ...invite, workspace_ids }
}

async function makeMember(
  session: SqlSession,
  invite: Invite,
  { person, now }: { person: Parameters<InviteStore['accept']>[1]; now: number },
): Promise<Member> {
  const { organization_id, role, workspace_ids } = invite
  const user_id = await findOrMakeUser(session, { ...person, created_at: now })
  const email_claimed = invite.email === null
  const member = { ...person, user_id, organization_id, role, workspace_ids, email_claimed, created_at: now }
  await insertMember(session, member, { api_key_id: user_id, short_key: '', user_id, at: now })
  return member
}

/** Changes of invitations by those who invite. */
function managed(database: Database): Pick<InviteStore, 'create' | 'list' | 'renew' | 'revoke'> {
  return {
    async create(invite, secret_hash, actor) {
      const { id, organization_id, email, role, workspace_ids, created_by, created_at, expires_at } = invite
      const { key_expires_at } = invite
      await database.tx(organizationLock(organization_id), async (session) => {
        await requireWorkspaces(session, organization_id, workspace_ids ?? [])
        await session.query('DELETE FROM invites WHERE expires_at <= ?', [created_at])
        const counted = 'SELECT count(*) AS waiting FROM invites WHERE organization_id = ?'
        const [row] = await session.query<{ waiting: number }>(counted, [organization_id])
        if (Number(row?.waiting) >= MAX_INVITES)
          throw new AppError('quota_reached', {
            message: `${MAX_INVITES} invitations wait already: revoke some.`,
          })
        const list = workspace_ids === null ? null : JSON.stringify(workspace_ids)
        await session.query(
          `INSERT INTO invites (${COLUMNS}, secret_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [
            ...[id, organization_id, email, role, list, created_by, created_at, expires_at, key_expires_at],
            secret_hash,
          ],
        )
        await record(session, 'create', invite, actor)
      })
    },
    async list(organization_id, now) {
      const rows = await database.query<InviteRow>(
        `SELECT ${COLUMNS} FROM invites WHERE organization_id = ? AND expires_at > ? ORDER BY created_at, id`,
        [organization_id, now],
      )
      return rows.map(toInvite)
    },
    renew: ({ id, organization_id, expires_at, key_expires_at }, secret_hash, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const [row] = await session.query<InviteRow>(
          `UPDATE invites SET secret_hash = ?, expires_at = ?, key_expires_at = ? WHERE id = ? AND organization_id = ?
           RETURNING ${COLUMNS}`,
          [secret_hash, expires_at, key_expires_at, id, organization_id],
        )
        if (row !== undefined) await record(session, 'renew', toInvite(row), actor)
        return row && toInvite(row)
      }),
    revoke: (organization_id, id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const [row] = await session.query<InviteRow>(
          `DELETE FROM invites WHERE id = ? AND organization_id = ? RETURNING ${COLUMNS}`,
          [id, organization_id],
        )
        if (row !== undefined) await record(session, 'revoke', toInvite(row), actor)
        return row !== undefined
      }),
  }
}

/** Invitations in a SQL database that has been migrated. */
export function createInviteStore(database: Database): InviteStore {
  return {
    ...managed(database),
    find: (secret_hash, now) => openInvite(database, { column: 'secret_hash', value: secret_hash }, now),
    async accept(secret_hash, person, key, now) {
      const known = await openInvite(database, { column: 'secret_hash', value: secret_hash }, now)
      if (known === undefined) return undefined
      return await database.tx(organizationLock(known.organization_id), async (session) => {
        const invite = await openInvite(session, { column: 'secret_hash', value: secret_hash }, now)
        if (invite === undefined) return undefined
        const { organization_id, key_expires_at: expires_at } = invite
        const taken = 'SELECT 1 AS known FROM api_keys WHERE organization_id = ? AND short_key = ?'
        if ((await session.query(taken, [organization_id, key.short_key])).length > 0) return 'retry'
        const member = await makeMember(session, invite, { person, now })
        const { user_id, role, workspace_ids } = member
        const only = workspace_ids?.length === 1 ? (workspace_ids[0] ?? null) : null
        const description = 'Made with the invitation'
        await insertKey(session, {
          ...key,
          organization_id,
          user_id,
          description,
          role,
          read_only: false,
          workspace_ids,
          default_workspace_id: only,
          created_at: now,
          expires_at,
          last_used_at: null,
        })
        await takeInvite(session, invite, { user_id, now })
        const details = { short_key: key.short_key, description, user_id, role, workspace_ids, expires_at }
        const actor = { api_key_id: user_id, short_key: '', user_id, at: now }
        await recordChange(session, actor, {
          organization_id,
          action: 'key.create',
          subject_id: key.id,
          details,
        })
        return member
      })
    },
  }
}
