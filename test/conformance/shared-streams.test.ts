import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresDatabases } from '../support/postgres-databases.ts'
import { hasPostgres } from '../support/postgres.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { readFrames, type SseFrame } from '../support/sse-frames.ts'
import { jsonBody, startWeir, type WeirProcess } from '../support/weir-process.ts'

const GRAPHS = fileURLToPath(new URL('../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures/threads'
const RUN = {
  assistant_id: 'tokens',
  input: { messages: [{ role: 'user', content: 'hi' }], steps: 3, tokens: 300 },
  stream_mode: ['values', 'messages-tuple'],
}

function isEnd({ data }: SseFrame): boolean {
  return (data as { status?: unknown } | null)?.status === 'run_done'
}

/** Frames of a thread's stream on a server after `from`, until one that ends a run, or so many. */
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

describe.each([{ redis: false }, { redis: true }])('streams of two servers (Redis: $redis)', ({ redis }) => {
  const isMissing = !hasPostgres() || (redis && !hasRedis())
  let dir: string
  let redisServer: RedisServer | undefined
  let servers: WeirProcess[] = []
  beforeAll(async () => {
    if (isMissing) return
    dir = await mkdtemp(join(tmpdir(), 'weir-'))
    redisServer = redis ? await startRedis() : undefined
    const env = {
      GRAPHS,
      DEPLOYMENT_NAME: 'fixtures',
      DEPLOYMENT_PORT: '0',
      DATABASE_URL: await postgresDatabases().take(),
      ...(redisServer && { REDIS_URL: await redisServer.url() }),
    }
    servers = await Promise.all(
      ['a', 'b'].map(async (name) => {
        await mkdir(join(dir, name))
        return await startWeir(join(dir, name), env)
      }),
    )
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await redisServer?.stop()
    if (!isMissing) await rm(dir, { recursive: true, force: true })
  })

  it.skipIf(isMissing)('are the same on both, and go on with the other one', async () => {
    const [a, b] = servers as [WeirProcess, WeirProcess]
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
})
