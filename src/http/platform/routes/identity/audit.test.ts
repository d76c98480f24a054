import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AppFixture,
  startApp,
  ORGANIZATION,
  WORKSPACE,
} from '../../../../../test/support/servers/app-fixture.ts'
import { NOW } from '../../../../../test/support/faults/test-clock.ts'
import { NIL_UUID } from '../../../../base/ids.ts'
import { forgetAudit } from '../../../../storage/sql/identity/audit-log.ts'

const PATH = '/api/v1/orgs/current/audit-logs/export'
const MANY = 1203

describe('TEAM-15: the export of the audit', () => {
  let fixture: AppFixture
  beforeAll(async () => {
    fixture = await startApp()
    for (let i = 0; i < MANY; i++) await record(i)
  })
  afterAll(() => fixture.stop())

  const record = (i: number): Promise<void> =>
    fixture.deps.identity.recordChange(
      { organization_id: ORGANIZATION, action: 'test', subject_id: NIL_UUID, details: { i, text: '=1+1' } },
      { api_key_id: NIL_UUID, short_key: 's', user_id: null, at: NOW + i },
    )

  it('has every record once, oldest first, with that of the export itself', async () => {
    const answer = await fixture.request(PATH)
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await answer.text()).trimEnd().split('\n')
    const read = lines.map((line) => JSON.parse(line) as { action: string; details: { i: number } })
    expect(read.slice(0, MANY).map(({ details }) => details.i)).toEqual(
      Array.from({ length: MANY }, (_, i) => i),
    )
    expect(read.slice(MANY)).toMatchObject([{ action: 'audit.export', details: { format: 'ndjson' } }])
  })

  it('is CSV without formulas, for a range of times', async () => {
    const [start, end] = [NOW + 10, NOW + 12].map((time) => new Date(time).toISOString())
    const answer = await fixture.request(`${PATH}?format=csv&start_time=${start}&end_time=${end}`)
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [head, ...lines] = (await answer.text()).trimEnd().split('\r\n')
    expect(head).toBe('Time,Id,Action,Subject Id,API Key Id,Short Key,User Id,Details')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('"{""i"":10,""text"":""=1+1""}"')
    expect((await fixture.request(`${PATH}?format=xml`)).status).toBe(422)
  })

  it('forgets what is older than the retention, but never the newest record', async () => {
    expect(await forgetAudit(fixture.database, NOW + 1000)).toBeGreaterThanOrEqual(1000)
    const left = (await (await fixture.request(PATH)).text()).split('\n')[0]
    expect(JSON.parse(left!)).toMatchObject({ details: { i: 1000 } })
    await forgetAudit(fixture.database, NOW * 2)
    const [newest, ...more] = await fixture.deps.identity.audit(ORGANIZATION, { limit: 10 })
    expect([newest?.action, more]).toEqual(['audit.export', []])
  })
})

describe('TEAM-15: the audit as events of OCSF', () => {
  interface Page {
    items: { api: { operation: string }; status: string; src_endpoint: { ip: string } }[]
    cursor: string | null
  }
  let fixture: AppFixture
  beforeAll(async () => {
    fixture = await startApp()
    await fixture.postJson('/workspaces', { display_name: 'other' })
    await fixture.postJson('/orgs/current/service-keys', { description: 'k' })
    await fixture.postJson('/auth/session', { key: 'not_a_key_of_this_server' })
  })
  afterAll(() => fixture.stop())
  const read = async (query = ''): Promise<Page> => {
    const times = 'start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z'
    return (await (await fixture.request(`/audit-logs?${times}${query}`)).json()) as Page
  }

  it('has the operations and outcomes of LangSmith, newest first, in pages', async () => {
    const { items, cursor } = await read()
    expect(items.map(({ api, status }) => `${api.operation} ${status}`)).toEqual([
      'login Failure',
      'create_service_key Success',
      'create_workspace Success',
    ])
    expect(cursor).toBeNull()
    expect(items[0]).toMatchObject({
      class_uid: 6003,
      category_uid: 6,
      type_uid: 600301,
      activity_name: 'Create',
      actor: { user: { uid: null, credential_uid: null } },
      src_endpoint: { ip: expect.stringMatching(/127\.0\.0\.1$/) },
      unmapped: { original_audit_log: { operation_succeeded: false } },
    })
    const first = await read('&limit=2')
    const second = await read(`&limit=2&cursor=${first.cursor}`)
    expect([...first.items, ...second.items]).toEqual(items)
    expect(second.cursor).toBeNull()
  })

  it('is read by operation, under its name or Weir’s, and needs both times', async () => {
    const operations = async (query: string) => (await read(query)).items.map(({ api }) => api.operation)
    expect(await operations('&operations=create_service_key&operations=create_workspace')).toEqual([
      'create_service_key',
      'create_workspace',
    ])
    expect(await operations('&operations=create_personal_access_token')).toEqual([])
    expect(await operations('&operations=key.create')).toEqual(['create_service_key'])
    expect((await fixture.request('/audit-logs?start_time=2020-01-01T00:00:00Z')).status).toBe(422)
  })
})

it('TEAM-14: changes of monthly limits are recorded, with what was before', async () => {
  const fixture = await startApp()
  const json = { 'content-type': 'application/json' }
  const put = async (limit_value: number): Promise<string> => {
    const body = JSON.stringify({ workspace_id: WORKSPACE, limit_value })
    const answer = await fixture.request('/usage-limits', { method: 'PUT', headers: json, body })
    return ((await answer.json()) as { id: string }).id
  }
  await put(5)
  await put(5)
  const id = await put(7)
  await fixture.request(`/usage-limits/${id}`, { method: 'DELETE' })
  const entries = await fixture.deps.identity.audit(ORGANIZATION, { limit: 9, action: 'workspace.limits' })
  const limit = (traces_per_month: number) => ({ traces_per_month, mode: 'hard' })
  expect(entries.map(({ subject_id, details }) => [subject_id, details])).toEqual([
    [WORKSPACE, { from: limit(7), to: null }],
    [WORKSPACE, { from: limit(5), to: limit(7) }],
    [WORKSPACE, { from: null, to: limit(5) }],
  ])
  await fixture.stop()
})

it('TEAM-14: clients of OAuth that register themselves are recorded, without the paths of their addresses', async () => {
  const fixture = await startApp()
  const body = {
    client_name: 'An agent',
    redirect_uris: ['http://127.0.0.1/back?secret=1', 'https://a.example/b'],
  }
  const headers = { 'content-type': 'application/json' }
  const register = () =>
    fixture.request('/oauth/register', { method: 'POST', headers, body: JSON.stringify(body) })
  const { client_id } = (await (await register()).json()) as { client_id: string }
  const entries = await fixture.deps.identity.audit(ORGANIZATION, { limit: 9, action: 'oauth_client.create' })
  expect(entries).toMatchObject([
    {
      subject_id: client_id,
      actor_user_id: null,
      actor_short_key: '',
      details: {
        name: 'An agent',
        redirect_origins: ['http://127.0.0.1', 'https://a.example'],
        address: expect.stringContaining('127.0.0.1'),
      },
    },
  ])
  await fixture.stop()
})
