import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import type { EmbeddedClickHouse } from '../../../src/storage/clickhouse/embedded/start.ts'
import {
  type InstalledProxy,
  startInstalledProxy,
  withoutProxy,
} from '../../support/faults/proxies/installed.ts'
import { jsonBody, startWeir } from '../../support/servers/weir-process.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

// Thousands of traces are stored through a proxy.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const TRACES = 4_000
const NAMES = ['haproxy', 'nginx'] satisfies InstalledProxy[]

let engine: EmbeddedClickHouse
let folder: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  folder = await temporaryDir()
  engine = await startTestClickHouse(folder.dir)
})
afterAll(async () => {
  await engine?.stop()
  await folder?.remove()
})

describe.each(NAMES.map((name) => ({ name, reason: withoutProxy(name) })))(
  'ClickHouse behind $name with its default buffers$reason',
  ({ name, reason }) => {
    it.skipIf(reason !== '')(`${TRACES} traces in large batches are stored, each fragment once`, async () => {
      const proxy = await startInstalledProxy(name, engine.url)
      const { dir, remove } = await temporaryDir()
      const { username, password } = engine
      const database = `behind_${name}`
      const address = `${proxy.url.replace('//', `//${username}:${password}@`)}/${database}`
      const weir = await startWeir(dir, { CLICKHOUSE_URL: address })
      const direct = connectClickHouse({ ...engine, database })
      try {
        for (let sent = 0; sent < TRACES; sent += 1_000) {
          const post = Array.from({ length: 1_000 }, (_, i) => newTrace(sent + i))
          await weir.json('/runs/batch', jsonBody('POST', { post }))
        }
        await weir.drained()
        const counts = await direct.rows(
          'SELECT count() AS fragments, uniqExact(run_id) AS runs FROM fragments',
        )
        expect(counts).toEqual([{ fragments: TRACES, runs: TRACES }])
        expect(await (await weir.fetch('/ok?check_db=1')).json()).toMatchObject({ ok: true })
      } finally {
        await direct.close()
        await weir.kill()
        await proxy.stop()
        await remove()
      }
    })
  },
)

function newTrace(number: number): object {
  const start_time = new Date(Date.now() - 60_000 + number).toISOString()
  const times = { start_time, end_time: start_time }
  return { id: randomUUID(), name: `trace ${number}`, run_type: 'chain', session_name: 'proxied', ...times }
}
