import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assertSupported } from '../../../src/storage/clickhouse/assert-supported.ts'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import type { EmbeddedClickHouse } from '../../../src/storage/clickhouse/embedded/start.ts'
import { RowReader, RowWriter } from '../../../src/trace/rows/row-binary.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { inLong } from '../../support/length.ts'
import { withoutLinux } from '../../support/linux.ts'

const COLUMNS = ['id', 'at', 'name', 'tags', 'n', 'price', 'body']
const TABLE = `CREATE TABLE IF NOT EXISTS rows (id UUID, at DateTime64(6, 'UTC'), name String, tags Array(String),
  n Nullable(Int64), price Decimal(18, 6), body String CODEC(ZSTD(1))) ENGINE = MergeTree ORDER BY id`
const ENDLESS = 'SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) = 1'

let engine: EmbeddedClickHouse
let client: ClickHouseClient
let db: ClickHouse
let folder: Awaited<ReturnType<typeof temporaryDir>>

beforeAll(async () => {
  folder = await temporaryDir()
  engine = await startTestClickHouse(folder.dir)
  db = connectClickHouse({ ...engine, database: 'weir' })
  await db.createDatabase()
  await db.command(TABLE)
  client = createClient({ ...auth(), database: 'weir', log: { level: ClickHouseLogLevel.OFF } })
})

afterAll(async () => {
  await client?.close()
  await db?.close()
  await engine?.stop()
  await folder?.remove()
})

function auth() {
  return { url: engine.url, username: engine.username, password: engine.password }
}

function row(id: string, name: string, n: bigint | null, body: string): Buffer {
  const writer = new RowWriter()
  writer.uuid(id)
  writer.i64(1_700_000_000_123_456n)
  writer.string(name)
  writer.strings(['a', 'b\0\'"\\\n'])
  writer.u8(n === null ? 1 : 0)
  if (n !== null) writer.i64(n)
  writer.i64(-1_234_567n)
  writer.string(body)
  return Buffer.from(writer.finish())
}

describe('a connection', () => {
  it('waits for its inserts, stores each block and reads all confirmed rows, with any profile of the user', async () => {
    const names =
      "('async_insert', 'wait_for_async_insert', 'insert_deduplicate', 'select_sequential_consistency')"
    const settings = await db.rows<{ name: string; value: string; changed: number }>(
      `SELECT name, value, changed FROM system.settings WHERE name IN ${names} ORDER BY name`,
    )
    expect(settings.map(({ name, value }) => [name, value])).toEqual([
      ['async_insert', '0'],
      ['insert_deduplicate', '0'],
      ['select_sequential_consistency', '1'],
      ['wait_for_async_insert', '1'],
    ])
  })
})

describe('a large insert', () => {
  const ROWS_FILE = 'x-weir-rows-file'
  const work = (): string => join(folder.dir, 'clickhouse-work')
  const left = (): string[] => readdirSync(work()).filter((name) => name.startsWith('insert-'))
  const body = Array.from({ length: 2_000 }, (_, n) => row(randomUUID(), `large ${n}`, null, 'b'.repeat(300)))

  it('goes through a file, which is gone afterwards', async () => {
    await db.insert({ table: 'rows', columns: COLUMNS, body })
    const found = await db.rows(
      "SELECT count() AS n, uniqExact(name) AS names FROM rows WHERE name LIKE 'large %'",
    )
    expect(found).toEqual([{ n: body.length, names: body.length }])
    await db.command("DELETE FROM rows WHERE name LIKE 'large %'")
    expect(left()).toEqual([])
  })

  it('leaves no file when it is refused', async () => {
    await expect(db.insert({ table: 'nowhere', columns: COLUMNS, body })).rejects.toMatchObject({
      code: 'internal',
    })
    expect(left()).toEqual([])
  })

  it('fails, and inserts nothing, when its file is incomplete or missing', async () => {
    const query = `INSERT INTO rows (${COLUMNS.join(', ')}) FORMAT RowBinary`
    writeFileSync(join(work(), 'insert-cut'), Buffer.concat(body).subarray(0, 300_000))
    for (const name of ['insert-cut', 'insert-missing', '../engine.xml', 'engine.xml', '*'])
      await expect(client.exec({ query, http_headers: { [ROWS_FILE]: name } }), name).rejects.toThrow()
    // An engine that has started again has removed it. The store tries again.
    const http_headers = { [ROWS_FILE]: 'insert-missing' }
    await expect(client.exec({ query, http_headers })).rejects.toMatchObject({ code: '210' })
    expect(await db.rows('SELECT count() AS n FROM rows')).toEqual([{ n: 0 }])
    rmSync(join(work(), 'insert-cut'))
  })
})

it('assertSupported takes the embedded engine, and refuses a cluster that it does not know', async () => {
  await assertSupported(db)
  const layout = { kind: 'replicas', cluster: 'nowhere' } as const
  await expect(assertSupported({ ...db, layout })).rejects.toMatchObject({
    code: 'config_invalid',
  })
})

it.skipIf(withoutLinux() !== '')(
  `the engine has normal priority, and its merges yield${withoutLinux()}`,
  () => {
    const tasks = `/proc/${engine.pid}/task`
    const priorities = readdirSync(tasks).map((thread) => {
      const name = readFileSync(`${tasks}/${thread}/comm`, 'utf8').trim()
      return { name, niceness: getPriority(Number(thread)) }
    })
    expect(priorities.filter(({ niceness }) => niceness > getPriority())).toEqual(
      Array.from({ length: 2 }, () => ({ name: 'MergeMutate', niceness: 5 })),
    )
  },
)

describe('the unmodified @clickhouse/client against the embedded engine', () => {
  it('pings, with and without a query', async () => {
    expect(await client.ping()).toEqual({ success: true })
    expect(await client.ping({ select: true })).toEqual({ success: true })
  })

  it('binds parameters of every shape, escapes included', async () => {
    const query_params = {
      text: "it's \\ a\ttab\nline {x:String} é 😀",
      list: ["p'q", 'r\\s', ''],
      none: null,
      big: '18446744073709551615',
      id: '0195f3a0-0000-7000-8000-000000000001',
      table: 'rows',
    }
    const result = await client.query({
      query: `SELECT {text:String} AS text, {list:Array(String)} AS list, {none:Nullable(String)} AS none,
        toString({big:UInt64}) AS big, {id:UUID} AS id, '{table:Identifier}' AS table, count() AS c
        FROM {table:Identifier} WHERE 0`,
      query_params,
      format: 'JSONEachRow',
    })
    expect(await result.json()).toEqual([{ ...query_params, table: '{table:Identifier}', c: 0 }])
  })

  inLong(() => {
    it('never uses a parameter of an earlier query', async () => {
      // Ten queries, so that each session runs at least one.
      for (let i = 0; i < 10; i++) await db.rows('SELECT {stale:UInt8}', { params: { stale: 1 } })
      await expect(client.query({ query: 'SELECT {stale:UInt8}' })).rejects.toMatchObject({ code: '456' })
    })

    it('accepts a field of 128 KB, as ClickHouse does, and refuses longer ones and long URLs', async () => {
      const ask = async (length: number, use_multipart_params: boolean) => {
        const ids = Array.from({ length }, () => randomUUID())
        const query = 'SELECT length({ids:Array(UUID)}) AS n'
        const asked = { query, query_params: { ids }, use_multipart_params, format: 'JSONEachRow' } as const
        return (await client.query(asked)).json()
      }
      expect(await ask(3_000, true)).toEqual([{ n: 3_000 }])
      await expect(ask(3_400, true)).rejects.toThrow('Field value too long')
      await expect(ask(100, false)).rejects.toThrow('The URL is longer than 4096 bytes')
    })

    it('applies settings to one query and not to the next', async () => {
      const query = "SELECT getSetting('max_threads') AS n"
      const ask = async (max_threads?: number) => {
        const clickhouse_settings = max_threads === undefined ? {} : { max_threads }
        return (await client.query({ query, clickhouse_settings, format: 'JSONEachRow' })).json<{
          n: number
        }>()
      }
      const [before] = await ask()
      expect(await ask(7)).toEqual([{ n: 7 }])
      for (let i = 0; i < 10; i++) expect(await ask()).toEqual([before])
    })
  })

  it.each([
    ['SELEC 1', '62', 'SYNTAX_ERROR'],
    ['SELECT no_such_column', '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT * FROM no_such_table', '60', 'UNKNOWN_TABLE'],
    ["SELECT throwIf(number = 3, 'boom') FROM numbers(10)", '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ['INSERT INTO rows (no_such_column) VALUES (1)', '16', 'NO_SUCH_COLUMN_IN_TABLE'],
  ])('answers %s with code and type', async (query, code, type) => {
    const error: unknown = await client.exec({ query }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ClickHouseError)
    expect(error).toMatchObject({ code, type })
  })

  inLong(() => {
    it('works after errors in settings', async () => {
      const clickhouse_settings = { no_such_setting: 1 }
      for (let i = 0; i < 5; i++) {
        await expect(client.query({ query: 'SELECT 1', clickhouse_settings })).rejects.toMatchObject({
          code: '115',
        })
      }
      for (let i = 0; i < 10; i++) expect(await db.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
    })

    it('inserts objects, reports the rows written, and understands inline values', async () => {
      await client.command({
        query: "CREATE TABLE small (a UInt32, b String DEFAULT 'd') ENGINE = MergeTree ORDER BY a",
      })
      const inserted = await client.insert({
        table: 'small',
        values: [{ a: 1 }, { a: 2, b: 'x' }],
        format: 'JSONEachRow',
      })
      expect(inserted.summary?.written_rows).toBe('2')
      await client.command({ query: "INSERT INTO small VALUES (3, 'FORMAT RowBinary')" })
      const result = await client.query({ query: 'SELECT a, b FROM small ORDER BY a', format: 'JSONCompact' })
      expect((await result.json()).data).toEqual([
        [1, 'd'],
        [2, 'x'],
        [3, 'FORMAT RowBinary'],
      ])
    })
  })

  it('refuses a wrong password, and an unknown user', async () => {
    for (const wrong of [{ password: 'x' }, { username: 'admin' }]) {
      const stranger = createClient({ ...auth(), ...wrong, log: { level: ClickHouseLogLevel.OFF } })
      await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' })
      await stranger.close()
    }
    expect((await fetch(`${engine.url}/?query=SELECT+1`)).status).toBe(403)
    expect((await fetch(`${engine.url}/ping`)).status).toBe(200)
  })

  inLong(() => {
    it('accepts compressed bodies', async () => {
      const packed = createClient({ ...auth(), compression: { request: true, response: true } })
      await packed.insert({ table: 'weir.small', values: [{ a: 9 }], format: 'JSONEachRow' })
      const result = await packed.query({
        query: 'SELECT b FROM weir.small WHERE a = 9',
        format: 'JSONEachRow',
      })
      expect(await result.json()).toEqual([{ b: 'd' }])
      await packed.close()
      const broken = await fetch(`${engine.url}/?query=INSERT+INTO+weir.small+FORMAT+JSONEachRow`, {
        method: 'POST',
        headers: {
          'X-ClickHouse-User': engine.username,
          'X-ClickHouse-Key': engine.password,
          'Content-Encoding': 'gzip',
        },
        body: gzipSync('{"a":10}').subarray(0, 12),
      })
      expect(broken.status).toBe(500)
    })
  })
})

describe('rows as RowBinary', () => {
  it('are returned byte for byte', async () => {
    const rows = [
      row('00000000-0000-4000-8000-000000000001', 'one', 1n, 'x'.repeat(70_000)),
      row('00000000-0000-4000-8000-000000000002', '', null, '\n\r\0é😀'),
      row('00000000-0000-4000-8000-000000000003', 'three', -(2n ** 63n), ''),
    ]
    await db.insert({ table: 'rows', columns: COLUMNS, body: rows })
    const sql = `SELECT ${COLUMNS.join(', ')} FROM rows WHERE name != 'bulk' ORDER BY id`
    const bytes = await db.rowBinary(sql)
    expect(bytes.equals(Buffer.concat(rows))).toBe(true)
    expect(new RowReader(bytes).uuid()).toBe('00000000-0000-4000-8000-000000000001')
    const [first] = await db.rows(`SELECT at, tags, n, price FROM rows WHERE name = 'one'`)
    expect(first).toEqual({
      at: '2023-11-14 22:13:20.123456',
      tags: ['a', 'b\0\'"\\\n'],
      n: 1,
      price: -1.234567,
    })
  })

  it('are inserted completely or not at all', async () => {
    const whole = row(randomUUID(), 'torn', 1n, 'body')
    const insert = db.insert({ table: 'rows', columns: COLUMNS, body: [whole, whole.subarray(0, 30)] })
    await expect(insert).rejects.toMatchObject({ code: 'internal', cause: expect.any(ClickHouseError) })
    expect(await db.rows(`SELECT count() AS n FROM rows WHERE name = 'torn'`)).toEqual([{ n: 0 }])
  })

  inLong(() => {
    it('can be inserted by the thousand', async () => {
      const bodies = Array.from({ length: 8 }, () =>
        Array.from({ length: 1000 }, (_, i) =>
          row(randomUUID(), 'bulk', 5n, `${i} `.repeat(1300).slice(0, 6500)),
        ),
      )
      const times: number[] = []
      for (const body of bodies) {
        const start = performance.now()
        await db.insert({ table: 'rows', columns: COLUMNS, body: Buffer.concat(body) })
        times.push(Math.round(performance.now() - start))
      }
      const reading = performance.now()
      const bytes = await db.rowBinary(`SELECT * FROM rows WHERE name = 'bulk'`)
      const read = Math.round(performance.now() - reading)
      console.info(`1,000 rows of 6.5 KB: inserts ${times.join(' ')} ms; 8,000 rows read back in ${read} ms`)
      expect(bytes.length).toBe(bodies.flat().reduce((sum, one) => sum + one.length, 0))
    })
  })

  it('an empty body sends nothing, and inserts nothing', async () => {
    await db.insert({ table: 'no_such_table', columns: ['a'], body: [] })
    const result = await client.exec({
      query: 'INSERT INTO rows FORMAT RowBinary',
      values: (await import('node:stream')).Readable.from([]),
    })
    expect((await buffer(result.stream)).length).toBe(0)
  })

  inLong(() => {
    it('a result that fails half-way is an error, never a shorter result', async () => {
      const sql = 'SELECT number, throwIf(number = 3000000) FROM numbers(10000000)'
      const settings = { max_block_size: 10_000, max_threads: 1 }
      await expect(db.rowBinary(sql, { settings })).rejects.toMatchObject({ name: 'AppError' })
    })
  })
})

describe('concurrent queries', () => {
  it('answer select 1 at once beside endless reads, which end when their readers disconnect', async () => {
    const left = new AbortController()
    const endless = Array.from({ length: 3 }, () =>
      db.rows(ENDLESS, { signal: left.signal }).catch((error: unknown) => error),
    )
    const running = async () => {
      const [row] = await db.rows<{ n: number }>(
        `SELECT count() AS n FROM system.processes WHERE position(query, 'sipHash64(number)') > 0
         AND position(query, 'system.processes') = 0`,
      )
      return row?.n
    }
    await until('three reads run', async () => (await running()) === 3)
    const start = performance.now()
    expect(await db.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
    console.info(`select 1 beside three endless reads: ${(performance.now() - start).toFixed(1)} ms`)
    left.abort()
    for (const error of await Promise.all(endless)) expect(error).toMatchObject({ code: 'store_unavailable' })
    await until('the engine is free again', async () => (await running()) === 0)
  })

  inLong(() => {
    it('end a read at max_execution_time', async () => {
      const read = db.rows(ENDLESS, { settings: { max_execution_time: 1 } })
      await expect(read).rejects.toMatchObject({
        code: 'store_unavailable',
        cause: { type: 'TIMEOUT_EXCEEDED' },
      })
    })

    it('end a read that needs too much memory', async () => {
      const read = db.rows('SELECT length(groupArray(number)) FROM numbers(300000000)')
      await expect(read).rejects.toMatchObject({
        code: 'store_unavailable',
        cause: { type: 'MEMORY_LIMIT_EXCEEDED' },
      })
    })

    it('are refused with 202 when too many wait, and answered afterwards', async () => {
      const many = connectClickHouse({ ...engine, database: 'weir', maxConnections: 300 })
      const left = new AbortController()
      const settled = Array.from({ length: 200 }, () =>
        many
          .rows(ENDLESS, { signal: left.signal })
          .catch((error: unknown) => error as { cause?: { type?: string } }),
      )
      const first = await Promise.race(settled)
      expect(first).toMatchObject({
        code: 'store_unavailable',
        cause: { type: 'TOO_MANY_SIMULTANEOUS_QUERIES' },
      })
      left.abort()
      await Promise.all(settled)
      await many.close()
      // The engine ends abandoned queries one after the other.
      await eventually(async () => expect(await db.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]))
    })
  })
})
