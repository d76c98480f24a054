import type { Actor, AuditEntry, AuditQuery, AuditSpan } from '../../../identity/identity-store.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Database, SqlSession } from '../driver/database.ts'

interface AuditRow extends Omit<AuditEntry, 'details'> {
  details: string
}

const COLUMNS =
  'id, organization_id, at, actor_api_key_id, actor_short_key, actor_user_id, action, subject_id, details'

/** Lock name for every transaction that changes an organization's workspaces, members or keys. */
export function organizationLock(organization_id: string): string {
  return `organization:${organization_id}`
}

/** Writes one entry of the audit; the transaction must hold the organization's lock. */
export async function recordChange(
  session: SqlSession,
  actor: Actor,
  change: Pick<AuditEntry, 'organization_id' | 'action' | 'subject_id' | 'details'>,
): Promise<void> {
  const entry: AuditEntry = {
    id: newUuid(),
    at: actor.at,
    actor_api_key_id: actor.api_key_id,
    actor_short_key: actor.short_key,
    actor_user_id: actor.user_id,
    ...change,
  }
  const { organization_id } = entry
  const [last] = await session.query<{ seq: number }>(
    'SELECT seq FROM audit_log WHERE organization_id = ? ORDER BY seq DESC LIMIT 1',
    [organization_id],
  )
  await session.query(`INSERT INTO audit_log (seq, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    (last?.seq ?? 0) + 1,
    entry.id,
    organization_id,
    entry.at,
    entry.actor_api_key_id,
    entry.actor_short_key,
    entry.actor_user_id,
    entry.action,
    entry.subject_id,
    JSON.stringify(entry.details),
  ])
  session.note?.(entry)
}

/** Reads the entries before the entry `before`, newest first; none if there is no such entry. */
export async function readAudit(
  database: Database,
  organization_id: string,
  { limit, before, action, actions, actor, subject_id, from, to }: AuditQuery,
): Promise<AuditEntry[]> {
  const conditions = ['organization_id = ?']
  const values: (string | number)[] = [organization_id]
  const where = (condition: string, ...of: (string | number | undefined)[]): void => {
    const given = of.filter((value) => value !== undefined)
    if (given.length === 0) return
    conditions.push(condition)
    values.push(...given)
  }
  if (before !== undefined)
    where('seq < (SELECT seq FROM audit_log WHERE organization_id = ? AND id = ?)', organization_id, before)
  const group = action === undefined ? undefined : `${action}.`
  where('(action = ? OR substr(action, 1, ?) = ?)', action, group?.length, group)
  if (actions !== undefined) where(`action IN (${actions.map(() => '?').join(', ') || 'NULL'})`, ...actions)
  where('(actor_user_id = ? OR actor_api_key_id = ?)', actor, actor)
  where('subject_id = ?', subject_id)
  where('at >= ?', from)
  where('at < ?', to)
  const rows = await database.query<AuditRow>(
    `SELECT ${COLUMNS} FROM audit_log WHERE ${conditions.join(' AND ')} ORDER BY seq DESC LIMIT ?`,
    [...values, limit],
  )
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as Record<string, unknown> }))
}

/** Reads the entries after the number `after` up to the entry `last`, oldest first. */
export async function readAuditSpan(
  database: Database,
  organization_id: string,
  { after, last, limit, from = 0, to = Number.MAX_SAFE_INTEGER }: AuditSpan,
): Promise<(AuditEntry & { seq: number })[]> {
  const rows = await database.query<AuditRow & { seq: number }>(
    `SELECT seq, ${COLUMNS} FROM audit_log WHERE organization_id = ? AND seq > ? AND at >= ? AND at < ?
       AND seq <= (SELECT seq FROM audit_log WHERE organization_id = ? AND id = ?)
     ORDER BY seq LIMIT ?`,
    [organization_id, after, from, to, organization_id, last, limit],
  )
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as Record<string, unknown> }))
}

/**
 * Deletes the entries from before `time`, epoch milliseconds. The newest entry of each organization stays, because the
 * next one has the number after it.
 */
export async function forgetAudit(database: Database, time: number): Promise<number> {
  const rows = await database.query(
    `DELETE FROM audit_log WHERE at < ? AND seq < (SELECT max(seq) FROM audit_log newest
       WHERE newest.organization_id = audit_log.organization_id) RETURNING seq`,
    [time],
  )
  return rows.length
}
