import { beforeAll, describe, expect, it } from 'vitest'
import { readEvents, type StreamEvent } from '../../../src/base/text/event-stream.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { addRevision, createDeployment, endedRevision } from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody, KEY, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type CheckedApi, openCheckedApi } from '../../conformance/openapi/checked-api.ts'

const server = useOwnWeir()
let weir: WeirProcess
let api: CheckedApi
beforeAll(async () => {
  weir = server.current()
  api = await openCheckedApi(weir.url)
})

function logs(id: string, body: object): Promise<SchemaTypes['deployment-log-page']> {
  return weir.json(`/api-host/v1/projects/${id}/deploy_logs`, jsonBody('POST', body))
}

describe('deployments over HTTP, on a server without GRAPHS', () => {
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

  it('N13: a log is followed live: the newest lines, then each that comes, and on from the last id', async () => {
    const { id } = await createDeployment(weir, 'followed')
    const fail = async () => endedRevision(weir, id, (await addRevision(weir, id, new Uint8Array([1]))).id)
    await fail()
    const follow = async (limit: number, last?: string) => {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      const answer = await weir.fetch(`/api/v1/deployments/${id}/logs?kind=deploy&limit=${limit}`, {
        headers,
      })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      const events = readEvents(answer.body!)[Symbol.asyncIterator]()
      const next = async () => (await events.next()).value as StreamEvent | undefined
      const failure = async (): Promise<StreamEvent | undefined> => {
        const found = await next()
        return found === undefined || found.data.includes('CREATE_FAILED') ? found : failure()
      }
      return { next, failure }
    }
    const all = await follow(100)
    expect(await all.next()).toMatchObject({ event: 'open' })
    const first = await all.failure()
    expect(first).toMatchObject({ event: 'log', id: expect.stringMatching(/^\d{16}$/) })
    expect(JSON.parse(first?.data ?? '')).toMatchObject({ id: first?.id, level: 'ERROR', kind: 'deploy' })
    await fail()
    const second = await all.failure()
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id))
    const resumed = await follow(1, first?.id)
    expect(await resumed.failure()).toEqual(second)
    const newest = await follow(1)
    await newest.next()
    expect(await newest.next()).toEqual(second)
    const other = id.replace(/.$/, (last) => (last === 'f' ? '0' : 'f'))
    const unknown = await weir.fetch(`/api/v1/deployments/${other}/logs`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(unknown.status).toBe(404)
    // P-4: the stream of a deleted deployment ends.
    await weir.fetch(`/v2/deployments/${id}`, { method: 'DELETE' })
    expect(await all.failure()).toBeUndefined()
  })

  it('P-9, P-10, P-11: refuses what it cannot do in words that clients print', async () => {
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
      { runtime: 'container', in_use: false },
      { runtime: 'kubernetes', usable: false },
    ])
  })
})
