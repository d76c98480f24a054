import { afterAll, describe, expect, it } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { nextMillisecond } from '../../support/eventually.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { type ApiAnswer, type CheckedApi, openCheckedApi } from '../../conformance/openapi/checked-api.ts'
import { useFolder } from '../../support/folder.ts'

type Workspace = SchemaTypes['workspace']
type Member = SchemaTypes['member']
type ApiKey = SchemaTypes['api-key']
type NewKey = SchemaTypes['api-key-created']

const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
const MEMBERS = '/orgs/current/members'
const MISSING = '99999999-9999-4999-8999-999999999999'

let dir: string
let weir: WeirProcess
let api: CheckedApi
let home: Workspace
let other: Workspace
useFolder(async (made) => {
  dir = made
  weir = await startWeir(dir)
  api = await openCheckedApi(weir.url)
  home = (await get<Workspace[]>('/workspaces'))[0] as Workspace
  await nextMillisecond()
  other = await post<Workspace>('/workspaces', { display_name: ' Other ' })
})
afterAll(async () => {
  await weir.stop()
})

async function get<T>(path: string, key = KEY): Promise<T> {
  const answer = await api({ key, path })
  expect(answer.status, answer.text).toBe(200)
  return answer.body as T
}

async function post<T>(path: string, body: unknown, key = KEY): Promise<T> {
  const answer = await api({ key, method: 'POST', path, body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body as T
}

const send = (method: string, path: string, body?: unknown, key = KEY): Promise<ApiAnswer> =>
  api({ key, method, path, ...(body !== undefined && { body }) })

const statusOf = async (method: string, path: string, body?: unknown, key = KEY): Promise<number> =>
  (await send(method, path, body, key)).status

const serviceKey = (fields: object = {}, key = KEY): Promise<NewKey> =>
  post(SERVICE, { description: 'k', ...fields }, key)

let members = 0
async function addMember(fields: Partial<Member> = {}): Promise<Member & { key: string }> {
  members += 1
  const member = await post<Member>(MEMBERS, { email: `m${members}@example.com`, role: 'user', ...fields })
  const token = await post<NewKey>(PERSONAL, {
    description: 'first',
    user_id: member.user_id,
    default_workspace_id: member.workspace_ids?.[0] ?? home.id,
  })
  return { ...member, key: token.key }
}

describe('workspaces', () => {
  it('are created, listed, renamed and deleted, at once for keys of all workspaces', async () => {
    expect(other).toEqual({
      id: other.id,
      organization_id: home.organization_id,
      display_name: 'Other',
      created_at: other.created_at,
    })
    const id = crypto.randomUUID()
    await nextMillisecond()
    const made = await post<Workspace>('/workspaces', { display_name: 'w', id: id.toUpperCase() })
    expect(made.id).toBe(id)
    expect(await statusOf('POST', '/workspaces', { display_name: 'w', id })).toBe(409)
    expect((await get<Workspace[]>('/workspaces')).map((workspace) => workspace.id)).toEqual([
      home.id,
      other.id,
      id,
    ])
    const renamed = await send('PATCH', `/workspaces/${id}`, { display_name: 'x' })
    expect(renamed.body).toEqual({ ...made, display_name: 'x' })
    const inside = { key: KEY, path: '/settings', headers: { 'x-tenant-id': id } }
    expect((await api(inside)).body).toMatchObject({ id, display_name: 'x' })
    expect(await send('DELETE', `/workspaces/${id}`)).toMatchObject({ status: 204, text: '' })
    expect((await api(inside)).status).toBe(403)
    expect(await statusOf('DELETE', `/workspaces/${id}`)).toBe(404)
    expect(await statusOf('PATCH', `/workspaces/${id}`, { display_name: 'y' })).toBe(404)
    const again = await send('POST', '/workspaces', { display_name: 'w', id })
    expect(again.status).toBe(409)
  })

  it.each([[{}], [{ display_name: '' }], [{ display_name: ' ' }], [{ display_name: 3 }], [[]], ['x']])(
    'refuse %j',
    async (body) => expect(await statusOf('POST', '/workspaces', body)).toBe(body === 'x' ? 400 : 422),
  )

  it('cannot be created by a key of some workspaces', async () => {
    const { key } = await serviceKey({ role: 'admin', workspaces: [home.id] })
    expect(await send('POST', '/workspaces', { display_name: 'mine' }, key)).toMatchObject({
      status: 403,
      body: { code: 'forbidden', error: 'Forbidden', detail: expect.stringContaining('all workspaces') },
    })
    expect(await get<Workspace[]>('/workspaces', key)).toEqual([home])
    expect(await statusOf('PATCH', `/workspaces/${other.id}`, { display_name: 'taken' }, key)).toBe(404)
    expect(await statusOf('DELETE', `/workspaces/${other.id}`, undefined, key)).toBe(404)
  })
})

describe('service keys', () => {
  it('IDENTITY-1, D-7: have the documented form, and are returned only once', async () => {
    const made = await serviceKey({
      description: ' CI ',
      role: 'operator',
      workspaces: [other.id.toUpperCase(), other.id],
      default_workspace_id: other.id,
      expires_at: '2099-01-01T00:00:00+01:00',
      read_only: true,
    })
    const { key, ...listed } = made
    expect(key).toMatch(/^lsv2_sk_[0-9a-f]{32}_[0-9a-f]{10}$/)
    expect(listed).toEqual({
      id: made.id,
      short_key: `lsv2...${key.slice(-4)}`,
      description: 'CI',
      user_id: null,
      role: 'operator',
      read_only: true,
      workspaces: [other.id],
      default_workspace_id: other.id,
      created_at: made.created_at,
      expires_at: '2098-12-31T23:00:00.000Z',
      last_used_at: null,
    })
    const found = await send('GET', SERVICE)
    expect(found.body).toContainEqual(listed)
    expect(found.text).not.toContain(key)
    expect(await get('/settings', key)).toMatchObject({ id: other.id })
    expect(await get<ApiKey[]>(SERVICE)).toContainEqual({ ...listed, last_used_at: expect.any(String) })
  })

  it('IDENTITY-2: work at once, and are refused once they are revoked', async () => {
    const { id, key } = await serviceKey()
    const own = { 'x-tenant-id': home.id }
    expect((await api({ key, path: '/sessions', headers: own })).status).toBe(200)
    expect(await statusOf('DELETE', `${PERSONAL}/${id}`)).toBe(404)
    expect(await statusOf('DELETE', `${SERVICE}/${id}`)).toBe(204)
    expect((await api({ key, path: '/sessions', headers: own })).status).toBe(401)
    expect(await statusOf('DELETE', `${SERVICE}/${id}`)).toBe(404)
  })

  it('IDENTITY-5: of several workspaces and no default need a workspace in the request', async () => {
    const { key } = await serviceKey()
    expect(await send('GET', '/sessions', undefined, key)).toMatchObject({
      status: 403,
      body: { error: 'org_scoped_key_requires_workspace', code: 'workspace_required' },
    })
    const inOther = { key, path: '/settings', headers: { 'x-tenant-id': other.id } }
    expect((await api(inOther)).body).toMatchObject({ id: other.id })
  })

  it.each<[string, () => object]>([
    ['no description', () => ({ description: '' })],
    ['no workspace', () => ({ workspaces: [] })],
    ['a workspace that is no id', () => ({ workspaces: ['home'] })],
    ['a role that is none', () => ({ role: 'root' })],
    ['a time that is past', () => ({ expires_at: '2020-01-01T00:00:00Z' })],
    ['a time that is none', () => ({ expires_at: 'soon' })],
    ['a default that it does not serve', () => ({ workspaces: [home.id], default_workspace_id: other.id })],
    ['a description that is too long', () => ({ description: 'x'.repeat(256) })],
  ])('are refused with %s', async (_, fields) => {
    expect(await statusOf('POST', SERVICE, { description: 'k', ...fields() })).toBe(422)
  })

  it('IDENTITY-4, IDENTITY-8: have no more rights than the key that creates them', async () => {
    const { key } = await serviceKey({ role: 'admin', workspaces: [home.id] })
    const create = (fields: object) => send('POST', SERVICE, { description: 'k', ...fields }, key)
    const foreign = await create({ workspaces: [home.id, other.id] })
    const missing = await create({ workspaces: [home.id, MISSING] })
    expect([foreign.status, foreign.text]).toEqual([403, missing.text])
    expect((await create({ default_workspace_id: other.id })).status).toBe(403)
    expect((await create({ role: 'admin' })).body).toMatchObject({ role: 'admin', workspaces: [home.id] })
    const reader = await serviceKey({ role: 'admin', read_only: true, default_workspace_id: home.id })
    expect(await statusOf('POST', SERVICE, { description: 'k' }, reader.key)).toBe(403)
  })

  it('IDENTITY-9: of other workspaces are neither visible nor revocable', async () => {
    const { key } = await serviceKey({ role: 'admin', workspaces: [home.id] })
    const theirs = await serviceKey({ description: 'theirs', workspaces: [other.id] })
    const both = await serviceKey({ workspaces: [home.id, other.id], default_workspace_id: other.id })
    const listed = await send('GET', SERVICE, undefined, key)
    expect(listed.text).not.toContain(other.id)
    expect(listed.text).not.toContain('theirs')
    expect(listed.body).toContainEqual(
      expect.objectContaining({ id: both.id, workspaces: [home.id], default_workspace_id: null }),
    )
    expect(await statusOf('DELETE', `${SERVICE}/${theirs.id}`, undefined, key)).toBe(404)
    expect(await statusOf('DELETE', `${SERVICE}/${both.id}`, undefined, key)).toBe(403)
    expect(await get('/settings', theirs.key)).toMatchObject({ id: other.id })
  })
})

describe('members', () => {
  it('are added, listed, changed and removed', async () => {
    const body = { email: 'Ada@Example.com', full_name: ' Ada ', role: 'viewer', workspace_ids: [home.id] }
    const added = await post<Member>(MEMBERS, body)
    expect(added).toEqual({ ...body, email: 'ada@example.com', full_name: 'Ada', user_id: added.user_id })
    expect(await statusOf('POST', MEMBERS, body)).toBe(409)
    expect(await get<Member[]>(MEMBERS)).toContainEqual(added)
    const path = `${MEMBERS}/${added.user_id}`
    const change = { email: 'ADA@example.com', role: 'operator', workspace_ids: null, full_name: null }
    expect((await send('PATCH', path, change)).body).toEqual({
      ...added,
      role: 'operator',
      workspace_ids: null,
      full_name: null,
    })
    expect((await send('PATCH', path, {})).body).toMatchObject({ role: 'operator' })
    expect(await statusOf('PATCH', path, { email: 'b@example.com' })).toBe(422)
    expect(await statusOf('DELETE', path)).toBe(204)
    expect(await statusOf('DELETE', path)).toBe(404)
    expect(await statusOf('PATCH', path, {})).toBe(404)
  })

  it.each([
    [{ role: 'user' }],
    [{ email: 'x@y.z' }],
    [{ email: 'x', role: 'user' }],
    [{ email: 'x@y.z', role: 'owner' }],
    [{ email: 'x@y.z', role: 'user', workspace_ids: ['x'] }],
  ])('are not added from %j', async (body) => expect(await statusOf('POST', MEMBERS, body)).toBe(422))

  it('IDENTITY-3: affect their keys: changes of role and workspaces apply at once', async () => {
    const { user_id, key } = await addMember({ role: 'operator' })
    const path = `${MEMBERS}/${user_id}`
    expect(await statusOf('POST', '/sessions', { name: 'a' }, key)).toBe(200)
    expect(await statusOf('GET', '/orgs/current', undefined, key)).toBe(200)
    await send('PATCH', path, { role: 'user' })
    expect(await statusOf('GET', '/orgs/current', undefined, key)).toBe(403)
    await send('PATCH', path, { role: 'viewer' })
    expect(await statusOf('POST', '/sessions', { name: 'b' }, key)).toBe(403)
    await send('PATCH', path, { workspace_ids: [other.id] })
    expect(await get('/settings', key)).toMatchObject({ id: other.id })
    await send('PATCH', path, { workspace_ids: [] })
    expect(await statusOf('GET', '/settings', undefined, key)).toBe(403)
    await send('DELETE', path)
    expect(await statusOf('GET', '/settings', undefined, key)).toBe(401)
  })

  it('cannot be managed with a lower role, or from other workspaces', async () => {
    const admin = await addMember({ role: 'admin', workspace_ids: [home.id] })
    const elsewhere = await addMember({ workspace_ids: [other.id] })
    const inBoth = await addMember({ workspace_ids: [home.id, other.id] })
    const listed = await send('GET', MEMBERS, undefined, admin.key)
    expect(listed.text).not.toContain(elsewhere.email)
    expect(listed.body).toContainEqual(
      expect.objectContaining({ user_id: inBoth.user_id, workspace_ids: [home.id] }),
    )
    const patch = (user_id: string, body: object) =>
      statusOf('PATCH', `${MEMBERS}/${user_id}`, body, admin.key)
    expect(await patch(elsewhere.user_id, { role: 'viewer' })).toBe(404)
    expect(await patch(inBoth.user_id, { role: 'viewer' })).toBe(403)
    expect(await patch(admin.user_id, { workspace_ids: [other.id] })).toBe(403)
    const own = await send('PATCH', `${MEMBERS}/${admin.user_id}`, { workspace_ids: null }, admin.key)
    expect(own.body).toMatchObject({ workspace_ids: [home.id] })
    const body = { email: 'new@example.com', role: 'admin' }
    expect(await post(MEMBERS, body, admin.key)).toMatchObject({ workspace_ids: [home.id] })
    const beyond = { email: 'new2@example.com', role: 'viewer', workspace_ids: [other.id] }
    expect(await statusOf('POST', MEMBERS, beyond, admin.key)).toBe(403)
  })

  it('IDENTITY-11: always include one admin', async () => {
    const everyone = await get<Member[]>(MEMBERS)
    const others = everyone.filter(({ role, email }) => role === 'admin' && email !== 'admin@localhost')
    for (const { user_id } of others) await send('PATCH', `${MEMBERS}/${user_id}`, { role: 'user' })
    const last = everyone.find(({ email }) => email === 'admin@localhost')
    expect(await statusOf('PATCH', `${MEMBERS}/${last?.user_id}`, { role: 'user' })).toBe(409)
    expect(await statusOf('PATCH', `${MEMBERS}/${last?.user_id}`, { workspace_ids: [] })).toBe(409)
    expect(await statusOf('DELETE', `${MEMBERS}/${last?.user_id}`)).toBe(409)
    expect(await statusOf('GET', '/orgs/current')).toBe(200)
  })
})

describe('personal access tokens', () => {
  it('IDENTITY-10: are created and revoked by their users, and not visible to others', async () => {
    const [ada, bob] = [await addMember({ workspace_ids: [home.id] }), await addMember({ role: 'viewer' })]
    await nextMillisecond()
    const made = await post<NewKey>(PERSONAL, { description: 'laptop' }, ada.key)
    expect(made.key).toMatch(/^lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}$/)
    expect(made).toMatchObject({ user_id: ada.user_id, role: 'user', workspaces: [home.id] })
    const own = await get<ApiKey[]>(PERSONAL, ada.key)
    expect(own.map(({ description }) => description)).toEqual(['laptop', 'first'])
    expect(await get<ApiKey[]>(PERSONAL, bob.key)).toHaveLength(1)
    expect(await statusOf('GET', `${PERSONAL}?user_id=${ada.user_id}`, undefined, bob.key)).toBe(403)
    expect(await statusOf('DELETE', `${PERSONAL}/${made.id}`, undefined, bob.key)).toBe(404)
    expect(await statusOf('DELETE', `${SERVICE}/${made.id}`)).toBe(404)
    expect(await get<ApiKey[]>(`${PERSONAL}?user_id=${ada.user_id}`)).toHaveLength(2)
    expect(await statusOf('DELETE', `${PERSONAL}/${made.id}`, undefined, ada.key)).toBe(204)
    expect(await statusOf('GET', '/settings', undefined, made.key)).toBe(401)
    expect(await statusOf('DELETE', `${PERSONAL}/${bob.user_id}`)).toBe(404)
  })

  it.each(['admin', 'operator', 'user', 'viewer'] as const)(
    'of a member who is %s have no higher role',
    async (role) => {
      const ranks = ['admin', 'operator', 'user', 'viewer']
      const { key } = await addMember({ role })
      for (const wanted of ranks) {
        const status = await statusOf('POST', PERSONAL, { description: 'k', role: wanted }, key)
        expect([wanted, status]).toEqual([wanted, ranks.indexOf(wanted) < ranks.indexOf(role) ? 403 : 200])
      }
    },
  )

  it('cannot be created by a more limited token', async () => {
    const { user_id, key } = await addMember({ role: 'operator' })
    const make = (fields: object, by = key) =>
      send('POST', PERSONAL, { description: 'k', default_workspace_id: home.id, ...fields }, by)
    const limited = (await make({ role: 'viewer', workspaces: [home.id] })).body as NewKey
    const reading = (await make({ read_only: true })).body as NewKey
    expect((await make({}, limited.key)).body).toMatchObject({
      role: 'viewer',
      workspaces: [home.id],
      user_id,
    })
    expect((await make({ role: 'user' }, limited.key)).status).toBe(403)
    expect((await make({ workspaces: [other.id] }, limited.key)).status).toBe(403)
    expect((await make({ read_only: true }, reading.key)).status).toBe(403)
    expect(await statusOf('DELETE', `${PERSONAL}/${limited.id}`, undefined, reading.key)).toBe(403)
    const first = (await get<ApiKey[]>(PERSONAL, key)).find(({ description }) => description === 'first')
    expect(await statusOf('DELETE', `${PERSONAL}/${first?.id}`, undefined, limited.key)).toBe(403)
  })

  it('are created by an admin for a member, limited to the rights of the member', async () => {
    const { user_id } = await addMember({ role: 'user', workspace_ids: [home.id] })
    const issue = (fields: object, key = KEY) =>
      send('POST', PERSONAL, { description: 'k', user_id, ...fields }, key)
    expect((await issue({})).body).toMatchObject({ user_id, role: 'user', workspaces: null })
    expect((await issue({ role: 'operator' })).status).toBe(403)
    expect((await issue({ workspaces: [other.id] })).status).toBe(422)
    expect((await issue({ default_workspace_id: other.id })).status).toBe(422)
    expect((await issue({ user_id: MISSING })).status).toBe(422)
    const service = await serviceKey({ role: 'admin', default_workspace_id: home.id })
    expect((await issue({}, service.key)).status).toBe(200)
    expect((await issue({ user_id: null }, service.key)).status).toBe(422)
    expect(await get(PERSONAL, service.key)).toEqual([])
  })
})

describe('roles and the audit', () => {
  it('are listed', async () => {
    const roles = await get<SchemaTypes['role-list']>('/orgs/current/roles')
    expect(roles.map(({ name }) => name)).toEqual(['admin', 'operator', 'user', 'viewer'])
    const user = roles.find(({ name }) => name === 'user')?.permissions
    expect(user).toContain('runs:create')
    expect(user).not.toContain('organization:read')
    expect(await get('/orgs/current')).toEqual({
      id: home.organization_id,
      display_name: 'Default organization',
      plan: 'enterprise',
    })
  })

  it('IDENTITY-12: have an entry for every change, with its author and never a key', async () => {
    const { id, key, short_key } = await serviceKey({ description: 'audited' })
    await send('DELETE', `${SERVICE}/${id}`)
    const page = await send('GET', '/orgs/current/audit-logs?limit=2')
    const { audit_logs, cursors } = page.body as SchemaTypes['audit-log-page']
    const actor = { short_key: `${KEY.slice(0, 4)}...${KEY.slice(-4)}`, user_id: expect.any(String) }
    expect(audit_logs).toMatchObject([
      { action: 'key.delete', subject_id: id, details: { short_key }, actor },
      { action: 'key.create', subject_id: id, details: { description: 'audited', role: 'user' }, actor },
    ])
    expect(page.text).not.toContain(key)
    const seen = new Set(audit_logs.map((entry) => entry.id))
    for (let cursor = cursors.next; cursor !== null; ) {
      const path = `/orgs/current/audit-logs?limit=100&cursor=${cursor}`
      const next = await get<SchemaTypes['audit-log-page']>(path)
      for (const entry of next.audit_logs) {
        expect(seen.has(entry.id)).toBe(false)
        seen.add(entry.id)
      }
      cursor = next.cursors.next
    }
    expect(seen.size).toBeGreaterThan(20)
    expect(
      (await get<SchemaTypes['audit-log-page']>(`/orgs/current/audit-logs?cursor=${MISSING}`)).audit_logs,
    ).toEqual([])
    const limited = await serviceKey({ role: 'admin', workspaces: [home.id] })
    expect(await statusOf('GET', '/orgs/current/audit-logs', undefined, limited.key)).toBe(403)
  })
})
