import { Client } from 'langsmith-latest'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { eventually } from '../../support/eventually.ts'
import { useClientSetup } from './js/client-setup.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

type Session = SchemaTypes['session-v2']
type Page = SchemaTypes['session-page-v2']

const setup = useClientSetup()
/** Names of projects, in the order of their creation. */
const NAMES = ['beta', 'alpha', 'gamma', 'delta', 'epsilon']
let client: Client
const ids: string[] = []

function send(method: string, path: string, body?: object): Promise<Response> {
  const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return setup().weir.request(`/api/v2/sessions${path}`, { method, ...init })
}

async function make(body: object, query = ''): Promise<Session> {
  const answer = await send('POST', query, body)
  expect(answer.status).toBe(200)
  return (await answer.json()) as Session
}

beforeAll(async () => {
  const { weir, proxy } = setup()
  client = new Client({ apiUrl: proxy.url, apiKey: weir.key })
  for (const [n, name] of NAMES.entries()) {
    const start_time = new Date(Date.UTC(2026, 0, 1 + n)).toISOString()
    const extra = { metadata: { team: n < 2 ? 'red' : 'blue', deep: { n } } }
    ids.push((await make({ type: 'PROJECT', name, start_time, extra })).id)
  }
})

type Listed = NonNullable<Parameters<Client['sessions']['listV2']>[0]>

/** Names of those projects of this file that match, page by page. */
async function namesOf(query: Listed = {}): Promise<string[]> {
  const found: string[] = []
  for await (const { name } of client.sessions.listV2({ id: ids, page_size: 2, ...query })) found.push(name)
  return found
}

describe('projects in API v2', () => {
  it('S-29, S-30, PROJECT-1: are created with a type, and again only with upsert', async () => {
    const made = await make({
      type: 'AGENT',
      name: 'agent',
      trace_tier: 'LONG_LIVED',
      longlived_ttl_days: 30,
    })
    expect(made).toMatchObject({ type: 'AGENT', trace_tier: 'LONG_LIVED', longlived_ttl_days: 30 })
    expect((await send('POST', '', { type: 'AGENT', name: 'agent' })).status).toBe(409)
    const changed = await make({ type: 'AGENT', name: 'agent', description: 'd' }, '?upsert=true')
    expect(changed).toMatchObject({ id: made.id, description: 'd', longlived_ttl_days: 30 })
    expect((await send('POST', '', { name: 'no type' })).status).toBe(422)
  })

  it('S-30, PROJECT-2: absent fields are kept, null clears, extra is merged', async () => {
    const extra = { kept: 1, changed: 1, removed: 1 }
    const end_time = '2026-01-01T00:00:00.000Z'
    const { id } = await make({ type: 'PROJECT', name: newUuid(), description: 'd', end_time, extra })
    const patch = async (body: object): Promise<Session> =>
      (await (await send('PATCH', `/${id}`, body)).json()) as Session
    expect(await patch({ extra: { changed: 2, removed: null } })).toMatchObject({
      description: 'd',
      end_time,
      extra: { kept: 1, changed: 2 },
    })
    const cleared = await patch({ description: null, end_time: null, extra: null })
    expect(cleared).toMatchObject({ description: null, end_time: null, extra: {} })
    expect(await patch({ trace_tier: 'SHORT_LIVED' })).toMatchObject({ longlived_ttl_days: null })
    expect((await send('PATCH', `/${newUuid()}`, {})).status).toBe(404)
    expect(await (await send('GET', `/${id}`)).json()).toMatchObject({ trace_tier: 'SHORT_LIVED' })
  })

  it.each<[string, Listed, string[]]>([
    ['newest first', {}, NAMES.toReversed()],
    ['oldest first', { sort_order: 'asc' }, NAMES],
    ['by name', { sort_by: 'NAME', sort_order: 'asc' }, NAMES.toSorted()],
    ['without runs, by figures', { sort_by: 'ERROR_RATE' }, []],
    ['by metadata', { metadata: '{"team":"red","deep":{"n":1}}' }, ['alpha']],
    [
      'by filter',
      { filter: 'or(eq(name, "gamma"), has(metadata, \'{"team":"red"}\'))' },
      ['gamma', 'alpha', 'beta'],
    ],
    ['by type', { type: ['EXPERIMENT'] }, []],
    ['by part of the name', { name_contains: 'ELT' }, ['delta']],
  ])('PROJECT-3: are listed page by page, each once: %s', async (_what, query, expected) => {
    const found = await namesOf(query)
    if (expected.length > 0 || query.type) expect(found).toEqual(expected)
    else expect(found.toSorted()).toEqual(NAMES.toSorted())
  })

  it('S-31, PROJECT-3: a cursor is valid only with its parameters', async () => {
    const { next_cursor } = (await (await send('GET', '?page_size=1&sort_by=NAME')).json()) as Page
    const cursor = encodeURIComponent(next_cursor!)
    expect((await send('GET', `?page_size=1&sort_by=NAME&cursor=${cursor}`)).status).toBe(200)
    expect((await send('GET', `?page_size=1&cursor=${cursor}`)).status).toBe(422)
  })

  it('S-31, S-35, PROJECT-4: 501 for unsupported fields, 422 for invalid ones', async () => {
    for (const query of ['sort_by=FEEDBACK', 'tag_value_id=x', 'filter=eq(run_type,"llm")']) {
      const answer = await send('GET', `?${query}`)
      expect([query, answer.status, answer.headers.get('x-should-retry')]).toEqual([query, 501, 'false'])
    }
    expect((await send('GET', '?metadata=[]')).status).toBe(422)
    expect((await send('GET', '?filter=eq(')).status).toBe(422)
    const dashboard = await setup().weir.request(`/api/v1/sessions/${ids[0]}/dashboard`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect([dashboard.status, dashboard.headers.get('x-should-retry')]).toEqual([501, 'false'])
  })

  it('S-29: have figures of their runs on request', async () => {
    const { weir } = setup()
    const [id] = ids
    const now = new Date().toISOString()
    const run_id = newUuid()
    const run = { id: run_id, trace_id: run_id, name: 'r', run_type: 'chain', session_id: id }
    const order = `${now.replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${run_id}`
    const sent = await weir.request(
      '/api/v1/runs',
      jsonBody('POST', { ...run, start_time: now, end_time: now, dotted_order: order }),
    )
    expect(sent.status).toBe(202)
    await eventually(async () => {
      const read: unknown = await (await send('GET', `/${id}?include_stats=true`)).json()
      expect(read).toMatchObject({ run_count: 1, total_tokens: 0, total_cost: null, error_rate: 0 })
    })
    expect(await namesOf({ sort_by: 'LAST_RUN_START_TIME' })).toMatchObject({ 0: 'beta', length: 5 })
    expect(await (await send('GET', `/${id}`)).json()).toMatchObject({ run_count: null })
  })

  it('are resolved and deleted', async () => {
    const { id } = await make({ type: 'EXPERIMENT', name: newUuid() })
    const { sessions } = client
    expect(await sessions.resolve({ kind: 'EXPERIMENT', id })).toEqual({ session_id: id })
    await expect(sessions.resolve({ kind: 'EXPERIMENT', id: ids[0]! })).rejects.toThrow('404')
    await expect(sessions.resolve({ kind: 'EVALUATOR' })).rejects.toThrow('404')
    await sessions.delete(id)
    expect((await send('GET', `/${id}`)).status).toBe(404)
  })

  it('S-6: /info has a version with which no client warns', async () => {
    const { version } = await setup().weir.json<{ version: string }>('/info')
    expect(version).toBe('0.18.0')
    const asked = setup().proxy.requests.map(({ url }) => url)
    expect(asked).toContainEqual(expect.stringMatching(/\/info$/))
  })
})
