import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { temporaryDir, until } from '../support/stores/clickhouse/embedded-clickhouse.ts'
import { newTrace, patchParts, postParts, sendParts, startLoad } from '../support/servers/load.ts'
import { type ProxiedStore, proxySharedStore } from '../support/faults/stores/proxied-store.ts'
import { storedFaults, traceFaults } from '../support/traces/stored-traces.ts'
import { startWeir, type WeirProcess } from '../support/servers/weir-process.ts'
import { inLong } from '../support/length.ts'

// Servers start without a store and catch up, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let store: ProxiedStore
beforeAll(async () => {
  store = await proxySharedStore()
})
afterAll(() => store.close())

/** Runs `use` with a Weir on the store behind the proxy; the server has a folder of its own. */
async function withWeir(
  env: Record<string, string>,
  use: (weir: WeirProcess) => Promise<void>,
): Promise<void> {
  const { dir, remove } = await temporaryDir()
  const weir = await startWeir(dir, { CLICKHOUSE_URL: store.newUrl(), ...env })
  try {
    await use(weir)
  } finally {
    await store.proxy.set({ kind: 'pass' })
    await weir.kill()
    await remove()
  }
}

it('starts without a store, accepts traces at once, answers reads with 503, and stores the traces later', async () => {
  await store.proxy.set({ kind: 'refuse' })
  await withWeir({}, async (weir) => {
    expect((await weir.fetch('/info')).status).toBe(200)
    const trace = newTrace(1)
    expect((await sendParts(weir.url, postParts(trace, 'early'))).status).toBe(202)
    expect((await sendParts(weir.url, patchParts(trace))).status).toBe(202)
    const read = await weir.fetch(`/api/v1/runs/${trace.llm}`)
    expect(read.status).toBe(503)
    expect(read.headers.get('retry-after')).toBe('1')
    expect(await read.json()).toMatchObject({ code: 'store_unavailable' })
    expect((await weir.fetch('/ok?check_db=1')).status).toBe(503)
    const { waiting, status } = await weir.health()
    expect({ waiting, status }).toEqual({ waiting: 6, status: 'store_unavailable' })
    await store.proxy.set({ kind: 'pass' })
    await weir.drained()
    expect(await traceFaults(weir, [{ ...trace, posted: true, patched: true }])).toEqual([])
  })
})

inLong(() => {
  it('a full log is answered with 503 and Retry-After, and accepts traces again once the store is back', async () => {
    await withWeir({ INGEST_LOG_MAX_BYTES: '1MiB' }, async (weir) => {
      await store.proxy.set({ kind: 'refuse' })
      const load = startLoad({ url: weir.url, session_name: 'full', padding: 'x'.repeat(20_000) })
      const { log, waiting } = await fullLog(weir)
      await until('the load is refused', () => load.refusals.length > 0)
      expect(waiting).toBeGreaterThan(0)
      expect(log.bytes).toBeLessThanOrEqual(log.max_bytes)
      expect((await weir.fetch('/info')).status).toBe(200)
      const acknowledged = load.traces.filter((trace) => trace.patched).length
      await store.proxy.set({ kind: 'pass' })
      await load.reached(acknowledged + 20)
      await load.stop()
      for (const { status, retry_after, text } of load.refusals) {
        expect({ status, retry_after }).toEqual({ status: 503, retry_after: '1' })
        expect(JSON.parse(text)).toMatchObject({ code: 'log_full' })
      }
      await weir.drained()
      expect(await storedFaults(weir, 'full', load.traces)).toEqual([])
    })
  })
})

/** Waits until a request has been refused because the log is full. */
async function fullLog(weir: WeirProcess) {
  const trace = newTrace(0)
  const large = postParts(trace, 'probe', 'x'.repeat(200_000))
  for (;;) {
    const { status } = await sendParts(weir.url, large)
    if (status === 503) return await weir.health()
  }
}

inLong(() => {
  it('D-9: INGEST_ACK=store acknowledges only stored data', async () => {
    await withWeir({ INGEST_ACK: 'store' }, async (weir) => {
      await store.proxy.set({ kind: 'refuse' })
      const trace = newTrace(2)
      const parts = [...postParts(trace, 'ack'), ...patchParts(trace)]
      const answers: number[] = []
      const send = async (): Promise<void> => {
        const { status } = await sendParts(weir.url, parts)
        answers.push(status)
        // After a 503, which says that the store took too long, the request is sent again.
        if (status === 503) await send()
      }
      const sending = send()
      // By then the writer has made two attempts, which failed. The request still waits.
      let attempts = 0
      while (attempts < 20) {
        const { status } = await weir.health()
        if (status === 'store_unavailable') attempts += 1
      }
      expect(answers.filter((status) => status !== 503)).toEqual([])
      await store.proxy.set({ kind: 'pass' })
      await sending
      expect(answers.at(-1)).toBe(202)
      // The data can be read at once, without waiting for the log.
      expect(await traceFaults(weir, [{ ...trace, posted: true, patched: true }])).toEqual([])
      expect((await weir.health()).waiting).toBe(0)
    })
  })
})
