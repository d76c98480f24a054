import type { Actor, IdentityStore, Member } from '../../../identity/identity-store.ts'
import type { Role } from '../../../identity/permissions.ts'
import { AppError } from '../../../base/errors.ts'
import { deleteKeysOf } from './api-key-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { requireWorkspaces } from './workspace-store.ts'

interface MemberRow extends Omit<Member, 'workspace_ids' | 'suspended' | 'email_claimed'> {
  all_workspaces: number
  email_claimed: number
  suspended_by: 'groups' | 'scim' | null
}

export async function memberRecords(session: SqlSession, organization_id: string): Promise<Member[]> {
  const rows = await session.query<MemberRow>(
    `SELECT m.organization_id, m.user_id, u.email, u.full_name, m.role, m.all_workspaces, m.suspended_by,
       m.email_claimed, m.created_at
     FROM members m JOIN users u ON u.id = m.user_id
     WHERE m.organization_id = ? ORDER BY m.created_at, m.user_id`,
    [organization_id],
  )
  const places = await session.query<{ user_id: string; workspace_id: string }>(
    `SELECT m.user_id, m.workspace_id FROM member_workspaces m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.organization_id = ? AND w.deleted_at IS NULL ORDER BY w.created_at, w.id`,
    [organization_id],
  )
  const byUser = Map.groupBy(places, ({ user_id }) => user_id)
  return rows.map(({ all_workspaces, suspended_by, email_claimed, ...row }) => {
    const own = (byUser.get(row.user_id) ?? []).map(({ workspace_id }) => workspace_id)
    const workspace_ids = all_workspaces === 1 ? null : own
    return {
      ...row,
      workspace_ids,
      ...(suspended_by !== null && { suspended: suspended_by }),
      ...(email_claimed === 1 && { email_claimed: true }),
    }
  })
}

export async function setWorkspaces(
  session: SqlSession,
  organization_id: string,
  user_id: string,
  workspace_ids: readonly string[] | null,
): Promise<void> {
  await requireWorkspaces(session, organization_id, workspace_ids ?? [])
  const key = [organization_id, user_id]
  await session.query('DELETE FROM member_workspaces WHERE organization_id = ? AND user_id = ?', key)
  for (const workspace_id of new Set(workspace_ids)) {
    await session.query(
      'INSERT INTO member_workspaces (organization_id, user_id, workspace_id) VALUES (?, ?, ?)',
      [...key, workspace_id],
    )
  }
}

/** The id of the user with the member's email. Creates the user if there is none, and sets a missing name. */
export async function findOrMakeUser(
  session: SqlSession,
  member: Pick<Member, 'user_id' | 'email' | 'full_name' | 'created_at'>,
): Promise<string> {
  await session.query(
    'INSERT INTO users (id, email, full_name, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    [member.user_id, member.email, member.full_name, member.created_at],
  )
  const [user] = await session.query<{ id: string }>('SELECT id FROM users WHERE email = ?', [member.email])
  if (user === undefined) throw new AppError('conflict', { message: 'A user with this id exists already.' })
  if (member.full_name !== null) {
    const sql = 'UPDATE users SET full_name = ? WHERE id = ? AND full_name IS NULL'
    await session.query(sql, [member.full_name, user.id])
  }
  return user.id
}

/**
 * Whether the member is an admin of all workspaces. Every organization keeps at least one such member, who can undo
 * every other change.
 */
function isFullAdmin({ role, workspace_ids, suspended }: Member): boolean {
  return role === 'admin' && workspace_ids === null && suspended === undefined
}

/** Throws `conflict` if a change of a member, or a removal (`after` is undefined), would leave no full admin. */
function refuseWithoutAdmin(members: readonly Member[], before: Member, after: Member | undefined): void {
  if (isLastAdmin(members, before) && (after === undefined || !isFullAdmin(after))) {
    throw new AppError('conflict', { message: 'An organization needs at least one admin of all workspaces.' })
  }
}

export function isLastAdmin(members: readonly Member[], member: Member): boolean {
  return isFullAdmin(member) && !members.some((one) => one.user_id !== member.user_id && isFullAdmin(one))
}

export type MemberFields = Partial<Pick<Member, 'full_name' | 'role' | 'workspace_ids'>>

/** The fields of `change` that differ from the member, with values before and after; undefined if there are none. */
export function difference(
  member: Member,
  change: MemberFields,
): { from: MemberFields; to: MemberFields } | undefined {
  const names = (['full_name', 'role', 'workspace_ids'] as const).filter(
    (name) => change[name] !== undefined && inOrder(change[name]) !== inOrder(member[name]),
  )
  if (names.length === 0) return undefined
  const pick = (fields: MemberFields): MemberFields =>
    Object.fromEntries(names.map((name) => [name, fields[name]]))
  return { from: pick(member), to: pick(change) }
}

/** A value as text that is the same for lists with the same workspaces. */
function inOrder(value: MemberFields[keyof MemberFields]): string {
  return JSON.stringify(Array.isArray(value) ? [...new Set(value)].toSorted() : value)
}

export async function writeChange(session: SqlSession, member: Member, change: MemberFields): Promise<void> {
  const { organization_id, user_id } = member
  const { full_name, role, workspace_ids } = change
  if (full_name !== undefined) {
    await session.query('UPDATE users SET full_name = ? WHERE id = ?', [full_name, user_id])
  }
  if (role !== undefined) await setColumn(session, member, 'role', role)
  if (workspace_ids !== undefined) {
    await setColumn(session, member, 'all_workspaces', workspace_ids === null ? 1 : 0)
    await setWorkspaces(session, organization_id, user_id, workspace_ids)
  }
}

async function setColumn(
  session: SqlSession,
  { organization_id, user_id }: Member,
  column: 'role' | 'all_workspaces',
  value: Role | number,
): Promise<void> {
  await session.query(`UPDATE members SET ${column} = ? WHERE organization_id = ? AND user_id = ?`, [
    value,
    organization_id,
    user_id,
  ])
}

/** Ends the member's sessions and the invitations by and of it, and forgets which person of a provider it is. */
async function forgetPerson(session: SqlSession, { organization_id, user_id, email }: Member): Promise<void> {
  for (const table of ['member_sessions', 'sign_in_identities', 'scim_users', 'scim_group_members'])
    await session.query(`DELETE FROM ${table} WHERE organization_id = ? AND user_id = ?`, [
      organization_id,
      user_id,
    ])
  const invites = 'DELETE FROM invites WHERE organization_id = ? AND (created_by = ? OR email = ?)'
  await session.query(invites, [organization_id, user_id, email])
}

/** Makes the user a member, with an audit entry. @throws AppError conflict when the user is one already */
export async function insertMember(session: SqlSession, member: Member, actor: Actor): Promise<void> {
  const { organization_id, user_id, email, role, workspace_ids, email_claimed, created_at } = member
  const made = await session.query(
    `INSERT INTO members (organization_id, user_id, role, all_workspaces, email_claimed, created_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (organization_id, user_id) DO NOTHING RETURNING user_id`,
    [organization_id, user_id, role, workspace_ids === null ? 1 : 0, email_claimed ? 1 : 0, created_at],
  )
  if (made.length === 0) throw new AppError('conflict', { message: 'This user is a member already.' })
  await setWorkspaces(session, organization_id, user_id, workspace_ids)
  const details = { email, role, workspace_ids }
  await recordChange(session, actor, { organization_id, action: 'member.add', subject_id: user_id, details })
}

/**
 * Ends the membership, with its keys, whose ids are returned; undefined without such a member. @throws AppError conflict
 * for the last admin of all workspaces
 */
export async function dropMember(
  session: SqlSession,
  organization_id: string,
  user_id: string,
  actor: Actor,
): Promise<string[] | undefined> {
  const members = await memberRecords(session, organization_id)
  const gone = members.find((one) => one.user_id === user_id)
  if (gone === undefined) return undefined
  refuseWithoutAdmin(members, gone, undefined)
  await forgetPerson(session, gone)
  await setWorkspaces(session, organization_id, user_id, null)
  await session.query('DELETE FROM members WHERE organization_id = ? AND user_id = ?', [
    organization_id,
    user_id,
  ])
  const details = { email: gone.email, role: gone.role }
  const action = 'member.remove'
  await recordChange(session, actor, { organization_id, action, subject_id: user_id, details })
  return await deleteKeysOf(session, organization_id, user_id, actor)
}

export function createMemberStore(
  database: Database,
): Pick<IdentityStore, 'members' | 'addMember' | 'changeMember' | 'removeMember'> {
  return {
    members: (organization_id) => memberRecords(database, organization_id),
    addMember: (wanted, actor) =>
      database.tx(organizationLock(wanted.organization_id), async (session) => {
        const member = { ...wanted, email: wanted.email.toLowerCase() }
        const user_id = await findOrMakeUser(session, member)
        await insertMember(session, { ...member, user_id }, actor)
        const members = await memberRecords(session, member.organization_id)
        return members.find((one) => one.user_id === user_id) ?? { ...member, user_id }
      }),
    changeMember: (organization_id, user_id, change, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const members = await memberRecords(session, organization_id)
        const before = members.find((one) => one.user_id === user_id)
        const details = before && difference(before, change)
        if (before === undefined || details === undefined) return before
        refuseWithoutAdmin(members, before, { ...before, ...details.to })
        await writeChange(session, before, details.to)
        const action = 'member.change'
        await recordChange(session, actor, { organization_id, action, subject_id: user_id, details })
        return (await memberRecords(session, organization_id)).find((one) => one.user_id === user_id)
      }),
    removeMember: (organization_id, user_id, actor) =>
      database.tx(organizationLock(organization_id), (session) =>
        dropMember(session, organization_id, user_id, actor),
      ),
  }
}
