import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import { readConfig } from '../../../src/config.ts'
import { joinServers } from '../../../src/hosting/servers/other-servers.ts'
import { createServerRegistry } from '../../../src/storage/sql/server-registry.ts'
import { openSql } from '../../../src/storage/sql/driver/open.ts'
import { eventually } from '../../support/eventually.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { startTestClickHouse, temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startS3, type TestS3 } from '../../support/stores/s3.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`two servers on one Postgres, ClickHouse and S3${reason}`, () => {
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let engine: Awaited<ReturnType<typeof startTestClickHouse>>
  let s3: TestS3
  let servers: WeirProcess[] = []
  beforeAll(async () => {
    dir = await temporaryDir()
    engine = await startTestClickHouse(join(dir.dir, 'engine'))
    s3 = await startS3()
    const { username, password } = engine
    const shared = {
      DATABASE_URL: await postgresDatabases().take(),
      CLICKHOUSE_URL: `${engine.url.replace(/\/$/, '')}/weir`.replace('//', `//${username}:${password}@`),
      BLOB_URL: s3.url('attachments'),
    }
    servers = await Promise.all(
      ['a', 'b'].map(async (name) => {
        await mkdir(join(dir.dir, name))
        return await startWeir(join(dir.dir, name), shared)
      }),
    )
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await s3?.stop()
    await engine?.stop()
    await dir?.remove()
  })

  it('return an attachment that either of them took (D-18)', async () => {
    const [a, b] = servers as [WeirProcess, WeirProcess]
    const id = newUuid()
    const form = new FormData()
    const json = (value: unknown): Blob => new Blob([JSON.stringify(value)], { type: 'application/json' })
    const run = { id, trace_id: id, name: 'r', run_type: 'chain', session_name: 'p' }
    const time = '2026-11-20T09:00:00.000Z'
    form.set(`post.${id}`, json({ ...run, dotted_order: `20261120T090000000000Z${id}`, start_time: time }))
    form.set(`attachment.${id}.note`, new Blob(['kept for all'], { type: 'text/plain;length=12' }))
    const sent = await a.fetch('/api/v1/runs/multipart', { method: 'POST', body: form })
    expect(await sent.text()).not.toContain('rejected":[{')
    expect(sent.status).toBe(202)
    await a.drained()
    for (const server of [a, b]) {
      const { attachments = {} } = await server.json<{ attachments?: Record<string, unknown> }>(
        `/api/v1/runs/${id}`,
      )
      expect(Object.keys(attachments)).toEqual(['note'])
      const answer = await server.fetch(`/api/v1/runs/${id}/attachments/note`)
      expect([answer.status, await answer.text()]).toEqual([200, 'kept for all'])
    }
  })

  it('name the bucket in health', async () => {
    // On a busy machine the fake S3 may take longer than a check waits.
    await eventually(async () => {
      const health = await servers[1]?.json<{ checks: object }>('/ok?check_db=1')
      expect(health?.checks).toMatchObject({ blobs: 'up' })
    })
  })
})

describe.skipIf(reason !== '')(`a server on the Postgres of another one${reason}`, () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  const joining = (dataDir: string, url: string, env: Record<string, string>) => ({
    config: readConfig({
      DATABASE_URL: url,
      DATA_DIR: dataDir,
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
      GRAPHS: '',
      ...env,
    }),
    logger,
    stopping: new AbortController().signal,
    stops: new AsyncDisposableStack(),
  })

  let dir: Awaited<ReturnType<typeof temporaryDir>>
  let url: string
  let database: Awaited<ReturnType<typeof openSql>>
  beforeAll(async () => {
    dir = await temporaryDir()
    url = await postgresDatabases().take()
    database = await openSql({ url, file: '' })
  })
  afterAll(async () => {
    await database?.close()
    await dir?.remove()
  })

  /** Joins the installation as a server with its own folder. Resolves with the function that stops this server. */
  async function enter(name: string, env: Record<string, string> = {}): Promise<() => Promise<void>> {
    await mkdir(join(dir.dir, name), { recursive: true })
    const parts = joining(join(dir.dir, name), url, env)
    const leave = (): Promise<void> => parts.stops.disposeAsync()
    const servers = createServerRegistry(database)
    await joinServers(parts, { servers, installation_id: 'i' }, 0).catch(async (error: unknown) => {
      await leave()
      throw error
    })
    return leave
  }

  const refusal = (words: string): unknown =>
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(words) })
  const bucket = { BLOB_URL: 's3://bucket' }

  it('is refused in words while either of them keeps attachments in its own files', async () => {
    const refused = refusal('Set BLOB_URL')
    const leaveLocal = await enter('a')
    await expect(enter('b')).rejects.toEqual(refused)
    await expect(enter('b', bucket)).rejects.toEqual(refused)
    const leaveAgain = await enter('a')
    await leaveAgain()
    await leaveLocal()
    const leaves = [await enter('b', bucket), await enter('c', bucket)]
    await expect(enter('a')).rejects.toEqual(refused)
    for (const leave of leaves) await leave()
  })

  it('is refused with another SECRETS_KEY, and warned of another WEBHOOK_SECRET or Redis', async () => {
    const secrets = { SECRETS_KEY: 'a'.repeat(64), WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}` }
    const all = { ...bucket, ...secrets, REDIS_URL: 'redis://redis' }
    const leave = await enter('d', all)
    lines.length = 0
    const leaveSecond = await enter('e', all)
    expect(lines).toEqual([])
    await expect(enter('f', { ...all, SECRETS_KEY: 'b'.repeat(64) })).rejects.toEqual(
      refusal('it has another SECRETS_KEY'),
    )
    lines.length = 0
    const leaveThird = await enter('f', { ...bucket, SECRETS_KEY: secrets.SECRETS_KEY })
    const warnings = lines.map((line) => JSON.parse(line) as { code: string; msg: string })
    expect(warnings.map(({ code, msg }) => [code, msg.split(' ')[0]])).toEqual([
      ['config_invalid', 'REDIS_URL'],
      ['config_invalid', 'WEBHOOK_SECRET'],
    ])
    for (const end of [leaveThird, leaveSecond, leave]) await end()
  })
})
