import { createClient } from '@clickhouse/client'
import { expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { ReadStore } from '../../../src/ingest/store/stats-store.ts'
import type { ListQuery } from '../../../src/ingest/store/trace-store.ts'
import type { ClickHouse, StatementOptions } from '../../../src/storage/clickhouse/connect.ts'
import { fillHourChanges } from '../../../src/storage/clickhouse/hours/fill-hour-changes.ts'
import { indexWords } from '../../../src/storage/clickhouse/search/index-words.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { TRACE_RUN_ROWS } from '../../../src/trace/rows/trace-run-row.ts'
import { shared } from '../../support/servers/shared.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import {
  idOf,
  PROJECT,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'

const ROWS = 60_000
/** Rows of a granule, in which an index finds nothing or all. */
const GRANULE = 1024
const RARE = 31_234
const workspace_id = newUuid()
// The same in every run: granules without the value have equal filters, so that a value is falsely found in all or in none.
const user_id = '0195f3a0-0000-7000-8000-00000000000a'
const OTHER_USER = '0195f3a0-0000-7000-8000-00000000000b'

let db: TestTraceStore
useTraceStore(async (store) => {
  db = store
  await db.clickhouse.command(
    `INSERT INTO runs (workspace_id, project_id, sort_time, run_id, version, trace_id, name, run_type, status, start_time,
       user_id, tags, metadata, model)
     WITH number = ${RARE} AS rare, fromUnixTimestamp64Micro(toInt64(${START} + number * 1000)) AS at
     SELECT toUUID('${workspace_id}'), toUUID('${PROJECT}'), at,
       toUUID(concat('0195f3a0-0000-7000-8000-', leftPad(toString(number), 12, '0'))) AS id, 1, id,
       if(rare, 'rare name', concat('name ', toString(number % 50))), 'llm', if(rare, 'pending', 'success'), at,
       if(rare, toUUID('${user_id}'), toUUID('00000000-0000-0000-0000-000000000000')),
       [if(rare, 'rare tag', 'tag')], if(rare, map('rare key', 'rare value'), map('env', toString(number % 50))),
       if(rare, 'rare-model', 'gpt-4.1-mini')
     FROM numbers(${ROWS})`,
  )
  await indexWords(db.clickhouse, { min_rows: 1, quiet_seconds: 0 })
  await until('the indexes are built', async () => {
    const [left] = await db.clickhouse.rows<{ n: number }>(
      `SELECT count() AS n FROM system.mutations WHERE database = currentDatabase() AND NOT is_done`,
    )
    return left!.n === 0
  })
})

/** The ids of a list, and the number of rows that the engine says it read for it. */
async function read(filter: string, more: Partial<ListQuery> = {}): Promise<{ ids: string[]; rows: number }> {
  const query: ListQuery = { project_ids: [PROJECT], order: 'desc', limit: 20, ...more }
  const { found, rows } = await counted((store) =>
    store.list(workspace_id, { ...query, filter: parseFilter(filter) }),
  )
  return { ids: [...TRACE_RUN_ROWS.readAll(found)].map(({ run_id }) => run_id), rows }
}

/** What a read of the store finds, and the number of rows that the engine says it read for it. */
async function counted<R>(work: (store: ReadStore) => Promise<R>): Promise<{ found: R; rows: number }> {
  const statements: [string, StatementOptions][] = []
  const recording: ClickHouse = {
    ...db.clickhouse,
    rows: (sql, options = {}) => {
      statements.push([sql, options])
      return db.clickhouse.rows(sql, options)
    },
    rowBinary: (sql, options = {}) => {
      statements.push([sql, options])
      return db.clickhouse.rowBinary(sql, options)
    },
  }
  const found = await work(createTraceStore(recording, STORED_COLUMNS))
  const client = createClient({ ...(await shared('/clickhouse')), database: db.clickhouse.database })
  let rows = 0
  for (const [sql, { params = {} }] of statements) {
    const answer = await client.query({ query: sql, query_params: { ...params }, format: 'JSON' })
    rows += (await answer.json()).statistics!.rows_read
  }
  await client.close()
  return { found, rows }
}

const FILTERS: [what: string, rare: string, none: string][] = [
  ['name', 'eq(name, "rare name")', 'eq(name, "no such name")'],
  ['model', 'eq(model, "rare-model")', 'eq(model, "no-such-model")'],
  ['status', 'eq(status, "pending")', 'eq(status, "error")'],
  ['user', `eq(user, "${user_id}")`, `eq(user, "${OTHER_USER}")`],
  ['tag', 'has(tags, "rare tag")', 'has(tags, "no such tag")'],
  ['metadata key', 'eq(metadata_key, "rare key")', 'eq(metadata_key, "no such key")'],
  [
    'metadata value',
    'and(eq(metadata_key, "rare key"), eq(metadata_value, "rare value"))',
    'and(eq(metadata_key, "env"), eq(metadata_value, "no such value"))',
  ],
]

it.each(FILTERS)('a filter by %s reads only where its value is', async (_what, rare, none) => {
  const one = await read(rare)
  expect(one.ids).toEqual([idOf(RARE)])
  // One granule has the value, and the index may name another one in forty; three statements read them.
  expect(one.rows).toBeLessThan(15 * GRANULE)
  const nothing = await read(none)
  expect(nothing.ids).toEqual([])
  expect(nothing.rows).toBeLessThan(6 * GRANULE)
})

it('conditions of a filter that the indexes know narrow it down; a frequent value is read in the order of the list', async () => {
  const both = await read('and(gt(latency, "1s"), or(eq(name, "rare name"), has(tags, "rare tag")))')
  expect(both.ids).toEqual([])
  expect(both.rows).toBeLessThan(15 * GRANULE)
  const often = await read('eq(name, "name 7")')
  expect(often.ids).toHaveLength(20)
  expect(often.rows).toBeLessThan(ROWS / 2)
  expect((await read('not(eq(name, "rare name"))')).ids).toHaveLength(20)
})

it('the newest version of a run decides, wherever the versions are', async () => {
  await db.insert([
    traceRunRow(RARE, { workspace_id, sort_time: START + RARE * 1000, version: 2, name: 'renamed' }),
  ])
  expect((await read('eq(name, "rare name")')).ids).toEqual([])
  expect((await read('eq(name, "renamed")')).ids).toEqual([idOf(RARE)])
  const filter = parseFilter('eq(name, "rare name")')
  const stats = await db.store.runStats(workspace_id, { project_ids: [PROJECT], filter })
  expect(stats.figures[0]!.run_count).toBe(0)
})

it('figures of a thread are found by the thread, whatever other threads the hours of the window have', async () => {
  const [threads, hours] = [2 * GRANULE, 20]
  const first = Math.floor(START / 3_600_000_000)
  const params = { workspace: newUuid(), project: PROJECT }
  const keys = '{workspace:UUID} AS workspace_id, {project:UUID} AS project_id'
  const hour = `toInt32(${first} + intDiv(number, ${threads})) AS hour`
  const at = `fromUnixTimestamp64Micro(toInt64(${START}))`
  await fillHourChanges(db.clickhouse, new AbortController().signal, createLogger({ level: 'silent' }))
  for (const sql of [
    `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes)
     SELECT ${keys}, toInt32(${first} + number) AS hour, hour, 1 FROM numbers(${hours})`,
    `INSERT INTO figure_hours (workspace_id, project_id, hour, changes, has_unpriced, first_start, last_start)
     SELECT ${keys}, toInt32(${first} + number) AS hour, 1, 1, ${at}, ${at} FROM numbers(${hours})`,
    `INSERT INTO thread_hours (workspace_id, project_id, hour, thread, changes, turns)
     SELECT ${keys}, ${hour}, concat('thread ', toString(number)), 1, 1 FROM numbers(${threads * hours})`,
  ])
    await db.clickhouse.command(sql, { params })
  const window = { project_id: PROJECT, from: START - 1, to: START + hours * 3_600_000_000 }
  const { found, rows } = await counted((store) =>
    store.threadSummaries(params.workspace, window, [`thread ${5 * threads + 77}`]),
  )
  expect(found).toMatchObject([{ turns: 1 }])
  expect(rows).toBeLessThan(5 * GRANULE)
})
