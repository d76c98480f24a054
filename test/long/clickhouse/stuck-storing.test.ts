import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { eventually } from '../../support/eventually.ts'
import { type ProxiedStore, startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

// Health changes only after a minute in which nothing was stored.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const INSERTS = /^INSERT/
const USAGE = {
  DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING: 'true',
  GRANULAR_USAGE_TABLE_ENABLED: 'true',
}

let store: ProxiedStore
let url: string
let weir: WeirProcess
let folder: Awaited<ReturnType<typeof temporaryDir>>

beforeAll(async () => {
  store = await startProxiedStore()
  folder = await temporaryDir()
  url = store.newUrl()
  weir = await startWeir(folder.dir, { ...USAGE, CLICKHOUSE_URL: url })
})

beforeEach(async () => {
  await store.proxy.set({ kind: 'pass' })
  await storing()
})

afterAll(async () => {
  await store?.proxy.set({ kind: 'pass' })
  await weir?.kill()
  await store?.close()
  await folder?.remove()
})

/** Milliseconds for which the processor below blocks its thread, once. */
const SLOW_MS = 40_000
const SLOW_PROCESSOR = `let isFirst = true
export default {
  name: 'slow',
  match() {
    if (isFirst) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${SLOW_MS})
    isFirst = false
    return 0
  },
  normalize: () => ({ messages: [] }),
}`

async function sendTrace(to = weir, fields: object = {}): Promise<void> {
  const time = new Date().toISOString()
  const chain = { name: 'stuck', run_type: 'chain', start_time: time, end_time: time }
  const run = { id: randomUUID(), ...chain, ...fields }
  expect((await to.fetch('/runs', jsonBody('POST', run))).status).toBeLessThan(300)
}

/** Resolves when the tables are there, and nothing waits. */
async function storing(of = weir): Promise<void> {
  await eventually(async () => expect(await of.health()).toMatchObject({ status: 'ok', waiting: 0 }))
}

/** The status of `/ready?part=reads`, and what health says about ClickHouse. */
async function health(
  of = weir,
): Promise<{ reads: number; code: string | undefined; detail: string | undefined }> {
  const { status } = await of.fetch('/ready?part=reads')
  const answer = await (await of.fetch('/ok?check_db=1')).json()
  const { problems } = answer as { problems?: { clickhouse?: { code: string; detail: string } } }
  return { reads: status, code: problems?.clickhouse?.code, detail: problems?.clickhouse?.detail }
}

const WELL = { reads: 200, code: undefined, detail: undefined }

it('a proxy that refuses inserts is named as a fault of the configuration, until it takes them', async () => {
  expect(await health()).toEqual(WELL)
  await store.proxy.set({ kind: 'status', status: 413 }, { query: INSERTS })
  await sendTrace()
  await eventually(async () =>
    expect(await health()).toEqual({
      reads: 503,
      code: 'store_misconfigured',
      detail: expect.stringContaining('413 Payload Too Large'),
    }),
  )
  await store.proxy.set({ kind: 'pass' })
  await eventually(async () => expect(await health()).toEqual(WELL))
})

it('refused inserts are named while the batch is still derived', async () => {
  const slow = await temporaryDir()
  const path = join(slow.dir, 'slow.mjs')
  await writeFile(path, SLOW_PROCESSOR)
  const started = await startWeir(join(slow.dir, 'data'), {
    CLICKHOUSE_URL: store.newUrl(),
    PROCESSORS: path,
  })
  onTestFinished(async () => {
    await started.kill()
    await slow.remove()
  })
  await storing(started)
  await store.proxy.set({ kind: 'status', status: 413 }, { query: INSERTS })
  const from = performance.now()
  await sendTrace(started, { run_type: 'llm', inputs: { messages: [{ role: 'user', content: 'slow' }] } })
  await eventually(async () => expect((await health(started)).code).toBe('store_misconfigured'))
  expect(performance.now() - from).toBeLessThan(SLOW_MS)
  await store.proxy.set({ kind: 'pass' })
  await started.drained()
})

it('reads are not ready when data waits and none was stored for a minute', async () => {
  await store.proxy.set({ kind: 'error', code: 252, type: 'TOO_MANY_PARTS' }, { query: INSERTS })
  const from = performance.now()
  await sendTrace()
  await store.proxy.faulted(2)
  expect(await health()).toEqual(WELL)
  const stuck = {
    reads: 503,
    code: 'store_unavailable',
    detail: expect.stringContaining('none has been stored for'),
  }
  // On a busy machine a single check may fail earlier, because the store does not answer in time.
  await eventually(async () => expect(await health()).toEqual(stuck), 180_000)
  expect(performance.now() - from).toBeGreaterThan(59_000)
  await store.proxy.set({ kind: 'pass' })
  await eventually(async () => expect(await health()).toEqual(WELL))
})

it('a batch that is tried again inserts nothing that is confirmed', async () => {
  const direct = connectClickHouse({ ...store.engine, database: new URL(url).pathname.slice(1) })
  onTestFinished(() => direct.close())
  const tables = ['fragments', 'usage_claims', 'usage_traces']
  for (const table of tables) await direct.command(`SYSTEM STOP MERGES ${table}`)
  const rows = (): Promise<{ n: number }[][]> =>
    Promise.all(tables.map((table) => direct.rows<{ n: number }>(`SELECT count() AS n FROM ${table}`)))
  const before = await rows()
  await store.proxy.set(
    { kind: 'error', code: 252, type: 'TOO_MANY_PARTS' },
    { query: /^INSERT INTO (runs|usage_marks) /, times: 8 },
  )
  const time = new Date().toISOString()
  const times = { start_time: time, end_time: time, run_type: 'chain' }
  const post = Array.from({ length: 200 }, (_, i) => ({ id: randomUUID(), name: `trace ${i}`, ...times }))
  await weir.json('/runs/batch', jsonBody('POST', { post }))
  await store.proxy.faulted(8)
  await weir.drained()
  const after = await rows()
  expect(after.map(([row], i) => row!.n - before[i]![0]!.n)).toEqual([200, 200, 200])
})

it('a proxy that refuses the inserts of the start is named as a fault of the configuration, until it takes them', async () => {
  await store.proxy.set({ kind: 'status', status: 413 }, { query: INSERTS })
  const other = await temporaryDir()
  const started = await startWeir(other.dir, { CLICKHOUSE_URL: store.newUrl() })
  try {
    await eventually(async () =>
      expect(await health(started)).toEqual({
        reads: 503,
        code: 'store_misconfigured',
        detail: expect.stringContaining('413 Payload Too Large'),
      }),
    )
    await store.proxy.set({ kind: 'pass' })
    await eventually(async () => expect(await health(started)).toEqual(WELL))
  } finally {
    await started.kill()
    await other.remove()
  }
})

it('an address that refuses every request is named at the start', async () => {
  await store.proxy.set({ kind: 'status', status: 404 })
  const other = await temporaryDir()
  const started = await startWeir(other.dir, { CLICKHOUSE_URL: store.newUrl() })
  try {
    await eventually(async () =>
      expect(started.log).toContainEqual(
        expect.objectContaining({
          code: 'store_misconfigured',
          msg: expect.stringContaining(
            'ClickHouse is not ready: Requests to CLICKHOUSE_URL are refused with 404',
          ),
        }),
      ),
    )
    expect((await started.fetch('/ready?part=reads')).status).toBe(503)
  } finally {
    await started.kill()
    await other.remove()
  }
})
