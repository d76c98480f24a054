import { AppError } from '../../../../base/errors.ts'
import type { Member } from '../../../../identity/identity-store.ts'
import type { Rights } from '../../../../identity/oidc/admission.ts'
import type { ScimCaller } from '../../../../identity/scim/scim.ts'
import type { SqlSession } from '../../driver/database.ts'
import { deleteKeysOf } from '../api-key-store.ts'
import { recordChange } from '../audit-log.ts'
import { difference, isLastAdmin, memberRecords, writeChange } from '../member-store.ts'
import { liveWorkspaces } from '../workspace-store.ts'

/** What SCIM knows of a member; absent fields for a member that SCIM does not manage. */
interface ScimState {
  /** Names and external ids of its groups. */
  groups: string[]
  /** Whether SCIM's groups decide about its rights. */
  by_groups: boolean
}

export async function scimStateOf(
  session: SqlSession,
  organization_id: string,
  user_id: string,
): Promise<ScimState> {
  const place = [organization_id, user_id]
  const groups = await session.query<{ display_name: string; external_id: string | null }>(
    `SELECT g.display_name, g.external_id FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id
     WHERE m.organization_id = ? AND m.user_id = ?`,
    place,
  )
  const [user] = await session.query<{ by_groups: number }>(
    'SELECT by_groups FROM scim_users WHERE organization_id = ? AND user_id = ?',
    place,
  )
  return {
    groups: groups.flatMap(({ display_name, external_id }) => [display_name, external_id ?? display_name]),
    by_groups: user?.by_groups === 1,
  }
}

async function setSuspended(
  session: SqlSession,
  { organization_id, user_id }: Member,
  suspended_by: 'groups' | 'scim' | null,
): Promise<void> {
  await session.query('UPDATE members SET suspended_by = ? WHERE organization_id = ? AND user_id = ?', [
    suspended_by,
    organization_id,
    user_id,
  ])
}

async function record(
  session: SqlSession,
  { actor }: ScimCaller,
  { organization_id, user_id, email }: Member,
  { action, ...details }: { action: `member.${'change' | 'suspend' | 'resume'}`; reason?: string },
): Promise<void> {
  const change = { organization_id, action, subject_id: user_id, details: { email, ...details } }
  await recordChange(session, actor, change)
}

/** Marks that groups decide about the rights of the member, here and at its sign-ins. */
export async function followGroups(
  session: SqlSession,
  organization_id: string,
  user_id: string,
): Promise<void> {
  for (const table of ['scim_users', 'sign_in_identities'])
    await session.query(`UPDATE ${table} SET by_groups = 1 WHERE organization_id = ? AND user_id = ?`, [
      organization_id,
      user_id,
    ])
}

/**
 * Gives active members the rights of their groups (TEAM-5): rights that people gave by hand stay unless a group gives
 * others; a member whose groups give nothing any more is suspended; the last admin keeps its rights.
 */
export async function settleRights(
  session: SqlSession,
  user_ids: Iterable<string>,
  caller: ScimCaller,
): Promise<void> {
  const { organization_id } = caller
  const members = new Map((await memberRecords(session, organization_id)).map((one) => [one.user_id, one]))
  const workspaces = await liveWorkspaces(session, organization_id)
  for (const user_id of user_ids) {
    const member = members.get(user_id)
    if (member === undefined || member.suspended === 'scim') continue
    const { groups, by_groups } = await scimStateOf(session, organization_id, user_id)
    const byGroups = caller.rightsOf(groups, workspaces)
    if (byGroups !== undefined) await followGroups(session, organization_id, user_id)
    const rights = byGroups ?? (by_groups ? caller.otherwise : undefined)
    const isKept = rights === undefined && !by_groups
    if (isKept || isLastAdmin([...members.values()], member)) continue
    members.set(user_id, await withRights(session, caller, member, rights))
  }
}

/** Writes the rights of a member, or suspends it if it has none; returns the member afterwards. */
async function withRights(
  session: SqlSession,
  caller: ScimCaller,
  member: Member,
  rights: Rights | undefined,
): Promise<Member> {
  if (rights === undefined) {
    if (member.suspended !== undefined) return member
    await setSuspended(session, member, 'groups')
    await record(session, caller, member, { action: 'member.suspend', reason: 'no_role' })
    return { ...member, suspended: 'groups' }
  }
  const details = difference(member, rights)
  if (details !== undefined) await writeChange(session, member, details.to)
  const { suspended, ...active } = member
  if (suspended !== undefined) await setSuspended(session, member, null)
  const action = suspended === undefined ? 'member.change' : 'member.resume'
  if (details !== undefined || suspended !== undefined)
    await record(session, caller, member, { action, ...details })
  return { ...active, ...rights }
}

/** Whether groups of the provider have decided about the member's rights at a sign-in. */
async function signsInByGroups(session: SqlSession, { organization_id, user_id }: Member): Promise<boolean> {
  const sql =
    'SELECT 1 AS known FROM sign_in_identities WHERE organization_id = ? AND user_id = ? AND by_groups = 1'
  return (await session.query(sql, [organization_id, user_id])).length > 0
}

/**
 * Ends the access of a member, with its sessions and tokens, or gives it back; the record stays. Access that groups had
 * given comes back by groups only. @throws AppError conflict for the last admin of all workspaces
 */
export async function setActive(
  session: SqlSession,
  user_id: string,
  { active, caller }: { active: boolean; caller: ScimCaller },
): Promise<void> {
  const { organization_id, actor } = caller
  const members = await memberRecords(session, organization_id)
  const member = members.find((one) => one.user_id === user_id)
  if (member === undefined || active === (member.suspended !== 'scim')) return
  if (active) {
    await setSuspended(session, member, (await signsInByGroups(session, member)) ? 'groups' : null)
    await record(session, caller, member, { action: 'member.resume', reason: 'scim' })
    return await settleRights(session, [user_id], caller)
  }
  if (isLastAdmin(members, member))
    throw new AppError('conflict', { message: 'An organization needs at least one admin of all workspaces.' })
  await setSuspended(session, member, 'scim')
  await session.query('DELETE FROM member_sessions WHERE organization_id = ? AND user_id = ?', [
    organization_id,
    user_id,
  ])
  await deleteKeysOf(session, organization_id, user_id, actor)
  await record(session, caller, member, { action: 'member.suspend', reason: 'scim' })
}
