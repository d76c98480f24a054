import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
  latestRevision,
} from '../../support/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type CheckedApi, openCheckedApi } from '../openapi/checked-api.ts'

const SECRET = { name: 'GREETING', value: 'a-secret-of-the-deployment' }

let dir: string
let weir: WeirProcess
let api: CheckedApi
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-control-plane-'))
  weir = await startWeir(dir)
  api = await openCheckedApi(weir.url)
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await rm(dir, { recursive: true, force: true })
})

/** What the graph of the deployment answers. */
async function answerOf(name: string): Promise<unknown> {
  const client = new Client({ apiUrl: `${weir.url}/deployments/${name}`, apiKey: KEY })
  const { said } = (await client.runs.wait(null, 'agent', { input: {} })) as { said: unknown }
  return said
}

async function deploy(id: string, text: string, secrets = [SECRET]) {
  const { id: revision_id } = await addRevision(weir, id, await archiveOf(greeter(text)), secrets)
  return await endedRevision(weir, id, revision_id)
}

function logs(id: string, body: object): Promise<SchemaTypes['deployment-log-page']> {
  return weir.json(`/api-host/v1/projects/${id}/deploy_logs`, jsonBody('POST', body))
}

describe('deployments over HTTP, on a server without GRAPHS', () => {
  it('a project is deployed, updated in place, rolled back and deleted, and a restart brings it back', async () => {
    const { id, source_config } = await createDeployment(weir, 'greeter')
    expect(source_config).toEqual({
      ...{ deployment_type: 'dev', custom_url: `${weir.url}/deployments/greeter` },
      ...{ install_command: null, build_command: null },
    })
    const early = await weir.fetch('/deployments/greeter/info')
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'deployment_not_ready' }])
    const taken = { name: 'greeter', source: 'internal_source' }
    const refused = await weir.fetch('/v2/deployments', jsonBody('POST', taken))
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'deployment_name_taken' }])

    const first = await deploy(id, 'one')
    expect(first).toMatchObject({
      status: 'DEPLOYED',
      weir: { number: 1, is_active: true, graphs: ['agent'] },
    })
    expect(await answerOf('greeter')).toBe(`one ${SECRET.value}`)
    // A list of no secrets keeps what is there.
    expect(await deploy(id, 'two', [])).toMatchObject({ status: 'DEPLOYED', weir: { number: 2 } })
    expect(await answerOf('greeter')).toBe(`two ${SECRET.value}`)

    const broken = { ...greeter('x'), 'src/agent.ts': "import 'no-such-package'\n" }
    const third = await addRevision(weir, id, await archiveOf(broken))
    expect(await endedRevision(weir, id, third.id)).toMatchObject({
      status: 'DEPLOY_FAILED',
      weir: { error: { message: expect.stringContaining('no-such-package'), file: 'src/agent.ts' } },
    })
    expect(await answerOf('greeter')).toBe(`two ${SECRET.value}`)

    const back = await api({
      key: KEY,
      method: 'POST',
      path: `/v2/deployments/${id}/revisions/${first.id}/redeploy`,
    })
    expect(back).toMatchObject({ status: 201, body: { weir: { number: 4, rolled_back_from: 1 } } })
    const latest = await latestRevision(weir, id)
    expect(await endedRevision(weir, id, latest.id)).toMatchObject({ status: 'DEPLOYED' })
    expect(await answerOf('greeter')).toBe(`one ${SECRET.value}`)

    expect(await weir.stop()).toBe(0)
    const withOtherKey = startWeir(dir, { SECRETS_KEY: 'another-key-0123456789' })
    await expect(withOtherKey).rejects.toThrow('secrets_unreadable')
    weir = await startWeir(dir)
    api = await openCheckedApi(weir.url)
    await eventually(async () => expect(await answerOf('greeter')).toBe(`one ${SECRET.value}`))

    const texts = await Promise.all(
      ['', '/revisions?limit=100'].map(async (path) =>
        (await weir.fetch(`/v2/deployments/${id}${path}`)).text(),
      ),
    )
    const { logs: lines } = await logs(id, { limit: 1000, order: 'asc' })
    expect([...texts, JSON.stringify(lines)].join()).not.toContain(SECRET.value)
    expect(lines.map(({ message }) => message)).toContain('saying two ***')
    // P-39: the log has the starts of hosts, and a limit counts only lines of the wanted kind.
    expect(lines.map(({ kind, message }) => `${kind}: ${message}`)).toContainEqual(
      expect.stringMatching(/^deploy: The graph host \d+ has started\.$/),
    )
    expect((await logs(id, { limit: 1, order: 'asc', kinds: ['server'] })).logs).toMatchObject([
      { kind: 'server', message: expect.stringMatching(/^saying one/) },
    ])
    expect(
      await api({
        ...{ key: KEY, method: 'POST', path: `/v1/projects/${id}/deploy_logs`, body: { kinds: ['build'] } },
      }),
    ).toMatchObject({ status: 422 })
    expect(lines.filter(({ level }) => level === 'ERROR').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^revision 3: DEPLOY_FAILED: src\/agent\.ts:1: .*no-such-package/),
    ])

    // P-20: other commands build the same source anew; a command that fails changes nothing.
    const buildWith = async (build_command: string): Promise<unknown> => {
      const body = { source_config: { build_command } }
      const changed = await api({ key: KEY, method: 'PATCH', path: `/v2/deployments/${id}`, body })
      expect(changed).toMatchObject({ status: 200, body })
      return await endedRevision(weir, id, (await latestRevision(weir, id)).id)
    }
    expect(await buildWith('exit 7')).toMatchObject({
      status: 'BUILD_FAILED',
      weir: { error: { message: 'build_command ended with code 7.' } },
    })
    expect(await answerOf('greeter')).toBe(`one ${SECRET.value}`)
    expect(await buildWith('sed -i s/one/built/ src/agent.ts')).toMatchObject({ status: 'DEPLOYED' })
    expect(await answerOf('greeter')).toBe(`built ${SECRET.value}`)

    expect((await api({ key: KEY, method: 'DELETE', path: `/v2/deployments/${id}` })).status).toBe(204)
    expect((await weir.fetch('/deployments/greeter/info')).status).toBe(404)
    expect((await weir.fetch(`/v2/deployments/${id}`)).status).toBe(404)
    await createDeployment(weir, 'greeter')
    const audit = await weir.json<SchemaTypes['audit-log-page']>('/api/v1/orgs/current/audit-logs?limit=100')
    const actions = audit.audit_logs
      .map(({ action }) => action)
      .filter((action) => action.startsWith('deployment.'))
    const updates = (count: number): string[] => Array<string>(count).fill('deployment.update')
    expect(actions.toReversed()).toEqual([
      ...['deployment.create', ...updates(3), 'deployment.rollback', ...updates(2)],
      ...['deployment.delete', 'deployment.create'],
    ])
  })

  it('P-40: a log is read page by page in both orders, and goes on from its cursor or its last time', async () => {
    const { id } = await createDeployment(weir, 'logged')
    const empty = await logs(id, { order: 'asc' })
    expect(empty.logs).toEqual([])
    const { id: revision_id } = await addRevision(weir, id, new Uint8Array([1, 2, 3]))
    expect(await endedRevision(weir, id, revision_id)).toMatchObject({
      status: 'CREATE_FAILED',
      weir: { error: { code: 'source_invalid' } },
    })
    const page = await eventually(async () => {
      const found = await logs(id, { order: 'asc', offset: empty.next_offset })
      if (found.logs.length < 2) throw new Error('too few lines')
      return found
    })
    const times = page.logs.map(({ timestamp }) => timestamp)
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
    expect(await logs(id, { order: 'asc', offset: page.next_offset })).toEqual({
      logs: [],
      next_offset: page.next_offset,
    })
    expect((await logs(id, { limit: 1 })).logs).toEqual([page.logs.at(-1)])
    const start_time = new Date(times.at(-1) ?? 0).toISOString()
    expect((await logs(id, { order: 'asc', start_time })).logs).toContainEqual(page.logs.at(-1))
    const all = await api({ key: KEY, path: `/deployments/${id}/logs?limit=1000&level=ERROR` })
    expect(all.body).toMatchObject({ logs: [{ level: 'ERROR', kind: 'deploy', revision_id }] })
    expect(await api({ key: KEY, path: `/deployments/${id}/logs?after=x` })).toMatchObject({ status: 422 })
  })

  it('refuses what it cannot do in words that clients print', async () => {
    const { id } = await createDeployment(weir, 'refusing')
    const at = `/v2/deployments/${id}`
    const refusals: [method: string, path: string, body: object | undefined, status: number, code: string][] =
      [
        ['POST', '/v2/deployments', { name: 'x', source: 'internal_docker' }, 400, 'source_unsupported'],
        ['POST', '/v2/deployments', { agent: {}, source: 'internal_source' }, 400, 'agents_unsupported'],
        ['POST', '/v2/deployments', { name: 'No!', source: 'internal_source' }, 422, 'invalid_request'],
        ['POST', '/v2/deployments', { name: 'runtimes', source: 'internal_source' }, 422, 'invalid_request'],
        ['POST', '/v2/deployments', { name: 1, source: 'internal_source' }, 422, 'invalid_request'],
        ['PATCH', at, { revision_source: 'external_docker' }, 400, 'source_unsupported'],
        ['PATCH', at, { source_config: { build_command: 1 } }, 422, 'invalid_request'],
        ['PATCH', at, { source_config: { deployment_type: 'prod' } }, 409, 'deployment_type_fixed'],
        ['PATCH', at, { source_revision_config: { source_tarball_path: '../x' } }, 422, 'invalid_request'],
        ['POST', `${at}/push-token`, undefined, 400, 'source_unsupported'],
        [
          'GET',
          '/v2/deployments?agent_id=00000000-0000-4000-8000-000000000000',
          undefined,
          400,
          'agents_unsupported',
        ],
      ]
    for (const [method, path, body, status, code] of refusals) {
      const answer = await api({ key: KEY, method, path, body })
      expect([path, answer.status, answer.body]).toMatchObject([
        path,
        status,
        { code, detail: expect.any(String) },
      ])
    }
    const upload = await weir.json<SchemaTypes['deployment-upload']>(`${at}/upload-url`, { method: 'POST' })
    const statuses = []
    for (const _ of [1, 2])
      statuses.push((await fetch(upload.upload_url, { method: 'PUT', body: 'x' })).status)
    expect(statuses).toEqual([200, 403])
    const listed = await weir.json<SchemaTypes['deployment-page']>('/v2/deployments?name_contains=refus')
    expect(listed.resources.map(({ name }) => name)).toEqual(['refusing'])
    const page = await fetch(`${weir.url}/api-host/host/deployments`, { redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([302, '/app/deployments'])
    expect(await weir.json('/api/v1/deployments/runtimes')).toMatchObject([
      { runtime: 'process', in_use: true, usable: true, isolation: 'none' },
      { runtime: 'container', usable: false, reason: expect.any(String) },
      { runtime: 'kubernetes', usable: false },
    ])
  })
})
