import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp } from '../../../../../test/support/servers/app-fixture.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

async function ask(method: string, path: string, body?: unknown) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fixture.request(path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}

const RULE = {
  name: ' Errors ',
  figure: 'error_rate',
  comparison: 'above',
  threshold: '0.05',
  window_minutes: 15,
}

it('creates, lists, changes and deletes alerts, and records that without the address', async () => {
  fixture = await startApp({})
  const { json: project } = await ask('POST', '/api/v1/sessions', { name: 'mine' })
  const webhook_url = 'https://hooks.example/secret-path'
  const made = await ask('POST', '/api/v1/alerts', { ...RULE, session_id: project['id'], webhook_url })
  expect(made).toMatchObject({
    status: 200,
    json: {
      session_id: project['id'],
      name: 'Errors',
      subject: 'traces',
      filter: null,
      no_data: 'keep',
      state: 'unknown',
      value: null,
      webhook_url,
      is_enabled: true,
    },
  })
  const id = String(made.json['id'])
  expect(await ask('GET', `/api/v1/alerts?session=${String(project['id'])}`)).toMatchObject({
    json: [{ id }],
  })
  const filter = ' eq(name, "a") '
  const changed = await ask('PATCH', `/api/v1/alerts/${id}`, { filter, webhook_url: null, is_enabled: false })
  expect(changed).toMatchObject({
    status: 200,
    json: { filter: 'eq(name, "a")', webhook_url: null, is_enabled: false, name: 'Errors' },
  })
  expect(await ask('DELETE', `/api/v1/alerts/${id}`)).toMatchObject({ status: 200, json: {} })
  expect((await ask('DELETE', `/api/v1/alerts/${id}`)).status).toBe(404)
  const audit = await (await fixture.request('/api/v1/orgs/current/audit-logs?action=alert')).text()
  for (const action of ['alert.create', 'alert.change', 'alert.delete']) expect(audit).toContain(action)
  expect(audit).not.toContain('secret-path')
})

it('refuses what can never be evaluated or told', async () => {
  fixture = await startApp({})
  const { json: project } = await ask('POST', '/api/v1/sessions', { name: 'mine' })
  const sent = (over: object) =>
    ask('POST', '/api/v1/alerts', { ...RULE, session_id: project['id'], ...over })
  for (const over of [
    { filter: 'eq(name' },
    { webhook_url: 'ftp://hooks.example' },
    { webhook_url: '/path' },
    { webhook_url: 'https://user:word@hooks.example' },
    { threshold: '5%' },
    { window_minutes: 0 },
    { window_minutes: 1441 },
    { figure: 'mood' },
    { name: ' ' },
  ])
    expect([over, (await sent(over)).status]).toEqual([over, 422])
  expect((await sent({ session_id: '00000000-0000-4000-8000-00000000000a' })).status).toBe(404)
  expect((await sent({})).status).toBe(200)
  expect((await sent({})).status).toBe(409)
})
