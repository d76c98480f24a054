import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { wholeLines } from '../../../src/backup/lines.ts'
import type { TableReader } from '../../../src/backup/stores.ts'
import {
  COPIED_TABLES,
  createClickHouseLoader,
  readClickHouseTables,
  VIEWED_TABLES,
} from '../../../src/storage/clickhouse/backup/table-copies.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createdTables, MIGRATIONS_DIR, migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { RUN_MIGRATIONS } from '../../../src/storage/sql/driver/open-run-database.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { createTableLoader } from '../../../src/storage/sql/table-copies/load-tables.ts'
import { readPostgresTables } from '../../../src/storage/sql/table-copies/postgres-reader.ts'
import { LEFT_OUT } from '../../../src/storage/sql/table-copies/names.ts'
import { readSqliteTables } from '../../../src/storage/sql/table-copies/sqlite-reader.ts'
import { migratedDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

interface Store {
  database: Database
  read(): Promise<TableReader>
}

const VERSION = 12
const MB = 1 << 20

async function sqliteStore(): Promise<Store> {
  const { dir, remove } = await temporaryDir()
  const file = join(dir, 'weir.db')
  const database = openSqlite(file)
  onTestFinished(async () => {
    await database.close()
    await remove()
  })
  return { database, read: () => Promise.resolve(readSqliteTables(file)) }
}

const databases = postgresDatabases()

async function postgresStore(): Promise<Store> {
  const url = await databases.take()
  const database = openPostgres(url)
  onTestFinished(async () => {
    await database.close()
    databases.giveBack(url)
  })
  return { database, read: () => readPostgresTables(url, MIGRATIONS_DIR) }
}

const withPostgres = withoutPostgres() === ''
const ENGINES: Record<string, () => Promise<Store>> = {
  SQLite: sqliteStore,
  ...(withPostgres && { Postgres: postgresStore }),
}
const PAIRS = Object.keys(ENGINES).flatMap((from) => Object.keys(ENGINES).map((to) => [from, to] as const))

const loaderOf = ({ database }: Store) =>
  createTableLoader(database, { place: 'The database', migrations: MIGRATIONS_DIR })

/** Rows that refer to each other, with texts of some megabytes, nulls and every kind of character. */
async function fill({ database }: Store): Promise<void> {
  await migrate(database, MIGRATIONS_DIR, VERSION)
  await database.query(`INSERT INTO organizations VALUES ('o', 'O "1" \\ \t', 1)`)
  await database.query(
    `INSERT INTO workspaces (id, organization_id, display_name, created_at, deleted_at) VALUES ('w', 'o', ?, 2, NULL)`,
    ['ü\u2028\n\u0001'],
  )
  for (let i = 0; i < 12; i++)
    await database.query(
      'INSERT INTO deployment_logs (deployment_id, at_us, kind, level, message, bytes) VALUES (?, ?, ?, ?, ?, ?)',
      ['d', 2 ** 52 + i, 'k', 'INFO', 'x'.repeat(i === 5 ? 6 * MB : i * 1000), i],
    )
  for (let i = 0; i < 1500; i++)
    await database.query('INSERT INTO deleted_ids VALUES (?, ?, ?)', ['w', `id-${i}`, i])
}

async function rowsOf({ database }: Store, table: string, order: string): Promise<unknown[]> {
  return await database.query(`SELECT * FROM ${table} ORDER BY ${order}`)
}

describe.each(PAIRS)('tables that are copied from %s to %s', (from, to) => {
  it('are equal, in the older version that they had', async () => {
    const [source, target] = [await ENGINES[from]!(), await ENGINES[to]!()]
    await fill(source)
    const reader = await source.read()
    // This row is not in the backup, because the reader reads the state of one moment.
    await source.database.query(`INSERT INTO deleted_ids VALUES ('w', 'later', 1)`)
    expect(reader.version).toBe(VERSION)
    const loader = loaderOf(target)
    await loader.assertEmpty()
    await loader.prepare(reader.version)
    for (const table of reader.tables) {
      const { columns, lines } = await reader.read(table)
      await loader.load(table, columns, wholeLines(lines, { size: 100_000, max_line: 1 << 30 }))
    }
    await reader.close()
    await source.database.query(`DELETE FROM deleted_ids WHERE id = 'later'`)
    for (const [table, order] of [
      ['organizations', 'id'],
      ['workspaces', 'id'],
      ['deployment_logs', 'at_us'],
      ['deleted_ids', 'expires_at'],
      ['schema_migrations', 'version'],
    ] as const)
      expect(await rowsOf(target, table, order), table).toEqual(await rowsOf(source, table, order))
    await expect(loader.assertEmpty()).rejects.toMatchObject({ code: 'store_not_empty' })
    expect(await migrate(target.database)).toBeGreaterThan(0)
  })
})

describe('the tables of migrations', () => {
  it.each([MIGRATIONS_DIR, RUN_MIGRATIONS])('are all those of a database: %s', async (dir) => {
    const { database, read } = await sqliteStore()
    await migrate(database, dir)
    const { names, version } = await createdTables(dir)
    const reader = await read()
    expect(reader.version).toBe(version)
    expect([...names].filter((name) => !LEFT_OUT.includes(name)).sort()).toEqual([...reader.tables].sort())
    await reader.close()
  })

  it.skipIf(!withPostgres)(
    'are the only ones that are read of a database of other programs too',
    async () => {
      const { database, read } = await postgresStore()
      await migrate(database, MIGRATIONS_DIR)
      await database.query('CREATE TABLE "Of others" (n INTEGER)')
      const reader = await read()
      await reader.close()
      await database.query('DROP TABLE "Of others"')
      expect(reader.tables).toContain('organizations')
      expect(reader.tables).not.toContain('Of others')
      await database.query("INSERT INTO schema_migrations VALUES (9999, 'later', '')")
      await expect(read()).rejects.toMatchObject({ code: 'backup_unusable' })
    },
  )
})

describe('a table loader', () => {
  it('refuses the version of a later release', async () => {
    await expect(loaderOf(await sqliteStore()).prepare(9999)).rejects.toMatchObject({
      code: 'backup_unusable',
    })
  })
})

describe('the tables of ClickHouse', () => {
  it('are all copied, or filled by views from those that are, but for ids of running deletions', async () => {
    const { db, drop } = await migratedDatabase()
    onTestFinished(drop)
    const tables = await db.rows<{ name: string; engine: string }>(
      'SELECT name, engine FROM system.tables WHERE database = currentDatabase()',
    )
    // A deletion that a backup interrupts begins again in the restored store, and hidden fragments are not copied.
    const notCopied = ['schema_migrations', 'deleting_runs', 'hidden_fragments']
    const own = tables.filter(
      ({ engine, name }) => engine !== 'MaterializedView' && !notCopied.includes(name),
    )
    expect(own.map(({ name }) => name).sort()).toEqual([...COPIED_TABLES, ...VIEWED_TABLES].sort())
    const loader = createClickHouseLoader(db, { place: 'It', logger: createLogger({ level: 'silent' }) })
    await expect(loader.assertEmpty()).rejects.toMatchObject({ code: 'store_not_empty' })
  })

  it('are read without what is recorded as done only after the rows of runs were read', async () => {
    const { db, drop } = await migratedDatabase()
    onTestFinished(drop)
    const reader = await readClickHouseTables(db)
    const copies: Record<string, string> = {}
    for (const table of reader.tables) {
      if (table === 'runs') {
        await db.command(`INSERT INTO repairs (name) SELECT 'done meanwhile'`)
        await db.command(
          `INSERT INTO waiting_children (workspace_id, parent_run_id, run_id, resolved)
            SELECT generateUUIDv4(), generateUUIDv4(), generateUUIDv4(), 1`,
        )
      }
      copies[table] = Buffer.concat(await collected((await reader.read(table)).lines)).toString()
    }
    expect(copies).toMatchObject({ repairs: '', waiting_children: '' })
  })

  it('keep every byte, and a read that fails is no whole table', async () => {
    const { db, drop } = await migratedDatabase()
    onTestFinished(drop)
    const text = `concat('a\\tb\\\\n\\n', char(255), char(0))`
    const row = (n: number): string =>
      `generateUUIDv4(), toUUID('00000000-0000-0000-0000-00000000000${n}'), generateUUIDv4(), now64(3), ${text}`
    for (const n of [1, 2, 3])
      await db.command(
        `INSERT INTO feedback (workspace_id, run_id, feedback_id, received_at, body) SELECT ${row(n)}`,
      )
    const all = (): Promise<unknown[]> =>
      db.rows(`SELECT *, hex(body) AS bytes FROM feedback ORDER BY run_id`)
    const before = await all()
    const { columns, lines } = await (await readClickHouseTables(db)).read('feedback')
    const pieces = await collected(wholeLines(lines, { size: 1, max_line: 1 << 30 }))
    await db.command('DELETE FROM feedback WHERE 1')
    const loader = createClickHouseLoader(db, { place: 'It', logger: createLogger({ level: 'silent' }) })
    expect(await loader.load('feedback', columns, toStream(pieces))).toBe(3)
    expect(await all()).toEqual(before)
    const failing = await (
      await readClickHouseTables({
        ...db,
        lines: () => db.lines('SELECT throwIf(number = 3000000), 1, 2, 3, 4, 5 FROM numbers(4000000)'),
      })
    ).read('feedback')
    await expect(collected(failing.lines)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

async function* toStream(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}
