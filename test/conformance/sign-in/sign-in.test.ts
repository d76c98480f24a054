import { afterEach, describe, expect, it } from 'vitest'
import { WORKSPACE } from '../../support/servers/app-fixture.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

let provider: OidcProvider
let world: SignInWorld
afterEach(async () => {
  await world.fixture.stop()
  await provider.close()
})

type Written = Awaited<ReturnType<Parameters<typeof startSignInWorld>[0]>>[number]

async function start(
  written: Partial<Written> = {},
  settings: Parameters<typeof startSignInWorld>[1] = {},
  options: Parameters<typeof startOidcProvider>[1] = {},
): Promise<void> {
  world = await startSignInWorld(async (callback) => {
    provider = await startOidcProvider([callback()], options)
    provider.accounts.set('ada', {
      sub: 'ada',
      claims: { email: 'Ada@Acme.test', email_verified: true, name: 'Ada', groups: ['staff'] },
    })
    const known = { issuer_url: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret }
    return [{ ...known, default_role: 'user' as const, ...written }]
  }, settings)
}

const claims = (sub: string): Record<string, unknown> => provider.accounts.get(sub)?.claims ?? {}
async function members(): Promise<
  { user_id: string; email: string; role: string; workspace_ids: unknown }[]
> {
  return (await (await world.fixture.request('/orgs/current/members')).json()) as never
}

describe('TEAM-2, TEAM-3: sign-in at a provider', () => {
  it('TEAM-6: starts a session of the member, without a key, and opens the page that was asked for', async () => {
    await start()
    const browser = world.browser()
    const end = await world.signIn(browser, { return_to: '/app/traces/1?view=tree#run' })
    expect(end.href).toBe(`${world.url}/app/traces/1?view=tree#run`)
    expect(await world.session(browser)).toMatchObject({
      status: 200,
      body: {
        api_key: null,
        user: { email: 'ada@acme.test', full_name: 'Ada' },
        role: 'user',
        default_workspace_id: WORKSPACE,
      },
    })
    const [entry] = await world.audit('session.sign_in')
    expect(entry).toMatchObject({
      actor: { api_key_id: null, short_key: null, user_id: expect.any(String) },
      details: { result: 'ok', provider: 'custom-oidc', address: '127.0.0.1' },
    })
  })

  it('TEAM-2: the sign-in page learns of the providers, also of one that cannot be reached', async () => {
    await start({ name: 'Acme' })
    const read = async (): Promise<unknown> => (await fetch(`${world.url}/api/v1/auth/providers`)).json()
    const login_url = `${world.url}/api/v1/oauth/custom-oidc/login`
    const known = { id: 'custom-oidc', name: 'Acme', login_url }
    await provider.close()
    expect(await read()).toEqual({
      providers: [{ ...known, available: false }],
      key_sign_in: true,
      auto_login: false,
    })
    const away = await fetch(login_url, { redirect: 'manual' })
    expect(away.headers.get('location')).toBe('/app/sign-in?error=provider_failed')
    await provider.open()
    world.clock.time += 6_000
    expect(await read()).toMatchObject({ providers: [{ available: true }] })
  })

  it('TEAM-3: sends PKCE, state and nonce, and keeps the attempt in a cookie of the callback alone', async () => {
    await start()
    const browser = world.browser()
    const answer = await browser.fetch(`${world.url}/api/v1/oauth/custom-oidc/login`)
    const { searchParams } = new URL(answer.headers.get('location') ?? '')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: world.callback(),
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^weir_attempt_[\w-]{16}=[\w-]{43}; Path=\/api\/v1\/oauth\/custom-oidc\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
  })

  it('TEAM-1: a public client signs in with PKCE alone', async () => {
    await start({ client_secret: undefined }, {}, { client: { token_endpoint_auth_method: 'none' } })
    const browser = world.browser()
    await world.signIn(browser)
    expect((await world.session(browser)).status).toBe(200)
  })

  it('TEAM-3: sends its secret in the body where the provider takes it there only', async () => {
    await start({}, {}, { authMethods: ['client_secret_post'] })
    const browser = world.browser()
    await world.signIn(browser)
    expect((await world.session(browser)).status).toBe(200)
  })

  it('TEAM-3: on https the cookie of an attempt is Secure, and the callback that of PUBLIC_URL', async () => {
    const publicUrl = 'https://weir.acme.test'
    await start({}, { publicUrl })
    const answer = await world.browser().fetch(`${world.url}/api/v1/oauth/custom-oidc/login`)
    expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax; Max-Age=600; Secure$/)
    const { searchParams } = new URL(answer.headers.get('location') ?? '')
    expect(searchParams.get('redirect_uri')).toBe(`${publicUrl}/api/v1/oauth/custom-oidc/callback`)
  })

  it('TEAM-6: the session ends after its time, by a sign-out, and with its member', async () => {
    await start({ session_max_sec: 3600, idp_logout_enabled: true })
    const browser = world.browser()
    await world.signIn(browser)
    const headers = { origin: world.url }
    const out = await browser.fetch(`${world.url}/api/v1/auth/session`, { method: 'DELETE', headers })
    const { logout_url } = (await out.json()) as { logout_url: string }
    const { origin, searchParams } = new URL(logout_url)
    expect([origin, searchParams.get('post_logout_redirect_uri')]).toEqual([
      provider.issuer,
      `${world.url}/app/`,
    ])
    expect(searchParams.get('id_token_hint')).toMatch(/^ey/)
    expect((await world.session(browser)).status).toBe(401)

    await world.signIn(browser)
    world.clock.time += 3_601_000
    expect((await world.session(browser)).status).toBe(401)

    await world.signIn(browser)
    const ada = (await members()).find(({ email }) => email === 'ada@acme.test')
    await world.fixture.request(`/orgs/current/members/${ada?.user_id}`, { method: 'DELETE' })
    expect((await world.session(browser)).status).toBe(401)
  })

  it('TEAM-6: people see and end their sessions, admins those of all', async () => {
    await start()
    const [one, two] = [world.browser(), world.browser()]
    await world.signIn(one)
    await world.signIn(two)
    const list = async (path: string, browser = one): Promise<{ id: string; is_current: boolean }[]> =>
      (await (await browser.fetch(`${world.url}/api/v1${path}`)).json()) as never
    const own = await list('/auth/sessions')
    expect(own.map(({ is_current }) => is_current).toSorted((a, b) => Number(a) - Number(b))).toEqual([
      false,
      true,
    ])
    expect(own[0]).toMatchObject({ provider: 'custom-oidc', short_key: null, user_id: expect.any(String) })
    expect((await one.fetch(`${world.url}/api/v1/orgs/current/sessions`)).status).toBe(403)
    const other = own.find(({ is_current }) => !is_current)?.id
    const end = (id: string | undefined, key?: string): Promise<Response> => {
      const url = `${world.url}/api/v1/auth/sessions/${id}`
      const headers = key === undefined ? {} : { 'x-api-key': key }
      return key === undefined
        ? one.fetch(url, { method: 'DELETE' })
        : fetch(url, { method: 'DELETE', headers })
    }
    expect((await end(other)).status).toBe(204)
    expect([(await world.session(two)).status, (await end(other)).status]).toEqual([401, 404])

    const stranger = await world.fixture.postJson('/orgs/current/service-keys', {
      description: 'k',
      role: 'viewer',
    })
    const { key } = (await stranger.json()) as { key: string }
    const [mine] = await list('/auth/sessions')
    expect((await end(mine?.id, key)).status).toBe(404)
    const all = await world.fixture.request('/orgs/current/sessions')
    expect(await all.json()).toMatchObject([{ id: mine?.id, is_current: false }])
    expect((await world.fixture.request(`/auth/sessions/${mine?.id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await world.session(one)).status).toBe(401)
  })

  it('TEAM-1: with KEY_SIGN_IN=off no key signs in and no ticket is made, except on the machine of the server', async () => {
    await start({}, { key_sign_in: false })
    const headers = { 'content-type': 'application/json', origin: world.url }
    const post = (body: object): Promise<Response> =>
      fetch(`${world.url}/auth/session`, { method: 'POST', headers, body: JSON.stringify(body) })
    const byKey = await post({ key: 'a-key-of-this-test' })
    expect([byKey.status, await byKey.json()]).toMatchObject([403, { code: 'key_sign_in_off' }])
    const ticket = await world.fixture.request('/auth/tickets', { method: 'POST' })
    expect(ticket.status).toBe(403)
    expect((await world.fixture.request('/orgs/current')).status).toBe(200)
    const guess = { 'x-weir-local': 'another' }
    expect((await world.fixture.request('/auth/tickets', { method: 'POST', headers: guess })).status).toBe(
      403,
    )
    const local = { 'x-weir-local': 'the secret of this machine' }
    const made = await world.fixture.request('/auth/tickets', { method: 'POST', headers: local })
    const { ticket: secret } = (await made.json()) as { ticket: string }
    expect((await post({ ticket: secret })).status).toBe(200)
    expect(await world.audit('ticket.create')).toHaveLength(1)
  })
})

describe('TEAM-4: who it is', () => {
  it('is the subject at the issuer: a new address stays the same member', async () => {
    await start()
    await world.signIn(world.browser())
    claims('ada')['email'] = 'ada@new.test'
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { user: { email: 'ada@new.test' } } })
    expect(await members()).toHaveLength(2)
  })

  it('is an existing member by a verified address, once for each issuer', async () => {
    await start()
    await world.fixture.postJson('/orgs/current/members', { email: 'ada@acme.test', role: 'operator' })
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator' } })
    provider.accounts.set('eve', { sub: 'eve', claims: { email: 'ada@acme.test', email_verified: true } })
    provider.person = 'eve'
    const other = world.browser()
    await world.signIn(other)
    const { body } = await world.session(other)
    expect(body).toMatchObject({
      role: 'user',
      user: { email: expect.stringMatching(/^eve@localhost\.invalid$/) },
    })
    expect(await members()).toHaveLength(3)
  })

  it('is nobody known by an address that is not verified', async () => {
    await start()
    await world.fixture.postJson('/orgs/current/members', { email: 'ada@acme.test', role: 'admin' })
    delete claims('ada')['email_verified']
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({
      body: { role: 'user', user: { email: 'ada@localhost.invalid' } },
    })
    provider.person = 'bob'
    provider.accounts.set('bob', { sub: 'bob', claims: { email: 'bob@acme.test', email_verified: false } })
    expect((await world.signIn(world.browser())).search).toBe('?error=email_not_verified')
  })
})

describe('TEAM-5: the role', () => {
  const roles = 'staff=viewer,ml=operator@Default,root=admin'

  it('is the highest of the groups, at every sign-in', async () => {
    await start({ group_roles: roles, default_role: undefined })
    claims('ada')['groups'] = ['staff', 'ml']
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator', all_workspaces: false } })
    claims('ada')['groups'] = ['staff']
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'viewer', all_workspaces: true } })
    const [change] = await world.audit('member.change')
    expect(change?.details).toMatchObject({ from: { role: 'operator' }, to: { role: 'viewer' } })
  })

  it('is none without a group: the member is suspended with its tokens, until a group lets it in again', async () => {
    await start({ group_roles: roles, default_role: undefined })
    await world.signIn(world.browser())
    const ada = (await members()).find(({ email }) => email === 'ada@acme.test')
    const made = await world.fixture.postJson('/orgs/current/personal-access-tokens', {
      description: 'of ada',
      user_id: ada?.user_id,
    })
    const { key } = (await made.json()) as { key: string }
    const status = async (): Promise<number> =>
      (await world.fixture.request('/sessions', { headers: { 'x-api-key': key } })).status
    expect(await status()).toBe(200)
    claims('ada')['groups'] = []
    expect((await world.signIn(world.browser())).search).toBe('?error=no_role')
    world.clock.time += 31_000
    expect(await status()).toBe(401)
    expect(await world.audit('member.suspend')).toHaveLength(1)
    claims('ada')['groups'] = ['staff']
    await world.signIn(world.browser())
    expect(await status()).toBe(200)
  })

  it('IDENTITY-11: the last admin keeps its role', async () => {
    await start({ group_roles: roles, default_role: undefined }, { admin_email: undefined })
    claims('ada')['groups'] = ['root']
    await world.signIn(world.browser())
    const first = (await members()).find(({ email }) => email === 'admin@localhost')
    const made = await world.fixture.postJson('/orgs/current/service-keys', {
      description: 'k',
      role: 'admin',
    })
    const { key } = (await made.json()) as { key: string }
    await world.fixture.request(`/orgs/current/members/${first?.user_id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': key },
    })
    for (const groups of [['staff'], []]) {
      claims('ada')['groups'] = groups
      const browser = world.browser()
      await world.signIn(browser)
      expect(await world.session(browser)).toMatchObject({ status: 200, body: { role: 'admin' } })
    }
    const logs = await world.fixture.request('/orgs/current/audit-logs?action=session.sign_in', {
      headers: { 'x-api-key': key },
    })
    const { audit_logs } = (await logs.json()) as { audit_logs: { details: object }[] }
    expect(audit_logs[0]?.details).toMatchObject({ result: 'ok', kept_last_admin: true })
  })

  it('INITIAL_ORG_ADMIN_EMAIL is an admin, and sign_up off lets in members only', async () => {
    await start({ sign_up: 'off' }, { admin_email: 'ada@acme.test' })
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'admin', all_workspaces: true } })
    provider.person = 'bob'
    provider.accounts.set('bob', { sub: 'bob', claims: { email: 'bob@acme.test', email_verified: true } })
    expect((await world.signIn(world.browser())).search).toBe('?error=sign_up_off')
  })

  it('groups come from userinfo if the id token has none', async () => {
    await start({ group_roles: 'x=viewer', groups_claim: 'realm_access.roles' }, {}, { inToken: false })
    claims('ada')['realm_access'] = { roles: ['x'] }
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'viewer' } })
  })
})

describe('a group that is removed while its member is signed in', () => {
  const roles = { group_roles: 'staff=user,ml=operator', default_role: undefined }

  it.each([
    ['with a refresh token', {}],
    ['without a refresh token, from userinfo', { refreshTokens: false, inToken: false }],
  ])('is gone within a minute, %s', async (_, options) => {
    await start(roles, {}, options)
    claims('ada')['groups'] = ['ml']
    const browser = world.browser()
    await world.signIn(browser)
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator' } })
    claims('ada')['groups'] = ['staff']
    world.clock.time += 29_000
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator' } })
    world.clock.time += 31_000
    expect(await world.session(browser)).toMatchObject({ body: { role: 'user' } })
    claims('ada')['groups'] = []
    world.clock.time += 60_000
    expect(await world.session(browser)).toMatchObject({ status: 401 })
  })

  it('ends the session when the provider has removed the person, and an open stream with it', async () => {
    await start(roles)
    claims('ada')['groups'] = ['ml']
    const browser = world.browser()
    await world.signIn(browser)
    const stream = await browser.fetch(`${world.url}/api/v1/live?topic=ingest`)
    expect(stream.status).toBe(200)
    const reader = stream.body?.getReader()
    await reader?.read()
    await provider.revoke('ada')
    world.clock.time += 60_000
    const drain = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    }
    await drain().catch(() => undefined)
    expect((await world.session(browser)).status).toBe(401)
  })

  it('keeps the session while the provider does not answer, and asks it twice a minute at most', async () => {
    await start(roles)
    const browser = world.browser()
    await world.signIn(browser)
    const before = provider.asked()
    for (let at = 0; at < 60; at += 5) {
      world.clock.time += 5_000
      expect((await world.session(browser)).status).toBe(200)
    }
    expect(provider.asked() - before).toBeLessThanOrEqual(2)
    await provider.close()
    world.clock.time += 60_000
    expect((await world.session(browser)).status).toBe(200)
    await provider.open()
  })
})
