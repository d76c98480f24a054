import type { FirstIdentity, IdentityStore, Organization, Workspace } from '../../auth/identity-store.ts'
import type { KeyGrant } from '../../auth/principal.ts'
import type { Database, SqlSession } from './database.ts'

interface KeyRow {
  id: string
  organization_id: string
  user_id: string | null
  key_hash: string
  short_key: string
  all_workspaces: number
  default_workspace_id: string | null
  expires_at: number | null
}

const KEY_COLUMNS =
  'id, organization_id, user_id, key_hash, short_key, all_workspaces, default_workspace_id, expires_at'

async function insertFirst(
  session: SqlSession,
  { organization, workspace, user, key }: FirstIdentity,
): Promise<void> {
  const now = organization.created_at
  await session.query('INSERT INTO organizations (id, display_name, created_at) VALUES (?, ?, ?)', [
    organization.id,
    organization.display_name,
    now,
  ])
  await session.query(
    'INSERT INTO workspaces (id, organization_id, display_name, created_at) VALUES (?, ?, ?, ?)',
    [workspace.id, organization.id, workspace.display_name, workspace.created_at],
  )
  await session.query('INSERT INTO users (id, email, full_name, created_at) VALUES (?, ?, ?, ?)', [
    user.id,
    user.email,
    user.full_name,
    now,
  ])
  await session.query(
    `INSERT INTO members (organization_id, user_id, role, all_workspaces, created_at) VALUES (?, ?, 'admin', 1, ?)`,
    [organization.id, user.id, now],
  )
  await session.query(
    `INSERT INTO api_keys (id, organization_id, user_id, key_hash, short_key, description, role, read_only,
       all_workspaces, default_workspace_id, created_at) VALUES (?, ?, ?, ?, ?, ?, 'admin', 0, 1, ?, ?)`,
    [key.id, organization.id, user.id, key.key_hash, key.short_key, key.description, workspace.id, now],
  )
}

async function workspaceIds(database: Database, row: KeyRow): Promise<string[]> {
  const rows =
    row.all_workspaces === 1
      ? await database.query<{ id: string }>(
          'SELECT id FROM workspaces WHERE organization_id = ? AND deleted_at IS NULL ORDER BY created_at, id',
          [row.organization_id],
        )
      : await database.query<{ id: string }>(
          `SELECT w.id FROM api_key_workspaces k JOIN workspaces w ON w.id = k.workspace_id
           WHERE k.api_key_id = ? AND w.deleted_at IS NULL ORDER BY w.created_at, w.id`,
          [row.id],
        )
  return rows.map(({ id }) => id)
}

async function toGrant(database: Database, row: KeyRow): Promise<KeyGrant> {
  const workspace_ids = await workspaceIds(database, row)
  const preferred = row.default_workspace_id
  const only = workspace_ids.length === 1 ? workspace_ids[0] : undefined
  return {
    organization_id: row.organization_id,
    user_id: row.user_id,
    api_key_id: row.id,
    short_key: row.short_key,
    workspace_ids,
    default_workspace_id:
      preferred !== null && workspace_ids.includes(preferred) ? preferred : (only ?? null),
    expires_at: row.expires_at,
  }
}

/** Identity in a SQL database that has been migrated. */
export function createIdentityStore(database: Database): IdentityStore {
  const organizationWhere = async (clause: string, params: string[]): Promise<Organization | undefined> => {
    const sql = `SELECT id, display_name, created_at FROM organizations ${clause}`
    return (await database.query<Organization>(sql, params))[0]
  }
  return {
    async createFirst(identity) {
      return await database.tx(async (session) => {
        if ((await session.query('SELECT 1 FROM organizations LIMIT 1')).length > 0) return false
        await insertFirst(session, identity)
        return true
      })
    },
    firstOrganization: () => organizationWhere('ORDER BY created_at, id LIMIT 1', []),
    organization: (id) => organizationWhere('WHERE id = ?', [id]),
    async workspaces(organization_id) {
      return await database.query<Workspace>(
        `SELECT id, organization_id, display_name, created_at FROM workspaces
         WHERE organization_id = ? AND deleted_at IS NULL ORDER BY created_at, id`,
        [organization_id],
      )
    },
    async findKey(key_hash) {
      const sql = `SELECT ${KEY_COLUMNS} FROM api_keys WHERE key_hash = ? AND deleted_at IS NULL`
      const [row] = await database.query<KeyRow>(sql, [key_hash])
      return row === undefined ? undefined : { key_hash: row.key_hash, grant: await toGrant(database, row) }
    },
    async adminGrant(organization_id) {
      const [row] = await database.query<KeyRow>(
        `SELECT ${KEY_COLUMNS} FROM api_keys WHERE organization_id = ? AND role = 'admin' AND deleted_at IS NULL
         ORDER BY created_at, id LIMIT 1`,
        [organization_id],
      )
      return row === undefined ? undefined : await toGrant(database, row)
    },
    async touchKey(api_key_id, at) {
      await database.query('UPDATE api_keys SET last_used_at = ? WHERE id = ?', [at, api_key_id])
    },
  }
}
