import type { Actor, AuditEntry } from '../../auth/identity-store.ts'
import { newUuid } from '../../base/ids.ts'
import type { Database, SqlSession } from './database.ts'

interface AuditRow extends Omit<AuditEntry, 'details'> {
  details: string
}

const COLUMNS =
  'id, organization_id, at, actor_api_key_id, actor_short_key, actor_user_id, action, subject_id, details'

/** The lock of every transaction that changes an organization's workspaces, members or keys. */
export function organizationLock(organization_id: string): string {
  return `organization:${organization_id}`
}

/** Writes one line of the audit; the transaction must hold the organization's lock. */
export async function recordChange(
  session: SqlSession,
  actor: Actor,
  change: Pick<AuditEntry, 'organization_id' | 'action' | 'subject_id' | 'details'>,
): Promise<void> {
  const { organization_id, action, subject_id, details } = change
  const [last] = await session.query<{ seq: number }>(
    'SELECT seq FROM audit_log WHERE organization_id = ? ORDER BY seq DESC LIMIT 1',
    [organization_id],
  )
  await session.query(`INSERT INTO audit_log (seq, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    (last?.seq ?? 0) + 1,
    newUuid(),
    organization_id,
    actor.at,
    actor.api_key_id,
    actor.short_key,
    actor.user_id,
    action,
    subject_id,
    JSON.stringify(details),
  ])
}

/** Newest first; with `before` only what is older than that entry, nothing when there is none of that id. */
export async function readAudit(
  database: Database,
  organization_id: string,
  { limit, before }: { limit: number; before?: string },
): Promise<AuditEntry[]> {
  const older =
    before === undefined ? '' : 'AND seq < (SELECT seq FROM audit_log WHERE organization_id = ? AND id = ?)'
  const rows = await database.query<AuditRow>(
    `SELECT ${COLUMNS} FROM audit_log WHERE organization_id = ? ${older} ORDER BY seq DESC LIMIT ?`,
    [organization_id, ...(before === undefined ? [] : [organization_id, before]), limit],
  )
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as Record<string, unknown> }))
}
