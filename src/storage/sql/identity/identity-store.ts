import type { FirstIdentity, IdentityStore, Organization } from '../../../identity/identity-store.ts'
import { createApiKeyStore } from './api-key-store.ts'
import { organizationLock, readAudit, readAuditSpan, recordChange } from './audit-log.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { createMemberStore } from './member-store.ts'
import { createWorkspaceStore } from './workspace-store.ts'

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
    user.email.toLowerCase(),
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

/** Identity in a SQL database that has been migrated. */
export function createIdentityStore(database: Database): IdentityStore {
  const organizationWhere = async (clause: string, params: string[]): Promise<Organization | undefined> => {
    const sql = `SELECT id, display_name, created_at FROM organizations ${clause}`
    return (await database.query<Organization>(sql, params))[0]
  }
  const namesBy = async (sql: string, params: string[]): Promise<Map<string, string>> => {
    const rows = await database.query<{ id: string; name: string }>(sql, params)
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
  return {
    async createFirst(identity) {
      return await database.tx('organization:first', async (session) => {
        if ((await session.query('SELECT id FROM organizations LIMIT 1')).length > 0) return false
        await insertFirst(session, identity)
        return true
      })
    },
    firstOrganization: () => organizationWhere('ORDER BY created_at, id LIMIT 1', []),
    organization: (id) => organizationWhere('WHERE id = ?', [id]),
    ...createWorkspaceStore(database),
    ...createMemberStore(database),
    ...createApiKeyStore(database),
    async names(organization_id) {
      const workspaces = 'SELECT id, display_name AS name FROM workspaces WHERE organization_id = ?'
      const emails = `SELECT id, email AS name FROM users
        WHERE id IN (SELECT user_id FROM members WHERE organization_id = ?)
          OR id IN (SELECT user_id FROM api_keys WHERE organization_id = ?)`
      const short_keys = 'SELECT id, short_key AS name FROM api_keys WHERE organization_id = ?'
      return {
        workspaces: await namesBy(workspaces, [organization_id]),
        emails: await namesBy(emails, [organization_id, organization_id]),
        short_keys: await namesBy(short_keys, [organization_id]),
      }
    },
    recordChange: (change, actor) =>
      database.tx(organizationLock(change.organization_id), (session) =>
        recordChange(session, actor, change),
      ),
    audit: (organization_id, page) => readAudit(database, organization_id, page),
    auditSpan: (organization_id, span) => readAuditSpan(database, organization_id, span),
  }
}
