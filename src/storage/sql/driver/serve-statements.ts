import { AppError } from '../../../base/errors.ts'
import type { StatementTask } from './large-values.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'

/**
 * Runs in a thread for large values: executes tasks over one connection to `file`. A statement blocks the thread while
 * another connection writes.
 */
export function serveStatements(
  file: string,
  options: SqliteOptions,
): { run(task: StatementTask): Promise<unknown>; close(): Promise<void> } {
  const database = openSqlite(file, { ...options, waitMs: 5_000 })
  let open: string | undefined
  return {
    async run(task) {
      if (task.kind === 'begin') {
        await database.query('BEGIN IMMEDIATE')
        open = task.tx
        return undefined
      }
      // The transaction was begun in an earlier thread, which has ended, so it was rolled back.
      if (task.tx !== null && task.tx !== open) throw new AppError('store_unavailable')
      if (task.kind === 'query') return await database.query(task.sql, task.params)
      await database.query(task.kind === 'commit' ? 'COMMIT' : 'ROLLBACK')
      open = undefined
      return undefined
    },
    close: () => database.close(),
  }
}
