import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../../test/support/servers/app-fixture.ts'
import { inLong, someInShort } from '../../../test/support/length.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

interface Call {
  method?: string
  headers?: Record<string, string>
  body?: unknown
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Record<string, unknown>
}

/** Sends a request with any headers, including those that `fetch` does not accept. */
async function call(path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const options = { port: fixture.port, host: '127.0.0.1', method, path, headers: { ...type, ...headers } }
  const asked = request(options, (answer) => {
    const { statusCode: status = 0, headers: answered } = answer
    text(answer).then((sent) => {
      const parsed = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>)
      resolve({ status, headers: answered, body: parsed })
    }, reject)
  })
  asked.once('error', reject)
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  return await promise
}

const ownOrigin = (): string => `http://127.0.0.1:${fixture.port}`
/** The headers that a browser sends from a page of this server. */
const ownPage = (): Record<string, string> => ({ origin: ownOrigin(), 'sec-fetch-site': 'same-origin' })
const signIn = (body: unknown, headers = ownPage()): Promise<Answer> =>
  call('/api/v1/auth/session', { method: 'POST', headers, body })

/** The cookie of a new session, as a browser sends it back. */
async function cookieOf(body: unknown = { key: KEY }): Promise<string> {
  const answer = await signIn(body)
  expect(answer.status).toBe(200)
  return String(answer.headers['set-cookie']).split(';')[0] ?? ''
}

async function ticket(headers: Record<string, string> = { 'x-api-key': KEY }): Promise<Answer> {
  return await call('/auth/tickets', { method: 'POST', headers })
}

describe('signing in', () => {
  beforeEach(async () => void (fixture = await startApp()))

  it('IDENTITY-15: a key starts a session, whose cookie replaces it until the session ends', async () => {
    const answer = await signIn({ key: KEY })
    expect(answer.body).toMatchObject({
      auth: 'on',
      session_id: expect.any(String),
      user: { email: 'admin@localhost', full_name: 'Admin' },
      role: 'admin',
      permissions: expect.arrayContaining(['runs:read', 'organization:manage']),
      workspaces: [{ id: WORKSPACE, display_name: 'Default' }],
      default_workspace_id: WORKSPACE,
      features: { usage: false, deployments: [] },
    })
    const [set = ''] = [answer.headers['set-cookie']].flat()
    expect(set).toMatch(
      new RegExp(
        `^weir_session_${fixture.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`,
      ),
    )
    const headers = { ...ownPage(), cookie: set.split(';')[0] ?? '' }
    expect(await call('/orgs/current', { headers })).toMatchObject({ status: 200 })
    expect(await call('/auth/session', { headers })).toMatchObject({
      status: 200,
      body: { session_id: answer.body['session_id'] },
    })
    const out = await call('/auth/session', { method: 'DELETE', headers })
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([204, expect.stringMatching(/Max-Age=0/)])
    expect(await call('/orgs/current', { headers })).toMatchObject({
      status: 401,
      body: { code: 'unauthorized', detail: expect.stringContaining('sign in again') },
    })
  })

  it('IDENTITY-15: an unknown session leaves nothing unhandled, which would end the server, when the body is of a wrong type too', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    const cookie = `weir_session_${fixture.port}=${'x'.repeat(43)}`
    const headers = { ...ownPage(), cookie, 'content-type': 'text/plain' }
    const statuses: number[] = []
    for (const path of ['/runs', '/runs/batch', '/sessions'])
      statuses.push((await call(path, { method: 'POST', headers, body: {} })).status)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    expect(statuses).toEqual([401, 401, 401])
  })

  it('IDENTITY-15: the session ends with its key', async () => {
    const made = await fixture.postJson('/orgs/current/service-keys', { description: 'k', role: 'viewer' })
    const { key, id } = (await made.json()) as { key: string; id: string }
    const headers = { ...ownPage(), cookie: await cookieOf({ key }) }
    expect(await call('/auth/session', { headers })).toMatchObject({ body: { role: 'viewer', user: null } })
    await fixture.request(`/orgs/current/service-keys/${id}`, { method: 'DELETE' })
    expect(await call('/auth/session', { headers })).toMatchObject({ status: 401 })
  })

  it('IDENTITY-16: a ticket signs in once; a session makes none', async () => {
    const { body } = await ticket()
    expect(body['url']).toBe(`${ownOrigin()}/app/#ticket=${String(body['ticket'])}`)
    const headers = { ...ownPage(), cookie: await cookieOf({ ticket: body['ticket'] }) }
    expect(await call('/auth/session', { headers })).toMatchObject({ status: 200, body: { role: 'admin' } })
    expect(await signIn({ ticket: body['ticket'] })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('weir open') },
    })
    expect(await ticket(headers)).toMatchObject({ status: 403 })
  })

  it('GET /auth/session with a key returns the same, without a session', async () => {
    const { body } = await call('/auth/session', { headers: { 'x-api-key': KEY } })
    expect(body).toMatchObject({ session_id: null, expires_at: null, role: 'admin' })
    expect(await call('/auth/session')).toMatchObject({ status: 401 })
  })

  it('IDENTITY-17: ten failures a minute from one address are followed by 429, also at the same time', async () => {
    expect(await signIn({})).toMatchObject({ status: 422 })
    for (let i = 0; i < 12; i++) await cookieOf()
    const wrong = [{ key: `${KEY}x` }, { ticket: 'x'.repeat(43) }, { key: '?' }]
    const attempts = await Promise.all(Array.from({ length: 15 }, (_, at) => signIn(wrong[at % 3])))
    const statuses = attempts.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    const refused = await signIn({ key: KEY })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)])
  })
})

describe('IDENTITY-18, D-57: the cookie of a session', () => {
  beforeEach(async () => void (fixture = await startApp()))

  const FOREIGN: [title: string, headers: () => Record<string, string>, status: number][] = [
    ['of another site', () => ({ origin: 'https://evil.example' }), 403],
    ['of another port of this host', () => ({ origin: 'http://127.0.0.1:3000' }), 403],
    ['of another name of this machine', () => ({ origin: `http://localhost:${fixture.port}` }), 403],
    ['of a sandbox', () => ({ origin: 'null' }), 403],
    ['of the same site, without an origin', () => ({ 'sec-fetch-site': 'same-site' }), 403],
    ['of another site, without an origin', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['of a rebound host', () => ({ host: 'evil.example', origin: 'http://evil.example' }), 421],
  ]

  it.each(someInShort(FOREIGN, 3))('is not accepted from a page %s', async (_title, headersOf, status) => {
    const cookie = await cookieOf()
    const secret = cookie.slice(cookie.indexOf('=') + 1)
    // The cookie is sent under both names, since its name depends on the port of that host.
    const headers = { ...headersOf(), cookie: `${cookie}; weir_session=${secret}` }
    const calls: [string, Call][] = [
      ['/orgs/current', {}],
      ['/runs/query', { method: 'POST', body: {} }],
      ['/runs/batch', { method: 'POST', body: { post: [] } }],
      ['/orgs/current/service-keys', { method: 'POST', body: { description: 'stolen' } }],
      ['/auth/session', { method: 'DELETE' }],
    ]
    for (const [path, one] of calls) {
      const answer = await call(path, { ...one, headers })
      expect([path, answer.status]).toEqual([path, status])
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    }
    expect(await call('/orgs/current', { headers: { cookie } })).toMatchObject({ status: 200 })
    expect(fixture.ingested).toEqual([])
  })

  it.each(someInShort(FOREIGN, 3))('is not set for a page %s', async (_title, headersOf, status) => {
    const answer = await signIn({ key: KEY }, headersOf())
    expect([answer.status, answer.headers['set-cookie']]).toEqual([status, undefined])
  })

  it('gets responses without CORS headers, while a key gets them', async () => {
    const cookie = await cookieOf()
    const own = await call('/orgs/current', { headers: { ...ownPage(), cookie } })
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined])
    const foreign = { origin: 'https://app.example', cookie, 'x-api-key': KEY }
    const keyed = await call('/orgs/current', { headers: foreign })
    expect([keyed.status, keyed.headers['access-control-allow-origin']]).toEqual([200, '*'])
  })

  it('does not replace a wrong key, and bodies must be labelled as JSON', async () => {
    const cookie = await cookieOf()
    const wrong = { ...ownPage(), cookie, 'x-api-key': `${KEY}x` }
    expect(await call('/orgs/current', { headers: wrong })).toMatchObject({ status: 401 })
    const headers = { ...ownPage(), cookie, 'content-type': 'text/plain' }
    for (const path of ['/runs/query', '/runs/batch'])
      expect(await call(path, { method: 'POST', headers, body: {} })).toMatchObject({ status: 415 })
  })

  inLong(() => {
    it('belongs to one port: a server at another port has its own', async () => {
      const cookie = (await cookieOf()).replace(String(fixture.port), '1')
      expect(await call('/orgs/current', { headers: { ...ownPage(), cookie } })).toMatchObject({
        status: 401,
      })
    })
  })
})

describe('behind a proxy', () => {
  it('the session of PUBLIC_URL is for https only', async () => {
    const publicUrl = 'https://weir.example.com'
    fixture = await startApp({ publicUrl })
    const headers = { host: 'weir.example.com', origin: publicUrl, 'sec-fetch-site': 'same-origin' }
    const answer = await signIn({ key: KEY }, headers)
    const set = String(answer.headers['set-cookie'])
    expect(set).toMatch(/^weir_session=.*; Secure$/)
    const cookie = set.split(';')[0] ?? ''
    expect(await call('/orgs/current', { headers: { ...headers, cookie } })).toMatchObject({ status: 200 })
    const plain = { ...headers, origin: 'http://weir.example.com', 'sec-fetch-site': 'cross-site', cookie }
    expect(await call('/orgs/current', { headers: plain })).toMatchObject({ status: 403 })
    const local = await signIn({ key: KEY })
    expect(String(local.headers['set-cookie'])).not.toContain('Secure')
  })
})

describe('with AUTH=off', () => {
  it('needs no sign-in, and creates no cookie or ticket', async () => {
    fixture = await startApp({ openAccess: true })
    const answer = await signIn({ key: 'anything' })
    expect(answer).toMatchObject({ status: 200, body: { auth: 'off', session_id: null, role: 'admin' } })
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(await ticket({})).toMatchObject({ body: { ticket: null, url: `${ownOrigin()}/app/` } })
    expect(await signIn({}, { origin: 'https://evil.example' })).toMatchObject({ status: 403 })
  })
  it('makes no key that would stay valid with AUTH=on: not by an invitation, and not by a set-up', async () => {
    fixture = await startApp({ openAccess: true })
    const refusedFor = async (path: string, sent: object): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fixture.request(path, { method: 'POST', headers, body: JSON.stringify(sent) })
      return [answer.status, await answer.text()]
    }
    const refusal = [403, expect.stringContaining('With AUTH=off no keys are created')]
    expect(await refusedFor('/orgs/current/invites', { role: 'admin' })).toEqual(refusal)
    const accepted = { token: 'a'.repeat(43), email: 'eve@acme.test' }
    expect(await refusedFor('/auth/invites/accept', accepted)).toEqual(refusal)
    const key = { name: 'ci', role: 'admin', key: { env: 'CI' } }
    const setup = { document: { version: 1, service_keys: [key] }, keys: { ci: 'k'.repeat(40) } }
    expect(await refusedFor('/setup', setup)).toEqual(refusal)
    expect(await refusedFor('/setup', { document: { version: 1 } })).toMatchObject([200, expect.any(String)])
  })
})
