import type { Actor, ApiKey, IdentityStore } from '../../../identity/identity-store.ts'
import type { Role } from '../../../identity/permissions.ts'
import type { KeyGrant } from '../../../identity/principal.ts'
import { AppError } from '../../../base/errors.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { requireWorkspaces } from './workspace-store.ts'

interface ApiKeyRow extends Omit<ApiKey, 'workspace_ids' | 'read_only'> {
  read_only: number
  all_workspaces: number
}

interface GrantRow extends ApiKeyRow {
  key_hash: string
  member_role: Role | null
  /** 1 for a service key. */
  member_all_workspaces: number
}

const COLUMNS = [
  'id',
  'organization_id',
  'user_id',
  'short_key',
  'description',
  'role',
  'read_only',
  'all_workspaces',
  'default_workspace_id',
  'created_at',
  'expires_at',
  'last_used_at',
] as const
/** SELECT of valid keys: keys that are not deleted and whose owner is a member with access. */
const SELECT_GRANT = `SELECT ${COLUMNS.map((column) => `k.${column}`).join(', ')}, k.key_hash, m.role AS member_role,
    COALESCE(m.all_workspaces, 1) AS member_all_workspaces
  FROM api_keys k LEFT JOIN members m ON m.organization_id = k.organization_id AND m.user_id = k.user_id
  WHERE k.deleted_at IS NULL AND (k.user_id IS NULL OR (m.user_id IS NOT NULL AND m.suspended_by IS NULL))`
/** Precision of `last_used_at`: it is written at most once in this time. */
const TOUCH_MS = 60_000

function ofKind(kind: 'personal' | 'service'): string {
  return kind === 'personal' ? 'user_id IS NOT NULL' : 'user_id IS NULL'
}

async function workspaceIds(session: SqlSession, row: GrantRow): Promise<string[]> {
  const rows = await session.query<{ id: string }>(
    `SELECT w.id FROM workspaces w WHERE w.organization_id = ? AND w.deleted_at IS NULL
       AND (? = 1 OR EXISTS (SELECT 1 FROM api_key_workspaces k WHERE k.api_key_id = ? AND k.workspace_id = w.id))
       AND (? = 1 OR EXISTS (SELECT 1 FROM member_workspaces m
         WHERE m.organization_id = ? AND m.user_id = ? AND m.workspace_id = w.id))
     ORDER BY w.created_at, w.id`,
    [
      row.organization_id,
      row.all_workspaces,
      row.id,
      row.member_all_workspaces,
      row.organization_id,
      row.user_id,
    ],
  )
  return rows.map(({ id }) => id)
}

async function toGrant(session: SqlSession, row: GrantRow): Promise<KeyGrant> {
  const workspace_ids = await workspaceIds(session, row)
  const preferred = row.default_workspace_id
  const only = workspace_ids.length === 1 ? workspace_ids[0] : undefined
  return {
    organization_id: row.organization_id,
    user_id: row.user_id,
    api_key_id: row.id,
    short_key: row.short_key,
    workspace_ids,
    all_workspaces: row.all_workspaces === 1 && row.member_all_workspaces === 1,
    default_workspace_id:
      preferred !== null && workspace_ids.includes(preferred) ? preferred : (only ?? null),
    role: row.role,
    member_role: row.member_role,
    read_only: row.read_only === 1,
    expires_at: row.expires_at,
  }
}

async function keysOf(
  session: SqlSession,
  organization_id: string,
  kind: 'personal' | 'service',
): Promise<ApiKey[]> {
  const rows = await session.query<ApiKeyRow>(
    `SELECT ${COLUMNS.join(', ')} FROM api_keys
     WHERE organization_id = ? AND ${ofKind(kind)} AND deleted_at IS NULL ORDER BY created_at DESC, id`,
    [organization_id],
  )
  const places = await session.query<{ api_key_id: string; workspace_id: string }>(
    `SELECT p.api_key_id, p.workspace_id FROM api_key_workspaces p JOIN api_keys k ON k.id = p.api_key_id
       JOIN workspaces w ON w.id = p.workspace_id
     WHERE k.organization_id = ? AND w.deleted_at IS NULL ORDER BY w.created_at, w.id`,
    [organization_id],
  )
  const byKey = Map.groupBy(places, ({ api_key_id }) => api_key_id)
  return rows.map(({ all_workspaces, read_only, ...row }) => {
    const own = (byKey.get(row.id) ?? []).map(({ workspace_id }) => workspace_id)
    return { ...row, read_only: read_only === 1, workspace_ids: all_workspaces === 1 ? null : own }
  })
}

/**
 * Checks a new key. @throws AppError invalid_request for a user who is no member of the organization, and for a
 * workspace of another organization
 */
async function refuseForeign(session: SqlSession, key: ApiKey): Promise<void> {
  const { organization_id, user_id, workspace_ids, default_workspace_id } = key
  const named = [...(workspace_ids ?? []), ...(default_workspace_id === null ? [] : [default_workspace_id])]
  await requireWorkspaces(session, organization_id, named)
  if (user_id === null) return
  const sql = 'SELECT 1 AS known FROM members WHERE organization_id = ? AND user_id = ?'
  if ((await session.query(sql, [organization_id, user_id])).length === 0) {
    throw new AppError('invalid_request', { message: 'The member does not exist.' })
  }
}

/** The grant of the key with this id, if the key is not deleted. The key may have expired. */
export async function findGrant(session: SqlSession, api_key_id: string): Promise<KeyGrant | undefined> {
  const [row] = await session.query<GrantRow>(`${SELECT_GRANT} AND k.id = ?`, [api_key_id])
  return row === undefined ? undefined : await toGrant(session, row)
}

/** The rights of a member who acts without a key; undefined for a suspended member. */
export async function findMemberGrant(
  session: SqlSession,
  organization_id: string,
  user_id: string,
): Promise<KeyGrant | undefined> {
  const [member] = await session.query<{ role: Role; member_all_workspaces: number }>(
    `SELECT role, all_workspaces AS member_all_workspaces FROM members
     WHERE organization_id = ? AND user_id = ? AND suspended_by IS NULL`,
    [organization_id, user_id],
  )
  if (member === undefined) return undefined
  return await toGrant(session, {
    ...member,
    id: user_id,
    organization_id,
    user_id,
    key_hash: '',
    short_key: '',
    description: '',
    member_role: member.role,
    read_only: 0,
    all_workspaces: 1,
    default_workspace_id: null,
    created_at: 0,
    expires_at: null,
    last_used_at: null,
  })
}

/** Inserts the key. Returns false, without inserting it, if its hash or its short key is taken. */
export async function insertKey(session: SqlSession, key: ApiKey & { key_hash: string }): Promise<boolean> {
  const { workspace_ids } = key
  const row: ApiKeyRow = { ...key, read_only: key.read_only ? 1 : 0, all_workspaces: workspace_ids ? 0 : 1 }
  const made = await session.query(
    `INSERT INTO api_keys (key_hash, ${COLUMNS.join(', ')}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})
     ON CONFLICT DO NOTHING RETURNING id`,
    [key.key_hash, ...COLUMNS.map((column) => row[column])],
  )
  if (made.length === 0) return false
  await insertWorkspaces(session, key.id, workspace_ids)
  return true
}

async function insertWorkspaces(
  session: SqlSession,
  api_key_id: string,
  workspace_ids: readonly string[] | null,
): Promise<void> {
  for (const workspace_id of new Set(workspace_ids)) {
    await session.query('INSERT INTO api_key_workspaces (api_key_id, workspace_id) VALUES (?, ?)', [
      api_key_id,
      workspace_id,
    ])
  }
}

/** Changes a service key in place; the caller checks the workspaces and records the change. */
export async function changeServiceKey(
  session: SqlSession,
  id: string,
  { role, workspace_ids, expires_at }: Pick<ApiKey, 'role' | 'workspace_ids' | 'expires_at'>,
): Promise<void> {
  await session.query('UPDATE api_keys SET role = ?, all_workspaces = ?, expires_at = ? WHERE id = ?', [
    role,
    workspace_ids === null ? 1 : 0,
    expires_at,
    id,
  ])
  await session.query('DELETE FROM api_key_workspaces WHERE api_key_id = ?', [id])
  await insertWorkspaces(session, id, workspace_ids)
}

async function endSessionsOf(session: SqlSession, api_key_id: string): Promise<void> {
  await session.query('DELETE FROM browser_sessions WHERE api_key_id = ?', [api_key_id])
  await session.query('DELETE FROM sign_in_tickets WHERE api_key_id = ?', [api_key_id])
}

/**
 * Deletes the keys of the organization that match `where`, and those of consents that they gave as service keys, with an
 * audit entry for each; returns their ids.
 */
async function endKeys(
  session: SqlSession,
  organization_id: string,
  where: { clause: string; params: string[] },
  actor: Actor,
): Promise<string[]> {
  const rows = await session.query<{ id: string; short_key: string; user_id: string | null }>(
    `UPDATE api_keys SET deleted_at = ? WHERE organization_id = ? AND deleted_at IS NULL AND ${where.clause}
     RETURNING id, short_key, user_id`,
    [actor.at, organization_id, ...where.params],
  )
  const ended: string[] = []
  for (const { id, short_key, user_id } of rows) {
    await endSessionsOf(session, id)
    const details = { short_key, user_id }
    await recordChange(session, actor, { organization_id, action: 'key.delete', subject_id: id, details })
    const consents = {
      clause: 'id IN (SELECT api_key_id FROM oauth_tokens WHERE made_with = ?)',
      params: [id],
    }
    ended.push(id, ...(await endKeys(session, organization_id, consents, actor)))
  }
  return ended
}

/**
 * Deletes all personal keys of a user in the organization; returns the ids of the keys. The caller must hold the
 * organization's lock.
 */
export async function deleteKeysOf(
  session: SqlSession,
  organization_id: string,
  user_id: string,
  actor: Actor,
): Promise<string[]> {
  return await endKeys(session, organization_id, { clause: 'user_id = ?', params: [user_id] }, actor)
}

/** The part of the identity store for keys and their permissions. */
export function createApiKeyStore(
  database: Database,
): Pick<IdentityStore, 'apiKeys' | 'createKey' | 'deleteKey' | 'findKey' | 'adminGrant' | 'touchKey'> {
  return {
    apiKeys: (organization_id, kind) => keysOf(database, organization_id, kind),
    createKey: (key, actor) =>
      database.tx(organizationLock(key.organization_id), async (session) => {
        await refuseForeign(session, key)
        if (!(await insertKey(session, key))) return false
        const { organization_id, id, short_key, description, user_id, role, read_only, workspace_ids } = key
        const { expires_at } = key
        const details = { short_key, description, user_id, role, read_only, workspace_ids, expires_at }
        await recordChange(session, actor, { organization_id, action: 'key.create', subject_id: id, details })
        return true
      }),
    deleteKey: (organization_id, kind, id, actor) =>
      database.tx(organizationLock(organization_id), async (session) => {
        const where = { clause: `id = ? AND ${ofKind(kind)}`, params: [id] }
        return (await endKeys(session, organization_id, where, actor)).length > 0
      }),
    async findKey(key_hash) {
      const [row] = await database.query<GrantRow>(`${SELECT_GRANT} AND k.key_hash = ?`, [key_hash])
      return row === undefined ? undefined : { key_hash: row.key_hash, grant: await toGrant(database, row) }
    },
    async adminGrant(organization_id) {
      const [row] = await database.query<GrantRow>(
        `${SELECT_GRANT} AND k.organization_id = ? AND k.role = 'admin' AND COALESCE(m.role, 'admin') = 'admin'
           AND k.read_only = 0 AND k.all_workspaces = 1 AND COALESCE(m.all_workspaces, 1) = 1
         ORDER BY CASE WHEN k.expires_at IS NULL THEN 0 ELSE 1 END, k.expires_at DESC, k.created_at, k.id LIMIT 1`,
        [organization_id],
      )
      return row === undefined ? undefined : await toGrant(database, row)
    },
    async touchKey(api_key_id, at) {
      // A time in the future comes from a clock that was ahead.
      await database.query(
        `UPDATE api_keys SET last_used_at = ?
         WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ? OR last_used_at > ?)`,
        [at, api_key_id, at - TOUCH_MS, at + TOUCH_MS],
      )
    },
  }
}
