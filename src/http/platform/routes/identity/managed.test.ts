import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppFixture, startApp } from '../../../../../test/support/servers/app-fixture.ts'

const DOCUMENT = `version: 1
workspaces: [{name: ml, limits: {traces_per_month: 5}}, {name: free}]
members: [{email: ada@acme.test, role: admin}]
service_keys: [{name: ci, role: user, key: {env: CI}}]
prices: [{name: m, match: ^m$, prompt_per_million: 1, completion_per_million: 1, workspaces: [Default]}]
feedback: [{key: quality, type: freeform, workspaces: [Default]}]`

interface Named {
  id: string
  user_id: string
  display_name: string
  description: string
  email: string
  name: string
  feedback_key: string
  managed?: true
}

describe('TEAM-12: what a set-up file manages', () => {
  let fixture: AppFixture
  beforeAll(async () => {
    fixture = await startApp()
    await apply(DOCUMENT)
  })
  afterAll(() => fixture.stop())

  const apply = async (document: string, ci = 'a_key_of_ci_0123456789'): Promise<void> => {
    const answer = await fixture.postJson('/setup', { document, keys: { ci } })
    expect(answer.status).toBe(200)
  }
  const list = async (path: string): Promise<Named[]> =>
    (await (await fixture.request(path)).json()) as Named[]
  const found = async (path: string, isWanted: (one: Named) => boolean): Promise<Named> =>
    (await list(path)).find(isWanted)!
  /** The status, and the code of a refusal. */
  const send = async (method: string, path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fixture.request(path, {
      method,
      ...(body !== undefined && { headers, body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return answer.ok ? 'ok' : `${answer.status} ${(JSON.parse(text) as { code: string }).code}`
  }
  const price = {
    name: 'm',
    match_pattern: '^m$',
    prompt_cost: '1',
    completion_cost: '1',
  }

  it('is marked, and only what the file names', async () => {
    const marks = async (path: string): Promise<string[]> =>
      (await list(path)).map(
        ({ display_name, description, email, name, feedback_key, managed }) =>
          `${display_name ?? email ?? feedback_key ?? name ?? description} ${managed === true}`,
      )
    expect((await marks('/workspaces')).toSorted()).toEqual(['Default false', 'free true', 'ml true'])
    expect(await marks('/orgs/current/members')).toEqual(
      expect.arrayContaining(['admin@localhost false', 'ada@acme.test true']),
    )
    expect(await marks('/orgs/current/service-keys')).toEqual(['ci true'])
    expect(await marks('/model-price-map')).toEqual(['m true'])
    expect(await marks('/feedback-configs')).toEqual(['quality true'])
  })

  it('is not changed by the API, except with override', async () => {
    const ml = await found('/workspaces', (one) => one.display_name === 'ml')
    const free = await found('/workspaces', (one) => one.display_name === 'free')
    const ada = await found('/orgs/current/members', (one) => one.email === 'ada@acme.test')
    const key = await found('/orgs/current/service-keys', () => true)
    const own = await found('/model-price-map', () => true)
    const calls: [string, string, object?][] = [
      ['PATCH', `/workspaces/${ml.id}`, { display_name: 'other' }],
      ['PUT', `/workspaces/${ml.id}/limits`, { traces_per_month: 6 }],
      ['PUT', '/usage-limits', { workspace_id: ml.id, limit_value: 6 }],
      ['DELETE', `/workspaces/${ml.id}`],
      ['PATCH', `/orgs/current/members/${ada.user_id}`, { role: 'viewer' }],
      ['DELETE', `/orgs/current/members/${ada.user_id}`],
      ['DELETE', `/orgs/current/service-keys/${key.id}`],
      ['DELETE', `/api-key/${key.id}`],
      ['PUT', `/model-price-map/${own.id}`, price],
      ['DELETE', `/model-price-map/${own.id}`],
      ['PATCH', '/feedback-configs', { feedback_key: 'quality', is_enforced: true }],
      ['DELETE', '/feedback-configs?feedback_key=quality'],
    ]
    for (const [method, path, body] of calls)
      expect([method, path, await send(method, path, body)]).toEqual([method, path, '409 managed_by_file'])
    // The file names no limits of this workspace.
    expect(await send('PUT', `/workspaces/${free.id}/limits`, { traces_per_month: 6 })).toBe('ok')
    for (const [method, path, body] of calls.filter(([, path]) => !path.startsWith('/api-key')))
      expect([
        path,
        await send(method, `${path}${path.includes('?') ? '&' : '?'}override=true`, body),
      ]).toEqual([path, 'ok'])
  })

  it('is released when the file names it no longer', async () => {
    await apply(DOCUMENT, 'another_key_of_ci_012345')
    await apply('{version: 1, members: [], service_keys: []}')
    const ada = await found('/orgs/current/members', (one) => one.email === 'ada@acme.test')
    const key = await found('/orgs/current/service-keys', (one) => one.description === 'ci')
    expect([ada.managed, key.managed]).toEqual([undefined, undefined])
    expect(await send('PATCH', `/orgs/current/members/${ada.user_id}`, { role: 'viewer' })).toBe('ok')
    const ml = await found('/workspaces', (one) => one.display_name === 'ml')
    expect(ml.managed).toBe(true)
  })
})
