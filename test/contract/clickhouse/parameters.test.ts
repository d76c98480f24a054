import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { createUsageStore } from '../../../src/storage/clickhouse/usage/store.ts'
import { STORED_COLUMNS, USAGE_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { type FaultProxy, startFaultProxy } from '../../support/faults/proxies/fault.ts'
import { firstInShort, inLong } from '../../support/length.ts'
import { shared } from '../../support/servers/shared.ts'
import { migratedDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'

let own: Awaited<ReturnType<typeof migratedDatabase>>
let proxy: FaultProxy
let db: ClickHouse

beforeAll(async () => {
  own = await migratedDatabase()
  const engine = await shared('/clickhouse')
  proxy = await startFaultProxy({ target: engine.url })
  db = connectClickHouse({ ...engine, url: proxy.url, database: own.db.database })
})

afterAll(async () => {
  await db?.close()
  await proxy?.close()
  await own?.drop()
})

const idsOf = (length: number): string[] => Array.from({ length }, () => randomUUID())

inLong(() => {
  it('parameters of any size pass a proxy that refuses request lines above 8 KB', async () => {
    const ids = idsOf(10_000)
    const params = { ids, text: 'x'.repeat(100_000) }
    const sql = 'SELECT length(arrayDistinct({ids:Array(UUID)})) AS ids, length({text:String}) AS text'
    expect(await db.rows(sql, { params })).toEqual([{ ids: 10_000, text: 100_000 }])
    expect(
      await db.rowBinary('SELECT {ids:Array(UUID)}[10000] = toUUID({last:String})', {
        params: { ids, last: ids.at(-1) },
      }),
    ).toEqual(Buffer.from([1]))
    await db.command(
      "INSERT INTO repairs (name) SELECT concat('id ', toString(arrayJoin({ids:Array(UUID)})))",
      { params },
    )
    expect(await db.rows("SELECT uniqExact(name) AS n FROM repairs WHERE name LIKE 'id %'")).toEqual([
      { n: 10_000 },
    ])
  })
})

it('parameters of every shape arrive unchanged', async () => {
  const params = {
    text: "it's \\ a\ttab\r\nline\0 {x:String} é 😀 --weir-\r\n--",
    list: ["p'q", 'r\\s', '', 'ü\n'],
    none: null,
    big: 2n ** 64n - 1n,
    id: '0195f3a0-0000-7000-8000-000000000001',
    yes: true,
    half: 0.5,
  }
  const [row] = await db.rows(
    `SELECT {text:String} AS text, {list:Array(String)} AS list, {none:Nullable(String)} AS none,
       toString({big:UInt64}) AS big, {id:UUID} AS id, {yes:Bool} AS yes, {half:Float64} AS half`,
    { params },
  )
  expect(row).toEqual({ ...params, big: String(params.big) })
})

it.each(firstInShort([2_000, 10_000]))(
  'the statements of a batch of %i traces pass that proxy',
  async (traces) => {
    const workspace_id = randomUUID()
    const store = createTraceStore(db, STORED_COLUMNS)
    const usage = createUsageStore(db, USAGE_COLUMNS)
    const ids = idsOf(traces)
    const hashes = ids.map((id) => id.replaceAll('-', ''))
    const empty = Buffer.alloc(0)
    expect(await store.outlines(workspace_id, ids)).toEqual(empty)
    expect(await store.waitingChildren(workspace_id, ids)).toEqual([])
    expect(await store.belowRoots(workspace_id, ids)).toEqual([])
    expect(await store.payloads(workspace_id, { run_ids: ids, hashes, columns: ['inputs'] })).toEqual(empty)
    expect(await store.rollUpRows(workspace_id, ids, [])).toEqual(empty)
    expect(await store.tracesWithDoubles(workspace_id, ids, [1, 2])).toEqual([])
    expect(await usage.claims(workspace_id, ids)).toEqual(empty)
    await usage.mark(ids.map((_, hour) => ({ workspace_id, hour })))
    const marked =
      "SELECT count() AS n FROM usage_marks WHERE unit = 'hour' AND workspace_id = {workspace_id:UUID}"
    expect(await db.rows(marked, { params: { workspace_id } })).toEqual([{ n: traces }])
  },
)
