import { afterAll, beforeAll, expect, it } from 'vitest'
import { PARQUET_COLUMNS, partOf } from '../../../src/trace/json/run-lines.ts'
import { createParquetFile } from '../../../src/trace/parquet/parquet.ts'
import { shared } from '../../support/servers/shared.ts'
import { newDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'

const MICROS = Date.parse('2026-01-01T00:00:00Z') * 1000

const runOf = (n: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: `run ${n}`,
      name: n % 3 === 0 ? null : `Zürich 日本語 ${n}`,
      total_tokens: n * 10_000_000_000,
      total_cost: n % 2 === 0 ? '12345.678900000000000001' : '-0.000000000000000123',
      tags: ['a,b', 'c'],
      start_time: '2026-01-01T00:00:00.123456Z',
      end_time: null,
      llm: { provider: 'openai', model: 'gpt-4.1' },
      inputs: { text: 'x'.repeat(n) },
    }),
  )

let database: Awaited<ReturnType<typeof newDatabase>>
beforeAll(async () => {
  database = await newDatabase()
  await database.db.createDatabase()
})
afterAll(() => database.drop())

it('a Parquet file is read by ClickHouse with its types, exact numbers and every row of every group', async () => {
  const file = createParquetFile(PARQUET_COLUMNS)
  const groups = [500, 1, 0, 13].map((count) => {
    const runs = Array.from({ length: count }, (_, n) => runOf(n))
    return file.add(partOf(runs, 'parquet')[0] as Uint8Array)
  })
  const bytes = Buffer.concat([file.begin(), ...groups, file.end()])

  const { db } = database
  const types = { text: 'String', integer: 'Int64', decimal: 'Decimal(38, 18)', time: "DateTime64(6, 'UTC')" }
  const columns = PARQUET_COLUMNS.map(({ name, type }) => `${name} Nullable(${types[type]})`)
  await db.command(`CREATE TABLE read_runs (${columns.join(', ')}) ENGINE = MergeTree ORDER BY tuple()`)
  const { url, username, password } = await shared('/clickhouse')
  const sql = 'INSERT INTO read_runs FORMAT Parquet'
  const answer = await fetch(`${url}/?database=${db.database}&query=${encodeURIComponent(sql)}`, {
    method: 'POST',
    headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
    body: bytes,
  })
  expect([answer.status, await answer.text()]).toEqual([200, ''])

  const all = `SELECT count() AS runs, count(name) AS named, count(end_time) AS ended, count(metadata) AS described,
    toString(sum(total_cost)) AS cost, sum(total_tokens) AS tokens, max(length(inputs)) AS longest,
    any(toUnixTimestamp64Micro(assumeNotNull(start_time))) AS start FROM read_runs`
  expect(await db.rows(all)).toEqual([
    {
      runs: 514,
      named: 514 - 167 - 1 - 5,
      ended: 0,
      described: 0,
      // 250, 1 and 7 runs have the higher cost.
      cost: '3185185.15619999999996877',
      tokens: ((499 * 500) / 2 + (12 * 13) / 2) * 10_000_000_000,
      longest: 499 + '{"text":""}'.length,
      start: MICROS + 123_456,
    },
  ])
  const one = `SELECT name, tags, model, provider, toString(total_cost) AS cost FROM read_runs WHERE id = 'run 499'`
  expect(await db.rows(one)).toEqual([
    {
      name: 'Zürich 日本語 499',
      tags: '["a,b","c"]',
      model: 'gpt-4.1',
      provider: 'openai',
      cost: '-0.000000000000000123',
    },
  ])
})
