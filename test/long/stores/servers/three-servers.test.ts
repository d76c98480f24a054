import { randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../../src/schema/types.gen.ts'
import { connectClickHouse, type ClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import type { EmbeddedClickHouse } from '../../../../src/storage/clickhouse/embedded/start.ts'
import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { campaign } from '../../../support/campaign.ts'
import { eventually } from '../../../support/eventually.ts'
import {
  type InstalledProxy,
  startInstalledProxy,
  withoutProxy,
} from '../../../support/faults/proxies/installed.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../../support/servers/weir-process.ts'
import { startTestClickHouse, temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'
import { type RedisServer, startRedis, withoutRedis } from '../../../support/stores/redis.ts'
import { postgresDatabases } from '../../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../../support/stores/sql/postgres.ts'
import { BOUNDARY, multipartBody } from '../../../support/traces/wire-body.ts'

/** Minutes of load. An hour by hand: `THREE_SERVERS_MINUTES=60 npm run test:long -- three-servers`. */
const MINUTES = Number(env['THREE_SERVERS_MINUTES'] ?? campaign(4, 2))
const SERVERS = 3
/** Milliseconds between two rounds of load: little, because the campaign runs beside other tests. */
const ROUND_MS = 3_000
/** Milliseconds within which everything that has expired must be gone: the sweeps of threads run once a minute. */
const GONE_MS = 180_000
/** A day of retention takes a minute, and the sweeps of traces and attachments run every ten seconds. */
const SHORT_RETENTION = `import { registerHooks } from 'node:module'
const CHANGES = {
  'ingest/deletion/retention.ts': ['const DAY_MS = 24 * 3_600_000', 'const DAY_MS = 60_000'],
  'ingest/deletion/deleter.ts': ['const SWEEP_MS = 3_600_000', 'const SWEEP_MS = 10_000'],
}
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const [, change] = Object.entries(CHANGES).find(([file]) => url.endsWith('/src/' + file)) ?? []
    if (change === undefined) return loaded
    const source = String(loaded.source)
    if (!source.includes(change[0])) throw new Error('nothing to change in ' + url)
    return { ...loaded, source: source.replace(...change) }
  },
})`
const BEATS = fileURLToPath(new URL('../../../fixtures/run-graphs/beats.mjs:graph', import.meta.url))
const DEPLOYED = '/deployments/d'
const REASON = withoutPostgres() + withoutRedis() + withoutProxy('haproxy' satisfies InstalledProxy)

// The load, and then the wait until everything has expired.
vi.setConfig({ testTimeout: (MINUTES + 10) * 60_000, hookTimeout: 300_000 })

describe.skipIf(REASON !== '')(`${SERVERS} servers behind HAProxy for ${MINUTES} minutes${REASON}`, () => {
  const databases = postgresDatabases()
  const ends: (() => Promise<unknown> | void)[] = []
  const servers: WeirProcess[] = []
  let folder: string
  let engine: EmbeddedClickHouse
  let redis: RedisServer
  let database: string
  let direct: ClickHouse
  let url: string

  beforeAll(async () => {
    const { dir, remove } = await temporaryDir()
    ends.push(remove)
    folder = dir
    engine = await startTestClickHouse(join(dir, 'engine'))
    ends.push(() => engine.stop())
    const store = await startInstalledProxy('haproxy', engine.url)
    ends.push(() => store.stop())
    redis = await startRedis()
    ends.push(() => redis.stop())
    database = await databases.take()
    ends.push(() => databases.giveBack(database))
    const settings = await settingsOf(dir, store.url)
    for (let n = 0; n < SERVERS; n++) servers.push(await startWeir(join(dir, `server-${n}`), settings))
    ends.push(() => Promise.all(servers.map((server) => server.stop())))
    const [first, ...others] = servers.map((server) => server.url)
    const balancer = await startInstalledProxy('haproxy', first!, ...others)
    ends.push(() => balancer.stop())
    url = balancer.url
    direct = connectClickHouse({ ...engine, database: 'weir' })
    ends.push(() => direct.close())
  })
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  async function settingsOf(dir: string, clickhouse: string): Promise<Record<string, string>> {
    const graphs = join(dir, 'langgraph.json')
    await writeFile(graphs, JSON.stringify({ graphs: { beats: BEATS } }))
    const hooks = join(dir, 'short-retention.mjs')
    await writeFile(hooks, SHORT_RETENTION)
    return {
      DATABASE_URL: database,
      REDIS_URL: await redis.url(),
      CLICKHOUSE_URL: `${clickhouse.replace('//', `//${engine.username}:${engine.password}@`)}/weir`,
      BLOB_URL: pathToFileURL(join(dir, 'blobs')).href,
      GRAPHS: graphs,
      DEPLOYMENT_NAME: 'd',
      RUN_TRACING: 'off',
      NODE_OPTIONS: `--import=${hooks}`,
    }
  }

  /** Sends a request as clients do, which repeat one that is refused with 429 or 503. */
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('x-api-key', KEY)
    return await eventually(async () => {
      const answer = await fetch(url + path, { ...init, headers })
      if (answer.status !== 429 && answer.status !== 503) return answer
      throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    })
  }
  async function json<T>(path: string, init?: RequestInit): Promise<T> {
    const answer = await ask(path, init)
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }

  /** Sends a trace of two TraceRuns, whose root has an attachment of its own; returns their ids, the root's first. */
  async function sendTrace(session_name: string): Promise<[root: string, child: string]> {
    const [root, child] = [randomUUID(), randomUUID()]
    const at = new Date().toISOString()
    const order = `${at.replace(/[-:.]/g, '').slice(0, -1)}000Z`
    const times = { trace_id: root, session_name, run_type: 'chain', start_time: at, end_time: at }
    const below = `${order}${root}.${order}${child}`
    const runs = [
      { ...times, id: root, name: 'root', dotted_order: `${order}${root}` },
      { ...times, id: child, name: 'child', parent_run_id: root, dotted_order: below },
    ]
    const parts = [
      ...runs.map((run) => ({ name: `post.${run.id}`, data: JSON.stringify(run) })),
      { name: `attachment.${root}.note`, data: `of ${root}`, type: 'text/plain' },
    ]
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const answer = await ask('/runs/multipart', { method: 'POST', body: multipartBody(parts), headers })
    expect(answer.status, await answer.text()).toBe(202)
    return [root, child]
  }

  const run = { assistant_id: 'beats', input: { file: '/dev/null', beats: 1 } }

  /** A run without a thread of the user; returns its id. */
  async function statelessRun(): Promise<string> {
    const answer = await ask(`${DEPLOYED}/runs/stream`, jsonBody('POST', { ...run, stream_mode: 'values' }))
    const text = await answer.text()
    expect(text).toContain('"three"')
    const [, run_id] = /^\/runs\/([0-9a-f-]{36})$/.exec(answer.headers.get('content-location') ?? '') ?? []
    if (run_id === undefined) throw new Error('the answer does not name its run')
    return run_id
  }

  const attachments = async (): Promise<number> => {
    const files = await readdir(join(folder, 'blobs'), { recursive: true })
    return files.filter((file) => /[0-9a-f]{64}$/.test(file)).length
  }
  const countOf = async (
    table: string,
    traces: readonly string[][],
  ): Promise<{ rows: number; ids: number }> => {
    const sql = `SELECT count() AS rows, uniqExact(run_id) AS ids FROM ${table}
      WHERE run_id IN {ids:Array(UUID)}`
    const [counts] = await direct.rows<{ rows: number; ids: number }>(sql, { params: { ids: traces.flat() } })
    return counts!
  }

  it('nothing that must go is there, nothing is there twice, and no sweep has failed', async () => {
    const expiring = await json<SchemaTypes['session']>('/sessions', jsonBody('POST', { name: 'expiring' }))
    await json(`/sessions/${expiring.id}`, jsonBody('PATCH', { retention_days: 1 }))
    const cronThread = await json<{ thread_id: string }>(`${DEPLOYED}/threads`, jsonBody('POST', {}))
    const cronPath = `${DEPLOYED}/threads/${cronThread.thread_id}/runs/crons`
    for (let n = 0; n < 3; n++) {
      const schedule = { ...run, schedule: '* * * * *', multitask_strategy: 'enqueue', metadata: { cron: n } }
      await json(cronPath, jsonBody('POST', schedule))
    }
    const sent = { expiring: [] as string[][], kept: [] as string[][], deleted: [] as string[][] }
    const statelessRuns: string[] = []
    const expiringThreads: string[] = []
    const from = Date.now()
    for (let round = 0; Date.now() < from + MINUTES * 60_000; round++) {
      const next = delay(ROUND_MS)
      for (let n = 0; n < 3; n++) {
        sent.expiring.push(await sendTrace('expiring'))
        sent.kept.push(await sendTrace('kept'))
      }
      statelessRuns.push(await statelessRun())
      const ttl = { ttl: 1, strategy: 'delete' }
      const made = await json<{ thread_id: string }>(`${DEPLOYED}/threads`, jsonBody('POST', { ttl }))
      expiringThreads.push(made.thread_id)
      if (round % 3 === 0) {
        const doomed = sent.kept.shift()!
        // The server that took the trace may not have stored it yet, and another one does not know it then.
        await eventually(async () =>
          expect((await ask(`/api/v1/traces/${doomed[0]}`, { method: 'DELETE' })).status).toBe(202),
        )
        sent.deleted.push(doomed)
      }
      await next
    }
    for (const cron of await json<{ cron_id: string }[]>(
      `${DEPLOYED}/runs/crons/search`,
      jsonBody('POST', {}),
    ))
      await ask(`${DEPLOYED}/runs/crons/${cron.cron_id}`, { method: 'DELETE' })

    const figures = { ...sent, statelessRuns, expiringThreads }
    const counts = Object.entries(figures).map(([name, list]) => `${name} ${list.length}`)
    console.log(`three servers, ${MINUTES} minutes: ${counts.join(', ')}`)
    const gone = [...sent.expiring, ...sent.deleted]
    for (const server of servers) await server.drained()
    await eventually(async () => {
      expect(await countOf('fragments', gone)).toEqual({ rows: 0, ids: 0 })
      expect(await countOf('runs FINAL', gone)).toEqual({ rows: 0, ids: 0 })
      expect(await attachments()).toBe(sent.kept.length)
      const pg = openPostgres(database)
      try {
        const left = (table: string, id: string, ids: readonly string[]): Promise<unknown[]> =>
          pg.query(
            `SELECT ${id} FROM weir_runs.${table} WHERE ${id} IN (${ids.map((one) => `'${one}'`).join()})`,
          )
        expect(await left('threads', 'thread_id', expiringThreads)).toEqual([])
        // The thread of a stateless run is deleted in the transaction that deletes the run.
        expect(await left('runs', 'run_id', statelessRuns)).toEqual([])
      } finally {
        await pg.close()
      }
    }, GONE_MS)

    const twice = { rows: 2 * sent.kept.length, ids: 2 * sent.kept.length }
    expect(await countOf('runs FINAL', sent.kept)).toEqual(twice)
    expect(await countOf('fragments', sent.kept)).toEqual(twice)
    const runs = await json<{ created_at: string; status: string; metadata: { cron: number } }[]>(
      `${DEPLOYED}/threads/${cronThread.thread_id}/runs?limit=1000`,
    )
    const dates = runs.map(({ created_at, metadata }) => `${metadata.cron} ${created_at.slice(0, 16)}`)
    expect(new Set(dates).size).toBe(dates.length)
    expect(dates.length).toBeGreaterThanOrEqual(3 * (MINUTES - 1))
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['success']))
    for (const server of servers) {
      expect(await (await server.fetch('/ok?check_db=1')).json()).toMatchObject({ ok: true })
      const metrics = await (await server.fetch('/metrics')).text()
      expect(metrics).not.toMatch(/^weir_sweep_failures_total\{.*\} [1-9]/m)
    }
  })
})
