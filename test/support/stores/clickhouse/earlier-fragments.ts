import { STORED_COLUMNS } from '../../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../../src/storage/clickhouse/connect.ts'

/** Stores encoded fragments where releases before docs/adr/0099 did. */
export async function insertEarlierFragments(db: ClickHouse, body: readonly Uint8Array[]): Promise<void> {
  await db.insert({ table: 'run_fragments', columns: STORED_COLUMNS.fragments, body })
}
