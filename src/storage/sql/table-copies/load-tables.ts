import { chunksOf } from '../../../base/chunks.ts'
import { AppError } from '../../../base/errors.ts'
import { linesOf } from '../../../backup/lines.ts'
import type { TableLoader } from '../../../backup/stores.ts'
import type { Database, SqlValue } from '../driver/database.ts'
import { migrate } from '../driver/migrate.ts'
import { sqlName } from './names.ts'

/** Maximum number of values in one statement; SQLite allows 32,766, Postgres 65,535. */
const MAX_VALUES = 16_000

/**
 * Restores tables into a database. `place` is the name of the database in messages; `migrations` is the folder of its
 * migrations.
 */
export function createTableLoader(
  database: Database,
  { place, migrations }: { place: string; migrations: URL },
): TableLoader {
  return {
    async assertEmpty() {
      const [found] = await database.query<{ name: string }>(
        database.dialect === 'sqlite'
          ? `SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1`
          : `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(current_schema()) LIMIT 1`,
      )
      if (found !== undefined)
        throw new AppError('store_not_empty', {
          message: `${place} is not empty: it has the table ${found.name}. A backup is restored into empty stores only.`,
        })
    },
    async prepare(version) {
      await migrate(database, migrations, version)
      if (version === 0) return
      const [newest] = await database.query<{ version: number }>(
        'SELECT max(version) AS version FROM schema_migrations',
      )
      if (newest?.version !== version)
        throw new AppError('backup_unusable', {
          message: `The backup was made at version ${version} of the SQL tables, and this release knows ${newest?.version}. Use a later release.`,
        })
    },
    async load(table, columns, pieces) {
      let count = 0
      const perStatement = Math.max(1, Math.floor(MAX_VALUES / columns.length))
      const into = `INSERT INTO ${sqlName(table)} (${columns.map(sqlName).join(', ')}) VALUES`
      const places = `(${columns.map(() => '?').join(', ')})`
      for await (const piece of pieces) {
        const rows = Array.from(linesOf(piece), (line) =>
          (JSON.parse(line) as SqlValue[]).map(fractionAsText),
        )
        await database.tx('restore', async (session) => {
          for (const some of chunksOf(rows, perStatement))
            await session.query(`${into} ${some.map(() => places).join(', ')}`, some.flat())
        })
        count += rows.length
      }
      return count
    },
    close: () => database.close(),
  }
}

function fractionAsText(value: SqlValue): SqlValue {
  return typeof value === 'number' && !Number.isInteger(value) ? String(value) : value
}
