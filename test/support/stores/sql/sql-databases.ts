import { afterEach, describe } from 'vitest'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../../src/storage/sql/driver/migrate.ts'
import { RUN_MIGRATIONS } from '../../../../src/storage/sql/driver/open-run-database.ts'
import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { openSqlite } from '../../../../src/storage/sql/driver/sqlite.ts'
import { inLong } from '../../length.ts'
import { postgresDatabases } from './postgres-databases.ts'
import { withoutPostgres } from './postgres.ts'

/** Databases of one engine for one test; all are closed after it. */
export interface SqlEngine {
  readonly name: 'SQLite' | 'Postgres'
  /** An empty database. */
  open(): Promise<Database>
  /** A database with the tables of the platform. */
  openPlatform(): Promise<Database>
  /** A database with the tables of runs. */
  openRuns(): Promise<Database>
  /** Opens the newest database again, as another process would; SQLite allows only one process here. */
  openAgain(): Promise<Database>
}

type Openings = Pick<SqlEngine, 'open' | 'openAgain'>

function withTables({ open, openAgain }: Openings): Omit<SqlEngine, 'name'> {
  const openWith = async (migrations?: URL): Promise<Database> => {
    const database = await open()
    await migrate(database, migrations)
    return database
  }
  return { open, openAgain, openPlatform: () => openWith(), openRuns: () => openWith(RUN_MIGRATIONS) }
}

function closeAfterEach(opened: Set<Database>): void {
  afterEach(async () => {
    const databases = [...opened]
    opened.clear()
    await Promise.all(databases.map((database) => database.close()))
  })
}

function createSqliteEngine(): SqlEngine {
  const opened = new Set<Database>()
  closeAfterEach(opened)
  let last: Database | undefined
  const open = async (): Promise<Database> => {
    last = openSqlite(':memory:')
    opened.add(last)
    return last
  }
  return { name: 'SQLite', ...withTables({ open, openAgain: async () => last ?? (await open()) }) }
}

function createPostgresEngine(): SqlEngine {
  const opened = new Set<Database>()
  const databases = postgresDatabases()
  const taken: string[] = []
  afterEach(() => {
    for (const url of taken.splice(0)) databases.giveBack(url)
  })
  closeAfterEach(opened)
  let url = ''
  const openAgain = async (): Promise<Database> => {
    const database = openPostgres(url)
    opened.add(database)
    return database
  }
  const open = async (): Promise<Database> => {
    url = await databases.take()
    taken.push(url)
    return await openAgain()
  }
  return { name: 'Postgres', ...withTables({ open, openAgain }) }
}

/** Registers the tests of `body` for SQLite alone. */
export function describeOnSqlite(title: string, body: (engine: SqlEngine) => void): void {
  describe(`${title} on SQLite`, () => body(createSqliteEngine()))
}

/**
 * Registers the tests of `body` for SQLite and Postgres. The tests for Postgres run only in `npm run test:long`, and
 * are skipped if Postgres is not installed.
 */
export function describeOnSql(title: string, body: (engine: SqlEngine) => void): void {
  describe(`${title} on SQLite`, () => body(createSqliteEngine()))
  inLong(() => {
    const reason = withoutPostgres()
    describe.skipIf(reason !== '')(`${title} on Postgres${reason}`, () => body(createPostgresEngine()))
  })
}
