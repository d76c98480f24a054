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

it('saves, lists, changes and deletes the views of a project', async () => {
  fixture = await startApp({})
  const { json: project } = await ask('POST', '/api/v1/sessions', { name: 'mine' })
  const path = `/api/v1/sessions/${String(project['id'])}/views`
  const made = await ask('POST', path, {
    display_name: ' slow ',
    filter_string: ' gt(latency, "5s") ',
    params: { cols: 'name,latency' },
  })
  expect(made).toMatchObject({
    status: 200,
    json: {
      session_id: project['id'],
      display_name: 'slow',
      filter_string: 'gt(latency, "5s")',
      params: { cols: 'name,latency' },
      description: null,
    },
  })
  expect(await ask('GET', path)).toMatchObject({ json: [{ display_name: 'slow' }] })
  const one = `${path}/${String(made.json['id'])}`
  const changed = { display_name: 'slow', filter_string: null, params: { cols: 'name,latency' } }
  expect(await ask('PATCH', one, { filter_string: '' })).toMatchObject({ status: 200, json: changed })
  expect(await ask('POST', path, { display_name: 'slow' })).toMatchObject({
    status: 409,
    json: { code: 'conflict' },
  })
  expect(await ask('DELETE', one)).toEqual({ status: 200, json: {} })
  for (const method of ['PATCH', 'DELETE'])
    expect(await ask(method, one, method === 'PATCH' ? {} : undefined)).toMatchObject({ status: 404 })
})

it('refuses filters that cannot be read, names without a letter, and other projects', async () => {
  fixture = await startApp({})
  const { json: project } = await ask('POST', '/api/v1/sessions', { name: 'mine' })
  const path = `/api/v1/sessions/${String(project['id'])}/views`
  for (const body of [
    { display_name: 'x', filter_string: 'gt(' },
    { display_name: ' ' },
    { display_name: 'x'.repeat(101) },
    { filter_string: '' },
    { display_name: 'x', params: { cols: 7 } },
  ])
    expect((await ask('POST', path, body)).status, JSON.stringify(body)).toBeGreaterThanOrEqual(400)
  expect(await ask('GET', path)).toEqual({ status: 200, json: [] })
  const other = '/api/v1/sessions/00000000-0000-4000-8000-000000000000/views'
  expect([await ask('GET', other), await ask('POST', other, { display_name: 'x' })]).toMatchObject([
    { status: 404 },
    { status: 404 },
  ])
})
