import { chunksOf } from '../../../base/chunks.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DeletionStore } from '../../../ingest/deletion/deletion-store.ts'
import type { Database } from '../driver/database.ts'
import { createJobTable } from '../job-table.ts'

/** Maximum time until a deletion by another process is noticed. */
const MAX_AGE_MS = 1_000
/** Maximum number of values in one statement. */
const SLICE = 500
const BLOBS = 1_000
const JOBS_KEPT_MS = 7 * 24 * 3_600_000

function marks(values: readonly unknown[], mark = '?'): string {
  return values.map(() => mark).join(', ')
}

/** The ids that are refused because their data was deleted. The result of `any` is cached for MAX_AGE_MS. */
function deletedIds(
  database: Database,
  clock: Clock,
): Pick<DeletionStore, 'any' | 'among' | 'refuse' | 'forget'> {
  const known = new Map<string, { any: boolean; until: number }>()
  const look = async (workspace_id: string): Promise<boolean> => {
    const until = clock.steady() + MAX_AGE_MS
    const sql = 'SELECT 1 FROM deleted_ids WHERE workspace_id = ? AND expires_at > ? LIMIT 1'
    const any = (await database.query(sql, [workspace_id, clock.now()])).length > 0
    known.set(workspace_id, { any, until })
    return any
  }
  return {
    any(workspace_id) {
      const found = known.get(workspace_id)
      return found !== undefined && clock.steady() < found.until ? found.any : look(workspace_id)
    },
    async among(workspace_id, ids) {
      const found = new Set<string>()
      for (const some of chunksOf(ids, SLICE)) {
        const rows = await database.query<{ id: string }>(
          `SELECT id FROM deleted_ids WHERE workspace_id = ? AND expires_at > ? AND id IN (${marks(some)})`,
          [workspace_id, clock.now(), ...some],
        )
        for (const { id } of rows) found.add(id)
      }
      return found
    },
    async refuse(workspace_id, ids, expires_at) {
      for (const some of chunksOf(ids, SLICE)) {
        await database.query(
          `INSERT INTO deleted_ids (workspace_id, id, expires_at) VALUES ${marks(some, '(?, ?, ?)')}
           ON CONFLICT (workspace_id, id) DO UPDATE SET expires_at = excluded.expires_at`,
          some.flatMap((id) => [workspace_id, id, expires_at]),
        )
      }
      known.set(workspace_id, { any: true, until: clock.steady() + MAX_AGE_MS })
    },
    async forget(now) {
      await database.query('DELETE FROM deleted_ids WHERE expires_at <= ?', [now])
      await database.query('DELETE FROM deletion_jobs WHERE finished_at <= ?', [now - JOBS_KEPT_MS])
    },
  }
}

function blobs(database: Database): Pick<DeletionStore, 'noteBlobs' | 'notedBlobs' | 'forgetBlobs'> {
  return {
    async noteBlobs(sha256s, time) {
      for (const some of chunksOf(sha256s, SLICE))
        await database.query(
          `INSERT INTO unused_blobs (sha256, noted_at) VALUES ${marks(some, '(?, ?)')}
           ON CONFLICT (sha256) DO UPDATE SET noted_at = excluded.noted_at`,
          some.flatMap((sha256) => [sha256, time]),
        )
    },
    async notedBlobs(until) {
      const rows = await database.query<{ sha256: string }>(
        `SELECT sha256 FROM unused_blobs WHERE noted_at <= ? ORDER BY noted_at LIMIT ${BLOBS}`,
        [until],
      )
      return rows.map(({ sha256 }) => sha256)
    },
    async forgetBlobs(sha256s, until) {
      for (const some of chunksOf(sha256s, SLICE))
        await database.query(`DELETE FROM unused_blobs WHERE noted_at <= ? AND sha256 IN (${marks(some)})`, [
          until,
          ...some,
        ])
    },
  }
}

/** Deletions in a SQL database that has been migrated. */
export function createDeletionStore(database: Database, clock: Clock): DeletionStore {
  return {
    ...deletedIds(database, clock),
    ...createJobTable(database, {
      table: 'deletion_jobs',
      columns: ['workspace_id', 'id', 'scope', 'status', 'deleted', 'error', 'created_at', 'finished_at'],
      json: ['scope'],
      max_waiting: 1_000,
      too_many: 'Too many deletions wait. Try again later.',
    }),
    ...blobs(database),
    expiring: () =>
      database.query(
        `SELECT workspace_id, id AS project_id, retention_days AS days FROM projects
         WHERE retention_days > 0 ORDER BY workspace_id, id`,
      ),
  }
}
