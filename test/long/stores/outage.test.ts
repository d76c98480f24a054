import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { startLoad } from '../../support/servers/load.ts'
import { type ProxiedStore, startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { drainsBacklog, storeOutage } from '../../support/faults/stores/store-outage.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'
import { startWeir } from '../../support/servers/weir-process.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let store: ProxiedStore
beforeAll(async () => {
  store = await startProxiedStore()
})
afterAll(() => store.close())

it('no data is lost while ClickHouse is unreachable for 30 s under load', async () => {
  const report = await storeOutage(store, 30)
  console.log(`outage: ${JSON.stringify(report)}`)
})

it('SIGTERM while ClickHouse is unreachable ends in time, and the next start stores the acknowledged data', async () => {
  const { dir, remove } = await temporaryDir()
  const env = { CLICKHOUSE_URL: store.newUrl() }
  const weir = await startWeir(dir, env)
  const load = startLoad({ url: weir.url, session_name: 'away' })
  await load.reached(20)
  await store.proxy.set({ kind: 'refuse' })
  await load.reached(100)
  expect(await weir.stop()).toBe(0)
  await load.stop()
  await store.proxy.set({ kind: 'pass' })
  const next = await startWeir(dir, env)
  try {
    await next.drained()
    expect(await storedFaults(next, 'away', load.traces)).toEqual([])
  } finally {
    await next.kill()
    await remove()
  }
})

const BACKLOG = campaign(50_000, 20_000)

it(`a backlog of ${BACKLOG} small runs drains: the data read back for a batch fits into its requests`, async () => {
  const { dir, remove } = await temporaryDir()
  const weir = await startWeir(dir, { CLICKHOUSE_URL: store.newUrl() })
  try {
    await drainsBacklog(weir, store, BACKLOG)
  } finally {
    await weir.kill()
    await remove()
  }
})
