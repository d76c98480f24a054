import { AppError } from '../../../base/errors.ts'
import { assertOwnSessions } from './postgres/assert-own-sessions.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import type { AsLeader } from './postgres/migration-leader.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'

export interface SqlPlace extends SqliteOptions {
  /** A Postgres URL; undefined for a SQLite file. */
  url: string | undefined
  file: string
  /** Maximum number of Postgres connections; default 10. */
  connections?: number
  /** Time limit of a statement of Postgres in milliseconds; default 30,000. */
  statementTimeoutMs?: number
}

/** Time limit of a migration, which may wait for another process or rewrite a large table. */
const MIGRATION_TIMEOUT_MS = 60 * 60_000

async function migratePostgres(url: string): Promise<void> {
  const patient = openPostgres(url, { statementTimeoutMs: MIGRATION_TIMEOUT_MS })
  try {
    await migrate(patient)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error
    const reason =
      error.cause instanceof Error ? error.cause.message || error.cause.name : 'it does not answer'
    throw new AppError('store_unavailable', {
      message: `The database of DATABASE_URL cannot be used: ${reason}`,
      cause: error.cause,
    })
  } finally {
    await patient.close()
  }
}

/**
 * Opens the SQL store and runs its migrations; on Postgres within `asLeader`. @throws AppError store_unavailable when
 * Postgres cannot be reached or refuses the connection; config_invalid as `migrate`, and for a pooler that Weir cannot
 * use
 */
export async function openSql(
  { url, file, connections, ...options }: Omit<SqlPlace, 'statementTimeoutMs'>,
  asLeader?: AsLeader,
): Promise<Database> {
  if (url !== undefined) {
    await assertOwnSessions(url)
    const migrations = (): Promise<void> => migratePostgres(url)
    await (asLeader === undefined ? migrations() : asLeader('sql', migrations))
    return openPostgres(url, { ...(connections && { connections }) })
  }
  const database = openSqlite(file, options)
  try {
    await migrate(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}
