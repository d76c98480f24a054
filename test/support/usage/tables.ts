import type { UsageStore } from '../../../src/usage/counting/recorder.ts'
import { USAGE_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { createUsageRollups } from '../../../src/storage/clickhouse/usage/rollups.ts'
import type { UsageTraceSource } from '../../../src/usage/report/traces.ts'
import { createUsageTraceSource } from '../../../src/storage/clickhouse/usage/traces.ts'
import { createUsageSource } from '../../../src/storage/clickhouse/usage/source.ts'
import { createUsageStore } from '../../../src/storage/clickhouse/usage/store.ts'
import type { UsageRollups } from '../../../src/usage/counting/rollups.ts'
import type { UsageCounts } from '../../../src/usage/report/source.ts'
import { migratedDatabase } from '../stores/clickhouse/clickhouse-database.ts'

/** The tables of usage on a migrated database of its own. */
export interface TestUsageTables {
  readonly db: ClickHouse
  readonly store: UsageStore
  readonly source: UsageCounts
  readonly traces: UsageTraceSource
  readonly rollups: UsageRollups
  stop(): Promise<void>
}

/** Creates a database in the shared engine. */
export async function startTestUsageTables(): Promise<TestUsageTables> {
  const { db, drop } = await migratedDatabase()
  return {
    db,
    store: createUsageStore(db, USAGE_COLUMNS),
    source: createUsageSource(db),
    traces: createUsageTraceSource(db),
    rollups: createUsageRollups(db),
    stop: drop,
  }
}
