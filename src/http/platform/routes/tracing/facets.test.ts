import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../../test/support/servers/app-fixture.ts'
import { jsonBody } from '../../../../../test/support/servers/weir-process.ts'

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
  const answer = await fixture.request('/api/v1/runs/facets', jsonBody('POST', body))
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

async function compare(body: object) {
  const asked: unknown[] = []
  fixture = await startApp({
    reads: {
      differences: async (_workspace, query) => {
        asked.push(query)
        const line = {
          field: 'name',
          value: 'a',
          filter: 'eq(name, "a")',
          selected_share: 1,
          rest_share: 0,
        } as const
        return { selected_count: 2, rest_count: 9, is_whole: true, differences: [line] }
      },
    },
  })
  const answer = await fixture.request('/api/v1/runs/differences', jsonBody('POST', body))
  return { status: answer.status, text: await answer.text(), asked }
}

const RUN = '0190a000-0000-7000-8000-000000000001'

it('N8: compares runs by their ids, or by their times, with the others of a list', async () => {
  const { status, text, asked } = await compare({ selected: [RUN], is_root: true })
  expect([status, asked]).toEqual([200, [{ selected: { run_ids: [RUN] }, is_root: true }]])
  expect(JSON.parse(text)).toMatchObject({ selected_count: 2, differences: [{ value: 'a' }] })
  await fixture.stop()
  const times = { selected_start_time: '2026-11-20T09:00:00Z', selected: null, filter: 'eq(name, "a")' }
  expect((await compare(times)).asked).toEqual([
    { selected: { start_time: Date.UTC(2026, 10, 20, 9) * 1000 }, filter: 'eq(name, "a")' },
  ])
})

it.each([
  [{}, 'selected'],
  [{ selected: [] }, 'selected'],
  [{ selected: ['x'] }, 'selected'],
  [{ selected_end_time: 'soon' }, 'selected_end_time'],
])('N8: refuses to compare %j and names the field', async (body, field) => {
  const { status, text, asked } = await compare(body)
  expect([status, asked]).toEqual([422, []])
  expect(text).toContain(field)
})
