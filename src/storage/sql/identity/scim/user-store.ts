import { newUuid } from '../../../../base/ids.ts'
import {
  type ScimCaller,
  ScimFault,
  type ScimFilter,
  type ScimQuery,
  type ScimStore,
  type ScimUser,
  type UserFields,
} from '../../../../identity/scim/scim.ts'
import type { Database, SqlSession, SqlValue } from '../../driver/database.ts'
import { organizationLock, recordChange } from '../audit-log.ts'
import { dropMember, findOrMakeUser, insertMember } from '../member-store.ts'
import { followGroups, setActive, settleRights } from './rights.ts'

interface UserRow extends Omit<ScimUser, 'groups' | 'active'> {
  suspended_by: string | null
}

/**
 * Members are users of SCIM, also those that were added by hand. Those who only said their address themselves are not:
 * the provider would take them for the person with that address.
 */
const FROM = `FROM members m JOIN users u ON u.id = m.user_id
  LEFT JOIN scim_users s ON s.organization_id = m.organization_id AND s.user_id = m.user_id
  WHERE m.organization_id = ? AND m.email_claimed = 0`
const SELECT = `SELECT m.user_id AS id, COALESCE(s.user_name, u.email) AS user_name, s.external_id, s.given_name,
  s.family_name, u.full_name, u.email, m.suspended_by, COALESCE(s.created_at, m.created_at) AS created_at,
  COALESCE(s.updated_at, m.created_at) AS updated_at ${FROM}`
const FILTERS: Record<ScimFilter['attribute'], { clause: string; isExact?: boolean }> = {
  id: { clause: 'm.user_id = ?', isExact: true },
  userName: { clause: 'COALESCE(s.user_key, u.email) = ?' },
  externalId: { clause: 's.external_id = ?', isExact: true },
  displayName: { clause: 'lower(u.full_name) = ?' },
}

function whereOf(filter: ScimFilter | undefined): { clause: string; params: SqlValue[] } {
  if (filter === undefined) return { clause: '', params: [] }
  const { clause, isExact = false } = FILTERS[filter.attribute]
  return { clause: ` AND ${clause}`, params: [isExact ? filter.value : filter.value.toLowerCase()] }
}

async function withGroups(
  session: SqlSession,
  organization_id: string,
  rows: readonly UserRow[],
): Promise<ScimUser[]> {
  const users: ScimUser[] = []
  for (const { suspended_by, ...row } of rows) {
    const groups = await session.query<{ id: string; display_name: string }>(
      `SELECT g.id, g.display_name FROM scim_group_members m JOIN scim_groups g ON g.id = m.group_id
       WHERE m.organization_id = ? AND m.user_id = ? ORDER BY g.name_key`,
      [organization_id, row.id],
    )
    users.push({ ...row, active: suspended_by !== 'scim', groups })
  }
  return users
}

async function find(session: SqlSession, organization_id: string, id: string): Promise<ScimUser> {
  const rows = await session.query<UserRow>(`${SELECT} AND m.user_id = ?`, [organization_id, id])
  const [user] = await withGroups(session, organization_id, rows)
  if (user === undefined) throw new ScimFault(404, undefined, 'There is no such user.')
  return user
}

/** Refuses a name or an external id that another user has. @throws ScimFault uniqueness */
async function assertFree(
  session: SqlSession,
  { organization_id }: ScimCaller,
  { id, user_name, external_id }: { id: string; user_name: string; external_id: string | null },
): Promise<void> {
  for (const filter of [
    { attribute: 'userName', value: user_name },
    ...(external_id === null ? [] : [{ attribute: 'externalId', value: external_id } as const]),
  ] as const) {
    const { clause, params } = whereOf(filter)
    const sql = `SELECT m.user_id AS id ${FROM}${clause} AND m.user_id <> ?`
    if ((await session.query(sql, [organization_id, ...params, id])).length > 0)
      throw new ScimFault(409, 'uniqueness', `Another user has this ${filter.attribute}.`)
  }
}

/** The external id is the subject at the issuer, by which a sign-in finds the member (TEAM-4). @throws ScimFault */
async function keepIdentity(
  session: SqlSession,
  { organization_id, issuer, actor }: ScimCaller,
  { user_id, before, after }: { user_id: string; before: string | null; after: string | null },
): Promise<void> {
  if (before === after) return
  if (before !== null)
    await session.query(
      'DELETE FROM sign_in_identities WHERE organization_id = ? AND issuer = ? AND subject = ? AND user_id = ?',
      [organization_id, issuer, before, user_id],
    )
  if (after === null) return
  const place = [organization_id, issuer, after]
  const [known] = await session.query<{ user_id: string }>(
    'SELECT user_id FROM sign_in_identities WHERE organization_id = ? AND issuer = ? AND subject = ?',
    place,
  )
  if (known?.user_id === user_id) return
  if (known !== undefined)
    throw new ScimFault(409, 'uniqueness', 'Another member signs in with this externalId.')
  await session.query(
    `INSERT INTO sign_in_identities (organization_id, issuer, subject, user_id, by_groups, created_at)
     VALUES (?, ?, ?, ?, 0, ?)`,
    [...place, user_id, actor.at],
  )
}

const ADDRESS = /^[^\s@]+@[^\s@]+$/

/** The address of a new member; one under which nobody can receive mail if SCIM sends none. */
function addressOf({ email, user_name }: UserFields & { user_name: string }): string {
  const found = [email, user_name.toLowerCase()].find((one) => one !== undefined && ADDRESS.test(one))
  return found ?? `${encodeURIComponent(user_name).replaceAll('%', '=').toLowerCase()}@scim.invalid`
}

/** The full name after a change: as sent, else of the changed parts. */
function fullNameOf(before: Pick<ScimUser, 'full_name'> | undefined, fields: UserFields, after: UserFields) {
  if (fields.full_name !== undefined) return fields.full_name
  const parts = [after.given_name, after.family_name].filter((part) => part !== null && part !== undefined)
  const hasParts = fields.given_name !== undefined || fields.family_name !== undefined
  return hasParts && parts.length > 0 ? parts.join(' ') : (before?.full_name ?? null)
}

async function writeUser(
  session: SqlSession,
  caller: ScimCaller,
  { user_id, before, fields }: { user_id: string; before: ScimUser | undefined; fields: UserFields },
): Promise<void> {
  const { organization_id, actor } = caller
  const after = {
    user_name: fields.user_name ?? before?.user_name ?? '',
    external_id: fields.external_id === undefined ? (before?.external_id ?? null) : fields.external_id,
    given_name: fields.given_name === undefined ? (before?.given_name ?? null) : fields.given_name,
    family_name: fields.family_name === undefined ? (before?.family_name ?? null) : fields.family_name,
  }
  const { user_name, external_id, given_name, family_name } = after
  await assertFree(session, caller, { id: user_id, user_name, external_id })
  await session.query(
    `INSERT INTO scim_users (organization_id, user_id, user_name, user_key, external_id, given_name, family_name,
       by_groups, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
     ON CONFLICT (organization_id, user_id) DO UPDATE SET user_name = excluded.user_name, user_key = excluded.user_key,
       external_id = excluded.external_id, given_name = excluded.given_name, family_name = excluded.family_name,
       updated_at = excluded.updated_at`,
    [
      ...[organization_id, user_id, user_name, user_name.toLowerCase(), external_id, given_name, family_name],
      ...[actor.at, actor.at],
    ],
  )
  await keepIdentity(session, caller, { user_id, before: before?.external_id ?? null, after: external_id })
  const full_name = fullNameOf(before, fields, after)
  if (full_name !== (before?.full_name ?? null))
    await session.query('UPDATE users SET full_name = ? WHERE id = ?', [full_name, user_id])
}

/** Gives the user another address, unless somebody else has it. @throws ScimFault uniqueness */
async function writeEmail(session: SqlSession, before: ScimUser, { email }: UserFields): Promise<void> {
  if (email === undefined || email === before.email || !ADDRESS.test(email)) return
  if ((await session.query('SELECT 1 AS known FROM users WHERE email = ?', [email])).length > 0)
    throw new ScimFault(409, 'uniqueness', 'Another user has this address.')
  await session.query('UPDATE users SET email = ? WHERE id = ?', [email, before.id])
}

async function create(
  session: SqlSession,
  fields: UserFields & { user_name: string },
  caller: ScimCaller,
): Promise<ScimUser> {
  const { organization_id, actor } = caller
  const email = addressOf(fields)
  const made = { user_id: newUuid(), email, full_name: null, created_at: actor.at }
  const user_id = await findOrMakeUser(session, made)
  const [known] = await session.query<{ email_claimed: number }>(
    'SELECT email_claimed FROM members WHERE organization_id = ? AND user_id = ?',
    [organization_id, user_id],
  )
  if (known !== undefined)
    throw new ScimFault(
      409,
      'uniqueness',
      known.email_claimed === 1
        ? 'A member has this address without a proof of it: remove that member first.'
        : 'Another user has this address.',
    )
  await assertFree(session, caller, { id: user_id, user_name: fields.user_name, external_id: null })
  // Without a group, a new user has no access.
  const nothing = caller.otherwise ?? { role: 'viewer' as const, workspace_ids: [] }
  await insertMember(session, { ...made, ...nothing, organization_id, user_id }, actor)
  await session.query(
    "UPDATE members SET suspended_by = 'groups' WHERE organization_id = ? AND user_id = ?",
    [organization_id, user_id],
  )
  await writeUser(session, caller, { user_id, before: undefined, fields })
  await followGroups(session, organization_id, user_id)
  await settleRights(session, [user_id], caller)
  if (fields.active === false) await setActive(session, user_id, { active: false, caller })
  return await find(session, organization_id, user_id)
}

const EMPTY: UserFields = { external_id: null, given_name: null, family_name: null, full_name: null }

/** Users of SCIM in a SQL database that has been migrated. */
export function userStore(
  database: Database,
): Pick<ScimStore, 'users' | 'createUser' | 'changeUser' | 'removeUser'> {
  return {
    async users(organization_id, { filter, offset, limit }: ScimQuery) {
      const { clause, params } = whereOf(filter)
      const counted = `SELECT count(*) AS total ${FROM}${clause}`
      const [row] = await database.query<{ total: number }>(counted, [organization_id, ...params])
      const rows = await database.query<UserRow>(
        `${SELECT}${clause} ORDER BY m.created_at, m.user_id LIMIT ? OFFSET ?`,
        [organization_id, ...params, limit, offset],
      )
      return { total: Number(row?.total), resources: await withGroups(database, organization_id, rows) }
    },
    createUser: (fields, caller) =>
      database.tx(organizationLock(caller.organization_id), (session) => create(session, fields, caller)),
    changeUser: (id, fields, caller, reset = false) =>
      database.tx(organizationLock(caller.organization_id), async (session) => {
        const { organization_id, actor } = caller
        const before = await find(session, organization_id, id)
        const change = reset ? { ...EMPTY, ...fields } : fields
        await writeUser(session, caller, { user_id: id, before, fields: change })
        await writeEmail(session, before, change)
        if (change.active !== undefined) await setActive(session, id, { active: change.active, caller })
        const after = await find(session, organization_id, id)
        const names = (['user_name', 'external_id', 'full_name', 'email'] as const).filter(
          (name) => before[name] !== after[name],
        )
        if (names.length > 0) {
          const pick = (user: ScimUser) => Object.fromEntries(names.map((name) => [name, user[name]]))
          const details = { from: pick(before), to: pick(after) }
          const changed = { organization_id, action: 'member.change', subject_id: id, details }
          await recordChange(session, actor, changed)
        }
        return after
      }),
    removeUser: (id, caller) =>
      database.tx(organizationLock(caller.organization_id), async (session) => {
        await find(session, caller.organization_id, id)
        await dropMember(session, caller.organization_id, id, caller.actor)
      }),
  }
}
