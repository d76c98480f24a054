import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { UsageLimit, UsageLimitFields, UsageLimitStore } from '../../../usage/limits.ts'
import { organizationLock } from './audit-log.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { holdRows } from './held-rows.ts'

const COLUMNS =
  'id, organization_id, workspace_id, api_key_id, limit_type, limit_value, mode, created_at, updated_at'

/** Sets the only limit of a workspace or a key: changes it, or creates it if there is none. */
async function set(session: SqlSession, fields: UsageLimitFields, now: number): Promise<UsageLimit> {
  const { organization_id, workspace_id, api_key_id, limit_type, limit_value, mode } = fields
  const [known] = await session.query<Pick<UsageLimit, 'id' | 'created_at'>>(
    'SELECT id, created_at FROM usage_limits WHERE workspace_id = ? OR api_key_id = ?',
    [workspace_id, api_key_id],
  )
  if (known !== undefined) {
    await session.query(
      'UPDATE usage_limits SET limit_type = ?, limit_value = ?, mode = ?, updated_at = ? WHERE id = ?',
      [limit_type, limit_value, mode, now, known.id],
    )
    return { ...fields, ...known, updated_at: now }
  }
  const id = newUuid()
  await session.query(`INSERT INTO usage_limits (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    id,
    organization_id,
    workspace_id,
    api_key_id,
    limit_type,
    limit_value,
    mode,
    now,
    now,
  ])
  return { ...fields, id, created_at: now, updated_at: now }
}

/** Monthly limits in a SQL database that has been migrated. */
export function createUsageLimitStore(database: Database, clock: Clock): UsageLimitStore {
  const held = holdRows(
    () => database.query<UsageLimit>(`SELECT ${COLUMNS} FROM usage_limits ORDER BY id`),
    clock,
  )
  return {
    list: (organization_id) =>
      database.query<UsageLimit>(
        `SELECT ${COLUMNS} FROM usage_limits WHERE organization_id = ? ORDER BY created_at, id`,
        [organization_id],
      ),
    async put(fields) {
      const lock = organizationLock(fields.organization_id)
      return await database.tx(lock, (session) => set(session, fields, clock.now())).finally(held.changed)
    },
    async remove(organization_id, id) {
      const sql = 'DELETE FROM usage_limits WHERE organization_id = ? AND id = ? RETURNING id'
      const rows = await database.query(sql, [organization_id, id]).finally(held.changed)
      return rows.length > 0
    },
    snapshot: held.read,
  }
}
