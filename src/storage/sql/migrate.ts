import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { AppError } from '../../base/errors.ts'
import type { Database } from './database.ts'

interface Migration {
  version: number
  name: string
  checksum: string
  statements: string[]
}

const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/
const MIGRATIONS_DIR = new URL('migrations/', import.meta.url)

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
    const checksum = createHash('sha256').update(text).digest('hex')
    return { version: index + 1, name, checksum, statements }
  })
  return await Promise.all(migrations)
}

/**
 * Brings the database to the newest version: runs every migration that it has not seen, each in a transaction
 * of its own. Returns how many ran.
 * @throws AppError config_invalid when a migration that ran was changed since, or the database is newer than
 * this program
 */
export async function migrate(database: Database, dir: URL = MIGRATIONS_DIR): Promise<number> {
  await database.query(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)',
  )
  const migrations = await readMigrations(dir)
  const done = await database.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM schema_migrations ORDER BY version',
  )
  for (const { version, checksum } of done) {
    const known = migrations[version - 1]
    if (known === undefined) {
      throw new AppError('config_invalid', {
        message: `The SQL database is at version ${version}, newer than this program.`,
      })
    }
    if (known.checksum !== checksum) {
      throw new AppError('config_invalid', {
        message: `SQL migration ${version} (${known.name}) was changed after it ran.`,
      })
    }
  }
  const pending = migrations.slice(done.length)
  for (const { version, name, checksum, statements } of pending) {
    await database.tx(async (session) => {
      for (const statement of statements) await session.query(statement)
      await session.query('INSERT INTO schema_migrations (version, name, checksum) VALUES (?, ?, ?)', [
        version,
        name,
        checksum,
      ])
    })
  }
  return pending.length
}
