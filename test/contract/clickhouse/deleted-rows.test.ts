import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { freeDeletedRows } from '../../../src/storage/clickhouse/deleting/deleted-rows.ts'
import { shared } from '../../support/servers/shared.ts'

const ROWS = 1_000
const { signal } = new AbortController()

let db: ClickHouse
beforeAll(async () => {
  db = connectClickHouse({
    ...(await shared('/clickhouse')),
    database: `deleted_${randomUUID().slice(0, 8)}`,
  })
  await db.createDatabase()
})
afterAll(async () => {
  await db.command(`DROP DATABASE ${db.database}`)
  await db.close()
})

/** Two partitions, each of one part. */
beforeEach(async () => {
  await db.command('DROP TABLE IF EXISTS t')
  await db.command('CREATE TABLE t (p UInt8, n UInt32) ENGINE = MergeTree PARTITION BY p ORDER BY n')
  await db.command(`INSERT INTO t SELECT number % 2, number FROM numbers(${2 * ROWS})`)
})

/** Rows of the parts of each partition, deleted ones included, and rows that a read returns. */
async function stored(): Promise<unknown[]> {
  const parts = await db.rows<{ rows: number }>(
    `SELECT sum(rows) AS rows FROM system.parts
     WHERE database = currentDatabase() AND table = 't' AND active GROUP BY partition_id ORDER BY partition_id`,
  )
  const [read] = await db.rows<{ n: number }>('SELECT count() AS n FROM t')
  return [...parts.map(({ rows }) => rows), read?.n]
}

it('the space of deleted rows is freed where they are a large part of a partition', async () => {
  await db.command(`DELETE FROM t WHERE p = 0 AND n < ${ROWS}`)
  await db.command('DELETE FROM t WHERE p = 1 AND n < 100')
  expect(await stored()).toEqual([ROWS, ROWS, 1_450])
  await freeDeletedRows(db, 't', signal)
  expect(await stored()).toEqual([500, ROWS, 1_450])
  await db.command(`DELETE FROM t WHERE p = 1 AND n < ${2 * ROWS}`)
  await freeDeletedRows(db, 't', signal)
  expect((await stored()).at(-1)).toBe(500)
  expect((await stored())[0]).toBe(500)
})

it('small partitions are rewritten by one statement, which makes a new version of every part', async () => {
  await db.command('DELETE FROM t WHERE n < 800')
  await freeDeletedRows(db, 't', signal)
  expect(await stored()).toEqual([600, 600, 1_200])
  const rewritings = await db.rows(
    `SELECT DISTINCT mutation_id FROM system.mutations
     WHERE database = currentDatabase() AND table = 't' AND command LIKE '%APPLY DELETED MASK%'`,
  )
  expect(rewritings).toHaveLength(1)
})

it('nothing is rewritten where nothing was deleted', async () => {
  const parts = (): Promise<unknown[]> =>
    db.rows(
      `SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 't' AND active ORDER BY 1`,
    )
  const before = await parts()
  await freeDeletedRows(db, 't', signal)
  expect(await parts()).toEqual(before)
})
