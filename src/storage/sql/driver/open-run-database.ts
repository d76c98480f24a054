import { AppError } from '../../../base/errors.ts'
import type { Database } from './database.ts'
import type { LargeValues } from './large-values.ts'
import { migrate } from './migrate.ts'
import type { AsLeader } from './postgres/migration-leader.ts'
import type { SqlPlace } from './open.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export const RUN_MIGRATIONS = new URL('../run-migrations/', import.meta.url)
/**
 * The Postgres schema of run state. It is separate from the schema of identity, because processes with user code have
 * access to run state (D-43).
 */
export const RUN_SCHEMA = 'weir_runs'
/**
 * Time limit of long statements. A migration may wait for another process or rewrite a large table, and a count may
 * read a large table.
 */
const LONG_TIMEOUT_MS = 60 * 60_000

/**
 * Number of pages of the log (80 MB) after which the server copies the log into the database. Usually a host does this
 * earlier: hosts write most, and no request waits for a host's commit.
 */
const SERVER_CHECKPOINT_PAGES = 20_000

/**
 * Adds options for every connection to `url`: the search path, and read-only transactions if `readOnly` is set. Postgres
 * compiles no statements: all are short, but the planner expects each row of a list to have a large text in pieces.
 */
export function inSchema(url: string, schema: string, readOnly = false): string {
  const [base = url, query = ''] = url.split(/\?(.*)/s)
  const params = new URLSearchParams(query)
  const options = [params.get('options') ?? '', `-c search_path=${schema}`, '-c jit=off']
  if (readOnly) options.push('-c default_transaction_read_only=on')
  params.set('options', options.join(' ').trim())
  return `${base}?${params.toString().replaceAll('+', '%20')}`
}

/**
 * Opens the run database in a graph host or a thread. Runs no migrations, because the server has run them. The database
 * is the SQLite file `place.file`, or the schema `weir_runs` of the Postgres database at `place.url`.
 */
export function connectRunDatabase(
  { url, file, connections, statementTimeoutMs, ...options }: SqlPlace,
  large?: LargeValues,
): Database {
  if (url === undefined) return openSqlite(file, options, large)
  return openPostgres(inSchema(url, RUN_SCHEMA, options.readOnly), {
    ...(connections && { connections }),
    ...(statementTimeoutMs && { statementTimeoutMs }),
  })
}

/** Runs work with long statements. On Postgres it gets a connection with the longer time limit LONG_TIMEOUT_MS. */
export async function withLongTimeout<T>(
  place: SqlPlace,
  database: Database,
  work: (patient: Database) => Promise<T>,
): Promise<T> {
  if (place.url === undefined) return await work(database)
  const patient = connectRunDatabase({ ...place, connections: 1, statementTimeoutMs: LONG_TIMEOUT_MS })
  try {
    return await work(patient)
  } finally {
    await patient.close()
  }
}

async function migratePostgres(url: string): Promise<void> {
  const patient = { statementTimeoutMs: LONG_TIMEOUT_MS }
  const outside = openPostgres(url, patient)
  const inside = openPostgres(inSchema(url, RUN_SCHEMA), patient)
  try {
    await outside.tx('migrations', (session) => session.query(`CREATE SCHEMA IF NOT EXISTS ${RUN_SCHEMA}`))
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
 * Opens the database of runs and runs its migrations; on Postgres within `asLeader`. Large values of SQLite go through
 * the threads of `large`.
 * @throws AppError store_unavailable when Postgres cannot be reached or refuses, config_invalid as in `migrate`
 */
export async function openRunDatabase(
  place: SqlPlace,
  large?: LargeValues,
  asLeader?: AsLeader,
): Promise<Database> {
  const { url } = place
  if (url !== undefined) {
    const migrations = (): Promise<void> => migratePostgres(url)
    await (asLeader === undefined ? migrations() : asLeader('runs', migrations))
    return connectRunDatabase(place)
  }
  const database = connectRunDatabase({ ...place, checkpointPages: SERVER_CHECKPOINT_PAGES }, large)
  try {
    await migrate(database, RUN_MIGRATIONS)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}
