import { afterEach, describe, expect, it } from 'vitest'
import type { SignInSettings } from '../../../src/identity/oidc/provider-settings.ts'
import { CLIENT, type OidcProvider, startOidcProvider } from '../../support/sign-in/oidc-provider.ts'
import { type SignInWorld, startSignInWorld } from './world.ts'

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'

interface Resource {
  id: string
  userName: string
  externalId?: string
  active: boolean
  displayName: string
  name: { givenName?: string; familyName?: string }
  emails: { value: string }[]
  groups: { display: string }[]
  members: { value: string }[]
}

interface Answer {
  status: number
  type: string | null
  body: Resource & {
    totalResults: number
    startIndex: number
    Resources: Resource[]
    scimType?: string
    detail?: string
  }
}

let world: SignInWorld
let provider: OidcProvider
let token: string
afterEach(async () => {
  await world.fixture.stop()
  await provider.close()
})

async function start(
  rules: { group_roles?: string; default_role?: 'viewer' } = {},
  settings: Partial<Omit<SignInSettings, 'providers'>> = {},
): Promise<void> {
  world = await startSignInWorld(async (callback) => {
    provider = await startOidcProvider([callback()])
    const client = { issuer_url: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret }
    return [{ ...client, ...rules, sign_up: 'off' as const }]
  }, settings)
  const made = await world.fixture.postJson('/orgs/current/scim-tokens', {})
  expect(made.status).toBe(200)
  const { token: secret, base_url } = (await made.json()) as { token: string; base_url: string }
  expect(base_url).toBe(`${world.url}/scim/v2`)
  token = secret
}

async function scim(method: string, path: string, body?: object, bearer = token): Promise<Answer> {
  const answer = await fetch(`${world.url}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/scim+json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const { status } = answer
  return {
    status,
    type: answer.headers.get('content-type'),
    body: (text && JSON.parse(text)) as Answer['body'],
  }
}

/** The body with which Okta and Entra make a user. */
const newUser = (name: string, externalId = name) => ({
  schemas: [USER],
  externalId,
  userName: `${name}@acme.test`,
  name: { givenName: name, familyName: 'Example' },
  emails: [{ primary: true, value: `${name}@acme.test`, type: 'work' }],
  active: true,
})

async function makeUser(name: string): Promise<string> {
  const made = await scim('POST', '/Users', newUser(name))
  expect(made.status).toBe(201)
  return made.body.id
}

async function makeGroup(displayName: string, ids: string[] = []): Promise<string> {
  const members = ids.map((value) => ({ value }))
  const made = await scim('POST', '/Groups', { schemas: [GROUP], displayName, members })
  expect(made.status).toBe(201)
  return made.body.id
}

const patch = (path: string, ...Operations: object[]): Promise<Answer> =>
  scim('PATCH', path, { schemas: [PATCH], Operations })

interface Listed {
  user_id: string
  email: string
  role: string
  workspace_ids: string[] | null
}

async function member(email: string): Promise<Listed | undefined> {
  const all = (await (await world.fixture.request('/orgs/current/members')).json()) as Listed[]
  return all.find((one) => one.email === email)
}

/** Signs the person in; the status of its session, and where the browser ended. */
async function signIn(sub: string, claims: object = { email: `${sub}@acme.test` }) {
  provider.person = sub
  provider.accounts.set(sub, { sub, claims: { ...claims } })
  const browser = world.browser()
  const end = await world.signIn(browser)
  return { browser, search: end.search, ...(await world.session(browser)) }
}

describe('TEAM-10: users of SCIM', () => {
  it('are members, found by userName and externalId, in pages', async () => {
    await start({ default_role: 'viewer' })
    const made = await scim('POST', '/Users', newUser('Ada', 'sub-of-ada'))
    expect(made).toMatchObject({
      status: 201,
      type: 'application/scim+json',
      body: {
        schemas: [USER],
        userName: 'Ada@acme.test',
        externalId: 'sub-of-ada',
        active: true,
        name: { givenName: 'Ada', familyName: 'Example', formatted: 'Ada Example' },
        emails: [{ value: 'ada@acme.test', primary: true }],
        meta: { resourceType: 'User', location: expect.stringContaining('/scim/v2/Users/') },
      },
    })
    expect(await member('ada@acme.test')).toMatchObject({ user_id: made.body.id, role: 'viewer' })
    await makeUser('bob')
    const found = async (query: string): Promise<string[]> =>
      (await scim('GET', `/Users?${query}`)).body.Resources.map(({ userName }) => userName)
    expect(await found(`filter=${encodeURIComponent('userName eq "ada@ACME.test"')}`)).toEqual([
      'Ada@acme.test',
    ])
    expect(await found(`filter=${encodeURIComponent('externalId EQ "bob"')}`)).toEqual(['bob@acme.test'])
    expect(await found(`filter=${encodeURIComponent('userName eq "no \\"body\\""')}`)).toEqual([])
    // Members that were there before are users too, so that the provider finds them instead of making others.
    expect(await found('startIndex=1&count=1')).toEqual(['admin@localhost'])
    const page = await scim('GET', '/Users?startIndex=2&count=1')
    expect(page.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 })
    expect(await found('startIndex=99999999999999999999999999')).toEqual([])
    expect((await scim('GET', '/Users?count=0')).body).toMatchObject({ totalResults: 3, Resources: [] })
    expect(await scim('GET', `/Users?filter=${encodeURIComponent('title pr')}`)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter', status: '400' },
    })
    expect(await scim('POST', '/Users', newUser('ada', 'another'))).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
    expect((await scim('GET', '/Users/none')).status).toBe(404)
  })

  it('sign in by externalId, without a verified address and with sign-up off', async () => {
    await start({ default_role: 'viewer' })
    expect((await signIn('eve')).search).toBe('?error=sign_up_off')
    const id = await makeUser('ada')
    expect(await signIn('ada')).toMatchObject({ status: 200, body: { user: { id }, role: 'viewer' } })
  })

  it.each<[string, object]>([
    ['Okta, without a path', { op: 'replace', value: { active: false } }],
    ['Entra, with text and capitals', { op: 'Replace', path: 'active', value: 'False' }],
    ['Entra of old', { op: 'Add', path: 'active', value: [{ $ref: null, value: 'False' }] }],
  ])('that %s makes inactive lose sessions and tokens at once, and keep the record', async (_who, off) => {
    await start({ default_role: 'viewer' })
    const id = await makeUser('ada')
    const { browser } = await signIn('ada')
    const made = await world.fixture.postJson('/orgs/current/personal-access-tokens', {
      description: 't',
      user_id: id,
    })
    const { key } = (await made.json()) as { key: string }
    const withKey = async (): Promise<number> =>
      (await world.fixture.request('/sessions', { headers: { 'x-api-key': key } })).status
    expect(await withKey()).toBe(200)
    expect(await patch(`/Users/${id}`, off)).toMatchObject({ status: 200, body: { active: false } })
    expect([(await world.session(browser)).status, await withKey()]).toEqual([401, 401])
    expect((await signIn('ada')).search).toBe('?error=no_role')
    expect((await scim('GET', `/Users/${id}`)).body.active).toBe(false)
    expect(await member('ada@acme.test')).toBeDefined()
    const [suspended] = await world.audit('member.suspend')
    expect(suspended).toMatchObject({ actor: { short_key: 'SCIM' }, details: { reason: 'scim' } })
    // A PUT sets it again; what was ended stays ended.
    expect(await scim('PUT', `/Users/${id}`, newUser('ada'))).toMatchObject({ body: { active: true } })
    expect((await signIn('ada')).status).toBe(200)
    expect(await withKey()).toBe(401)
  })

  it('are renamed, and removed by DELETE', async () => {
    await start({ default_role: 'viewer' })
    const id = await makeUser('ada')
    const changed = await patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'Ada@new.test' },
      {
        op: 'replace',
        value: { 'name.familyName': 'Lovelace', userName: 'ada@new.test', title: 'Countess' },
      },
      { op: 'Add', path: `${USER}:externalId`, value: 'other-sub' },
    )
    expect(changed).toMatchObject({
      status: 200,
      body: { userName: 'ada@new.test', displayName: 'ada Lovelace', emails: [{ value: 'ada@new.test' }] },
    })
    expect((await signIn('ada')).search).toBe('?error=sign_up_off')
    expect((await signIn('other-sub')).status).toBe(200)
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(404)
    expect(await member('ada@new.test')).toBeUndefined()
    expect((await signIn('other-sub')).search).toBe('?error=sign_up_off')
    expect((await scim('POST', '/Users', newUser('ada'))).status).toBe(201)
  })

  it('IDENTITY-11: the last admin is neither made inactive nor removed', async () => {
    await start()
    const [first] = (await scim('GET', '/Users')).body.Resources
    expect(await patch(`/Users/${first?.id}`, { op: 'replace', value: { active: false } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('at least one admin') },
    })
    expect((await scim('DELETE', `/Users/${first?.id}`)).status).toBe(409)
  })
})

describe('TEAM-10: groups of SCIM', () => {
  const group_roles = 'staff=viewer,ml=operator@Default,root=admin'

  it('give the roles of OAUTH_GROUP_ROLES, also at the next sign-in', async () => {
    await start({ group_roles })
    const id = await makeUser('ada')
    // Without a group there is no access.
    expect((await signIn('ada')).search).toBe('?error=no_role')
    const staff = await makeGroup('staff', [id])
    expect(await signIn('ada')).toMatchObject({ status: 200, body: { role: 'viewer', all_workspaces: true } })
    const ml = await makeGroup('ml')
    await patch(`/Groups/${ml}`, { op: 'Add', path: 'members', value: [{ value: id }, { value: 'unknown' }] })
    expect(await member('ada@acme.test')).toMatchObject({
      role: 'operator',
      workspace_ids: [expect.any(String)],
    })
    expect((await scim('GET', `/Users/${id}`)).body.groups.map(({ display }) => display)).toEqual([
      'ml',
      'staff',
    ])
    const { browser } = await signIn('ada')
    expect(await world.session(browser)).toMatchObject({ body: { role: 'operator' } })
    await patch(`/Groups/${ml}`, { op: 'remove', path: `members[value eq "${id}"]` })
    expect(await member('ada@acme.test')).toMatchObject({ role: 'viewer', workspace_ids: null })
    await scim('DELETE', `/Groups/${staff}`)
    expect((await world.session(browser)).status).toBe(401)
    await patch(`/Groups/${ml}`, { op: 'replace', value: { displayName: 'staff' } })
    await patch(`/Groups/${ml}`, { op: 'replace', path: 'members', value: [{ value: id }] })
    expect((await signIn('ada')).body).toMatchObject({ role: 'viewer' })
  })

  it('are found by name, without members where they are excluded, and take what Entra and Okta send', async () => {
    await start({ group_roles })
    const [ada, bob] = [await makeUser('ada'), await makeUser('bob')]
    const id = await makeGroup('staff', [ada])
    const filter = encodeURIComponent('displayName eq "Staff"')
    const [found] = (await scim('GET', `/Groups?excludedAttributes=members&filter=${filter}`)).body.Resources
    expect([found?.id, found?.members]).toEqual([id, undefined])
    const members = async (): Promise<string[]> =>
      (await scim('GET', `/Groups/${id}`)).body.members.map(({ value }) => value).toSorted()
    await patch(`/Groups/${id}`, { op: 'Add', path: 'members', value: [{ value: bob }] })
    expect(await members()).toEqual([ada, bob].toSorted())
    await patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [{ value: ada }] })
    expect(await members()).toEqual([bob])
    await scim('PUT', `/Groups/${id}`, { displayName: 'staff', members: [{ value: ada }] })
    expect(await members()).toEqual([ada])
    await patch(`/Groups/${id}`, { op: 'remove', path: 'members' })
    expect(await members()).toEqual([])
    expect(await scim('POST', '/Groups', { displayName: 'STAFF' })).toMatchObject({
      status: 409,
      body: { scimType: 'uniqueness' },
    })
    expect((await world.audit('scim_group')).map(({ action }) => action)).toContain('scim_group.create')
  })

  it('leave roles that people gave by hand, unless a group gives others', async () => {
    await start({ group_roles })
    const added = await world.fixture.postJson('/orgs/current/members', {
      email: 'eve@acme.test',
      role: 'user',
    })
    const { user_id } = (await added.json()) as { user_id: string }
    const other = await makeGroup('other', [user_id])
    await scim('DELETE', `/Groups/${other}`)
    expect(await member('eve@acme.test')).toMatchObject({ role: 'user' })
    await makeGroup('root', [user_id])
    expect(await member('eve@acme.test')).toMatchObject({ role: 'admin' })
  })
})

describe('TEAM-10: the tokens of SCIM', () => {
  it('open SCIM only, and end when they are deleted', async () => {
    await start()
    expect((await scim('GET', '/Users', undefined, `${token}x`)).status).toBe(401)
    const withKey = await world.fixture.request('/scim/v2/Users')
    expect(withKey.status).toBe(401)
    const elsewhere = await fetch(`${world.url}/api/v1/workspaces`, { headers: { 'x-api-key': token } })
    expect(elsewhere.status).toBe(401)
    const list = (await (await world.fixture.request('/orgs/current/scim-tokens')).json()) as { id: string }[]
    expect(list).toMatchObject([{ provider: 'custom-oidc', expires_at: null }])
    expect(JSON.stringify(list)).not.toContain(token)
    const gone = await world.fixture.request(`/orgs/current/scim-tokens/${list[0]?.id}`, { method: 'DELETE' })
    expect(gone.status).toBe(204)
    expect((await scim('GET', '/Users')).status).toBe(401)
    expect((await world.audit('scim_token')).map(({ action }) => action)).toEqual([
      'scim_token.delete',
      'scim_token.create',
    ])
    expect(JSON.stringify(await world.audit('scim_token'))).not.toContain(token)
  })

  it('say what this server can do', async () => {
    await start()
    expect((await scim('GET', '/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      filter: { supported: true, maxResults: 200 },
    })
    for (const path of ['/Schemas', '/ResourceTypes'])
      expect((await scim('GET', path)).body).toMatchObject({ totalResults: 2 })
  })

  it('get a clear error for what cannot be read', async () => {
    await start()
    const wrong: [string, string, object | undefined][] = [
      ['POST', '/Users', {}],
      ['POST', '/Users', { userName: 1 }],
      ['POST', '/Users', { userName: 'x'.repeat(400) }],
      ['POST', '/Users', undefined],
      ['POST', '/Groups', { displayName: 'g', members: [1] }],
    ]
    for (const [method, path, body] of wrong)
      expect(await scim(method, path, body)).toMatchObject({ status: 400, body: { status: '400' } })
    const id = await makeUser('ada')
    for (const operation of [
      { op: 'move' },
      { op: 'replace' },
      { op: 'replace', path: 'active', value: 'perhaps' },
    ])
      expect((await patch(`/Users/${id}`, operation)).status).toBe(400)
    expect((await scim('PATCH', `/Users/${id}`, {})).status).toBe(400)
  })
})
