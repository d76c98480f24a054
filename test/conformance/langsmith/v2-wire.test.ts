import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { sentOrder } from '../../support/traces/sent-order.ts'
import { useClientSetup } from './js/client-setup.ts'
import { inLong } from '../../support/length.ts'

// Rules of API v2 about the bytes of requests and answers. A client would hide them, so these are plain requests
// without an SDK.

const setup = useClientSetup()
const PROJECT = 'api-v2-wire'
const THREAD = 't/1 x'
const [root, step, llm, old] = [newUuid(), newUuid(), newUuid(), newUuid()]
const HOUR = 3_600_000
const now = Date.now() - 60_000
const JSON_BODY = { 'content-type': 'application/json' }
let project_id = ''

/** Two traces: one has three levels with three names of a thread, the other is two days old. */
beforeAll(async () => {
  const { weir } = setup()
  const run = (start: number, path: string[], more: object) => ({
    id: path.at(-1),
    trace_id: path[0],
    ...(path.length > 1 && { parent_run_id: path.at(-2) }),
    name: `level ${path.length}`,
    run_type: 'chain',
    session_name: PROJECT,
    start_time: start,
    end_time: start + 500,
    dotted_order: sentOrder(start, ...path),
    ...more,
  })
  const threads = { conversation_id: 'c', session_id: 's', thread_id: THREAD }
  const usage_metadata = {
    input_tokens: 5,
    output_tokens: 2,
    total_tokens: 7,
    input_token_details: { cache_read: 1 },
    units: { web_searches: 2 },
    conditions: { speed: 'fast' },
    total_cost: 0.25,
  }
  const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' }
  const event = { name: 'new_token', time: new Date(now).toISOString(), kwargs: { token: 'ho' } }
  const post = [
    run(now, [root], { extra: { metadata: threads } }),
    run(now, [root, step], {}),
    run(now, [root, step, llm], {
      run_type: 'llm',
      outputs: { usage_metadata },
      events: [event],
      extra: { metadata },
    }),
    run(now - 48 * HOUR, [old], {}),
  ]
  const sent = await ask('POST', '/api/v1/runs/batch', { post })
  expect(sent.status).toBe(202)
  await drained(weir)
  await eventually(async () => {
    const { runs } = await json<{ runs: unknown[] }>('POST', '/api/v1/runs/query', {
      id: post.map(({ id }) => id),
    })
    expect(runs).toHaveLength(4)
  })
  const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
  project_id = project!.id
})

function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return setup().weir.request(path, {
    method,
    headers: { ...(body !== undefined && JSON_BODY), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/**
 * The JSON of a successful request. The request goes through the proxy, which compares the answer with the OpenAPI
 * document.
 */
async function json<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const { weir, proxy } = setup()
  const answer = await fetch(proxy.url + path, {
    method,
    headers: { 'x-api-key': weir.key, ...(body !== undefined && JSON_BODY), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  expect([path, answer.status]).toEqual([path, 200])
  return (await answer.json()) as T
}

interface Page {
  items: Record<string, unknown>[]
  next_cursor: string | null
}
const query = (body: object, headers?: Record<string, string>): Promise<Page> =>
  json('POST', '/api/v2/runs/query', { project_ids: [project_id], ...body }, headers)
const retrieve = (id: string, ...selects: string[]): Promise<Record<string, unknown>> =>
  json(
    'GET',
    `/api/v2/runs/${id}?project_id=${project_id}${selects.map((one) => `&selects=${one}`).join('')}`,
  )

describe('a request', () => {
  it('S-1: is answered alike under /api/v2 and /v2', async () => {
    const body = { project_ids: [project_id], selects: ['ID', 'NAME'] }
    const answers = ['/api/v2', '/v2'].map((base) => json('POST', `${base}/runs/query`, body))
    const [long, short] = await Promise.all(answers)
    expect(short).toEqual(long)
    expect(long).toMatchObject({ items: { length: 3 } })
  })

  it('S-2: names its key in a header of any case', async () => {
    const { weir } = setup()
    const answer = await fetch(`${weir.url}/v2/runs/${root}?project_id=${project_id}`, {
      headers: { 'X-API-KEY': weir.key, 'X-Tenant-Id': '' },
    })
    expect(answer.status).toBe(200)
  })

  it('S-4: gets server-sent events only if it accepts nothing else', async () => {
    const typeOf = async (accept: string): Promise<string | null> => {
      const asked = await ask('POST', '/v2/runs/query', { project_ids: [project_id] }, { accept })
      await asked.arrayBuffer()
      return asked.headers.get('content-type')
    }
    expect(await typeOf('*/*')).toContain('application/json')
    expect(await typeOf('application/json')).toContain('application/json')
    expect(await typeOf('text/event-stream')).toContain('text/event-stream')
  })

  inLong(() => {
    it('S-5: repeats names in its query, escapes times and thread ids, and may delete with a type but no body', async () => {
      expect(Object.keys(await retrieve(root, 'ID', 'NAME'))).toEqual(['id', 'name'])
      const window = [now - HOUR, now + HOUR].map((at) => new Date(at).toISOString().replace('Z', '%2B00:00'))
      const path = `/v2/traces/${root}/runs?project_id=${project_id}&min_start_time=${window[0]}&max_start_time=${window[1]}`
      expect((await json<Page>('GET', path)).items).toHaveLength(3)
      const turns = await json<Page>('GET', `/v2/threads/t%2F1%20x/traces?project_id=${project_id}`)
      expect(turns.items).toEqual([{ trace_id: root }])
      const unshared = await ask(
        'DELETE',
        `/v2/threads/t%2F1%20x/share?project_id=${project_id}`,
        undefined,
        JSON_BODY,
      )
      expect(unshared.status).toBe(204)
    })
  })
})

describe('a query', () => {
  it('S-9: is about the last 24 hours, with ids too; runs of a trace are of any time, or of two bounds', async () => {
    expect((await query({ ids: [old] })).items).toEqual([])
    expect((await query({ trace_id: old })).items).toEqual([])
    const min_start_time = new Date(now - 72 * HOUR).toISOString()
    expect((await query({ ids: [old], min_start_time })).items).toMatchObject([{ id: old }])
    const ofTrace = `/v2/traces/${old}/runs?project_id=${project_id}`
    expect((await json<Page>('GET', ofTrace)).items).toEqual([{ id: old }])
    expect((await ask('GET', `${ofTrace}&min_start_time=${min_start_time}`)).status).toBe(422)
  })

  it('S-10: of turns has 1 to 100 of them, always with trace_id', async () => {
    const turns = `/v2/threads/${encodeURIComponent(THREAD)}/traces?project_id=${project_id}`
    const { items } = await json<Page>('GET', `${turns}&selects=NAME&page_size=100`)
    expect(items).toEqual([{ trace_id: root, name: 'level 1' }])
    for (const size of [0, 101]) expect((await ask('GET', `${turns}&page_size=${size}`)).status).toBe(422)
  })

  inLong(() => {
    it('S-11: has values of filters in lower case or in the case of answers', async () => {
      for (const filter of [
        'eq(run_type, "llm")',
        'eq(run_type, "LLM")',
        'and(gt(total_tokens, 6), eq(name, "level 3"))',
      ])
        expect((await query({ filter })).items).toMatchObject([{ id: llm }])
      expect((await query({ filter: 'and(eq(feedback_key, "none"), gt(feedback_score, 0))' })).items).toEqual(
        [],
      )
    })
  })

  it('S-12: with times of feedback has a condition on feedback', async () => {
    const min_feedback_modified_at = new Date(0).toISOString()
    const body = { project_ids: [project_id], min_feedback_modified_at }
    expect((await ask('POST', '/v2/runs/query', body)).status).toBe(422)
    expect((await query({ min_feedback_modified_at, filter: 'eq(feedback_key, "none")' })).items).toEqual([])
  })

  it('S-14, S-15: has pages that a cursor continues, and none of them is empty', async () => {
    const first = await query({ page_size: 2, cursor: '' })
    expect(first).toMatchObject({ items: { length: 2 }, next_cursor: expect.any(String) })
    const second = await query({ page_size: 2, cursor: first.next_cursor })
    expect(second).toMatchObject({ items: { length: 1 }, next_cursor: null })
    // The last page is full, and has no cursor to a further, empty page.
    expect(await query({ page_size: 3 })).toMatchObject({ items: { length: 3 }, next_cursor: null })
    const filtered = await query({ page_size: 1, filter: 'eq(run_type, "llm")' })
    expect(filtered).toMatchObject({ items: [{ id: llm }], next_cursor: null })
    const changed = { project_ids: [project_id], page_size: 2, is_root: true, cursor: first.next_cursor }
    expect((await ask('POST', '/v2/runs/query', changed)).status).toBe(422)
  })
})

describe('an answer', () => {
  it('S-17 to S-21: has types in upper case, numbers, raw details, all parents and events', async () => {
    const selects = [
      'RUN_TYPE',
      'STATUS',
      'TOTAL_COST',
      'TOTAL_TOKENS',
      'LATENCY_SECONDS',
      'PROMPT_TOKEN_DETAILS',
    ]
    expect(
      await retrieve(llm, ...selects, 'PARENT_RUN_IDS', 'EVENTS', 'SHARE_URL', 'PROJECT_ID'),
    ).toMatchObject({
      run_type: 'LLM',
      status: 'SUCCESS',
      total_cost: 0.25,
      total_tokens: 7,
      latency_seconds: 0.5,
      prompt_token_details: { raw: { cache_read: 1 } },
      parent_run_ids: [root, step],
      events: [{ name: 'new_token', time: expect.any(String), kwargs: { token: 'ho' } }],
      share_url: null,
      project_id,
    })
  })

  it('U8, U14: has units, conditions, and who says the cost', async () => {
    const selects = [
      'USAGE_UNITS',
      'UNIT_COSTS',
      'USAGE_CONDITIONS',
      'COST_SOURCE',
      'TOTAL_COST',
      'COMPUTED_COST',
    ]
    expect(await retrieve(llm, ...selects)).toEqual({
      usage_units: { web_searches: 2 },
      unit_costs: {},
      usage_conditions: { speed: 'fast' },
      cost_source: 'client',
      total_cost: 0.25,
      computed_cost: 0.0200049,
    })
    expect(await retrieve(step, ...selects)).toMatchObject({
      usage_units: {},
      usage_conditions: {},
      cost_source: null,
      computed_cost: null,
    })
  })

  inLong(() => {
    it('S-22, S-36: has figures of feedback that was given with or without session_id', async () => {
      const give = (more: object) => json('POST', '/api/v1/feedback', { run_id: root, key: 'liked', ...more })
      await give({ score: 1, comment: 'yes' })
      await give({ score: 0, session_id: project_id })
      const { feedback_stats } = await retrieve(root, 'FEEDBACK_STATS')
      expect(feedback_stats).toEqual({
        liked: {
          n: 2,
          avg: 0.5,
          min: 0,
          max: 1,
          stdev: 0.5,
          errors: 0,
          values: {},
          comments: ['yes'],
          sources: expect.any(Array),
          contains_thread_feedback: false,
        },
      })
    })

    it('S-24, D-54: has the thread that thread_id names, though session_id and conversation_id name others', async () => {
      expect(await retrieve(root, 'THREAD_ID')).toEqual({ thread_id: THREAD })
      for (const other of ['s', 'c'])
        expect((await ask('GET', `/v2/threads/${other}/traces?project_id=${project_id}`)).status).toBe(404)
    })

    it('S-32: to the deletion of a project is 202', async () => {
      const { id } = await json<{ id: string }>('POST', '/api/v1/sessions', { name: `gone ${newUuid()}` })
      expect((await ask('DELETE', `/api/v1/sessions/${id}`)).status).toBe(202)
      expect((await ask('GET', `/api/v1/sessions/${id}`)).status).toBe(404)
    })
  })
})

describe('an error', () => {
  it('S-27, S-34: has a status for each cause, with a detail', async () => {
    const statusOf = async (...asked: Parameters<typeof ask>): Promise<number> => {
      const answer = await ask(...asked)
      expect(await answer.json()).toMatchObject({ detail: expect.anything(), code: expect.any(String) })
      return answer.status
    }
    expect(await statusOf('GET', `/v2/runs/${newUuid()}?project_id=${project_id}`)).toBe(404)
    expect(await statusOf('GET', `/v2/runs/nothing?project_id=${project_id}`)).toBe(422)
    expect(await statusOf('POST', '/v2/threads/stats', { project_id, select: [] })).toBe(422)
    expect(await statusOf('POST', '/v2/runs/query', { project_ids: [newUuid()] })).toBe(404)
    const keyless = await fetch(`${setup().weir.url}/v2/runs/${root}?project_id=${project_id}`)
    expect(keyless.status).toBe(401)
  })

  it('S-13, S-35: has x-should-retry: false if the request is unsupported or in conflict', async () => {
    for (const path of ['runs', 'traces', 'threads']) {
      const project = path === 'runs' ? { project_ids: [project_id] } : { project_id }
      const asked = await ask('POST', `/v2/${path}/query`, { ...project, ai_search: 'what went wrong' })
      expect([path, asked.status, asked.headers.get('x-should-retry')]).toEqual([path, 501, 'false'])
    }
    const taken = await ask('POST', '/v2/sessions', { type: 'PROJECT', name: PROJECT })
    expect([taken.status, taken.headers.get('x-should-retry')]).toEqual([409, 'false'])
  })
})
