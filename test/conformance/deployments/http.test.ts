import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDeployment } from './use-deployment.ts'

const setup = useDeployment()
let KEY: { 'x-api-key': string }
beforeAll(() => void (KEY = { 'x-api-key': setup().weir.key }))

/** A request to the deployment's own listener. */
function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(setup().weir.deploymentUrl + path, { redirect: 'manual', ...init })
}

async function problemOf(answer: Response): Promise<unknown> {
  return [answer.status, await answer.json()]
}

describe('RUN-34: keys of the graph runtime in `configurable`', () => {
  const clean = { configurable: { flavour: 'sweet' } }
  const config = {
    configurable: {
      ...clean.configurable,
      __pregel_resuming: true,
      __pregel_scratchpad: {},
      __pregel_checkpointer: false,
      thread_ts: '1ef00000-0000-6000-8000-000000000000',
    },
  }

  it('have no effect on their run or later runs of the thread', async () => {
    const { client } = setup()
    const { thread_id } = await client.threads.create()
    const first = await client.runs.wait(thread_id, 'tokens', { input: { tokens: 2 }, config })
    expect(first).toMatchObject({ tokens: 2, done: true })
    expect(await client.threads.get(thread_id)).toMatchObject({ config: clean })
    const second = await client.runs.wait(thread_id, 'tokens', { input: { tokens: 3 } })
    expect(second).toMatchObject({ tokens: 3, done: true })
  })

  it('are not stored in assistants and crons', async () => {
    const { client } = setup()
    const assistant = await client.assistants.create({ graphId: 'tokens', config })
    expect(assistant.config).toEqual(clean)
    const updated = await client.assistants.update(assistant.assistant_id, { config })
    expect(updated.config).toEqual(clean)
    const { cron_id, payload } = await client.crons.create('tokens', { schedule: '0 0 1 1 *', config })
    expect(payload).toMatchObject({ config: clean })
    expect((await client.crons.update(cron_id, { config })).payload).toMatchObject({ config: clean })
    await client.crons.delete(cron_id)
  })
})

describe('routes of the published document that no SDK calls', () => {
  it('read a cron', async () => {
    const { client, request } = setup()
    const { cron_id } = await client.crons.create('tokens', { schedule: '0 0 1 1 *' })
    const answer = await request(`/runs/crons/${cron_id}`, { headers: KEY })
    expect([answer.status, await answer.json()]).toMatchObject([200, { cron_id, schedule: '0 0 1 1 *' }])
    await client.crons.delete(cron_id)
    const gone = await request(`/runs/crons/${cron_id}`, { headers: KEY })
    expect([gone.status, await gone.json()]).toMatchObject([404, { code: 'not_found' }])
  })

  it('say how many bytes the checkpoints of a thread take', async () => {
    const { client, request } = setup()
    const { thread_id } = await client.threads.create()
    const read = async () => (await request(`/threads/${thread_id}/storage`, { headers: KEY })).json()
    const nothing = { thread_id, checkpoints: 0, channels: {}, writes: 0, total: 0 }
    expect(await read()).toEqual(nothing)
    await client.runs.wait(thread_id, 'tokens', { input: { tokens: 3 } })
    const taken = (await read()) as { checkpoints: number; channels: Record<string, number>; total: number }
    expect(taken.checkpoints).toBeGreaterThan(0)
    expect(taken.channels['tokens']).toBeGreaterThan(0)
    expect(taken.total).toBeGreaterThan(taken.checkpoints)
  })
})

describe('the deployment over HTTP', () => {
  it('answers on its own port at the root, and under /deployments/{name} of the platform port, with any prefix', async () => {
    const { weir, url } = setup()
    const name = url.slice(url.lastIndexOf('/') + 1)
    const made = await (await setup().request('/threads', { method: 'POST' })).json()
    const path = `/threads/${(made as { thread_id: string }).thread_id}`
    const bases = [
      weir.deploymentUrl,
      ...['', '/api', '/api/v1'].map((it) => `${weir.url}${it}/deployments/${name}`),
    ]
    for (const base of bases) {
      const answer = await fetch(base + path, { headers: KEY })
      expect([base, answer.status, await answer.json()]).toEqual([base, 200, made])
    }
    for (const other of [`/deployments/${name}x${path}`, path, '/deployments'])
      expect((await fetch(weir.url + other, { headers: KEY })).status).toBe(404)
    expect((await ask(`/api/v1${path}`, { headers: KEY })).status).toBe(404)
  })

  it('P-2: is listed among the deployments with one revision, and cannot be changed over the API', async () => {
    const url = `${setup().weir.url}/v2/deployments`
    const listed = (await (await fetch(url, { headers: KEY })).json()) as { resources: { id: string }[] }
    expect(listed.resources).toContainEqual(
      expect.objectContaining({ weir: expect.objectContaining({ managed_by: 'server' }) }),
    )
    const own = `${url}/${listed.resources.at(-1)?.id}`
    const revisions = await (await fetch(`${own}/revisions`, { headers: KEY })).json()
    expect(revisions).toMatchObject({
      resources: [
        { status: 'DEPLOYED', weir: { number: 1, is_active: true, created_by: 'GRAPHS', error: null } },
      ],
    })
    const change = { method: 'DELETE', headers: KEY }
    const refused = await fetch(own, change)
    expect(await problemOf(refused)).toEqual([
      409,
      expect.objectContaining({ code: 'deployment_managed_by_server' }),
    ])
  })

  it('returns versions and flags without a key', async () => {
    expect(await (await ask('/ok')).json()).toEqual({ ok: true })
    expect(await (await ask('/ok?check_db=1')).json()).toEqual({
      ok: true,
      checks: { runs: 'up', disk: 'up' },
    })
    expect(await (await ask('/info')).json()).toMatchObject({
      langgraph_js_version: expect.stringMatching(/^1\./),
      context: 'js',
      flags: { assistants: true, crons: true, langsmith: true },
      weir: { graphs: expect.arrayContaining(['tokens']) },
    })
    const page = await ask('/docs')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('docs/swagger-ui-bundle.js')
    expect(await (await ask('/docs/page.js')).text()).toContain('/openapi.json')
    expect(await (await ask('/openapi.json')).text()).toContain('/threads/{thread_id}/runs/wait')
    const root = await ask('/')
    expect([root.status, await root.json()]).toEqual([200, await (await ask('/info')).json()])
    const opened = await ask('/', { headers: { accept: 'text/html' } })
    expect([opened.status, opened.headers.get('location')]).toEqual([302, 'docs'])
  })

  it('has the metrics of docs/operating/metrics.md, and no others', async () => {
    const text = await (await ask('/metrics', { headers: KEY })).text()
    const page = readFileSync(new URL('../../../docs/operating/metrics.md', import.meta.url), 'utf8')
    const found = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    const told = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
    expect(told.toSorted()).toEqual(found.toSorted())
  })

  it('shows metrics as text and as JSON', async () => {
    await ask('/info')
    const text = await (await ask('/metrics', { headers: KEY })).text()
    expect(text).toContain('route="/deployments/{name}/info"')
    const json = (await (await ask('/metrics?format=json', { headers: KEY })).json()) as Record<
      string,
      unknown[]
    >
    expect(json['http_server_request_duration_seconds_count']).toContainEqual({
      labels: { method: 'GET', route: '/deployments/{name}/info', status: '200' },
      value: expect.any(Number),
    })
  })

  it('accepts JSON under any content type of clients, and an empty body as an empty object', async () => {
    const body = '{"metadata":{"mark":"named"}}'
    for (const type of [
      'application/json',
      'text/plain;charset=UTF-8',
      'application/vnd.x+json',
      undefined,
    ]) {
      const headers = { ...KEY, ...(type !== undefined && { 'content-type': type }) }
      const answer = await ask('/threads', { method: 'POST', body: new TextEncoder().encode(body), headers })
      expect([type, answer.status, await answer.json()]).toMatchObject([
        type,
        200,
        { metadata: { mark: 'named' } },
      ])
    }
    for (const empty of [
      {},
      { body: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ]) {
      const answer = await ask('/threads', {
        method: 'POST',
        ...empty,
        headers: { ...KEY, ...empty.headers },
      })
      expect(answer.status).toBe(200)
    }
    const form = await ask('/threads', {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
      headers: KEY,
    })
    expect(await problemOf(form)).toMatchObject([415, { code: 'unsupported_media_type' }])
  })

  it('RUN-1, D-6, D-41: returns every error with detail and code, and no other fields', async () => {
    const json = { method: 'POST', headers: { ...KEY, 'content-type': 'application/json' } }
    const detail = expect.any(String)
    const [answers, expected] = [
      [
        await ask('/nope', { headers: KEY }),
        await ask('/threads/%ff', { headers: KEY }),
        await ask('/threads/x', { headers: KEY }),
        await ask('/threads', { ...json, body: '{"metadata":' }),
        await ask('/threads', { ...json, body: '[]' }),
        await ask('/threads', { ...json, body: '['.repeat(100_000) }),
        await ask('/threads', { ...json, body: '{"metadata":5,"ttl":-1}' }),
        await ask('/threads', { ...json, body: Buffer.alloc(21 * 1024 * 1024, ' ') }),
        await ask('/threads'),
        await ask('/threads', { method: 'POST' }),
      ],
      [
        [
          404,
          { detail: 'Not Found: there is no route GET /nope; /docs lists all routes.', code: 'not_found' },
        ],
        [404, { detail: expect.stringContaining('Not Found: there is no route'), code: 'not_found' }],
        [422, { detail: 'path.thread_id: Input should be a valid UUID', code: 'invalid_request' }],
        [422, { detail, code: 'invalid_request' }],
        [422, { detail, code: 'invalid_request' }],
        [422, { detail, code: 'invalid_request' }],
        [422, { detail: expect.stringContaining('body.metadata: '), code: 'invalid_request' }],
        [413, { detail, code: 'body_too_large' }],
        [405, { detail, code: 'method_not_allowed' }],
        [401, { detail, code: 'unauthorized' }],
      ],
    ]
    expect(await Promise.all((answers ?? []).map(problemOf))).toEqual(expected)
  })

  it('names the other API when a request has the wrong address', async () => {
    const { weir } = setup()
    const port = (url: string): string => new URL(url).port
    const detailOf = async (answer: Promise<Response>): Promise<unknown> => {
      const { detail } = (await (await answer).json()) as { detail: unknown }
      return [(await answer).status, detail]
    }
    const platform = `the platform API (traces, projects, usage, keys), which listens on port ${port(weir.url)}.`
    for (const path of ['/sessions', '/api/v1/sessions'])
      expect(await detailOf(ask(path, { headers: KEY }))).toEqual([
        404,
        `Not found here: GET ${path} is a route of ${platform}`,
      ])
    expect(await detailOf(ask('/runs/multipart', { method: 'POST', headers: KEY }))).toEqual([
      expect.any(Number),
      `Not found here: POST /runs/multipart is a route of ${platform}`,
    ])
    const here = `the deployment API (threads and runs of graphs), which listens on port ${port(weir.deploymentUrl)} and is under /deployments/`
    for (const path of ['/threads', '/threads/search', '/runs/wait']) {
      const asked = fetch(weir.url + path, { method: 'POST', headers: KEY })
      const words = `Not found here: POST ${path} is a route of ${here}`
      expect(await detailOf(asked)).toEqual([expect.any(Number), expect.stringContaining(words)])
    }
  })

  it('returns the methods of a path, and answers HEAD like GET', async () => {
    const { headers } = await ask('/threads', { headers: KEY })
    expect(headers.get('allow')).toBe('POST, OPTIONS')
    const head = await ask('/info', { method: 'HEAD' })
    const get = await ask('/info')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  })

  it('lets pages of any origin call and read the headers that SDKs read', async () => {
    const origin = 'https://app.example.com'
    const preflight = await ask('/threads/search', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type,x-api-key',
    })
    for (const headers of [KEY, {}]) {
      const answer = await ask('/threads', { method: 'POST', headers: { ...headers, origin } })
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
      expect(exposed).toEqual(
        expect.arrayContaining(['content-location', 'location', 'x-pagination-total', 'x-pagination-next']),
      )
    }
    const plain = await ask('/info')
    expect(plain.headers.get('access-control-allow-origin')).toBeNull()
  })
})
