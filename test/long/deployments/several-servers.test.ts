import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  GREETING,
  greeter,
  greetingOf,
  latestRevision,
} from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { type PostgresCluster, startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { useFolder } from '../../support/folder.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = withoutPostgres()

describe.skipIf(reason !== '')(`P-37: two servers on one Postgres and one store of blobs${reason}`, () => {
  let dir: string
  let cluster: PostgresCluster
  let env: Record<string, string>
  const servers: WeirProcess[] = []
  const start = (name: string): Promise<WeirProcess> => startWeir(join(dir, name), env)
  const both = (): [WeirProcess, WeirProcess] => servers as [WeirProcess, WeirProcess]
  /** Sends requests to the two servers in turn, as a load balancer would. */
  const balanced = (): Pick<WeirProcess, 'fetch' | 'json'> => {
    let turn = 0
    const next = (): WeirProcess => both()[turn++ % 2 === 0 ? 0 : 1]
    return { fetch: (...args) => next().fetch(...args), json: (...args) => next().json(...args) }
  }
  const greets = (server: WeirProcess, text: string): Promise<void> =>
    eventually(async () => expect(await greetingOf(server, 'shared')).toBe(`${text} ${GREETING.value}`))

  useFolder(async (made) => {
    dir = made
    cluster = await startPostgres()
    env = {
      GRAPHS: '',
      DATABASE_URL: await cluster.createDatabase(),
      BLOB_URL: pathToFileURL(join(dir, 'blobs')).href,
      SECRETS_KEY: 'a'.repeat(64),
    }
    for (const name of ['a', 'b']) await mkdir(join(dir, name))
    servers.push(...(await Promise.all(['a', 'b'].map(start))))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await cluster?.stop()
  })

  it('serve what one of them has built, update it and roll it back, through whichever', async () => {
    const through = balanced()
    const { id } = await createDeployment(through, 'shared')
    const { id: first } = await addRevision(through, id, await archiveOf(greeter('one')), [GREETING])
    expect((await endedRevision(through, id, first)).status).toBe('DEPLOYED')
    for (const server of both()) await greets(server, 'one')

    const { id: second } = await addRevision(through, id, await archiveOf(greeter('two')))
    expect((await endedRevision(through, id, second)).status).toBe('DEPLOYED')
    for (const server of both()) await greets(server, 'two')

    const at = `/api-host/v2/deployments/${id}/revisions/${first}/redeploy`
    await through.json(at, { method: 'POST' })
    const back = await latestRevision(through, id)
    expect((await endedRevision(through, id, back.id)).status).toBe('DEPLOYED')
    for (const server of both()) await greets(server, 'one')
  })

  it('P-36: serve it from the shared store when a server begins with an empty folder', async () => {
    const [, b] = both()
    await b.kill()
    await rm(join(dir, 'b', 'deployments'), { recursive: true })
    servers[1] = await start('b')
    await greets(both()[1], 'one')
  })

  it('P-4: end it everywhere when it is deleted through one of them, with all its files', async () => {
    const [a, b] = both()
    const [shared] = (await a.json<{ resources: { id: string }[] }>('/v2/deployments')).resources
    await a.fetch(`/api-host/v2/deployments/${shared?.id}`, { method: 'DELETE' })
    await eventually(async () => {
      const { status } = await b.fetch('/deployments/shared/ok')
      expect(status).toBe(404)
      const blobs = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true })
      expect(blobs.filter((entry) => entry.isFile() && entry.name.length === 64)).toEqual([])
      for (const name of ['a', 'b'])
        expect(await readdir(join(dir, name, 'deployments', 'artifacts'))).toEqual([])
    })
  })
})
