import { newUuid } from '../../../../base/ids.ts'
import {
  type GroupFields,
  type MemberChange,
  type ScimCaller,
  ScimFault,
  type ScimFilter,
  type ScimGroup,
  type ScimStore,
} from '../../../../identity/scim/scim.ts'
import type { Database, SqlSession, SqlValue } from '../../driver/database.ts'
import { organizationLock, recordChange } from '../audit-log.ts'
import { settleRights } from './rights.ts'

type GroupRow = Omit<ScimGroup, 'members'>

const COLUMNS = 'id, display_name, external_id, created_at, updated_at'
const FILTERS: Record<ScimFilter['attribute'], string | undefined> = {
  id: 'id = ?',
  displayName: 'name_key = ?',
  externalId: 'external_id = ?',
  userName: undefined,
}

function whereOf(filter: ScimFilter | undefined): { clause: string; params: SqlValue[] } {
  if (filter === undefined) return { clause: '', params: [] }
  const clause = FILTERS[filter.attribute]
  if (clause === undefined) throw new ScimFault(400, 'invalidFilter', 'Groups have no such attribute.')
  const value = filter.attribute === 'displayName' ? filter.value.toLowerCase() : filter.value
  return { clause: ` AND ${clause}`, params: [value] }
}

async function membersOf(session: SqlSession, group_id: string): Promise<ScimGroup['members']> {
  return await session.query(
    `SELECT m.user_id AS id, u.email AS display FROM scim_group_members m JOIN users u ON u.id = m.user_id
       JOIN members o ON o.organization_id = m.organization_id AND o.user_id = m.user_id
     WHERE m.group_id = ? ORDER BY m.user_id`,
    [group_id],
  )
}

async function withMembers(session: SqlSession, rows: readonly GroupRow[]): Promise<ScimGroup[]> {
  const groups: ScimGroup[] = []
  for (const row of rows) groups.push({ ...row, members: await membersOf(session, row.id) })
  return groups
}

async function find(session: SqlSession, organization_id: string, id: string): Promise<ScimGroup> {
  const sql = `SELECT ${COLUMNS} FROM scim_groups WHERE organization_id = ? AND id = ?`
  const [group] = await withMembers(session, await session.query<GroupRow>(sql, [organization_id, id]))
  if (group === undefined) throw new ScimFault(404, undefined, 'There is no such group.')
  return group
}

/** @throws ScimFault uniqueness */
async function assertFree(
  session: SqlSession,
  organization_id: string,
  { id, display_name }: Pick<GroupRow, 'id' | 'display_name'>,
): Promise<void> {
  const sql = 'SELECT 1 AS known FROM scim_groups WHERE organization_id = ? AND name_key = ? AND id <> ?'
  if ((await session.query(sql, [organization_id, display_name.toLowerCase(), id])).length > 0)
    throw new ScimFault(409, 'uniqueness', 'Another group has this displayName.')
}

/** The members after the changes, in their order. */
function changedMembers(before: readonly string[], changes: readonly MemberChange[]): Set<string> {
  let members = new Set(before)
  for (const { op, user_ids } of changes) {
    if (op === 'set') members = new Set(user_ids)
    for (const id of user_ids) {
      if (op === 'remove') members.delete(id)
      else members.add(id)
    }
  }
  return members
}

/** Writes the members that the organization has, and returns those whose groups have changed. */
async function writeMembers(
  session: SqlSession,
  organization_id: string,
  { id, members }: ScimGroup,
  changes: readonly MemberChange[],
): Promise<string[]> {
  const before = members.map((one) => one.id)
  const after = changedMembers(before, changes)
  const removed = before.filter((one) => !after.has(one))
  const added: string[] = []
  for (const user_id of removed)
    await session.query('DELETE FROM scim_group_members WHERE group_id = ? AND user_id = ?', [id, user_id])
  for (const user_id of [...after].filter((one) => !before.includes(one))) {
    const made = await session.query(
      `INSERT INTO scim_group_members (organization_id, group_id, user_id)
       SELECT organization_id, ?, user_id FROM members WHERE organization_id = ? AND user_id = ? AND email_claimed = 0
       ON CONFLICT DO NOTHING RETURNING user_id`,
      [id, organization_id, user_id],
    )
    if (made.length > 0) added.push(user_id)
  }
  return [...removed, ...added]
}

async function record(
  session: SqlSession,
  { organization_id, actor }: ScimCaller,
  { action, ...change }: { action: 'create' | 'change' | 'delete'; subject_id: string; details: object },
): Promise<void> {
  const details = { ...change.details }
  const entry = { organization_id, action: `scim_group.${action}`, subject_id: change.subject_id, details }
  await recordChange(session, actor, entry)
}

async function change(
  session: SqlSession,
  id: string,
  { fields, caller }: { fields: GroupFields; caller: ScimCaller },
): Promise<ScimGroup> {
  const { organization_id, actor } = caller
  const before = await find(session, organization_id, id)
  const { display_name = before.display_name, external_id = before.external_id } = fields
  await assertFree(session, organization_id, { id, display_name })
  await session.query(
    'UPDATE scim_groups SET display_name = ?, name_key = ?, external_id = ?, updated_at = ? WHERE id = ?',
    [display_name, display_name.toLowerCase(), external_id, actor.at, id],
  )
  const changed = await writeMembers(session, organization_id, before, fields.members)
  const after = await find(session, organization_id, id)
  const isRenamed = display_name !== before.display_name || external_id !== before.external_id
  if (changed.length === 0 && !isRenamed) return after
  await record(session, caller, {
    action: 'change',
    subject_id: id,
    details: {
      display_name,
      ...(isRenamed && { before: before.display_name }),
      members: { from: before.members.length, to: after.members.length },
    },
  })
  const affected = isRenamed ? [...changed, ...after.members.map((one) => one.id)] : changed
  await settleRights(session, new Set(affected), caller)
  return after
}

/** Groups of SCIM in a SQL database that has been migrated. */
export function groupStore(
  database: Database,
): Pick<ScimStore, 'groups' | 'createGroup' | 'changeGroup' | 'removeGroup'> {
  return {
    async groups(organization_id, { filter, offset, limit }) {
      const { clause, params } = whereOf(filter)
      const where = `FROM scim_groups WHERE organization_id = ?${clause}`
      const counted = `SELECT count(*) AS total ${where}`
      const [row] = await database.query<{ total: number }>(counted, [organization_id, ...params])
      const rows = await database.query<GroupRow>(
        `SELECT ${COLUMNS} ${where} ORDER BY created_at, id LIMIT ? OFFSET ?`,
        [organization_id, ...params, limit, offset],
      )
      return { total: Number(row?.total), resources: await withMembers(database, rows) }
    },
    createGroup: (fields, caller) =>
      database.tx(organizationLock(caller.organization_id), async (session) => {
        const { organization_id, actor } = caller
        const { display_name, external_id = null } = fields
        const id = newUuid()
        await assertFree(session, organization_id, { id, display_name })
        await session.query(
          `INSERT INTO scim_groups (${COLUMNS}, organization_id, name_key) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          [id, display_name, external_id, actor.at, actor.at, organization_id, display_name.toLowerCase()],
        )
        await record(session, caller, { action: 'create', subject_id: id, details: { display_name } })
        return await change(session, id, { fields, caller })
      }),
    changeGroup: (id, fields, caller) =>
      database.tx(organizationLock(caller.organization_id), (session) =>
        change(session, id, { fields, caller }),
      ),
    removeGroup: (id, caller) =>
      database.tx(organizationLock(caller.organization_id), async (session) => {
        const { display_name, members } = await find(session, caller.organization_id, id)
        await session.query('DELETE FROM scim_group_members WHERE group_id = ?', [id])
        await session.query('DELETE FROM scim_groups WHERE id = ?', [id])
        await record(session, caller, { action: 'delete', subject_id: id, details: { display_name } })
        const former = members.map((one) => one.id)
        await settleRights(session, former, caller)
      }),
  }
}
