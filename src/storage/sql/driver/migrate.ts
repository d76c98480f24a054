import { readdir, readFile } from 'node:fs/promises'
import { AppError } from '../../../base/errors.ts'
import { migrationChecksum, worksAfter } from '../../migration-checksum.ts'
import type { Database, SqlSession } from './database.ts'

interface Migration {
  version: number
  name: string
  checksum: string
  statements: string[]
}

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/
/** The migrations of the database of identity, projects and prices. */
export const MIGRATIONS_DIR = new URL('../migrations/', import.meta.url)

async function readMigrations(dir: URL): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  const migrations = files.map(async (file, index) => {
    const [, digits, name] = FILE_NAME.exec(file) ?? []
    if (name === undefined || Number(digits) !== index + 1) {
      throw new TypeError(`migration ${file}: expected the number ${index + 1} as four digits`)
    }
    const text = await readFile(new URL(file, dir), 'utf8')
    const statements = text
      .split(/;\s*\n/)
      .map((part) => part.trim())
      .filter((part) => part !== '')
    return { version: index + 1, name, checksum: migrationChecksum(text), statements }
  })
  return await Promise.all(migrations)
}

/**
 * Checks the migrations that the database has run. `shared`: servers of a newer release may use the database. @throws
 * AppError config_invalid if a migration was changed, or if this program cannot work with the migrations of a newer
 * release
 */
function checkDone(
  done: readonly { version: number; checksum: string }[],
  known: readonly Migration[],
  shared: boolean,
): void {
  const further = done.slice(known.length)
  if (further.length > 0 && !(shared && worksAfter(further, known.length))) {
    throw new AppError('config_invalid', {
      message: `The SQL database is at version ${done.length}, newer than this program.`,
    })
  }
  for (const { version, checksum } of done) {
    const migration = known[version - 1]
    if (migration === undefined) return
    if (migration.checksum !== checksum) {
      throw new AppError('config_invalid', {
        message: `SQL migration ${version} (${migration.name}) was changed after it ran.`,
      })
    }
  }
}

/** Runs the first migration that has not run yet; returns false if there is none. */
async function runNext(
  session: SqlSession,
  migrations: readonly Migration[],
  { last, shared }: { last: number; shared: boolean },
): Promise<boolean> {
  await session.query(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)',
  )
  const done = await session.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM schema_migrations ORDER BY version',
  )
  checkDone(done, migrations, shared)
  const next = migrations[done.length]
  if (next === undefined || next.version > last) return false
  for (const statement of next.statements) await session.query(statement)
  await session.query('INSERT INTO schema_migrations (version, name, checksum) VALUES (?, ?, ?)', [
    next.version,
    next.name,
    next.checksum,
  ])
  return true
}

/**
 * Runs every missing migration, each in a transaction of its own; several processes may do this at once. Returns how
 * many migrations this call ran. `last` is the last version to run; default: the newest. A Postgres database that a
 * newer release has migrated stays as it is, as long as this program can work beside that release.
 * @throws AppError config_invalid when a migration that ran was changed since, or the database is newer than this
 * program
 */
export async function migrate(
  database: Database,
  dir: URL = MIGRATIONS_DIR,
  last: number = Number.POSITIVE_INFINITY,
): Promise<number> {
  const migrations = await readMigrations(dir)
  let count = 0
  const rules = { last, shared: database.dialect === 'postgres' }
  while (await database.tx('migrations', (session) => runNext(session, migrations, rules))) count++
  return count
}

/** The tables that the migrations of a folder create, and the number of the last one. */
export async function createdTables(dir: URL): Promise<{ names: ReadonlySet<string>; version: number }> {
  const migrations = await readMigrations(dir)
  const statements = migrations.flatMap((migration) => migration.statements)
  const names = statements.flatMap((sql) => /^CREATE TABLE (\w+)/m.exec(sql)?.[1] ?? [])
  return { names: new Set(names), version: migrations.length }
}
