import { randomBytes } from 'node:crypto'
import { createLogger } from '../../../../src/base/log.ts'
import { type ClickHouse, connectClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../../../src/storage/clickhouse/migrate.ts'
import { shared } from '../../servers/shared.ts'

/** A database with Weir's tables, all empty, in the ClickHouse that all test files share. */
export async function migratedDatabase(): Promise<{ db: ClickHouse; drop: () => Promise<void> }> {
  const database = `t${randomBytes(6).toString('hex')}`
  const db = connectClickHouse({ ...(await shared('/clickhouse')), database })
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  return {
    db,
    async drop() {
      await db.command(`DROP DATABASE ${database}`)
      await db.close()
    },
  }
}
