import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp } from '../../../test/support/servers/app-fixture.ts'
import { routeName } from '../api/access.ts'
import { platformRoutes } from './routes.ts'

const PAGE = JSON.stringify({ runs: Array.from({ length: 200 }, () => ({ name: 'a run' })) })
const TRACE = '/api/v1/traces/0195f3a0-0000-7000-8000-000000000001?view=outline'

let fixture: AppFixture
beforeEach(async () => {
  fixture = await startApp({
    reads: {
      query: async () => Buffer.from(PAGE),
      outline: async (_workspace, _trace, { known }) => ({
        version: '1-2-3',
        body: known?.includes('1-2-3') === true ? undefined : Buffer.from(PAGE),
      }),
    },
  })
})
afterEach(() => fixture.stop())

/** Reads a response without decompressing it, as fetch would. */
async function get(path: string, headers: Record<string, string>) {
  const sent = request(fixture.url + path, { headers: { 'x-api-key': KEY, ...headers } }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

it('N17: compresses the answers of reads', async () => {
  const { headers, body } = await get('/openapi.json', { 'accept-encoding': 'gzip' })
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(body.length) })
  expect(JSON.parse(gunzipSync(body).toString())).toMatchObject({ openapi: '3.1.0' })
  const page = await fixture.request('/api/v1/runs/query', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
    body: '{}',
  })
  expect([page.headers.get('content-encoding'), await page.text()]).toEqual(['gzip', PAGE])
})

it.each(['/openapi.json', TRACE])('N17: %s is not sent again to a client that has it', async (path) => {
  for (const encoding of ['identity', 'gzip']) {
    const first = await get(path, { 'accept-encoding': encoding })
    const { etag = '' } = first.headers
    expect([first.status, etag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]+"$/)])
    expect(first.headers['cache-control']).toBe('private, no-cache')
    const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': `"other", ${etag}` })
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
    expect(again.headers['content-encoding']).toBeUndefined()
    const other = await get(path, { 'accept-encoding': encoding, 'if-none-match': '"other"' })
    expect([other.status, other.body.length]).toEqual([200, first.body.length])
  }
})

it('N17: a list of projects is sent again once it has changed', async () => {
  const { headers } = await get('/api/v1/sessions', {})
  const known = { 'if-none-match': headers.etag ?? '' }
  expect((await get('/api/v1/sessions', known)).status).toBe(304)
  await fixture.postJson('/api/v1/sessions', { name: 'new' })
  expect((await get('/api/v1/sessions', known)).status).toBe(200)
})

it('N17: routes that make secrets are no reads, and their answers are not compressed', () => {
  const needs = new Map(platformRoutes().map((route) => [routeName(route), route.needs]))
  for (const name of [
    'POST /orgs/current/service-keys',
    'POST /orgs/current/personal-access-tokens',
    'POST /auth/tickets',
    'POST /feedback/tokens',
    'PUT /runs/{id}/share',
    'POST /v2/runs/{id}/share',
    'POST /v2/threads/{id}/share',
    'POST /v2/deployments/{id}/upload-url',
    'POST /v2/deployments/{id}/push-token',
  ])
    expect([name, needs.get(name)]).toEqual([name, expect.not.stringMatching(/^open$|:read$/)])
})
