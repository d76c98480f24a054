import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { startTcpProxy } from '../../support/faults/proxies/tcp.ts'
import { jsonBody, startWeir } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres()
const THREADS = '/deployments/d/threads'
const PAUSE_MS = 50

interface Made {
  thread_id: string
  run_id: string
}

describe.skipIf(REASON !== '')(`a Postgres that fails over to its synchronous standby${REASON}`, () => {
  it('loses no acknowledged run, and all runs continue', async () => {
    const [engine, postgres, dir] = await Promise.all([startProxiedStore(), startPostgres(), temporaryDir()])
    const url = new URL(await postgres.createDatabase())
    const standby = await postgres.startStandby()
    const wire = await startTcpProxy(postgres.port)
    url.port = String(wire.port)
    const file = join(dir.dir, 'beats')
    await writeFile(file, '')
    const weir = await startWeir(join(dir.dir, 'data'), {
      CLICKHOUSE_URL: engine.newUrl(),
      DATABASE_URL: url.href,
      GRAPHS: 'test/fixtures/run-graphs/langgraph.json',
      DEPLOYMENT_NAME: 'd',
    })
    onTestFinished(async () => {
      await weir.stop()
      await wire.close()
      await Promise.all([engine.close(), standby.stop(), postgres.stop()])
      await dir.remove()
    })

    const made: Made[] = []
    let stopped = false
    const post = async (path: string, body: object): Promise<Made | undefined> => {
      const answer = await weir.fetch(path, jsonBody('POST', body))
      const said = (await answer.json()) as Made & { code?: string }
      if (answer.ok) return said
      expect([answer.status, said.code]).toEqual([503, 'store_unavailable'])
      return undefined
    }
    const client = async (): Promise<void> => {
      while (!stopped) {
        const thread = await post(THREADS, {})
        const request = { assistant_id: 'beats', input: { file, beats: 3 } }
        const run = thread && (await post(`${THREADS}/${thread.thread_id}/runs`, request))
        if (run) made.push(run)
        await delay(PAUSE_MS)
      }
    }
    const clients = [client(), client(), client()]
    const more = async (): Promise<void> => {
      const wanted = made.length + 10
      await eventually(async () => expect(made.length).toBeGreaterThanOrEqual(wanted))
    }
    await more()
    await postgres.kill()
    await standby.promote()
    wire.lead(standby.port)
    await more()
    stopped = true
    await Promise.all(clients)
    await eventually(async () => {
      for (const { thread_id, run_id } of made) {
        const run = await weir.json<{ status: string }>(`${THREADS}/${thread_id}/runs/${run_id}`)
        expect([run_id, run.status]).toEqual([run_id, 'success'])
      }
    })
  })
})
