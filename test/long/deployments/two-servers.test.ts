import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { type PostgresCluster, startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { type RedisServer, startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { readFrames, type SseFrame } from '../../support/runs/streams/sse-frames.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures/threads'
const RUN = {
  assistant_id: 'tokens',
  input: { messages: [{ role: 'user', content: 'hi' }], steps: 3, tokens: 300 },
  stream_mode: ['values', 'messages-tuple'],
}

function isEnd({ data }: SseFrame): boolean {
  return (data as { status?: unknown } | null)?.status === 'run_done'
}

/**
 * The frames of a thread's stream after the id `from`, read from one server: until a run ends, or until there are
 * `count`.
 */
async function follow(
  server: WeirProcess,
  thread_id: string,
  from: string,
  count: number,
): Promise<SseFrame[]> {
  const gone = new AbortController()
  const response = await server.fetch(`${BASE}/${thread_id}/stream`, {
    headers: { 'last-event-id': from },
    signal: gone.signal,
  })
  const frames: SseFrame[] = []
  for await (const frame of readFrames(response)) {
    frames.push(frame)
    if (isEnd(frame) || frames.length === count) break
  }
  gone.abort()
  return frames
}

/** Starts two servers at the same time. They use one Postgres and host the same graphs. */
async function startTwo(dir: string, env: Record<string, string>): Promise<WeirProcess[]> {
  const BLOB_URL = pathToFileURL(join(dir, 'blobs')).href
  return await Promise.all(
    ['a', 'b'].map(async (name) => {
      await mkdir(join(dir, name))
      return await startWeir(join(dir, name), { GRAPHS, DEPLOYMENT_NAME: 'fixtures', BLOB_URL, ...env })
    }),
  )
}

function streamsAreShared(servers: () => WeirProcess[]): void {
  it('have the same streams, which continue on the other one', async () => {
    const [a, b] = servers() as [WeirProcess, WeirProcess]
    const { thread_id } = await a.json<{ thread_id: string }>(BASE, jsonBody('POST', {}))
    const whole = [a, b].map((server) => follow(server, thread_id, '-', Number.POSITIVE_INFINITY))
    const switching = (async () => {
      const frames: SseFrame[] = []
      for (let turn = 0; !frames.some(isEnd); turn++) {
        const from = frames.at(-1)?.id ?? '-'
        frames.push(...(await follow(turn % 2 === 0 ? a : b, thread_id, from, 60)))
      }
      return frames
    })()
    await b.json(`${BASE}/${thread_id}/runs`, jsonBody('POST', RUN))
    const [one = [], other] = await Promise.all(whole)
    expect(one.filter(({ event }) => event === 'messages').length).toBe(300)
    expect(one.filter(isEnd)).toHaveLength(1)
    expect(other).toEqual(one)
    expect(await switching).toEqual(one)
  })
}

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`two servers that start at once on one Postgres${reason}`, () => {
  let dir: string
  let cluster: PostgresCluster
  let servers: WeirProcess[] = []
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-'))
    cluster = await startPostgres()
    servers = await startTwo(dir, { DATABASE_URL: await cluster.createDatabase() })
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await cluster?.stop()
    await rm(dir, { recursive: true, force: true })
  })
  const both = <T>(path: string, init?: RequestInit) =>
    Promise.all(servers.map((server) => server.json<T>(path, init)))

  it('have one organization with one key, and create a project once', async () => {
    const [a, b] = await both<{ id: string }>('/api/v1/orgs/current')
    expect(a).toEqual(b)
    const workspaces = await both<unknown[]>('/api/v1/workspaces')
    expect(workspaces[0]).toHaveLength(1)
    expect(workspaces[0]).toEqual(workspaces[1])
    const made = await both<{ id: string }>(
      '/api/v1/sessions?upsert=true',
      jsonBody('POST', { name: 'shared' }),
    )
    expect(made[0]?.id).toBe(made[1]?.id)
  })

  streamsAreShared(() => servers)

  it('report that it is unreachable, accept traces of known projects, and resume when it is back', async () => {
    const [server] = servers
    if (server === undefined) throw new Error('no server')
    const send = () => {
      const run = {
        id: crypto.randomUUID(),
        name: 'r',
        run_type: 'chain',
        start_time: Date.now(),
        inputs: {},
      }
      return server.fetch('/api/v1/runs', jsonBody('POST', { ...run, session_name: 'shared' }))
    }
    const checks = async () =>
      ((await (await server.fetch('/ok?check_db=1')).json()) as { checks: unknown }).checks
    expect((await send()).status).toBe(202)
    expect(await checks()).toMatchObject({ sql: 'up' })
    await cluster.kill()
    expect(await checks()).toMatchObject({ sql: 'down' })
    expect((await send()).status).toBe(202)
    const refused = await server.fetch('/api/v1/sessions')
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    await cluster.start()
    await eventually(async () => expect(await checks()).toMatchObject({ sql: 'up' }))
    expect((await server.fetch('/api/v1/sessions')).status).toBe(200)
  })
})

const missing = reason + withoutRedis()

describe.skipIf(missing !== '')(`two servers with Redis${missing}`, () => {
  let dir: string
  let redis: RedisServer
  let servers: WeirProcess[] = []
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-'))
    redis = await startRedis()
    const env = { DATABASE_URL: await postgresDatabases().take(), REDIS_URL: await redis.url() }
    servers = await startTwo(dir, env)
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await redis?.stop()
    await rm(dir, { recursive: true, force: true })
  })

  streamsAreShared(() => servers)
})
