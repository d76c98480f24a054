import type { UsageStore } from '../../src/ingest/usage-recorder.ts'
import { USAGE_COLUMNS } from '../../src/ingest/stored-columns.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { createUsageRollups } from '../../src/storage/clickhouse/usage-rollups.ts'
import { createUsageSource } from '../../src/storage/clickhouse/usage-source.ts'
import { createUsageStore } from '../../src/storage/clickhouse/usage-store.ts'
import type { UsageRollups } from '../../src/usage/usage-rollups.ts'
import type { UsageSource } from '../../src/usage/usage-source.ts'
import { migratedDatabase } from './clickhouse-database.ts'

/** The tables of usage on a migrated database of its own. */
export interface TestUsageTables {
  readonly db: ClickHouse
  readonly store: UsageStore
  readonly source: UsageSource
  readonly rollups: UsageRollups
  stop(): Promise<void>
}

/** Makes a database in the engine that all files share. */
export async function startTestUsageTables(): Promise<TestUsageTables> {
  const { db, drop } = await migratedDatabase()
  return {
    db,
    store: createUsageStore(db, USAGE_COLUMNS),
    source: createUsageSource(db),
    rollups: createUsageRollups(db),
    stop: drop,
  }
}
