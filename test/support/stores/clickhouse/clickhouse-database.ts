import { randomBytes } from 'node:crypto'
import { createLogger } from '../../../../src/base/log.ts'
import { type Layout, SINGLE } from '../../../../src/storage/clickhouse/cluster/layout.ts'
import { type ClickHouse, connectClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../../../src/storage/clickhouse/migrate.ts'
import { type Shared, shared } from '../../servers/shared.ts'
import { isOnShards, TWO_SHARDS } from './two-shards/two-shards.ts'

const MODEL = 'model_of_tests'

/**
 * Migrates a database of the engine. Returns statements that create the same tables in another database: half as many
 * statements as the migrations have.
 */
export async function makeModelTables(
  engine: Shared['/clickhouse'],
  layout: Layout = SINGLE,
): Promise<string[]> {
  const db = connectClickHouse({ ...engine, database: MODEL, layout })
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  const tables = await db.rows<{ made_by: string }>(
    `SELECT create_table_query AS made_by FROM system.tables WHERE database = '${MODEL}'
     ORDER BY engine = 'MaterializedView', name`,
  )
  await db.close()
  return [
    ...tables.map(({ made_by }) => made_by.replaceAll(`${MODEL}.`, '')),
    `INSERT INTO schema_migrations SELECT * FROM ${MODEL}.schema_migrations`,
  ]
}

interface TestDatabase {
  db: ClickHouse
  drop: () => Promise<void>
}

/** A database with Weir's tables, all empty, in the ClickHouse that all test files share. */
export async function migratedDatabase(): Promise<TestDatabase> {
  const made = await newDatabase()
  await made.db.createDatabase()
  for (const statement of await shared(isOnShards() ? '/two-shards/tables' : '/clickhouse/tables'))
    await made.db.command(statement.replaceAll(`'${MODEL}'`, `'${made.db.database}'`))
  return made
}

/** A connection to that ClickHouse with a database that does not exist yet. */
export async function newDatabase(): Promise<TestDatabase> {
  const database = `t${randomBytes(6).toString('hex')}`
  const place = isOnShards()
    ? { ...(await shared('/two-shards')), layout: TWO_SHARDS }
    : await shared('/clickhouse')
  const db = connectClickHouse({ ...place, database })
  return {
    db,
    async drop() {
      await db.command(`DROP DATABASE ${database}`)
      await db.close()
    },
  }
}
