import { AppError } from '../../base/errors.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import type { SqlPlace } from './open.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/** What a database of runs is made of. */
export const RUN_MIGRATIONS = new URL('run-migrations/', import.meta.url)
/** Run state is apart from identity, because user code runs next to it (D-43). */
const SCHEMA = 'weir_runs'
/** A migration may have to wait for another process's, or to rewrite a large table. */
const MIGRATION_TIMEOUT_MS = 60 * 60_000

/**
 * The server leaves it to its hosts, who write the most and wait for less, to move the log into the database; it does so
 * itself only when it writes alone for long (80 MB).
 */
const SERVER_CHECKPOINT_PAGES = 20_000

/** `url` with a search path of its own for every connection, and one that cannot write if that is wanted. */
export function inSchema(url: string, schema: string, readOnly = false): string {
  const [base = url, query = ''] = url.split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  const options = [params.get('options') ?? '', `-c search_path=${schema}`]
  if (readOnly) options.push('-c default_transaction_read_only=on')
  params.set('options', options.join(' ').trim())
  return `${base}?${params.toString().replaceAll('+', '%20')}`
}

/**
 * Opens the database of runs as it is: for graph hosts and threads, whose server has migrated it. `place.file` is the SQLite file of
 * runs; with `place.url` it is the schema `weir_runs` of that Postgres database.
 */
export function connectRunDatabase({ url, file, connections, ...options }: SqlPlace): Database {
  if (url === undefined) return openSqlite(file, options)
  return openPostgres(inSchema(url, SCHEMA, options.readOnly), { ...(connections && { connections }) })
}

async function migratePostgres(url: string): Promise<void> {
  const patient = { statementTimeoutMs: MIGRATION_TIMEOUT_MS }
  const outside = openPostgres(url, patient)
  const inside = openPostgres(inSchema(url, SCHEMA), patient)
  try {
    await outside.tx('migrations', (session) => session.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`))
    await migrate(inside, RUN_MIGRATIONS)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'store_unavailable') throw error
    throw new AppError('store_unavailable', {
      message: 'The database of DATABASE_URL cannot be used for runs.',
      cause: error.cause,
    })
  } finally {
    await Promise.all([outside.close(), inside.close()])
  }
}

/**
 * Opens the database of runs and brings it to the newest version.
 * @throws AppError store_unavailable when Postgres cannot be reached or refuses, config_invalid as `migrate` says
 */
export async function openRunDatabase(place: SqlPlace): Promise<Database> {
  if (place.url !== undefined) {
    await migratePostgres(place.url)
    return connectRunDatabase(place)
  }
  const database = connectRunDatabase({ ...place, checkpointPages: SERVER_CHECKPOINT_PAGES })
  try {
    await migrate(database, RUN_MIGRATIONS)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}
