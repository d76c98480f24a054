import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import {
  type SupervisedClickHouse,
  superviseEmbeddedClickHouse,
} from '../../../src/storage/clickhouse/embedded/supervise.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { temporaryDir, until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { type FaultProxy, startFaultProxy } from '../../support/faults/proxies/fault.ts'
import { inLong } from '../../support/length.ts'

const AWAY = { name: 'AppError', code: 'store_unavailable', retryable: true }

let folder: Awaited<ReturnType<typeof temporaryDir>>
let engine: SupervisedClickHouse
let proxy: FaultProxy
let direct: ClickHouse
let db: ClickHouse

beforeAll(async () => {
  folder = await temporaryDir()
  engine = await superviseEmbeddedClickHouse({
    dataDir: folder.dir,
    logger: createLogger({ level: 'silent' }),
  })
  const { url, username, password } = engine
  proxy = await startFaultProxy({ target: url })
  direct = connectClickHouse({ url, username, password, database: 'weir' })
  db = connectClickHouse({ url: proxy.url, username, password, database: 'weir' })
  await direct.createDatabase()
})

beforeEach(async () => {
  await proxy.set({ kind: 'pass' })
  await direct.command('CREATE OR REPLACE TABLE t (n UInt32, body String) ENGINE = MergeTree ORDER BY n')
})

afterAll(async () => {
  await db?.close()
  await direct?.close()
  await proxy?.close()
  await engine?.stop()
  await folder?.remove()
})

function insert(count: number): Promise<void> {
  const writer = new RowWriter()
  for (let n = 0; n < count; n++) {
    writer.u32(n)
    writer.string('x'.repeat(1000))
  }
  return db.insert({ table: 't', columns: ['n', 'body'], body: writer.finish() })
}

async function stored(): Promise<number | undefined> {
  const [row] = await direct.rows<{ found: number }>('SELECT count() AS found FROM t')
  return row?.found
}

describe('faults between server and store', () => {
  inLong(() => {
    it('passes everything on without a fault', async () => {
      await insert(2000)
      expect(await stored()).toBe(2000)
      expect(await db.rows('SELECT {a:UInt8} AS a', { params: { a: 3 } })).toEqual([{ a: 3 }])
      expect(await db.ping()).toBe(true)
    })
  })

  it('a closed port is an unavailable store, which is used again when it is back', async () => {
    await proxy.set({ kind: 'refuse' })
    await expect(db.rows('SELECT 1')).rejects.toMatchObject(AWAY)
    await expect(insert(1)).rejects.toMatchObject(AWAY)
    expect(await db.ping()).toBe(false)
    await proxy.set({ kind: 'pass' })
    await insert(1)
    expect(await stored()).toBe(1)
  })

  it('an insert that is cut in the middle stores nothing', async () => {
    await proxy.set({ kind: 'reset_request', afterBytes: 200_000 })
    await expect(insert(2000)).rejects.toMatchObject(AWAY)
    await proxy.set({ kind: 'pass' })
    expect(await stored()).toBe(0)
    expect(await db.ping()).toBe(true)
  })

  it('an insert whose answer is lost has stored its rows', async () => {
    await proxy.set({ kind: 'swallow_answer' }, { query: /^INSERT INTO t/, times: 1 })
    await expect(insert(5)).rejects.toMatchObject(AWAY)
    expect(await stored()).toBe(5)
    await insert(5)
    expect(await stored()).toBe(10)
  })

  it('too many parts can be retried; an unknown column cannot', async () => {
    await proxy.set({ kind: 'error', code: 252, type: 'TOO_MANY_PARTS' }, { times: 2 })
    for (let i = 0; i < 2; i++) {
      await expect(insert(1)).rejects.toMatchObject({ ...AWAY, cause: { type: 'TOO_MANY_PARTS' } })
    }
    await insert(1)
    await expect(db.rows('SELECT nothing')).rejects.toMatchObject({ code: 'internal', retryable: false })
  })

  inLong(() => {
    it('a slow store causes no error', async () => {
      await proxy.set({ kind: 'slow', latencyMs: 30, bytesPerSecond: 2_000_000 })
      const began = performance.now()
      await insert(200)
      expect(performance.now() - began).toBeGreaterThan(100)
      expect(await stored()).toBe(200)
    })

    it('a store that never answers is unavailable after the time limit, or when the caller aborts', async () => {
      await proxy.set({ kind: 'hang' }, { query: /SELECT 1/ })
      const left = new AbortController()
      const one = db.rows('SELECT 1', { signal: left.signal })
      await proxy.faulted(1)
      left.abort()
      await expect(one).rejects.toMatchObject(AWAY)
      const { username, password } = engine
      const place = { url: proxy.url, username, password, database: 'weir' }
      const hurried = connectClickHouse({ ...place, maxExecutionSeconds: 1 })
      await expect(hurried.rows('SELECT 1')).rejects.toMatchObject(AWAY)
      await hurried.close()
      expect(await db.rows('SELECT 2 AS two')).toEqual([{ two: 2 }])
    })

    it('an engine that ends is started again at the same address', async () => {
      await insert(7)
      const { pid } = engine
      process.kill(pid, 'SIGKILL')
      await until('it is started again', () => engine.restarts === 1)
      expect(engine.pid).not.toBe(pid)
      await until('it serves again', async () => (await db.rows('SELECT 1').catch(() => [])).length === 1)
      expect(engine.restarts).toBe(1)
      expect(await stored()).toBe(7)
    })
  })
})
