import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { someInShort } from '../../../test/support/length.ts'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../../test/support/servers/app-fixture.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const OTHER = '99999999-9999-4999-8999-999999999999'
let fixture: AppFixture
afterEach(() => fixture.stop())

/** One representative of each kind of route: hot ingest, Express with and without a body, bytes. */
const KEYED: [method: string, path: string][] = [
  ['POST', '/runs/multipart'],
  ['POST', '/runs/batch'],
  ['POST', '/runs'],
  ['PATCH', `/runs/${OTHER}`],
  ['GET', `/runs/${OTHER}`],
  ['POST', '/runs/query'],
  ['POST', '/runs/validate'],
  ['GET', `/runs/${OTHER}/attachments/a`],
  ['GET', `/traces/${OTHER}`],
  ['GET', '/sessions'],
  ['POST', '/sessions'],
  ['GET', `/sessions/${OTHER}`],
  ['PATCH', `/sessions/${OTHER}`],
  ['GET', `/feedback?run=${OTHER}`],
  ['POST', '/feedback'],
  ['GET', '/orgs/current'],
  ['GET', '/workspaces'],
  ['GET', '/settings'],
  ['GET', '/metrics'],
  ['GET', '/ingest/health'],
]

async function call(method: string, path: string, headers: Record<string, string>) {
  const answer = await fetch(fixture.url + path, { method, headers, ...(method !== 'GET' && { body: '{}' }) })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('keys', () => {
  it.each(someInShort(KEYED, 4))('%s %s needs one, in its own workspace', async (method, path) => {
    fixture = await startApp()
    expect(await call(method, path, {})).toEqual({
      status: 401,
      body: {
        detail: expect.stringMatching(/^Invalid token: no API key/),
        code: 'unauthorized',
        error: 'Invalid token',
      },
    })
    expect(await call(method, path, { 'x-api-key': `${KEY}0` })).toMatchObject({ status: 401 })
    expect(await call(method, path, { 'x-api-key': KEY, 'x-tenant-id': OTHER })).toMatchObject({
      status: 403,
      body: { error: 'Forbidden', code: 'forbidden' },
    })
    expect(fixture.ingested).toEqual([])
  })

  it('is taken from X-API-Key in any case and from Authorization: Bearer', async () => {
    fixture = await startApp()
    for (const headers of [
      { 'X-API-KEY': KEY },
      { authorization: `Bearer ${KEY}` },
      { Authorization: `bearer ${KEY}` },
    ]) {
      expect(await call('GET', '/orgs/current', headers as Record<string, string>)).toMatchObject({
        status: 200,
      })
    }
    expect(
      await call('GET', '/settings', { 'x-api-key': KEY, 'x-tenant-id': WORKSPACE.toUpperCase() }),
    ).toMatchObject({
      status: 200,
      body: { id: WORKSPACE, display_name: 'Default', tenant_handle: null },
    })
  })

  it('IDENTITY-5: treats an empty X-Tenant-Id as absent', async () => {
    fixture = await startApp()
    for (const path of ['/settings', '/sessions', '/orgs/current'])
      expect(await call('GET', path, { 'x-api-key': KEY, 'x-tenant-id': '' })).toMatchObject({ status: 200 })
    const ingested = await call('POST', '/runs', { 'x-api-key': KEY, 'x-tenant-id': '' })
    expect([ingested.status, fixture.ingested[0]?.head.workspace_id]).toEqual([202, WORKSPACE])
  })

  it.each(['/ok', '/info', '/docs', '/openapi.json'])('%s needs none (D-5)', async (path) => {
    fixture = await startApp()
    expect((await fetch(fixture.url + path)).status).toBe(200)
  })

  it('IDENTITY-13: is not needed when AUTH is off, but the workspace must still belong to the organization', async () => {
    fixture = await startApp({ openAccess: true })
    expect(await call('GET', '/settings', {})).toMatchObject({ status: 200, body: { id: WORKSPACE } })
    expect(await call('GET', '/settings', { 'x-tenant-id': OTHER })).toMatchObject({ status: 403 })
    expect(await call('POST', '/runs', JSON_TYPE)).toMatchObject({ status: 202 })
    expect(fixture.ingested[0]?.head.workspace_id).toBe(WORKSPACE)
    for (const path of ['/orgs/current/service-keys', '/orgs/current/personal-access-tokens']) {
      expect(await call('POST', path, JSON_TYPE)).toMatchObject({
        status: 403,
        body: { code: 'forbidden', detail: expect.stringContaining('AUTH=on') },
      })
    }
    const workspace = await fixture.postJson('/workspaces', { display_name: 'second' })
    const { id } = (await workspace.json()) as { id: string }
    expect(await call('GET', '/settings', { 'x-tenant-id': id })).toMatchObject({ status: 200, body: { id } })
  })
})

describe('IDENTITY-14: with AUTH off a web page of another site', () => {
  /** Like `call`, with a Host header, which fetch does not allow. */
  async function ask(method: string, path: string, headers: Record<string, string>, readers?: string) {
    const sent = request(fixture.url + path, { method, headers: { ...JSON_TYPE, ...headers } })
    sent.end(method === 'GET' ? '' : '{}')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const { code } = JSON.parse(await text(answer)) as { code?: string }
    expect(answer.headers['access-control-allow-origin']).toBe(readers)
    return [answer.statusCode, code]
  }

  it.each(someInShort(KEYED, 4))('cannot call %s %s', async (method, path) => {
    fixture = await startApp({ openAccess: true })
    const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }
    expect(await ask(method, path, rebound)).toEqual([421, 'misdirected_request'])
    expect(await ask(method, path, { ...rebound, 'x-api-key': KEY })).toEqual([421, 'misdirected_request'])
    expect(await ask(method, path, { origin: 'http://localhost:3000' })).toEqual([403, 'foreign_origin'])
    expect(await ask(method, path, { 'sec-fetch-site': 'cross-site' })).toEqual([403, 'foreign_origin'])
    expect(fixture.ingested).toEqual([])
  })

  it.each(['/runs', '/runs/batch', '/runs/query', '/sessions'])(
    'cannot send %s a body of a type that needs no preflight request',
    async (path) => {
      fixture = await startApp({ openAccess: true })
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', ''])
        expect(await ask('POST', path, { 'content-type': type })).toEqual([415, 'unsupported_media_type'])
      expect(fixture.ingested).toEqual([])
    },
  )

  it('is treated like any client when keys are required', async () => {
    fixture = await startApp()
    const page = { host: 'weir.example', origin: 'https://app.example', 'x-api-key': KEY }
    expect(await ask('GET', '/settings', page, '*')).toEqual([200, undefined])
    const plain = { ...page, 'content-type': 'text/plain' }
    expect(await ask('POST', '/runs/query', plain, '*')).toEqual([200, undefined])
  })

  it('may send the headers of the SDKs when keys are required (S-3)', async () => {
    fixture = await startApp()
    const asked = 'x-api-key, x-tenant-id, x-stainless-lang, x-stainless-retry-count, content-type'
    const preflight = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': asked,
    }
    for (const path of ['/api/v2/runs/query', '/v2/runs/query', '/api/v1/runs/multipart']) {
      const { status, headers } = await fixture.request(path, { method: 'OPTIONS', headers: preflight })
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*'])
      expect(headers.get('access-control-allow-methods')).toContain('POST')
      expect(headers.get('access-control-allow-headers')).toBe(asked)
    }
  })
})
