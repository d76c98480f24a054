import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

async function post(body: object) {
  const asked: unknown[] = []
  fixture = await startApp({
    reads: {
      facets: async (workspace_id, query) => {
        asked.push([workspace_id, query])
        return { values: [{ value: 'a', count: 2 }], has_more: false, is_whole: true }
      },
    },
  })
  const answer = await fixture.request('/api/v1/runs/facets', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, json: await answer.json(), asked }
}

it('N8: lists the values of a field of the runs that a list with the same body has', async () => {
  const { status, json, asked } = await post({
    field: 'metadata_value',
    key: 'env',
    prefix: 'p',
    limit: 3,
    session: null,
    is_root: true,
    filter: 'eq(status, "error")',
    start_time: '2026-11-20T09:00:00Z',
  })
  expect([status, json]).toEqual([
    200,
    { values: [{ value: 'a', count: 2 }], has_more: false, is_whole: true },
  ])
  expect(asked).toEqual([
    [
      WORKSPACE,
      {
        field: 'metadata_value',
        key: 'env',
        prefix: 'p',
        max_values: 3,
        is_root: true,
        filter: 'eq(status, "error")',
        start_time: Date.UTC(2026, 10, 20, 9) * 1000,
      },
    ],
  ])
})

it.each([
  [{}, 'field'],
  [{ field: 'latency' }, 'field'],
  [{ field: 'metadata_value' }, 'key'],
  [{ field: 'name', limit: 101 }, 'limit'],
  [{ field: 'name', prefix: 'x'.repeat(201) }, 'prefix'],
])('N8: refuses %j and names the field', async (body, field) => {
  const { status, json, asked } = await post(body)
  expect([status, asked]).toEqual([422, []])
  expect(JSON.stringify(json)).toContain(field)
})
