import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'

const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
const MEMBERS = '/orgs/current/members'
const MISSING = '99999999-9999-4999-8999-999999999999'

let fixture: AppFixture
beforeEach(async () => void (fixture = await startApp()))
afterEach(() => fixture.stop())

interface Answer {
  status: number
  body: Record<string, unknown>
}

async function send(
  method: string,
  path: string,
  init: { body?: object; key?: unknown; tenant?: string } = {},
) {
  const { body, key, tenant } = init
  const headers = {
    'content-type': 'application/json',
    ...(typeof key === 'string' && { 'x-api-key': key }),
    ...(tenant !== undefined && { 'x-tenant-id': tenant }),
  }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fixture.request(path, { method, headers, ...sent })
  return { status: answer.status, body: await answer.json() } as Answer
}

describe('a key without a default workspace', () => {
  it('IDENTITY-5: need not name a workspace on routes about the organization', async () => {
    const { body: second } = await send('POST', '/workspaces', { body: { display_name: 'second' } })
    const { body: made } = await send('POST', SERVICE, { body: { description: 'k', role: 'admin' } })
    const { id, key } = made
    expect(made).toMatchObject({ workspaces: null, default_workspace_id: null })
    const paths = [
      '/orgs/current',
      '/workspaces',
      '/metrics',
      '/ingest/health',
      '/usage-limits',
      '/orgs/current/audit-logs',
      MEMBERS,
      SERVICE,
    ]
    for (const path of paths) {
      // The headers that Prometheus sends.
      const headers = { authorization: `Bearer ${String(key)}` }
      expect([path, (await fetch(fixture.url + path, { headers })).status]).toEqual([path, 200])
    }
    const refused = { status: 403, body: { code: 'workspace_required' } }
    expect(await send('GET', '/settings', { key })).toMatchObject(refused)
    expect(await send('GET', '/orgs/current', { key, tenant: MISSING })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
    // TRC-1: agents are told the workspaces.
    const call = { name: 'list_projects', arguments: {} }
    const asked = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    const told = JSON.stringify(await send('POST', '/mcp', { key, body: asked }))
    expect(told).toContain('isError')
    for (const id of [WORKSPACE, String(second['id'])]) expect(told).toContain(id)
    const chosen = await send('POST', '/mcp', { key, body: asked, tenant: WORKSPACE })
    expect(JSON.stringify(chosen)).not.toContain('isError')
    const limit = (fields: object, tenant?: string) =>
      send('PUT', '/usage-limits', {
        key,
        body: { limit_value: 9, ...fields },
        ...(tenant !== undefined && { tenant }),
      })
    expect(await limit({})).toMatchObject(refused)
    expect(await limit({}, WORKSPACE)).toMatchObject({ status: 200, body: { workspace_id: WORKSPACE } })
    expect(await limit({ api_key_id: id })).toMatchObject({ status: 200, body: { api_key_id: id } })
    const named = { workspace_id: second['id'] }
    expect(await limit(named)).toMatchObject({ status: 200, body: named })
  })
})

describe('a key that expires', () => {
  it('IDENTITY-8: makes no key that never expires with a set-up, and keeps those that exist', async () => {
    const ours = { description: 'k', role: 'admin', expires_at: '2099-01-01T00:00:00.000Z' }
    const { key } = (await send('POST', SERVICE, { body: ours })).body
    const item = { name: 'ci', role: 'user', key: { env: 'CI' } }
    const body = { document: { version: 1, service_keys: [item] }, keys: { ci: 'ci_key_0123456789' } }
    const refused = await send('POST', '/setup', { key, body })
    expect([refused.status, refused.body['detail']]).toEqual([
      403,
      expect.stringContaining('longer than yours'),
    ])
    expect((await send('POST', '/setup', { body })).status).toBe(200)
    expect((await send('POST', '/setup', { key, body })).status).toBe(200)
  })

  it('IDENTITY-8: cannot create one that expires later, for any user', async () => {
    const [earlier, ours, later] = ['2098-01-01', '2099-01-01', '2099-01-02'].map(
      (day) => `${day}T00:00:00.000Z`,
    )
    const admin = { description: 'k', role: 'admin', expires_at: ours }
    const { key } = (await send('POST', SERVICE, { body: admin })).body
    const { user_id } = (await send('POST', MEMBERS, { body: { email: 'a@b.c', role: 'user' } })).body
    const kinds: [path: string, fields: object][] = [
      [SERVICE, {}],
      [PERSONAL, { user_id }],
    ]
    for (const [path, fields] of kinds) {
      const make = (expiry: object) =>
        send('POST', path, { key, body: { description: 'k', ...fields, ...expiry } })
      expect((await make({})).body).toMatchObject({ expires_at: ours })
      expect((await make({ expires_at: ours })).body).toMatchObject({ expires_at: ours })
      expect((await make({ expires_at: earlier })).body).toMatchObject({ expires_at: earlier })
      for (const expires_at of [later, null])
        expect(await make({ expires_at })).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    expect((await send('POST', SERVICE, { body: { description: 'k' } })).body).toMatchObject({
      expires_at: null,
    })
  })
})
