import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { startSilentProxy } from '../../support/faults/proxies/silent.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const SETTINGS = { GRAPHS, DEPLOYMENT_NAME: 'fixtures' }
const BASE = '/deployments/fixtures'
/** Time limit of a stop. It is multiplied by TOLERANCE for a busy machine. */
const STOP_MS = 10_000
const TOLERANCE = 2

/** An outage of one of the servers that Weir needs, which it reaches through a proxy. */
interface Outage {
  /** Environment variables with the address of the proxy. */
  variable: Record<string, string>
  /** Environment variables with the address of the server. */
  direct: Record<string, string>
  begin: { killed(): Promise<void>; silent(): Promise<void> }
  end(): Promise<void>
}

async function redisOutage(): Promise<Outage> {
  const redis = await startRedis()
  return outageOf('REDIS_URL', await redis.url(), redis)
}

async function postgresOutage(): Promise<Outage> {
  const postgres = await startPostgres()
  return outageOf('DATABASE_URL', await postgres.createDatabase(), postgres)
}

async function outageOf(
  name: string,
  url: string,
  server: { kill(): Promise<void>; start(): Promise<void>; stop(): Promise<void> },
): Promise<Outage> {
  const proxy = await startSilentProxy(Number(new URL(url).port))
  onTestFinished(async () => {
    await proxy.close()
    await server.stop()
  })
  const through = new URL(url)
  through.port = String(proxy.port)
  return {
    variable: { [name]: through.href },
    direct: { [name]: url },
    begin: {
      killed: () => server.kill(),
      silent: async () => proxy.silence(),
    },
    end: () => server.start().catch(() => undefined),
  }
}

function clientOf({ url }: WeirProcess): Client {
  return new Client({ apiUrl: url + BASE, apiKey: KEY, callerOptions: { maxRetries: 0 } })
}

describe.each([
  ['Redis', withoutRedis(), redisOutage],
  ['Postgres', withoutPostgres(), postgresOutage],
] as const)('a stop signal while %s', (_name, reason, startOutage) => {
  it.skipIf(reason !== '').each(['killed', 'silent'] as const)(
    `is %s ends the server in ${STOP_MS / 1000} s, and nothing acknowledged is lost${reason}`,
    async (how) => {
      const outage = await startOutage()
      const { dir, remove } = await temporaryDir()
      onTestFinished(remove)
      const weir = await startWeir(dir, { ...SETTINGS, ...outage.variable })
      const client = clientOf(weir)
      const { thread_id } = await client.threads.create()
      // This run is active when the outage begins: it has streamed events, and does not end by itself.
      const { run_id } = await client.runs.create(thread_id, 'kinds', { input: { kind: 'slow' } })
      await eventually(async () =>
        expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'running' }),
      )
      await outage.begin[how]()
      // This request is acknowledged during the outage, because the log is on disk.
      const id = crypto.randomUUID()
      const trace = { id, name: 'n', run_type: 'chain', inputs: { a: 1 }, session_name: 'default' }
      const ingested = await Promise.race([
        weir.fetch('/runs', jsonBody('POST', trace)).then(({ status }) => status),
        new Promise((late) => setTimeout(late, 3000, 'no answer')),
      ])
      const began = performance.now()
      await weir.stop()
      expect(performance.now() - began).toBeLessThan(TOLERANCE * STOP_MS)

      if (how === 'killed') await outage.end()
      const next = await startWeir(dir, { ...SETTINGS, ...outage.direct })
      onTestFinished(async () => void (await next.stop()))
      const found = await clientOf(next).runs.get(thread_id, run_id)
      expect(['pending', 'running']).toContain(found.status)
      if (ingested === 202) {
        await next.drained()
        expect((await next.fetch(`/api/v1/runs/${id}`)).status).toBe(200)
      }
      await clientOf(next).runs.cancel(thread_id, run_id, true, 'interrupt')
    },
  )
})
