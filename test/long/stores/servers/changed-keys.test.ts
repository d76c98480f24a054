import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { newUuid } from '../../../../src/base/ids.ts'
import { createSealer } from '../../../../src/base/node/sealer.ts'
import { createWorkspaceSecrets } from '../../../../src/playground/secrets.ts'
import type { SchemaTypes } from '../../../../src/schema/types.gen.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { openPostgres } from '../../../../src/storage/sql/driver/postgres.ts'
import { createWorkspaceSecretStore } from '../../../../src/storage/sql/secrets/workspace-secret-store.ts'
import { LONG_MS } from '../../../support/campaign.ts'
import { eventually } from '../../../support/eventually.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../../support/servers/weir-process.ts'
import { temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'
import { postgresDatabases } from '../../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../../support/stores/sql/postgres.ts'

// Two servers start, and the command is started twice.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const MAIN = fileURLToPath(new URL('../../../../src/main.ts', import.meta.url))
const [OLD, NEXT] = ['o'.repeat(32), 'n'.repeat(32)]
/** Secrets that are encrypted again one after the other; a workspace has at most 100. */
const WORKSPACES = 12
const EACH = 100
/** Milliseconds within which a change on another server has its effect on open streams, and on requests. */
const EFFECT_MS = 10_000
const KNOWN_MS = 30_000
const SERVICE_KEYS = '/orgs/current/service-keys'
const REASON = withoutPostgres()

describe.skipIf(REASON !== '')(`keys that change on two servers with one Postgres${REASON}`, () => {
  const databases = postgresDatabases()
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let url: string
  let servers: [WeirProcess, WeirProcess]
  let database: Database

  beforeAll(async () => {
    folder = await temporaryDir()
    url = await databases.take()
    const shared = { ...environment(), SECRETS_KEY: NEXT, SECRETS_KEY_PREVIOUS: OLD }
    servers = [
      await startWeir(join(folder.dir, 'one'), shared),
      await startWeir(join(folder.dir, 'two'), shared),
    ]
    database = openPostgres(url)
  })
  afterAll(async () => {
    await database?.close()
    await Promise.all((servers ?? []).map((server) => server.kill()))
    databases.giveBack(url)
    await folder?.remove()
  })

  const environment = () => ({
    DATABASE_URL: url,
    BLOB_URL: pathToFileURL(join(folder.dir, 'blobs')).href,
  })

  it(`IDENTITY-2: a stream ends within ${EFFECT_MS / 1000} s after another server revoked its key`, async () => {
    const [one, two] = servers
    const made = await one.json<SchemaTypes['api-key-created']>(
      SERVICE_KEYS,
      jsonBody('POST', { description: 'soon revoked' }),
    )
    const project = await one.json<SchemaTypes['session']>(
      '/sessions',
      jsonBody('POST', { name: 'followed' }),
    )
    const headers = { 'x-api-key': made.key }
    const follow = (): Promise<Response> => fetch(`${two.url}/live?topic=project:${project.id}`, { headers })
    await eventually(async () => expect((await follow()).status).toBe(200))
    const stream = await follow()
    const ended = stream.text().then(
      () => performance.now(),
      () => performance.now(),
    )
    const from = performance.now()
    expect((await one.fetch(`${SERVICE_KEYS}/${made.id}`, { method: 'DELETE' })).status).toBe(204)
    const ms = (await ended) - from
    console.log(`a stream of another server ended ${Math.round(ms)} ms after its key was revoked`)
    expect(ms).toBeLessThan(EFFECT_MS)
    // A server uses a key that it has looked up for half a minute.
    await eventually(
      async () => expect((await fetch(`${two.url}/sessions`, { headers })).status).toBe(401),
      KNOWN_MS,
    )
  })

  /** Ids of records that the key does not decrypt. */
  async function closedTo(key: string): Promise<number> {
    const rows = await database.query<{ workspace_id: string; key: string; sealed: string }>(
      'SELECT workspace_id, key, sealed FROM workspace_secrets',
    )
    const sealer = createSealer(key)
    const opens = ({ workspace_id, key: name, sealed }: (typeof rows)[number]): boolean => {
      try {
        return sealer.open(`workspace/${workspace_id}/${name}`, sealed) !== ''
      } catch {
        return false
      }
    }
    return rows.filter((row) => !opens(row)).length
  }

  const secretsOf = (keys: readonly [string, ...string[]]) =>
    createWorkspaceSecrets({
      store: createWorkspaceSecretStore(database, systemClock),
      sealer: async () => createSealer(() => keys),
      usualHosts: new Map(),
    })

  it('weir secrets rotate goes on after kill -9, while servers write', async () => {
    const [one] = servers
    const total = WORKSPACES * EACH
    const workspaces = Array.from({ length: WORKSPACES }, () => newUuid())
    for (const workspace of workspaces)
      await secretsOf([OLD]).write(
        workspace,
        Array.from({ length: EACH }, (_, n) => ({
          key: `KEY_${n}`,
          value: `value ${n}`,
          hosts: ['a.example'],
        })),
      )
    const rotate = () =>
      spawn(process.execPath, [MAIN, 'secrets', 'rotate'], {
        env: {
          PATH: process.env['PATH'],
          DATA_DIR: join(folder.dir, 'one'),
          ...environment(),
          SECRETS_KEY: NEXT,
          SECRETS_KEY_PREVIOUS: OLD,
        },
        stdio: 'ignore',
      })
    const first = rotate()
    await eventually(async () => expect(await closedTo(NEXT)).toBeLessThan(total))
    first.kill('SIGKILL')
    await once(first, 'exit')
    const left = await closedTo(NEXT)
    expect(left).toBeGreaterThan(0)
    const written = { key: 'WRITTEN', value: 'meanwhile', hosts: ['a.example'] }
    const answer = await one.fetch('/workspaces/current/secrets', jsonBody('POST', [written]))
    expect(answer.status, await answer.text()).toBeLessThan(300)
    const again = rotate()
    const [code] = (await once(again, 'exit')) as [number]
    expect(code).toBe(0)
    expect(await closedTo(NEXT)).toBe(0)
    expect(await closedTo(OLD)).toBe(total + 1)
    for (const workspace of workspaces)
      expect(await secretsOf([NEXT]).valueFor(workspace, 'KEY_7', 'a.example')).toBe('value 7')
    console.log(`killed with ${left} of ${total} records left`)
  })
})
