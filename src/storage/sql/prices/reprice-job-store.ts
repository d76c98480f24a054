import type { RepriceJob, RepriceJobStore } from '../../../ingest/prices/reprice-jobs.ts'
import type { Database, SqlValue } from '../driver/database.ts'

interface JobRow extends Omit<RepriceJob, 'project_ids' | 'position'> {
  project_ids: string | null
  position: string | null
}

const COLUMNS = [
  'workspace_id',
  'id',
  'status',
  'start_time',
  'end_time',
  'project_ids',
  'position',
  'progress',
  'examined',
  'changed',
  'error',
  'created_at',
  'finished_at',
] as const
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM reprice_jobs`
const UNFINISHED = `status IN ('queued', 'running')`
const ORDER = 'ORDER BY created_at, id'

function toJob(row: JobRow): RepriceJob {
  return {
    ...row,
    project_ids: row.project_ids === null ? null : (JSON.parse(row.project_ids) as string[]),
    position: row.position === null ? null : (JSON.parse(row.position) as RepriceJob['position']),
  }
}

function toValues(job: RepriceJob): SqlValue[] {
  const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
  const row = {
    ...job,
    project_ids: json(job.project_ids),
    position: json(job.position),
    progress: String(job.progress),
  }
  return COLUMNS.map((column) => row[column])
}

/** Reprice jobs in a SQL database that has been migrated. */
export function createRepriceJobStore(database: Database): RepriceJobStore {
  return {
    async add(job) {
      const places = COLUMNS.map(() => '?').join(', ')
      await database.query(
        `INSERT INTO reprice_jobs (${COLUMNS.join(', ')}) VALUES (${places})`,
        toValues(job),
      )
    },
    async save(job) {
      const sets = COLUMNS.map((column) => `${column} = ?`).join(', ')
      await database.query(`UPDATE reprice_jobs SET ${sets} WHERE id = ? AND ${UNFINISHED}`, [
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
      const rows = await database.query<JobRow>(`${SELECT} WHERE ${UNFINISHED} ${ORDER}`)
      return rows.map(toJob)
    },
  }
}
