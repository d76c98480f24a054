import { createLogger } from '../../src/base/log.ts'
import type { UsageStore } from '../../src/ingest/usage-recorder.ts'
import { USAGE_COLUMNS } from '../../src/ingest/stored-columns.ts'
import { type ClickHouse, connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../src/storage/clickhouse/migrate.ts'
import { createUsageRollups } from '../../src/storage/clickhouse/usage-rollups.ts'
import { createUsageSource } from '../../src/storage/clickhouse/usage-source.ts'
import { createUsageStore } from '../../src/storage/clickhouse/usage-store.ts'
import type { UsageRollups } from '../../src/usage/usage-rollups.ts'
import type { UsageSource } from '../../src/usage/usage-source.ts'
import { startTestClickHouse, temporaryDir } from './embedded-clickhouse.ts'

/** The tables of usage on a migrated engine of its own. */
export interface TestUsageTables {
  readonly db: ClickHouse
  readonly store: UsageStore
  readonly source: UsageSource
  readonly rollups: UsageRollups
  stop(): Promise<void>
}

/** Starts an embedded engine in a temporary folder. */
export async function startTestUsageTables(): Promise<TestUsageTables> {
  const folder = await temporaryDir()
  const engine = await startTestClickHouse(folder.dir)
  const db = connectClickHouse({ ...engine, database: 'weir' })
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  return {
    db,
    store: createUsageStore(db, USAGE_COLUMNS),
    source: createUsageSource(db),
    rollups: createUsageRollups(db),
    async stop() {
      await db.close()
      await engine.stop()
      await folder.remove()
    },
  }
}
