import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { DeletionJob, DeletionScope, DeletionStore } from '../../../ingest/deletion/deletion-store.ts'
import type { Database, SqlSession, SqlValue } from '../driver/database.ts'

interface JobRow extends Omit<DeletionJob, 'scope'> {
  scope: string
}

const COLUMNS = [
  'workspace_id',
  'id',
  'scope',
  'status',
  'deleted',
  'error',
  'created_at',
  'finished_at',
] as const
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM deletion_jobs`
const UNFINISHED = `status IN ('queued', 'running')`
/** Maximum number of unfinished deletions, of all workspaces together. */
const MAX_WAITING = 1_000
/** Maximum time until a deletion by another process is noticed. */
const MAX_AGE_MS = 1_000
/** Maximum number of values in one statement. */
const SLICE = 500
const BLOBS = 1_000
const JOBS_KEPT_MS = 7 * 24 * 3_600_000

function toJob(row: JobRow): DeletionJob {
  return { ...row, scope: JSON.parse(row.scope) as DeletionScope }
}

function toValues(job: DeletionJob): SqlValue[] {
  const row: JobRow = { ...job, scope: JSON.stringify(job.scope) }
  return COLUMNS.map((column) => row[column])
}

function slices<T>(values: readonly T[]): T[][] {
  const count = Math.ceil(values.length / SLICE)
  return Array.from({ length: count }, (_, i) => values.slice(i * SLICE, (i + 1) * SLICE))
}

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
      for (const some of slices(ids)) {
        const rows = await database.query<{ id: string }>(
          `SELECT id FROM deleted_ids WHERE workspace_id = ? AND expires_at > ? AND id IN (${marks(some)})`,
          [workspace_id, clock.now(), ...some],
        )
        for (const { id } of rows) found.add(id)
      }
      return found
    },
    async refuse(workspace_id, ids, expires_at) {
      for (const some of slices(ids)) {
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

function jobs(database: Database): Pick<DeletionStore, 'add' | 'onAdded' | 'save' | 'get' | 'unfinished'> {
  const insert = (session: SqlSession, job: DeletionJob): Promise<unknown> =>
    session.query(
      `INSERT INTO deletion_jobs (${COLUMNS.join(', ')}) VALUES (${marks(COLUMNS)})`,
      toValues(job),
    )
  const listeners: (() => void)[] = []
  return {
    onAdded: (listener) => void listeners.push(listener),
    async add(job) {
      await database.tx('deletion-jobs', async (session) => {
        const [waiting] = await session.query<{ n: number }>(
          `SELECT count(*) AS n FROM deletion_jobs WHERE ${UNFINISHED}`,
        )
        if ((waiting?.n ?? 0) >= MAX_WAITING)
          throw new AppError('conflict', { message: 'Too many deletions wait. Try again later.' })
        await insert(session, job)
      })
      for (const listener of listeners) listener()
    },
    async save(job) {
      const sets = COLUMNS.map((column) => `${column} = ?`).join(', ')
      await database.query(`UPDATE deletion_jobs SET ${sets} WHERE id = ? AND ${UNFINISHED}`, [
        ...toValues(job),
        job.id,
      ])
    },
    async get(workspace_id, id) {
      const rows = await database.query<JobRow>(`${SELECT} WHERE workspace_id = ? AND id = ?`, [
        workspace_id,
        id,
      ])
      return rows.map(toJob)[0]
    },
    async unfinished() {
      const rows = await database.query<JobRow>(
        `${SELECT} WHERE ${UNFINISHED} ORDER BY created_at, id LIMIT ${MAX_WAITING}`,
      )
      return rows.map(toJob)
    },
  }
}

function blobs(database: Database): Pick<DeletionStore, 'noteBlobs' | 'notedBlobs' | 'forgetBlobs'> {
  return {
    async noteBlobs(sha256s, time) {
      for (const some of slices(sha256s))
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
      for (const some of slices(sha256s))
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
    ...jobs(database),
    ...blobs(database),
    expiring: () =>
      database.query(
        `SELECT workspace_id, id AS project_id, retention_days AS days FROM projects
         WHERE retention_days > 0 ORDER BY workspace_id, id`,
      ),
  }
}
