import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, pinned, withoutPython } from '../../support/python.ts'
import { drained } from '../../support/servers/server.ts'
import { makeClient, useClientSetup } from './js/client-setup.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const setup = useClientSetup()
const missing = withoutPython()

describe.skipIf(missing !== '')(`the Python SDK, ${pinned('langsmith')}${missing}`, () => {
  let printed: Record<string, unknown>

  beforeAll(async () => {
    const script = fileURLToPath(new URL('reads.py', import.meta.url))
    const done = await promisify(execFile)(PYTHON, ['-W', 'ignore', script], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LANGSMITH_ENDPOINT: setup().proxy.url,
        LANGSMITH_API_KEY: setup().weir.key,
      },
    })
    printed = JSON.parse(done.stdout) as Record<string, unknown>
  })

  it('reads attachments with read_run and list_runs', () => {
    const files = { picture: ['image/png', '89504e47'] }
    expect(printed).toMatchObject({ read: files, listed: files })
  })

  it('lists runs with the details of tokens and costs', () => {
    const [prompt, completion, costs, parts] = printed['details'] as unknown[]
    expect(prompt).toEqual({ cache_read: 10 })
    expect(completion).toEqual({ reasoning: 3 })
    expect(costs).toEqual(['0.5', '0.25'])
    // Only what the client sent, although it is not all of the cost.
    expect(parts).toEqual([{ cache_read: '0.125' }, { reasoning: '0.0625' }])
  })

  it('lists roots by execution_order and by is_root=1', () => {
    expect(printed).toMatchObject({ roots: ['root'], docs_roots: ['root'] })
  })

  it('sends feedback with the id of a token, and lists feedback by key and by project', () => {
    expect(printed).toMatchObject({
      token_is_id: true,
      by_key: [0.5, 1],
      by_project: [0.5, 1],
      elsewhere: [],
    })
  })

  it('creates the same feedback config twice', () => {
    expect(printed['configs']).toBe(1)
  })
})

describe('the JavaScript SDK', () => {
  it('creates a run without an id, which is one trace', async () => {
    const client = makeClient(setup())
    const project = `made-${newUuid()}`
    const run = { name: 'no id', run_type: 'chain', inputs: { q: 1 }, project_name: project }
    await client.createRun(run)
    await drained(setup().weir)
    await eventually(async () => {
      const found: unknown[] = []
      for await (const one of client.listRuns({ projectName: project })) found.push(one)
      expect(found).toMatchObject([{ name: 'no id', inputs: { q: 1 } }])
    })
  })

  it('lists projects by their metadata', async () => {
    const client = makeClient(setup())
    const [mine, other] = [`mine-${newUuid()}`, `other-${newUuid()}`]
    await client.createProject({ projectName: mine, metadata: { team: mine } })
    await client.createProject({ projectName: other, metadata: { team: 'x' }, referenceDatasetId: newUuid() })
    const namesOf = async (query: Parameters<typeof client.listProjects>[0]) => {
      const names: string[] = []
      for await (const { name } of client.listProjects(query)) names.push(name ?? '')
      return names
    }
    expect(await namesOf({ metadata: { team: mine } })).toEqual([mine])
    expect(await namesOf({ metadata: { team: 'nobody' } })).toEqual([])
    const free = await namesOf({ referenceFree: true })
    expect([free.includes(mine), free.includes(other)]).toEqual([true, false])
  })
})

describe('requests', () => {
  const project = `raw-${newUuid()}`
  const post = (path: string, body: object): Promise<Response> =>
    setup().weir.request(path, jsonBody('POST', body))

  it('LangSmith sends attachments with a link that needs no key, in lists only when selected', async () => {
    const run = { id: newUuid(), name: 'r', run_type: 'chain', session_name: project }
    expect((await post('/runs', { ...run, start_time: Date.now() })).status).toBe(202)
    await drained(setup().weir)
    const listed = await post('/api/v1/runs/query', { id: [run.id] })
    expect(await listed.text()).not.toContain('s3_urls')
    const read = await setup().weir.json<{ s3_urls: object; start_time: string }>(`/api/v1/runs/${run.id}`)
    expect(read.s3_urls).toEqual({})
    expect(read.start_time).toMatch(/Z$/)
    // Up to 0.14 the Python SDK passes on what it reads, and users compare it with times without a zone.
    const headers = { 'user-agent': 'langsmith-py/0.11.1' }
    const old = await (await setup().weir.request(`/api/v1/runs/${run.id}`, { headers })).json()
    expect(old).toMatchObject({ start_time: read.start_time.slice(0, -1) })
  })

  it('an empty update of an unknown run makes no run and counts no trace', async () => {
    const id = newUuid()
    const headers = { 'content-type': 'application/json' }
    const patched = await setup().weir.request(`/runs/${id}`, { method: 'PATCH', headers, body: '{}' })
    expect([patched.status, await patched.json()]).toMatchObject([202, { accepted: 0, rejected: [] }])
    await drained(setup().weir)
    expect((await setup().weir.request(`/api/v1/runs/${id}`)).status).toBe(404)
    const [workspace] = await setup().weir.json<{ id: string }[]>('/api/v1/workspaces')
    const [from, to] = [Date.now() - 3_600_000, Date.now() + 3_600_000].map((at) =>
      new Date(at).toISOString(),
    )
    const range = `start_time=${from}&end_time=${to}&workspace_ids=${workspace?.id}`
    const counted = await setup().weir.json(
      `/api/v1/orgs/current/billing/usage-traces?${range}&trace_id=${id}`,
    )
    expect(counted).toMatchObject({ items: [] })
  })

  it.each([
    ['POST', '/api/v1/runs/query', { execution_order: 2 }],
    ['GET', '/api/v1/sessions?tag_value_id=x', undefined],
    ['GET', '/api/v1/sessions?metadata=x', undefined],
    ['GET', '/api/v1/sessions?sort_by=feedback', undefined],
    ['GET', '/api/v1/feedback?user=x', undefined],
    ['GET', `/api/v1/feedback/tokens/${newUuid()}?score=good`, undefined],
  ])('refuses with a code what it would ignore: %s %s', async (method, path, body) => {
    const answer = body === undefined ? await setup().weir.request(path) : await post(path, body)
    expect(method).toBe(body === undefined ? 'GET' : 'POST')
    expect([answer.status, await answer.json()]).toMatchObject([422, { code: 'invalid_request' }])
  })

  it('feedback by a link; opening only its head creates none', async () => {
    const run_id = newUuid()
    const made = await post('/api/v1/feedback/tokens', { run_id, feedback_key: 'mail' })
    const { url } = (await made.json()) as { url: string }
    const { pathname } = new URL(url)
    const link = `${setup().weir.url}${pathname}`
    expect((await fetch(`${link}?score=0`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${link}?score=1&comment=good`)).status).toBe(200)
    const list = await setup().weir.json<object[]>(`/api/v1/feedback?run=${run_id}`)
    expect(list).toMatchObject([{ key: 'mail', score: 1, comment: 'good' }])
    const scored = await setup().weir.json<object[]>('/api/v1/feedback?key=mail&has_comment=false')
    expect(scored).toEqual([])
  })
})
