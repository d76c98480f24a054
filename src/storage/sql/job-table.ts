import { AppError } from '../../base/errors.ts'
import type { Job, JobStore } from '../../ingest/jobs.ts'
import type { Database, SqlValue } from './driver/database.ts'

interface JobTable<J extends Job> {
  table: string
  columns: readonly (keyof J & string)[]
  /** The columns whose values are stored as JSON; null is NULL. */
  json: readonly (keyof J & string)[]
  /** Maximum number of unfinished jobs, of all workspaces together, and the error above it. */
  max_waiting: number
  too_many: string
}

const UNFINISHED = `status IN ('queued', 'running')`

/** Jobs in a table whose columns have the names of their fields. */
export function createJobTable<J extends Job>(
  database: Database,
  { table, columns, json, max_waiting, too_many }: JobTable<J>,
): JobStore<J> {
  const select = `SELECT ${columns.join(', ')} FROM ${table}`
  const toValue = (job: J, column: keyof J & string): SqlValue => {
    const value = job[column] as unknown
    if (value === null || typeof value === 'string' || Number.isInteger(value)) return value as SqlValue
    return json.includes(column) ? JSON.stringify(value) : String(value)
  }
  const toValues = (job: J): SqlValue[] => columns.map((column) => toValue(job, column))
  const toJob = (row: J): J => {
    const parsed = json.map((column) => [column, JSON.parse(String(row[column]))])
    return { ...row, ...Object.fromEntries(parsed) }
  }
  const listeners: (() => void)[] = []
  return {
    onAdded: (listener) => void listeners.push(listener),
    async add(job) {
      await database.tx(table, async (session) => {
        const [waiting] = await session.query<{ n: number }>(
          `SELECT count(*) AS n FROM ${table} WHERE ${UNFINISHED}`,
        )
        if ((waiting?.n ?? 0) >= max_waiting) throw new AppError('conflict', { message: too_many })
        const marks = columns.map(() => '?').join(', ')
        await session.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, toValues(job))
      })
      for (const listener of listeners) listener()
    },
    async save(job) {
      const sets = columns.map((column) => `${column} = ?`).join(', ')
      await database.query(`UPDATE ${table} SET ${sets} WHERE id = ? AND ${UNFINISHED}`, [
        ...toValues(job),
        job.id,
      ])
    },
    async get(workspace_id, id) {
      const rows = await database.query<J>(`${select} WHERE workspace_id = ? AND id = ?`, [workspace_id, id])
      return rows.map(toJob)[0]
    },
    async unfinished() {
      const rows = await database.query<J>(
        `${select} WHERE ${UNFINISHED} ORDER BY created_at, id LIMIT ${max_waiting}`,
      )
      return rows.map(toJob)
    },
  }
}
