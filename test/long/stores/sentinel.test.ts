import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { campaignShare, LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { readFrames, type SseFrame } from '../../support/runs/streams/sse-frames.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir, until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { type Sentinel, startRedis, startSentinel, withoutRedis } from '../../support/stores/redis.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres() + withoutRedis()
const GRAPHS = fileURLToPath(new URL('../../fixtures/graphs/langgraph.json', import.meta.url))
const BASE = '/deployments/fixtures/threads'
const RUN = {
  assistant_id: 'tokens',
  input: { messages: [{ role: 'user', content: 'hi' }], steps: 3, tokens: 60 },
  stream_mode: ['values', 'messages-tuple'],
}
/** Runs before and after a failover. */
const RUNS = 5

/** A primary with two replicas, watched by three Sentinels. */
async function startRedisGroup() {
  const servers = await Promise.all([0, 1, 2].map(() => startRedis()))
  const [main = '', ...others] = await Promise.all(servers.map((server) => server.url()))
  for (const server of servers.slice(1)) await server.follow(main)
  const sentinels = await Promise.all([0, 1, 2].map(() => startSentinel({ primary: main, quorum: 2 })))
  const byUrl = new Map([main, ...others].map((url, at) => [url, servers[at]]))
  const [, , last] = sentinels as [Sentinel, Sentinel, Sentinel]
  return {
    sentinels,
    url: `redis+sentinel://127.0.0.1:${await fixedPort()},${sentinels.map(({ host }) => host).join()}/main`,
    /** The primary. Waits until a replica can take its place. */
    async primary() {
      await until('a replica follows the primary', () => last.isPrepared())
      const primary = byUrl.get(`redis://127.0.0.1:${await last.primary()}`)
      if (primary === undefined) throw new Error('an unknown primary')
      return primary
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((one) => one.stop()))
    },
  }
}

const RETRY_MS = 50

function isEnd(frame: SseFrame | undefined): boolean {
  return (frame?.data as { status?: unknown } | null | undefined)?.status === 'run_done'
}

/** All frames of a thread's stream, up to the end of its run. Resumes the stream when it breaks, as clients do. */
async function follow(server: WeirProcess, thread_id: string): Promise<SseFrame[]> {
  const frames: SseFrame[] = []
  while (!isEnd(frames.at(-1))) {
    const gone = new AbortController()
    const headers = { 'last-event-id': frames.at(-1)?.id ?? '-' }
    const answer = await server.fetch(`${BASE}/${thread_id}/stream`, { headers, signal: gone.signal })
    if (answer.ok) {
      try {
        for await (const frame of readFrames(answer)) {
          if (frame.id !== '') frames.push(frame)
          if (isEnd(frame)) break
        }
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
      }
    } else expect(answer.status).toBe(503)
    gone.abort()
    await delay(RETRY_MS)
  }
  return frames
}

describe.skipIf(REASON !== '')(`a Redis that fails over to its replica by Sentinel${REASON}`, () => {
  it('loses no event that a client has seen, and every run and stream ends', async () => {
    const [redis, dir, database] = await Promise.all([
      startRedisGroup(),
      temporaryDir(),
      postgresDatabases().take(),
    ])
    const env = {
      DATABASE_URL: database,
      REDIS_URL: redis.url,
      BLOB_URL: pathToFileURL(join(dir.dir, 'blobs')).href,
      GRAPHS,
      DEPLOYMENT_NAME: 'fixtures',
    }
    const servers: WeirProcess[] = []
    onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.kill()))
      await redis.stop()
      await dir.remove()
    })
    for (const name of ['a', 'b']) {
      await mkdir(join(dir.dir, name))
      servers.push(await startWeir(join(dir.dir, name), env))
    }
    const [a, b] = servers as [WeirProcess, WeirProcess]

    const ended: { thread_id: string; run_id: string; live: SseFrame[] }[] = []
    let stopped = false
    // Each run is created at one server, and followed at the other while it is executed.
    const client = async (): Promise<void> => {
      while (!stopped) {
        const { thread_id } = await a.json<{ thread_id: string }>(BASE, jsonBody('POST', {}))
        const following = follow(b, thread_id)
        const { run_id } = await a.json<{ run_id: string }>(
          `${BASE}/${thread_id}/runs`,
          jsonBody('POST', RUN),
        )
        ended.push({ thread_id, run_id, live: await following })
      }
    }
    const more = (): Promise<void> => {
      const wanted = ended.length + RUNS
      return eventually(async () => expect(ended.length).toBeGreaterThanOrEqual(wanted))
    }
    const clients = [client(), client(), client()]
    await more()
    await Promise.all([(await redis.primary()).kill(), redis.sentinels[0]?.stop()])
    await more()
    // A primary that hangs without closing its connections is noticed after 15 s, which is too long for a part of the
    // campaign.
    if (campaignShare() === 1) {
      await (await redis.primary()).freeze()
      await more()
    }
    stopped = true
    await Promise.all(clients)

    for (const { thread_id, run_id, live } of ended) {
      const { status } = await a.json<{ status: string }>(`${BASE}/${thread_id}/runs/${run_id}`)
      expect([run_id, status]).toEqual([run_id, 'success'])
      expect(await follow(a, thread_id)).toEqual(live)
    }
    expect(await (await a.fetch('/ok?check_db=1')).json()).toMatchObject({ checks: { redis: 'up' } })
  })
})
