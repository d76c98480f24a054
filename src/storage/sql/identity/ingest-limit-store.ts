import type { Clock } from '../../../base/clock.ts'
import type { IngestLimit, IngestLimitStore } from '../../../usage/limits.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { holdRows } from './held-rows.ts'

/** `api_key_id` is '' for the workspace as a whole, which is therefore first in order. */
type LimitRow = IngestLimit & { api_key_id: string }

const SELECT = 'SELECT workspace_id, api_key_id, runs_per_minute, bytes_per_minute FROM ingest_limits'

function toLimit(row: LimitRow): IngestLimit {
  return { ...row, api_key_id: row.api_key_id === '' ? null : row.api_key_id }
}

/** Sets the only limit of that workspace or key; one without numbers is removed. */
export async function putIngestLimit(session: SqlSession, limit: IngestLimit): Promise<void> {
  const { workspace_id, api_key_id, runs_per_minute, bytes_per_minute } = limit
  const key = [workspace_id, api_key_id ?? '']
  if (runs_per_minute === null && bytes_per_minute === null) {
    await session.query('DELETE FROM ingest_limits WHERE workspace_id = ? AND api_key_id = ?', key)
    return
  }
  await session.query(
    `INSERT INTO ingest_limits (workspace_id, api_key_id, runs_per_minute, bytes_per_minute) VALUES (?, ?, ?, ?)
     ON CONFLICT (workspace_id, api_key_id) DO UPDATE
     SET runs_per_minute = excluded.runs_per_minute, bytes_per_minute = excluded.bytes_per_minute`,
    [...key, runs_per_minute, bytes_per_minute],
  )
}

/** Limits of ingest in a SQL database that has been migrated. */
export function createIngestLimitStore(database: Database, clock: Clock): IngestLimitStore {
  const held = holdRows(async () => {
    const rows = await database.query<LimitRow>(`${SELECT} ORDER BY workspace_id, api_key_id`)
    return Map.groupBy(rows.map(toLimit), ({ workspace_id }) => workspace_id)
  }, clock)
  return {
    async list(workspace_id) {
      const sql = `${SELECT} WHERE workspace_id = ? ORDER BY api_key_id`
      return (await database.query<LimitRow>(sql, [workspace_id])).map(toLimit)
    },
    put: (limit) => putIngestLimit(database, limit).finally(held.changed),
    snapshot: held.read,
  }
}
