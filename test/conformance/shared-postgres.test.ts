import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { hasPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts'
import { jsonBody, startWeir, type WeirProcess } from '../support/weir-process.ts'

const reason = hasPostgres() ? '' : ' (Postgres is not installed)'

describe.skipIf(reason !== '')(`two servers that start at once on one Postgres${reason}`, () => {
  let dir: string
  let cluster: PostgresCluster
  let servers: WeirProcess[] = []
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-'))
    cluster = await startPostgres()
    const env = { DATABASE_URL: await cluster.createDatabase() }
    servers = await Promise.all(
      ['a', 'b'].map(async (name) => {
        await mkdir(join(dir, name))
        return await startWeir(join(dir, name), env)
      }),
    )
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await cluster?.stop()
    await rm(dir, { recursive: true, force: true })
  })
  const both = <T>(path: string, init?: RequestInit) =>
    Promise.all(servers.map((server) => server.json<T>(path, init)))

  it('are one organization with one key, and make a project once', async () => {
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

  it('say so while it is away, take traces of projects they know, and go on when it is back', async () => {
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
