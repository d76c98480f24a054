import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../../test/support/servers/app-fixture.ts'
import { AppError } from '../../base/errors.ts'

let fixture: AppFixture
const noop = (): void => undefined
let [onAsked, onLeft] = [noop, noop]
beforeAll(async () => {
  fixture = await startApp({
    reads: {
      traceRun: async () => {
        throw new Error('secret inside')
      },
      trace: async () => {
        throw new AppError('store_unavailable')
      },
      // Waits until the client disconnects, like a queued read.
      stats: async (_workspace, _query, { gone }) => {
        onAsked()
        await new Promise((resolve) => gone.addEventListener('abort', resolve))
        onLeft()
        throw gone.reason
      },
    },
  })
})
afterAll(() => fixture.stop())

describe('paths', () => {
  it.each(['', '/api', '/api/v1'])('answers with the prefix "%s"', async (prefix) => {
    expect((await fixture.request(`${prefix}/info`)).status).toBe(200)
    expect((await fixture.request(`${prefix}/sessions`)).status).toBe(200)
    const post = await fixture.postJson(`${prefix}/runs/batch`, { post: [] })
    expect(post.status).toBe(202)
    expect(fixture.ingested.at(-1)?.head.kind).toBe('batch')
  })

  it('answers 404 with a code for unknown paths, also under a prefix', async () => {
    for (const path of ['/nothing', '/api/v1/nothing', '/api/v2/runs', '/apix/info', '/runs/%E0%A4%A']) {
      const answer = await fixture.request(path)
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({
        detail: expect.stringMatching(/^Not found/),
        code: 'not_found',
        error: expect.stringMatching(/^Not found/),
      })
    }
  })

  it('names the missing route, or the missing deployment', async () => {
    const detailOf = async (path: string) =>
      (await (await fixture.request(path)).json()) as { detail: string }
    expect((await detailOf('/api/v1/datasets?limit=1')).detail).toBe(
      'Not found: there is no route GET /datasets; /docs lists all routes.',
    )
    expect((await detailOf('/deployments/nope/threads')).detail).toBe(
      'Not found: there is no deployment "nope"; this server hosts no graphs.',
    )
    expect((await detailOf(`/${'x'.repeat(5000)}`)).detail.length).toBeLessThan(300)
  })

  it.each([
    ['GET', '/api/v1/runs/rules'],
    ['POST', '/api/v1/runs/rules'],
    ['POST', '/api/v1/runs/generate-query'],
    ['GET', '/api/v1/runs/threads'],
    ['POST', '/api/v1/feedback/eager'],
    ['GET', '/api/v1/workspaces/current'],
    ['GET', '/api/v1/orgs/current/members/active'],
    ['GET', '/api/v1/usage-limits/org'],
    ['DELETE', '/api/v2/runs/rules'],
  ])('names the missing route instead of reading its last part as an id: %s %s', async (method, path) => {
    const answer = await fixture.request(path, { method })
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: 'not_found', detail: expect.stringContaining(`there is no route ${method} `) },
    ])
  })

  it('answers 405 with Allow for another method', async () => {
    const answer = await fixture.request('/runs/multipart')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' })
    const put = await fixture.request('/sessions', { method: 'PUT', body: '{}' })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE, HEAD, OPTIONS'])
  })

  it('answers HEAD without a body and OPTIONS with the methods', async () => {
    const head = await fixture.request('/info', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const options = await fixture.request(`/runs/${WORKSPACE}`, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'PATCH, GET, HEAD, OPTIONS'])
  })

  it('repeats a valid x-request-id and creates one otherwise', async () => {
    const sent = await fixture.request('/ok', { headers: { 'x-request-id': 'abc-1' } })
    expect(sent.headers.get('x-request-id')).toBe('abc-1')
    const unfit = await fixture.request('/ok', { headers: { 'x-request-id': 'a b<script>' } })
    expect(unfit.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('errors', () => {
  it('hides the cause of an internal error, and logs it with the request id', async () => {
    const answer = await fixture.request(`/runs/${WORKSPACE}`, { headers: { 'x-request-id': 'find-me' } })
    expect(answer.status).toBe(500)
    const body: unknown = await answer.json()
    expect(body).toEqual({
      detail: 'Internal error',
      code: 'internal',
      error: 'Internal error',
      request_id: 'find-me',
    })
    const line = fixture.lines.find((text) => text.includes('request failed') && text.includes('find-me'))
    expect(line).toContain('secret inside')
  })

  it('a client that leaves while its read waits is no error of the server', async () => {
    const asked = new Promise<void>((resolve) => (onAsked = resolve))
    const left = new Promise<void>((resolve) => (onLeft = resolve))
    const leaving = new AbortController()
    const headers = { 'content-type': 'application/json', 'x-request-id': 'leaves' }
    const init = { method: 'POST', headers, body: '{"session":[]}', signal: leaving.signal }
    const answer = fixture.request('/runs/stats', init).catch(() => undefined)
    await asked
    leaving.abort()
    await Promise.all([answer, left])
    await fixture.request('/info')
    expect(
      fixture.lines.filter((line) => line.includes('leaves') && line.includes('request failed')),
    ).toEqual([])
  })

  it('sends Retry-After with 503', async () => {
    const answer = await fixture.request(`/traces/${WORKSPACE}`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ code: 'store_unavailable' })
  })

  it('lists every error of a request in FastAPI shape', async () => {
    const query = await fixture.request('/sessions?limit=101&offset=-1&id=nope')
    expect(query.status).toBe(422)
    expect(await query.json()).toMatchObject({
      code: 'invalid_request',
      detail: [
        { loc: ['query', 'id'], type: 'uuid_parsing' },
        {
          loc: ['query', 'limit'],
          msg: 'Input should be less than or equal to 100',
          type: 'less_than_equal',
        },
        { loc: ['query', 'offset'], type: 'greater_than_equal' },
      ],
    })
    const path = await fixture.request('/runs/not-a-uuid')
    expect(path.status).toBe(422)
    expect(await path.json()).toMatchObject({ detail: [{ loc: ['path', 'id'] }] })
  })

  it('never repeats an invalid body', async () => {
    const answer = await fixture.request('/runs/query', { method: 'POST', body: '{"limit": top-secret' })
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('secret')
    expect(fixture.lines.join('')).not.toContain('top-secret')
  })

  it('refuses other types and too large bodies on JSON routes', async () => {
    const form = await fixture.request('/runs/query', { method: 'POST', body: new FormData() })
    expect(form.status).toBe(415)
    const gzip = await fixture.request('/runs/query', {
      method: 'POST',
      body: 'x',
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    })
    expect(await gzip.json()).toMatchObject({ code: 'unsupported_encoding' })
    const large = await fixture.postJson('/runs/query', { filter: 'x'.repeat(1_100_000) })
    expect([large.status, large.headers.get('retry-after')]).toEqual([413, null])
  })
})

describe('metrics and logs of requests', () => {
  it('counts requests by route and status', async () => {
    const text = await (await fixture.request('/metrics')).text()
    expect(text).toContain(
      'http_server_request_duration_seconds_count{method="GET",route="/info",status="200"}',
    )
    expect(text).toContain('{method="POST",route="/runs/batch",status="202"}')
    expect(text).toContain('nodejs_event_loop_delay_max_seconds ')
    expect(fixture.app.inFlightBytes()).toBe(0)
  })

  it('never writes a key to the log', () => {
    expect(fixture.lines.length).toBeGreaterThan(10)
    expect(fixture.lines.join('')).not.toContain(KEY)
    expect(fixture.lines.some((line) => line.includes('lsv2...6789'))).toBe(true)
  })
})
