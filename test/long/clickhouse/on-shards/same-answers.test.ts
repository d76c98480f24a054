import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { wholeLines } from '../../../../src/backup/lines.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { newUuid } from '../../../../src/base/ids.ts'
import { STORED_COLUMNS } from '../../../../src/ingest/store/stored-columns.ts'
import type { ReadStore } from '../../../../src/ingest/store/stats-store.ts'
import {
  createClickHouseLoader,
  readClickHouseTables,
} from '../../../../src/storage/clickhouse/backup/table-copies.ts'
import { createTraceDeletion } from '../../../../src/storage/clickhouse/deleting/deletion.ts'
import { createTraceStore } from '../../../../src/storage/clickhouse/trace-store.ts'
import { parseFilter } from '../../../../src/trace/filter/filter.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../../../src/trace/rows/trace-run-row.ts'
import { tries } from '../../../support/properties.ts'
import { newDatabase } from '../../../support/stores/clickhouse/clickhouse-database.ts'
import { testOnShards } from '../../../support/stores/clickhouse/two-shards/test-on-shards.ts'
import {
  PROJECT,
  startTestTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../../support/stores/clickhouse/trace-store.ts'
import { forest, rowsOf } from '../../../support/traces/random-traces.ts'

let single: TestTraceStore
let sharded: TestTraceStore
beforeAll(async () => {
  single = await startTestTraceStore()
  testOnShards()
  sharded = await startTestTraceStore()
})
afterAll(async () => {
  await single?.stop()
  await sharded?.stop()
})

/** A list of runs without its order where rows have the same time: every shard begins with another one. */
const byId = (rows: readonly TraceRunRow[]): TraceRunRow[] =>
  rows.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1))

type Read = (of: TestTraceStore, workspace_id: string, rows: readonly TraceRunRow[]) => Promise<unknown>

async function runsIn(bytes: Promise<Uint8Array>): Promise<TraceRunRow[]> {
  return byId([...TRACE_RUN_ROWS.readAll(await bytes)])
}

const IN_PROJECT = { project_ids: [PROJECT] }
const LISTS: Parameters<ReadStore['list']>[1][] = [
  { ...IN_PROJECT, order: 'desc', limit: 100 },
  { ...IN_PROJECT, order: 'asc', limit: 5 },
  { ...IN_PROJECT, is_root: true, order: 'desc', limit: 100 },
  { ...IN_PROJECT, order: 'desc', limit: 100, order_by: 'total_tokens' },
  { ...IN_PROJECT, order: 'desc', limit: 100, order_by: 'latency' },
  {
    ...IN_PROJECT,
    order: 'desc',
    limit: 100,
    filter: parseFilter('and(eq(run_type, "llm"), has(tags, "a"))'),
  },
  { ...IN_PROJECT, order: 'desc', limit: 100, filter: parseFilter('gt(total_tokens, 100)') },
  { ...IN_PROJECT, order: 'desc', limit: 100, trace_filter: parseFilter('eq(status, "error")') },
  { ...IN_PROJECT, order: 'desc', limit: 100, tree_filter: parseFilter('eq(name, "act")') },
  { ...IN_PROJECT, order: 'desc', limit: 100, filter: parseFilter('search("plan")') },
]
const READS: Record<string, Read> = {
  ...Object.fromEntries(
    LISTS.map((query, n): [string, Read] => [
      `list ${n}`,
      ({ store }, workspace) => runsIn(store.list(workspace, query)),
    ]),
  ),
  figures: ({ store }, workspace) => store.runStats(workspace, { ...IN_PROJECT, histograms: true }),
  'figures of traces': ({ store }, workspace) => store.runStats(workspace, { ...IN_PROJECT, is_root: true }),
  'figures by name': ({ store }, workspace) =>
    store.runStats(workspace, {
      ...IN_PROJECT,
      group_by: { by: 'name', max_groups: 5 },
      interval: 3_600_000_000,
    }),
  'figures of filtered runs': ({ store }, workspace) =>
    store.runStats(workspace, { ...IN_PROJECT, filter: parseFilter('neq(status, "error")') }),
  projects: ({ store }, workspace) => store.projectStats(workspace, [PROJECT]),
  counts: ({ store }, workspace) => store.projectCounts(workspace, [PROJECT]),
  facets: ({ store }, workspace) =>
    store.runFacets(workspace, { ...IN_PROJECT, field: 'tag', max_values: 10 }),
  glimpses: ({ store }, workspace, rows) => store.traceGlimpses(workspace, traceIds(rows)),
  doubles: async ({ store }, workspace, rows) =>
    (await store.tracesWithDoubles(workspace, traceIds(rows), [7, 2 ** 32])).toSorted(),
  'below roots': async ({ store }, workspace, rows) =>
    (await store.belowRoots(workspace, traceIds(rows))).toSorted(),
  'each row': ({ store }, workspace, rows) =>
    Promise.all(rows.map(({ run_id }) => runsIn(store.row(workspace, run_id)))),
  'each trace': ({ store }, workspace, rows) =>
    Promise.all(traceIds(rows).map((id) => runsIn(store.traceRows(workspace, id, '', 100)))),
  'each trace, in all': ({ store }, workspace, rows) =>
    Promise.all(
      traceIds(rows).map(async (id) => ({
        ...(await store.traceState(workspace, id)),
        written_at: undefined,
      })),
    ),
}

function traceIds(rows: readonly TraceRunRow[]): string[] {
  return [...new Set(rows.map(({ trace_id }) => trace_id))].toSorted()
}

async function expectSameAnswers(
  other: TestTraceStore,
  workspace_id: string,
  rows: readonly TraceRunRow[],
): Promise<void> {
  for (const [name, read] of Object.entries(READS)) {
    const [one, two] = [await read(single, workspace_id, rows), await read(other, workspace_id, rows)]
    expect(two, name).toEqual(one)
  }
}

/** What happens to runs afterwards. */
const change = fc.record({
  run: fc.nat(),
  kind: fc.constantFrom('again', 'other trace', 'other time', 'other project', 'deleted' as const),
})

it('two shards answer as one server, after changes and deletions too', async () => {
  const property = async (
    traces: Parameters<typeof rowsOf>[1][],
    changes: { run: number; kind: string }[],
  ): Promise<void> => {
    const workspace_id = newUuid()
    const rows = traces.flatMap((nodes) => rowsOf(PROJECT, nodes).map((row) => ({ ...row, workspace_id })))
    const both = (work: (of: TestTraceStore) => Promise<void>) => Promise.all([single, sharded].map(work))
    await both((of) => of.insert(rows))
    const all = [...rows]
    for (const [n, { run, kind }] of changes.entries()) {
      const row = rows[run % rows.length]!
      const next = { ...row, version: 2 * n + 3 }
      if (kind === 'other trace') next.trace_id = rows[0]!.trace_id
      if (kind === 'other time') next.sort_time += 60_000_000
      if (kind === 'other project') next.project_id = newUuid()
      if (kind === 'deleted')
        await both((of) =>
          createTraceDeletion(of.clickhouse, STORED_COLUMNS.runs).deleteRuns(workspace_id, [row.run_id]),
        )
      else await both((of) => of.insert([{ ...row, version: 2 * n + 2, is_deleted: 1 }, next]))
      all.push(next)
      Object.assign(row, next)
    }
    await expectSameAnswers(sharded, workspace_id, all)
  }
  await fc.assert(fc.asyncProperty(forest, fc.array(change, { maxLength: 4 }), property), tries(20))
  // Some dozen statements for each input, twice.
}, 600_000)

it('a backup of one server is restored into shards', async () => {
  const workspace_id = newUuid()
  const rows = fc
    .sample(forest, { seed: 7, numRuns: 2 })
    .flatMap((traces) => traces.flatMap((nodes) => rowsOf(PROJECT, nodes)))
    .map((row) => ({ ...row, workspace_id }))
  await single.insert(rows)
  const { db, drop } = await newDatabase()
  onTestFinished(drop)
  const loader = createClickHouseLoader(db, { place: 'It', logger: createLogger({ level: 'silent' }) })
  await loader.assertEmpty()
  const tables = await readClickHouseTables(single.clickhouse)
  await loader.prepare(tables.version)
  for (const table of tables.tables) {
    const { columns, lines } = await tables.read(table)
    await loader.load(table, columns, wholeLines(lines, { size: 1 << 20, max_line: 1 << 24 }))
  }
  const restored = { ...sharded, clickhouse: db, store: createTraceStore(db, STORED_COLUMNS) }
  await expectSameAnswers(restored, workspace_id, rows)
  // A database of its own is migrated, and every table is copied.
}, 180_000)

it('the shards of these tests have different rows: a subquery within one shard finds less', async () => {
  const workspace_id = newUuid()
  const rows = Array.from({ length: 40 }, () => {
    const [root, child] = [newUuid(), newUuid()]
    const own = { workspace_id, trace_id: root }
    return [traceRunRow(1, { ...own, run_id: root }), traceRunRow(2, { ...own, run_id: child })]
  }).flat()
  await sharded.insert(rows)
  // In small letters, so that the connection does not make them GLOBAL.
  const sql = `SELECT toUInt32(count()) AS n FROM runs WHERE workspace_id = {workspace_id:UUID}
    AND trace_id in (select run_id from runs where workspace_id = {workspace_id:UUID})`
  const found = async (distributed_product_mode: string): Promise<number | undefined> => {
    const options = { params: { workspace_id }, settings: { distributed_product_mode } }
    return (await sharded.clickhouse.rows<{ n: number }>(sql, options))[0]?.n
  }
  expect(await found('global')).toBe(80)
  expect(await found('local')).toBeLessThan(80)
})
