import { afterEach, describe, expect, it } from 'vitest'
import { type AppFixture, KEY, startApp, WORKSPACE } from '../../test/support/app-fixture.ts'

const OTHER = '99999999-9999-4999-8999-999999999999'
let fixture: AppFixture
afterEach(() => fixture.stop())

/** One representative of each way in: hot ingest, Express with and without a body, bytes. */
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
  it.each(KEYED)('%s %s needs one, in its own workspace', async (method, path) => {
    fixture = await startApp()
    expect(await call(method, path, {})).toEqual({
      status: 401,
      body: { detail: 'Invalid token', code: 'unauthorized', error: 'Invalid token' },
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

  it('takes an empty X-Tenant-Id for none', async () => {
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

  it('is not asked for when AUTH is off, and the workspace still has to be one of the organization', async () => {
    fixture = await startApp({ openAccess: true })
    expect(await call('GET', '/settings', {})).toMatchObject({ status: 200, body: { id: WORKSPACE } })
    expect(await call('GET', '/settings', { 'x-tenant-id': OTHER })).toMatchObject({ status: 403 })
    expect(await call('POST', '/runs', {})).toMatchObject({ status: 202 })
    expect(fixture.ingested[0]?.head.workspace_id).toBe(WORKSPACE)
    const made = await fixture.postJson('/orgs/current/service-keys', { description: 'k', role: 'admin' })
    expect(await made.json()).toMatchObject({ role: 'admin', default_workspace_id: WORKSPACE })
    const workspace = await fixture.postJson('/workspaces', { display_name: 'second' })
    const { id } = (await workspace.json()) as { id: string }
    expect(await call('GET', '/settings', { 'x-tenant-id': id })).toMatchObject({ status: 200, body: { id } })
  })
})
