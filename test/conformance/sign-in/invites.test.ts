import { afterEach, describe, expect, it } from 'vitest'
import { settableClock } from '../../support/faults/test-clock.ts'
import { type AppFixture, KEY, startApp } from '../../support/servers/app-fixture.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

const HOUR = 3_600_000
const JSON_TYPE = { 'content-type': 'application/json' }

interface Made {
  id: string
  url: string
  expires_at: string
  email: string | null
}

async function invite(fixture: AppFixture, body: object, key = KEY): Promise<Made> {
  const headers = { ...JSON_TYPE, 'x-api-key': key }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const answer = await fixture.request('/orgs/current/invites', init)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Made
}

const tokenOf = ({ url }: Made): string => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''

async function open(
  fixture: AppFixture,
  path: string,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }
  const answer = await fetch(`${fixture.url}/api/v1/auth/invites${path}`, init)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('TEAM-9: an invitation without a provider', () => {
  let fixture: AppFixture
  const clock = settableClock()
  afterEach(() => fixture.stop())

  it('makes a member and its key, once', async () => {
    fixture = await startApp({ clock })
    const made = await invite(fixture, { email: 'Ada@acme.test', role: 'viewer' })
    expect(made).toMatchObject({
      email: 'ada@acme.test',
      url: expect.stringMatching(/\/app\/invite#token=[\w-]{43}$/),
    })
    expect(Date.parse(made.expires_at) - clock.now()).toBe(168 * HOUR)
    const token = tokenOf(made)
    const [row] = await fixture.database.query<{ secret_hash: string }>('SELECT secret_hash FROM invites')
    expect(row?.secret_hash).not.toContain(token)
    expect(await open(fixture, '', { token })).toMatchObject({
      status: 200,
      body: {
        email: 'ada@acme.test',
        role: 'viewer',
        organization: 'Default organization',
        by_provider: false,
      },
    })
    const accepted = await open(fixture, '/accept', { token, full_name: 'Ada' })
    expect(accepted).toMatchObject({ status: 200, body: { email: 'ada@acme.test', role: 'viewer' } })
    const headers = { 'x-api-key': String(accepted.body['key']) }
    const session = await fixture.request('/auth/session', { headers })
    expect(await session.json()).toMatchObject({
      role: 'viewer',
      user: { email: 'ada@acme.test', full_name: 'Ada' },
    })
    for (const path of ['', '/accept']) expect((await open(fixture, path, { token })).status).toBe(401)
    const logs = await fixture.request('/orgs/current/audit-logs')
    const { audit_logs } = (await logs.json()) as { audit_logs: { action: string }[] }
    expect(audit_logs.map(({ action }) => action)).toEqual([
      'key.create',
      'invite.accept',
      'member.add',
      'invite.create',
    ])
    expect(JSON.stringify(audit_logs)).not.toContain(token)
  })

  it('works for one of two who accept at the same time', async () => {
    fixture = await startApp({ clock })
    const token = tokenOf(await invite(fixture, { role: 'user' }))
    const both = ['a@acme.test', 'b@acme.test'].map((email) => open(fixture, '/accept', { token, email }))
    expect((await Promise.all(both)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 401,
    ])
  })

  it('ends after its time, by a new link, when it is revoked, and with its inviter', async () => {
    fixture = await startApp({ clock })
    const status = async (made: Made): Promise<number> =>
      (await open(fixture, '', { token: tokenOf(made) })).status
    const short = await invite(fixture, { role: 'user', expires_in_hours: 1 })
    expect(await status(short)).toBe(200)
    clock.time += HOUR
    expect(await status(short)).toBe(401)
    const asked = (hours: number) =>
      fixture.postJson('/orgs/current/invites', { role: 'user', expires_in_hours: hours })
    const longest = await asked(720)
    expect([longest.status, (await asked(721)).status]).toEqual([200, 422])
    const { id } = (await longest.json()) as Made
    expect((await fixture.request(`/orgs/current/invites/${id}`, { method: 'DELETE' })).status).toBe(204)

    const first = await invite(fixture, { role: 'user' })
    const path = `/orgs/current/invites/${first.id}`
    const second = (await (await fixture.request(`${path}/renew`, { method: 'POST' })).json()) as Made
    expect([await status(first), await status(second)]).toEqual([401, 200])
    expect(await (await fixture.request('/orgs/current/invites')).json()).toMatchObject([{ id: first.id }])
    expect((await fixture.request(path, { method: 'DELETE' })).status).toBe(204)
    expect([await status(second), (await fixture.request(path, { method: 'DELETE' })).status]).toEqual([
      401, 404,
    ])

    const member = await fixture.postJson('/orgs/current/members', { email: 'eve@acme.test', role: 'admin' })
    const { user_id } = (await member.json()) as { user_id: string }
    const token = await fixture.postJson('/orgs/current/personal-access-tokens', {
      description: 'e',
      user_id,
    })
    const { key } = (await token.json()) as { key: string }
    const last = await invite(fixture, { role: 'admin' }, key)
    await fixture.request(`/orgs/current/members/${user_id}`, { method: 'DELETE' })
    expect(await status(last)).toBe(401)
  })

  it('IDENTITY-8: gives no more than its inviter has', async () => {
    fixture = await startApp({ clock })
    const workspace = await fixture.postJson('/workspaces', { display_name: 'other' })
    const { id } = (await workspace.json()) as { id: string }
    const made = await fixture.postJson('/orgs/current/service-keys', {
      description: 'k',
      role: 'admin',
      workspaces: [id],
    })
    const { key } = (await made.json()) as { key: string }
    const ask = (body: object): Promise<Response> =>
      fixture.request('/orgs/current/invites', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-api-key': key },
        body: JSON.stringify(body),
      })
    expect(await (await ask({ role: 'user' })).json()).toMatchObject({ workspace_ids: [id] })
    const elsewhere = { role: 'user', workspace_ids: ['11111111-1111-4111-8111-111111111111'] }
    expect((await ask(elsewhere)).status).toBe(403)
    await invite(fixture, { role: 'user' })
    const list = await fixture.request('/orgs/current/invites', { headers: { 'x-api-key': key } })
    expect(await list.json()).toHaveLength(2)
  })

  it('IDENTITY-8: makes no key that is valid longer than that of its inviter', async () => {
    fixture = await startApp({ clock })
    const expires_at = new Date(clock.now() + 2 * HOUR).toISOString()
    const made = await fixture.postJson('/orgs/current/service-keys', {
      description: 'k',
      role: 'admin',
      expires_at,
    })
    const { key } = (await made.json()) as { key: string }
    const first = await invite(fixture, { role: 'admin' }, key)
    const renewed = await fixture.request(`/orgs/current/invites/${first.id}/renew`, { method: 'POST' })
    const ends = async (token: string, email: string): Promise<unknown> => {
      const accepted = await open(fixture, '/accept', { token, email })
      const headers = { 'x-api-key': String(accepted.body['key']) }
      const session = await (await fixture.request('/auth/session', { headers })).json()
      return (session as { expires_at: unknown }).expires_at
    }
    // A link that an admin without end has renewed has no end either.
    expect(await ends(tokenOf((await renewed.json()) as Made), 'a@acme.test')).toBeNull()
    const second = await invite(fixture, { role: 'admin' }, key)
    expect(await ends(tokenOf(second), 'b@acme.test')).toBe(expires_at)
  })

  it('IDENTITY-17, IDENTITY-18: links are not guessed, and not used by pages of other sites', async () => {
    fixture = await startApp({ clock })
    const token = tokenOf(await invite(fixture, { role: 'user' }))
    const foreign = await fetch(`${fixture.url}/auth/invites/accept`, {
      method: 'POST',
      headers: { ...JSON_TYPE, origin: 'https://evil.test' },
      body: JSON.stringify({ token, email: 'eve@acme.test' }),
    })
    expect(foreign.status).toBe(403)
    for (let i = 0; i < 10; i++) expect((await open(fixture, '', { token: 'a'.repeat(43) })).status).toBe(401)
    expect((await open(fixture, '', { token })).status).toBe(429)
  })
})

describe('TEAM-9: an invitation where people sign in at a provider', () => {
  let world: SignInWorld
  let provider: OidcProvider
  afterEach(async () => {
    await world.fixture.stop()
    await provider.close()
  })

  it('lets in the person with the verified address, whoever has the link', async () => {
    world = await startSignInWorld(async (callback) => {
      provider = await startOidcProvider([callback()])
      return [
        { issuer_url: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, sign_up: 'off' },
      ]
    })
    const without = await world.fixture.postJson('/orgs/current/invites', { role: 'user' })
    expect([without.status, await without.json()]).toMatchObject([
      422,
      { detail: [{ loc: expect.arrayContaining(['email']) }] },
    ])
    const made = await invite(world.fixture, { email: 'ada@acme.test', role: 'operator' })
    const token = tokenOf(made)
    expect(await open(world.fixture, '', { token })).toMatchObject({ body: { by_provider: true } })
    expect(await open(world.fixture, '/accept', { token, email: 'eve@acme.test' })).toMatchObject({
      status: 409,
    })

    const person = (sub: string, claims: object): void => {
      provider.person = sub
      provider.accounts.set(sub, { sub, claims: { ...claims } })
    }
    person('eve', { email: 'eve@acme.test', email_verified: true })
    expect((await world.signIn(world.browser())).search).toBe('?error=sign_up_off')
    person('mallory', { email: 'ada@acme.test' })
    expect((await world.signIn(world.browser())).search).toBe('?error=sign_up_off')
    person('ada', { email: 'ada@acme.test', email_verified: true })
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ status: 200, body: { role: 'operator' } })
    expect(await world.audit('invite.accept')).toHaveLength(1)
    expect((await open(world.fixture, '', { token })).status).toBe(401)
    // The role of the invitation stays at the next sign-in.
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator' } })
  })
})
