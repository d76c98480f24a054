import { expect, it, onTestFinished, vi } from 'vitest'
import { connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { freeDeletedRows } from '../../../src/storage/clickhouse/deleting/deleted-rows.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

// The engine keeps the files of replaced parts for a minute.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Milliseconds in which the files must be gone: 60 s, twice 30 s between two looks, and time for a busy machine. */
const GONE_MS = 180_000

it('the embedded engine removes the files of deleted rows, also when nothing else happens', async () => {
  const { dir, remove } = await temporaryDir()
  onTestFinished(remove)
  const engine = await startTestClickHouse(dir)
  onTestFinished(() => engine.stop())
  const db = connectClickHouse({ ...engine, database: 'deleted' })
  onTestFinished(() => db.close())
  await db.createDatabase()
  await db.command('CREATE TABLE t (n UInt32, text String) ENGINE = MergeTree ORDER BY n')
  await db.command('INSERT INTO t SELECT number, randomPrintableASCII(1000) FROM numbers(10000)')
  await db.command('DELETE FROM t WHERE n >= 500')
  await freeDeletedRows(db, 't', new AbortController().signal)
  const stored = async (): Promise<unknown> =>
    await db.rows(
      `SELECT sum(rows) AS rows, sum(bytes_on_disk) < 1e6 AS small FROM system.parts
        WHERE database = currentDatabase() AND table = 't'`,
    )
  expect(await stored()).not.toEqual([{ rows: 500, small: 1 }])
  await eventually(async () => expect(await stored()).toEqual([{ rows: 500, small: 1 }]), GONE_MS)
})
