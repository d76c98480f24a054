import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { type PostgresCluster, startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { type ProxiedStore, startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { type RedisServer, startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { startTcpProxy, type TcpProxy } from '../../support/faults/proxies/tcp.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres() + withoutRedis()
const THREADS = '/deployments/d/threads'
const LATE_MS = 250
/** Two statements of a transaction may wait for 30 s each. */
const ANSWER_MS = 75_000
const PAUSE_MS = 100
/** How long a store is down, in milliseconds. */
const AWAY_MS = 1_000

interface Made {
  thread_id: string
  run_id: string
}

describe.skipIf(REASON !== '')(`Postgres and Redis that are killed and slow under load${REASON}`, () => {
  let engine: ProxiedStore
  let postgres: PostgresCluster
  let redis: RedisServer
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let weir: WeirProcess
  const wires: TcpProxy[] = []

  async function wired(url: string): Promise<string> {
    const through = new URL(url)
    const wire = await startTcpProxy(Number(through.port))
    wires.push(wire)
    through.port = String(wire.port)
    return through.href
  }

  beforeAll(async () => {
    ;[engine, postgres, redis, dir] = await Promise.all([
      startProxiedStore(),
      startPostgres(),
      startRedis(),
      temporaryDir(),
    ])
    await writeFile(join(dir.dir, 'beats'), '')
    weir = await startWeir(join(dir.dir, 'data'), {
      CLICKHOUSE_URL: engine.newUrl(),
      DATABASE_URL: await wired(await postgres.createDatabase()),
      REDIS_URL: await wired(await redis.url()),
      GRAPHS: 'test/fixtures/run-graphs/langgraph.json',
      DEPLOYMENT_NAME: 'd',
    })
  })
  afterAll(async () => {
    await weir.stop()
    for (const wire of wires) await wire.close()
    await Promise.all([engine.close(), postgres.stop(), redis.stop()])
    await dir.remove()
  })

  const request = () =>
    jsonBody('POST', { assistant_id: 'beats', input: { file: join(dir.dir, 'beats'), beats: 3 } })

  /** The response's body; undefined if the response says that the store is unavailable. Other errors fail the test. */
  async function asked<T>(path: string, init: RequestInit): Promise<T | undefined> {
    const answer = await weir.fetch(path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
    const body = (await answer.json()) as T & { code?: string }
    if (answer.ok) return body
    expect([answer.status, body.code]).toEqual([503, 'store_unavailable'])
    return undefined
  }

  it('lose no acknowledged run, and answer every request in time', async () => {
    const made: Made[] = []
    let stopped = false
    const client = async (): Promise<void> => {
      while (!stopped) {
        const thread = await asked<Made>(THREADS, jsonBody('POST', {}))
        if (thread) {
          const run = await asked<Made>(`${THREADS}/${thread.thread_id}/runs`, request())
          if (run) made.push(run)
        }
        await delay(PAUSE_MS)
      }
    }
    const clients = [client(), client(), client()]
    const more = async (): Promise<void> => {
      const wanted = made.length + 5
      await eventually(async () => expect(made.length).toBeGreaterThanOrEqual(wanted))
    }
    await more()
    for (const store of [postgres, redis]) {
      await store.kill()
      await delay(AWAY_MS)
      await store.start()
      await more()
    }
    for (const wire of wires) await wire.set({ kind: 'late', ms: LATE_MS })
    await more()
    for (const wire of wires) await wire.set({ kind: 'pass' })
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
