import { readFile } from 'node:fs/promises'
import { createLogger } from '../../src/base/log.ts'
import { connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../src/storage/clickhouse/migrate.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'

// The fragments of before ADR 0099 (run_fragments) against those by day (fragments), both filled by SQL with the same
// rows: inserts, reads, and the retention of a tenth of the days:
//   node scripts/launch.mjs bench/store/layout.bench.ts [runs] [old|new]
const RUNS = Number(process.argv[2] ?? 300_000)
const LAYOUTS = (process.argv[3] ?? 'old,new').split(',')
const DAYS = 30
const RUNS_OF_TRACE = 5
const BATCH = 5_000
const PAGE = 4_000
const workspace_id = '00000000-0000-7000-8000-000000000001'
const FIRST = Date.UTC(2026, 0, 1) / 1000
const SECONDS = DAYS * 86_400

/** The id of run `n`, random in both halves. */
const ID = `reinterpret(sipHash128(toUInt64(n)), 'UUID')`
const FIRST_OF_TRACE = `reinterpret(sipHash128(toUInt64(n - n % ${RUNS_OF_TRACE})), 'UUID')`
/** About 1.2 KB of words, of which the runs of a trace share a half. */
const FILL = (table: string, extra: string): string => `INSERT INTO ${table}
  (workspace_id, run_id, rank, hash, received_at, project_id, user_id, api_key_id, head, inputs, outputs, events, extra, error, serialized, attachments${extra === '' ? '' : ', keep_days'})
  WITH number + {from:UInt64} AS n, intDiv(n, ${RUNS_OF_TRACE}) AS trace,
    ${FIRST} + toUInt64(trace * ${SECONDS} / ({runs:UInt64} / ${RUNS_OF_TRACE})) AS second,
    ${FIRST_OF_TRACE} AS trace_id, ${ID} AS id,
    arrayStringConcat(arrayMap(i -> substring(lower(hex(sipHash64(toUInt64(exp((sipHash64(trace, i) % 1000000) / 1000000 * log(60000)))))), 1, 3 + i % 6), range(100)), ' ') AS shared,
    arrayStringConcat(arrayMap(i -> substring(lower(hex(sipHash64(toUInt64(exp((sipHash64(n, i, 1) % 1000000) / 1000000 * log(60000)))))), 1, 3 + i % 6), range(100)), ' ') AS own
  SELECT toUUID('${workspace_id}'), id, 1, toFixedString(unhex(hex(sipHash128(n, 7))), 16),
    fromUnixTimestamp64Milli(toInt64(second) * 1000 + 300), toUUID('${workspace_id}'), toUUID('${workspace_id}'), toUUID('${workspace_id}'),
    concat('{"id":"', toString(id), '","trace_id":"', toString(trace_id), '","dotted_order":"', formatDateTime(toDateTime(second, 'UTC'), '%Y%m%dT%H%i%S', 'UTC'), '000000Z', toString(trace_id), '","name":"step","run_type":"llm"}'),
    concat('{"messages":[{"role":"user","content":"', shared, '"}]}'), concat('{"content":"', own, '"}'),
    '', '{"metadata":{"ls_provider":"openai","ls_model_name":"gpt-4.1-mini"}}', '', '', ''${extra}
  FROM numbers({count:UInt64})`

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })

/** CPU seconds of the engine since its start, its merges included. */
async function cpu(): Promise<number> {
  const stat = await readFile(`/proc/${engine.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function measured<T>(what: string, work: () => Promise<T>): Promise<T> {
  const [began, before] = [performance.now(), await cpu()]
  const result = await work()
  const [wall, used] = [performance.now() - began, (await cpu()) - before]
  console.log(
    `${what.padEnd(58)} ${used.toFixed(2).padStart(8)} s CPU ${(wall / 1000).toFixed(2).padStart(8)} s`,
  )
  return result
}

const idle = (): Promise<void> =>
  until(
    'merges end',
    async () => (await db.rows('SELECT 1 FROM system.merges LIMIT 1')).length === 0,
    600_000,
  )

async function disk(tables: readonly string[]): Promise<string> {
  const [all] = await db.rows<{ active: number; all: number }>(
    `SELECT toUInt64(sumIf(bytes_on_disk, active)) AS active, toUInt64(sum(bytes_on_disk)) AS all FROM system.parts
     WHERE database = currentDatabase() AND table IN {tables:Array(String)}`,
    { params: { tables } },
  )
  const mb = (n = 0): string => (n / 1e6).toFixed(1)
  return `${mb(all?.active)} MB active, ${mb(all?.all)} MB with replaced parts`
}

async function idsOfDay(table: string, day: number): Promise<string[]> {
  const rows = await db.rows<{ run_id: string }>(
    `SELECT DISTINCT run_id FROM ${table} WHERE toDate(received_at) = toDate({day:UInt32})`,
    { params: { day: FIRST / 86_400 + day } },
  )
  return rows.map(({ run_id }) => run_id)
}

/** A statement that reads the payloads of these runs. */
const READ = {
  old: `SELECT run_id, hash, head, inputs, outputs, extra FROM run_fragments
    PREWHERE workspace_id = {workspace_id:UUID} AND run_id IN {ids:Array(UUID)}`,
  new: `SELECT run_id, hash, head, inputs, outputs, extra FROM fragments
    PREWHERE workspace_id = {workspace_id:UUID} AND (keep_days, day, begun, run_id) IN (
      SELECT keep_days, day, begun, run_id FROM fragment_places
      WHERE workspace_id = {workspace_id:UUID} AND run_id IN {ids:Array(UUID)})`,
}

async function reads(layout: 'old' | 'new'): Promise<void> {
  const trace = (n: number): Promise<unknown> =>
    db
      .rows<{ id: string }>(
        `SELECT toString(${ID}) AS id FROM (SELECT arrayJoin(range({from:UInt64}, {from:UInt64} + {count:UInt64})) AS n)`,
        { params: { from: n * RUNS_OF_TRACE, count: RUNS_OF_TRACE } },
      )
      .then((rows) => db.rowBinary(READ[layout], { params: { workspace_id, ids: rows.map(({ id }) => id) } }))
  const of = async (sql: string, params: Record<string, unknown>): Promise<string[]> =>
    (await db.rows<{ id: string }>(sql, { params })).map(({ id }) => id)
  const traces = Math.floor(RUNS / RUNS_OF_TRACE)
  await measured('  100 traces of five runs', async () => {
    for (let i = 0; i < 100; i++) await trace(Math.floor((i * traces) / 100))
  })
  const newest = await of(
    `SELECT toString(${ID}) AS id FROM (SELECT arrayJoin(range({from:UInt64}, {to:UInt64})) AS n)`,
    { from: RUNS - 100, to: RUNS },
  )
  await measured('  50 pages of the newest 100 runs with payloads', async () => {
    for (let i = 0; i < 50; i++) await db.rowBinary(READ[layout], { params: { workspace_id, ids: newest } })
  })
  const absent = await of('SELECT toString(generateUUIDv4(number)) AS id FROM numbers({count:UInt64})', {
    count: 2_150,
  })
  await measured('  20 read-backs of 2,150 new runs', async () => {
    for (let i = 0; i < 20; i++) await db.rowBinary(READ[layout], { params: { workspace_id, ids: absent } })
  })
}

async function retention(layout: 'old' | 'new', table: string, tables: readonly string[]): Promise<void> {
  let most = ''
  const look = async (): Promise<void> => {
    const now = await disk(tables)
    if (Number.parseFloat(now.split(', ')[1]!) > Number.parseFloat(most.split(', ')[1] ?? '0')) most = now
  }
  await measured(`  retention of 3 of ${DAYS} days`, async () => {
    for (let day = 0; day < 3; day++) {
      const ids = await idsOfDay(table, day)
      for (let from = 0; from < ids.length; from += PAGE) {
        const params = { workspace_id, ids: ids.slice(from, from + PAGE) }
        const gone = layout === 'old' ? table : 'fragment_places'
        await db.command(
          `DELETE FROM ${gone} WHERE workspace_id = {workspace_id:UUID} AND run_id IN {ids:Array(UUID)}`,
          {
            params,
          },
        )
        await look()
      }
      if (layout === 'old') continue
      await db.command(
        `ALTER TABLE fragments DROP PARTITION (30, '${new Date((FIRST + day * 86_400) * 1000).toISOString().slice(0, 10)}')`,
      )
    }
    if (layout === 'old') {
      await db.command(`ALTER TABLE ${table} APPLY DELETED MASK`, { settings: { mutations_sync: 2 } })
      await look()
    }
  })
  console.log(`  disk at most: ${most}`)
}

try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  for (const layout of LAYOUTS as ('old' | 'new')[]) {
    const table = layout === 'old' ? 'run_fragments' : 'fragments'
    const tables = layout === 'old' ? [table] : [table, 'fragment_places']
    console.log(`${layout}: ${RUNS} runs`)
    await measured('  inserts, with merges', async () => {
      for (let from = 0; from < RUNS; from += BATCH)
        await db.command(FILL(table, layout === 'old' ? '' : ', 30'), {
          params: { from, count: Math.min(BATCH, RUNS - from), runs: RUNS },
          settings: { exclude_materialize_skip_indexes_on_insert: 'words', max_threads: 1 },
        })
      await idle()
    })
    console.log(`  disk: ${await disk(tables)}; places ${await disk(tables.slice(1))}`)
    await reads(layout)
    await retention(layout, table, tables)
    console.log(`  disk after: ${await disk(tables)}`)
  }
  await measured('filling alone, without a table', async () => {
    await db.command('CREATE TABLE nothing AS run_fragments ENGINE = Null')
    for (let from = 0; from < RUNS; from += BATCH)
      await db.command(FILL('nothing', ''), {
        params: { from, count: Math.min(BATCH, RUNS - from), runs: RUNS },
        settings: { max_threads: 1 },
      })
  })
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
