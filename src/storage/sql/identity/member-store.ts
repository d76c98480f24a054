import type { IdentityStore, Member } from '../../../identity/identity-store.ts'
import type { Role } from '../../../identity/permissions.ts'
import { AppError } from '../../../base/errors.ts'
import { deleteKeysOf } from './api-key-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { requireWorkspaces } from './workspace-store.ts'

interface MemberRow extends Omit<Member, 'workspace_ids'> {
  all_workspaces: number
}

async function membersOf(session: SqlSession, organization_id: string): Promise<Member[]> {
  const rows = await session.query<MemberRow>(
    `SELECT m.organization_id, m.user_id, u.email, u.full_name, m.role, m.all_workspaces, m.created_at
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
  return rows.map(({ all_workspaces, ...row }) => {
    const own = (byUser.get(row.user_id) ?? []).map(({ workspace_id }) => workspace_id)
    return { ...row, workspace_ids: all_workspaces === 1 ? null : own }
  })
}

async function setWorkspaces(
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
async function findOrMakeUser(session: SqlSession, member: Member): Promise<string> {
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
function isFullAdmin({ role, workspace_ids }: Member): boolean {
  return role === 'admin' && workspace_ids === null
}

/** Throws `conflict` if a change of a member, or a removal (`after` is undefined), would leave no full admin. */
function refuseWithoutAdmin(members: readonly Member[], before: Member, after: Member | undefined): void {
  if (!isFullAdmin(before) || (after !== undefined && isFullAdmin(after))) return
  if (!members.some((member) => member.user_id !== before.user_id && isFullAdmin(member))) {
    throw new AppError('conflict', { message: 'An organization needs at least one admin of all workspaces.' })
  }
}

type MemberFields = Partial<Pick<Member, 'full_name' | 'role' | 'workspace_ids'>>

/** The fields of `change` that differ from the member, with values before and after; undefined if there are none. */
function difference(
  member: Member,
  change: MemberFields,
): { from: MemberFields; to: MemberFields } | undefined {
  const names = (['full_name', 'role', 'workspace_ids'] as const).filter(
    (name) => change[name] !== undefined && JSON.stringify(change[name]) !== JSON.stringify(member[name]),
  )
  if (names.length === 0) return undefined
  const pick = (fields: MemberFields): MemberFields =>
    Object.fromEntries(names.map((name) => [name, fields[name]]))
  return { from: pick(member), to: pick(change) }
}

async function writeChange(session: SqlSession, member: Member, change: MemberFields): Promise<void> {
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

export function createMemberStore(
  database: Database,
): Pick<IdentityStore, 'members' | 'addMember' | 'changeMember' | 'removeMember'> {
  return {
    members: (organization_id) => membersOf(database, organization_id),
    addMember: (wanted, actor) =>
      database.tx(organizationLock(wanted.organization_id), async (session) => {
        const member = { ...wanted, email: wanted.email.toLowerCase() }
        const { organization_id, role, workspace_ids, created_at } = member
        const user_id = await findOrMakeUser(session, member)
        const made = await session.query(
          `INSERT INTO members (organization_id, user_id, role, all_workspaces, created_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (organization_id, user_id) DO NOTHING RETURNING user_id`,
          [organization_id, user_id, role, workspace_ids === null ? 1 : 0, created_at],
        )
        if (made.length === 0) throw new AppError('conflict', { message: 'This user is a member already.' })
        await setWorkspaces(session, organization_id, user_id, workspace_ids)
        const details = { email: member.email, role, workspace_ids }
        await recordChange(session, actor, {
          organization_id,
          action: 'member.add',
          subject_id: user_id,
          details,
        })
        const members = await membersOf(session, organization_id)
        return members.find((one) => one.user_id === user_id) ?? { ...member, user_id }
      }),
    changeMember: (organization_id, user_id, change, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const members = await membersOf(session, organization_id)
        const before = members.find((one) => one.user_id === user_id)
        const details = before && difference(before, change)
        if (before === undefined || details === undefined) return before
        refuseWithoutAdmin(members, before, { ...before, ...details.to })
        await writeChange(session, before, details.to)
        const action = 'member.change'
        await recordChange(session, actor, { organization_id, action, subject_id: user_id, details })
        return (await membersOf(session, organization_id)).find((one) => one.user_id === user_id)
      }),
    removeMember: (organization_id, user_id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const members = await membersOf(session, organization_id)
        const gone = members.find((one) => one.user_id === user_id)
        if (gone === undefined) return undefined
        refuseWithoutAdmin(members, gone, undefined)
        await setWorkspaces(session, organization_id, user_id, null)
        await session.query('DELETE FROM members WHERE organization_id = ? AND user_id = ?', [
          organization_id,
          user_id,
        ])
        const details = { email: gone.email, role: gone.role }
        const action = 'member.remove'
        await recordChange(session, actor, { organization_id, action, subject_id: user_id, details })
        return await deleteKeysOf(session, organization_id, user_id, actor)
      }),
  }
}
