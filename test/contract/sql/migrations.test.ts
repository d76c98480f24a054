import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate, MIGRATIONS_DIR } from '../../../src/storage/sql/driver/migrate.ts'
import { RUN_MIGRATIONS } from '../../../src/storage/sql/driver/open-run-database.ts'
import { openPostgres } from '../../../src/storage/sql/driver/postgres.ts'
import { migrationLeader } from '../../../src/storage/sql/driver/postgres/migration-leader.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { eventually } from '../../support/eventually.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { newFolder } from '../../support/folder.ts'

const CLICKHOUSE_MIGRATIONS = new URL('../../../src/storage/clickhouse/migrations/', import.meta.url)
/**
 * For each database, the number of the first migration with which the statements of the release before must still work.
 */
const FIRST_BESIDE = { sql: 17, runs: 15, clickhouse: 16 }

interface Column {
  name: string
  type: string
  notnull: number
  dflt_value: string | null
}

/** The columns and unique indexes of each table. */
async function schemaOf(database: Database): Promise<Map<string, { columns: Column[]; unique: string[] }>> {
  const tables = await database.query<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  const schema = new Map<string, { columns: Column[]; unique: string[] }>()
  for (const { name } of tables) {
    const columns = await database.query<Column>(
      `SELECT name, type, "notnull", dflt_value FROM pragma_table_info('${name}')`,
    )
    const unique = await database.query<{ name: string }>(
      `SELECT name FROM pragma_index_list('${name}') WHERE "unique" = 1`,
    )
    schema.set(name, { columns, unique: unique.map((index) => index.name) })
  }
  return schema
}

/** Lists the changes of a migration that break the statements of the release before. */
function breaks(
  before: Awaited<ReturnType<typeof schemaOf>>,
  after: Awaited<ReturnType<typeof schemaOf>>,
): string[] {
  return [...before].flatMap(([table, { columns, unique }]) => {
    const next = after.get(table)
    if (next === undefined) return [`${table} is gone`]
    const kept = new Map(next.columns.map((column) => [column.name, column]))
    const known = new Set(columns.map(({ name }) => name))
    return [
      ...columns.flatMap((column) =>
        JSON.stringify(kept.get(column.name)) === JSON.stringify(column)
          ? []
          : [`${table}.${column.name} is another one or gone`],
      ),
      ...next.columns.flatMap(({ name, notnull, dflt_value }) =>
        known.has(name) || notnull === 0 || dflt_value !== null ? [] : [`${table}.${name} needs a value`],
      ),
      ...next.unique.flatMap((name) =>
        unique.includes(name) ? [] : [`${table} has the unique index ${name}`],
      ),
    ]
  })
}

const isContract = (text: string): boolean => /^-- contract: \d+$/m.test(text)

async function textsFrom(
  dir: URL,
  first: number,
): Promise<{ version: number; name: string; text: string }[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  const texts = files.map(async (name, at) => ({
    version: at + 1,
    name,
    text: await readFile(new URL(name, dir), 'utf8'),
  }))
  return (await Promise.all(texts)).filter(({ version }) => version >= first)
}

describe('the release before works on the tables of this one', () => {
  it.each([
    ['sql', MIGRATIONS_DIR, FIRST_BESIDE.sql],
    ['runs', RUN_MIGRATIONS, FIRST_BESIDE.runs],
  ] as const)(
    '%s: migrations only add what may be left out, or name their contract',
    async (_, dir, first) => {
      const database = openSqlite(':memory:')
      await migrate(database, dir, first - 1)
      for (const { version, name, text } of await textsFrom(dir, first)) {
        const before = await schemaOf(database)
        await migrate(database, dir, version)
        if (!isContract(text)) expect([name, ...breaks(before, await schemaOf(database))]).toEqual([name])
      }
      await database.close()
    },
  )

  it('clickhouse: the same', async () => {
    for (const { name, text } of await textsFrom(CLICKHOUSE_MIGRATIONS, FIRST_BESIDE.clickhouse)) {
      // A read without an index finds the same rows.
      const harmful = /\b(DROP(?! INDEX)|RENAME|MODIFY COLUMN|DELETE|TRUNCATE)\b/.exec(text)?.[0]
      if (!isContract(text)) expect([name, harmful]).toEqual([name, undefined])
    }
  })

  it('statements name their columns, so that they mean the same when there are more', async () => {
    const root = fileURLToPath(new URL('../../../src/storage/sql/', import.meta.url))
    const files = (await readdir(root, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file))
    const stars = await Promise.all(
      files.map(async (file) => {
        const text = await readFile(join(root, file), 'utf8')
        return /(SELECT|RETURNING) \*|INSERT INTO \w+ VALUES/.test(text) ? [file] : []
      }),
    )
    expect(stars.flat()).toEqual([])
  })

  it('finds each change that breaks it', async () => {
    const database = openSqlite(':memory:')
    await database.query('CREATE TABLE a (n INTEGER, m TEXT)')
    await database.query('CREATE TABLE b (n INTEGER)')
    const before = await schemaOf(database)
    await database.query('ALTER TABLE a DROP COLUMN m')
    await database.query("ALTER TABLE a ADD COLUMN l TEXT NOT NULL DEFAULT ''")
    await database.query('CREATE UNIQUE INDEX a_n ON a (n)')
    await database.query('DROP TABLE b')
    expect(breaks(before, await schemaOf(database))).toEqual([
      'a.m is another one or gone',
      'a has the unique index a_n',
      'b is gone',
    ])
    await database.close()
  })
})

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`migrations of servers that share a Postgres${reason}`, () => {
  const databases = postgresDatabases()
  let url: string
  let dir: string
  beforeEach(async () => {
    url = await databases.take()
    dir = await newFolder()
  })
  afterEach(async () => {
    databases.giveBack(url)
  })
  const stopping = new AbortController().signal
  const file = (name: string, text: string): Promise<void> => writeFile(join(dir, name), text)

  it('of a newer release are accepted, until one names a contract that this one does not fulfil', async () => {
    const migrations = pathToFileURL(`${dir}/`)
    const database = openPostgres(url)
    try {
      await file('0001_a.sql', 'CREATE TABLE a (n INTEGER);\n')
      await file('0002_b.sql', 'ALTER TABLE a ADD COLUMN m INTEGER;\n')
      await migrate(database, migrations)
      await rm(join(dir, '0002_b.sql'))
      expect(await migrate(database, migrations)).toBe(0)
      await file('0002_b.sql', 'ALTER TABLE a ADD COLUMN m INTEGER;\n')
      await file('0003_c.sql', '-- contract: 2\nALTER TABLE a DROP COLUMN n;\n')
      await migrate(database, migrations)
      await rm(join(dir, '0003_c.sql'))
      expect(await migrate(database, migrations)).toBe(0)
      await rm(join(dir, '0002_b.sql'))
      await expect(migrate(database, migrations)).rejects.toThrow('version 3, newer than this program')
    } finally {
      await database.close()
    }
  })

  it('have one leader for each store; the others log that they wait, and one of them replaces a leader that dies', async () => {
    const lines: string[] = []
    const logger = createLogger({ destination: { write: (line: string) => void lines.push(line) } })
    const [first, second] = [1, 2].map(() => migrationLeader({ url, logger, stopping }))
    const order: string[] = []
    const { promise: never } = Promise.withResolvers<void>()
    const { promise: leads, resolve: led } = Promise.withResolvers<void>()
    void first?.('clickhouse', async () => {
      order.push('first')
      led()
      await never
    }).catch(() => undefined)
    await leads
    await second?.('sql', async () => void order.push('another store'))
    const waits = second?.('clickhouse', async () => void order.push('second'))
    await eventually(async () => expect(lines.join()).toContain('another server migrates this store'))
    expect(order).toEqual(['first', 'another store'])
    const database = openPostgres(url)
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND application_name = 'weir migrations' AND datname = current_database()`,
    )
    await database.close()
    await waits
    expect(order).toEqual(['first', 'another store', 'second'])
  })

  it('are not waited for by a start that is stopped', async () => {
    const logger = createLogger({ level: 'silent' })
    const stop = new AbortController()
    const { promise: leads, resolve: led } = Promise.withResolvers<void>()
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const leader = migrationLeader({ url, logger, stopping })('sql', async () => {
      led()
      await held
    })
    await leads
    const waiting = migrationLeader({ url, logger, stopping: stop.signal })('sql', async () => undefined)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'store_unavailable' })
    release()
    await leader
  })
})
