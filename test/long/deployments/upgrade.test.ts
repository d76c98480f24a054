import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { campaignShare, LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { newTrace, patchParts, postParts, type SentTrace, sendParts } from '../../support/servers/load.ts'
import { makeNextRelease } from '../../support/deployments/next-release.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

// Starting six servers takes too long for a part of the campaign.
const REASON =
  withoutPostgres() + withoutRedis() + (campaignShare() < 1 ? ' (only in the whole campaign)' : '')
const THREADS = '/deployments/d/threads'
const GRAPHS = 'test/fixtures/run-graphs/langgraph.json'
const NEXT_GRAPHS = 'test/fixtures/run-graphs/next-release.json'
const STEPS = ['one', 'two', 'three']
const PROJECT = 'upgrade'
const RETRY_MS = 50
const PAUSE_MS = 100
/** Minimum number of further traces, and of further runs, that are acknowledged while both releases serve. */
const BETWEEN = 5
const SERVERS = 3

/** Starts three servers that share a Postgres, a Redis, a ClickHouse and a folder of attachments. */
async function startServers() {
  const [engine, redis, dir, next, database] = await Promise.all([
    startProxiedStore(),
    startRedis(),
    temporaryDir(),
    makeNextRelease(),
    postgresDatabases().take(),
  ])
  const env = {
    CLICKHOUSE_URL: engine.newUrl(),
    DATABASE_URL: database,
    REDIS_URL: await redis.url(),
    BLOB_URL: pathToFileURL(join(dir.dir, 'blobs')).href,
    SECRETS_KEY: 'a'.repeat(64),
    DEPLOYMENT_NAME: 'd',
  }
  const servers: WeirProcess[] = []
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all([engine.close(), redis.stop(), next.remove()])
    await dir.remove()
  })
  const ports = await Promise.all(Array.from({ length: SERVERS }, () => fixedPort()))
  const start = (at: number, graphs: string, main?: string): Promise<WeirProcess> =>
    startWeir(join(dir.dir, `${at}`), { ...env, PORT: `${ports[at]}`, GRAPHS: graphs }, [], main)
  servers.push(...(await Promise.all(ports.map((_port, at) => start(at, GRAPHS)))))
  const file = join(dir.dir, 'beats')
  await writeFile(file, '')
  return {
    servers,
    file,
    /** Replaces a server by one of the next release, which has one more graph. */
    async upgrade(at: number) {
      expect(await servers[at]?.stop()).toBe(0)
      servers[at] = await start(at, NEXT_GRAPHS, next.main)
    },
  }
}

/** Clients that send requests to the servers in turn, and repeat those that no server has accepted. */
function startClients({ servers, file }: { servers: readonly WeirProcess[]; file: string }) {
  const traces: SentTrace[] = []
  const started: { thread_id: string; run_id: string }[] = []
  const failures: unknown[] = []
  let waited = 0
  let turn = 0
  let stopped = false
  const server = (): WeirProcess => servers[turn++ % servers.length] as WeirProcess
  const mayRepeat = (status: number): boolean => status === 0 || status === 503

  async function sent(parts: Parameters<typeof sendParts>[1]): Promise<boolean> {
    for (;;) {
      const { status, text } = await sendParts(server().url, parts)
      if (status === 202) return true
      if (!mayRepeat(status)) {
        failures.push([status, text])
        return false
      }
      await delay(RETRY_MS)
    }
  }
  async function asked<T>(path: string, body: object): Promise<T | undefined> {
    for (;;) {
      const answer = await server()
        .fetch(path, jsonBody('POST', body))
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch((error: unknown) => ({ status: 0, text: String(error) }))
      if (answer.status === 200) return JSON.parse(answer.text) as T
      if (!mayRepeat(answer.status)) {
        failures.push([answer.status, answer.text])
        return undefined
      }
      await delay(RETRY_MS)
    }
  }
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!stopped) {
      await work()
      await delay(PAUSE_MS)
    }
  }
  const run = { assistant_id: 'beats', input: { file, beats: 3 } }
  const clients = [
    repeat(async () => {
      const trace = newTrace(traces.length)
      traces.push(trace)
      trace.posted = await sent(postParts(trace, PROJECT))
      trace.patched = await sent(patchParts(trace))
    }),
    repeat(async () => {
      const values = await asked<{ steps: string[] }>('/deployments/d/runs/wait', run)
      if (values?.steps.join() !== STEPS.join()) failures.push(values)
      waited++
    }),
    repeat(async () => {
      const thread_id = randomUUID()
      const made = await asked<{ run_id: string }>(`${THREADS}/${thread_id}/runs`, {
        ...run,
        if_not_exists: 'create',
      })
      if (made !== undefined) started.push({ thread_id, run_id: made.run_id })
    }),
  ]
  return {
    traces,
    started,
    failures,
    async more() {
      const before = [traces.length, waited, started.length]
      await eventually(async () => {
        for (const [index, now] of [traces.length, waited, started.length].entries())
          expect(now).toBeGreaterThanOrEqual((before[index] ?? 0) + BETWEEN)
      })
    },
    async stop() {
      stopped = true
      await Promise.all(clients)
    },
  }
}

describe.skipIf(REASON !== '')(`servers that are upgraded one by one under load${REASON}`, () => {
  it('no request fails that is repeated, and no acknowledged trace or run is lost', async () => {
    const cluster = await startServers()
    const { servers, file } = cluster
    const clients = startClients(cluster)
    await clients.more()
    for (const at of servers.keys()) {
      await cluster.upgrade(at)
      if (at === 0) {
        // The last server is still of the earlier release, and does not have the graph.
        const input = { file, beats: 1 }
        const values = await servers
          .at(-1)
          ?.json<{ steps: string[] }>(
            '/deployments/d/runs/wait',
            jsonBody('POST', { assistant_id: 'fresh', input }),
          )
        expect(values?.steps).toEqual(STEPS)
      }
      await clients.more()
    }
    await clients.stop()
    expect(clients.failures).toEqual([])

    const [server] = servers as [WeirProcess]
    await eventually(async () => {
      for (const { thread_id, run_id } of clients.started) {
        const { status } = await server.json<{ status: string }>(`${THREADS}/${thread_id}/runs/${run_id}`)
        expect([run_id, status]).toEqual([run_id, 'success'])
      }
    })
    for (const { thread_id } of clients.started) {
      const { values } = await server.json<{ values: { steps: string[] } }>(`${THREADS}/${thread_id}/state`)
      expect(values.steps).toEqual(STEPS)
    }
    for (const one of servers) await one.drained()
    expect(clients.traces.every(({ posted, patched }) => posted && patched)).toBe(true)
    expect(await eventually(() => storedFaults(server, PROJECT, clients.traces))).toEqual([])
  })
})
