import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { drained, type WeirRequest } from '../../support/servers/server.ts'
import { useClientSetup } from '../langsmith/js/client-setup.ts'
import type { ReadTrace, ReadTraceRun } from './corpus/facts.ts'
import { inLong } from '../../support/length.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const setup = useClientSetup()
const NOWHERE = '00000000-0000-4000-8000-000000000001'

/** Requests go through the proxy, so that every answer is compared with the OpenAPI document. */
function ask(path: string, init?: WeirRequest): Promise<Response> {
  return setup().weir.request(setup().proxy.url + path, init)
}

async function read<T>(path: string, body?: unknown): Promise<T> {
  return await setup().weir.json<T>(setup().proxy.url + path, body)
}

interface Page {
  runs: ReadTraceRun[]
  cursors: { next: string | null; prev: string | null }
}

const START = Date.UTC(2026, 10, 20, 9, 0, 0)
const isoAt = (ms: number): string => new Date(START + ms).toISOString()
const segment = (ms: number, id: string): string =>
  `${isoAt(ms).replace('Z', '000Z').replace(/[-:.]/g, '')}${id}`

interface SentRun {
  id: string
  trace_id: string
  dotted_order: string
  parent_run_id?: string
  start_time: string
  end_time: string
  name: string
  run_type: string
  session_name: string
  [field: string]: unknown
}

/** A TraceRun of 100 ms that starts `ms` after START: a child of `parent`, or a root. */
function traceRun(name: string, ms: number, parent: SentRun | undefined, rest: object = {}): SentRun {
  const id = newUuid()
  return {
    id,
    name,
    run_type: 'chain',
    session_name: 'shapes',
    trace_id: parent?.trace_id ?? id,
    dotted_order: `${parent === undefined ? '' : `${parent.dotted_order}.`}${segment(ms, id)}`,
    ...(parent !== undefined && { parent_run_id: parent.id }),
    start_time: isoAt(ms),
    end_time: isoAt(ms + 100),
    inputs: { input: name },
    outputs: { output: name },
    ...rest,
  }
}

async function send(post: readonly SentRun[], patch: readonly object[] = []): Promise<void> {
  const response = await ask('/runs/batch', jsonBody('POST', { post, patch }))
  expect([response.status, await response.json()]).toMatchObject([202, { rejected: [] }])
}

async function sentAndReadable(post: readonly SentRun[]): Promise<void> {
  await send(post)
  await drained(setup().weir)
}

const usage = (input_tokens: number, output_tokens: number, rest: object = {}) => ({
  messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
  usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens, ...rest },
})
const question = { messages: [{ role: 'user', content: 'Hi' }] }
const model = { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini', session_id: 'thread-1' } }

describe('one trace', () => {
  const root = traceRun('root', 0, undefined, { tags: ['t1'], extra: model })
  // An llm run that contains another one repeats its tokens (D-17).
  const outer = traceRun('outer', 1, root, { run_type: 'llm', inputs: question, outputs: usage(10, 5) })
  const inner = traceRun('inner', 2, outer, {
    run_type: 'llm',
    inputs: question,
    outputs: usage(10, 5, { input_cost: 0.1, output_cost: 0.2 }),
    extra: model,
    events: [{ name: 'new_token', time: isoAt(52) }],
  })
  const tool = traceRun('tool', 3, root, { run_type: 'tool', error: 'no such city', outputs: null })
  const other = traceRun('other', 4, root, { run_type: 'llm', inputs: question, outputs: usage(7, 3) })
  beforeAll(() => sentAndReadable([other, tool, inner, outer, root]))

  const FIELDS = [
    ...['id', 'trace_id', 'parent_run_id', 'dotted_order', 'session_id', 'name', 'run_type', 'status'],
    ...['start_time', 'end_time', 'inputs', 'outputs', 'error', 'extra', 'tags', 'events', 'serialized'],
    ...['first_token_time', 'prompt_tokens', 'completion_tokens', 'total_tokens'],
    ...[
      'prompt_cost',
      'completion_cost',
      'total_cost',
      'prompt_cost_details',
      'completion_cost_details',
      'thread_id',
      'attachments',
      'in_dataset',
      'received_at',
    ],
  ]

  it('a run has every field of the contract, and an llm run the derived fields', async () => {
    const found = await read<ReadTraceRun>(`/api/v1/runs/${inner.id}`)
    for (const field of FIELDS) expect(found).toHaveProperty(field)
    expect(found).toMatchObject({
      id: inner.id,
      trace_id: root.id,
      parent_run_id: outer.id,
      dotted_order: inner.dotted_order,
      status: 'success',
      start_time: isoAt(2),
      first_token_time: isoAt(52),
      thread_id: 'thread-1',
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_cost: '0.1',
      completion_cost: '0.2',
      total_cost: '0.3',
    })
    expect(Object.keys(found.llm!).sort()).toEqual(
      [
        ...['checks', 'input_format', 'issues', 'messages', 'model', 'model_source', 'output_format'],
        ...[
          'provider',
          'provider_source',
          'time_to_first_token_ms',
          'tokens_per_second',
          'usage_metadata',
          'usage_source',
        ],
      ].sort(),
    )
    expect(found.llm).toMatchObject({
      provider: 'openai',
      model: 'gpt-4.1-mini',
      model_source: 'metadata.ls_model_name',
      usage_metadata: { input_tokens: 10, input_cost: 0.1, output_cost: 0.2 },
      usage_source: { input: 'client', output: 'client' },
      time_to_first_token_ms: 50,
      checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: true } },
      issues: [],
    })
  })

  it('D-17: a run that is not an llm run sums up its descendants, each token once', async () => {
    const found = await read<ReadTraceRun>(`/api/v1/runs/${root.id}`)
    for (const field of FIELDS) expect(found).toHaveProperty(field)
    expect(found).toMatchObject({
      prompt_tokens: 17,
      completion_tokens: 8,
      total_tokens: 25,
      total_cost: '0.3',
    })
    expect(found).not.toHaveProperty('llm')
    expect(await read(`/api/v1/runs/${tool.id}`)).toMatchObject({
      status: 'error',
      error: 'no such city',
      prompt_tokens: 0,
      total_cost: null,
    })
  })

  it('the trace has its runs in dotted order, and its totals', async () => {
    const trace = await read<ReadTrace & { duration_ms: number }>(`/api/v1/traces/${root.id}`)
    expect(trace).toMatchObject({ trace_id: root.id, root: { id: root.id }, duration_ms: 104 })
    expect(trace.runs.map(({ name }) => name)).toEqual(['root', 'outer', 'inner', 'tool', 'other'])
    expect(trace.totals).toEqual({
      prompt_tokens: 17,
      completion_tokens: 8,
      total_tokens: 25,
      prompt_cost: '0.1',
      completion_cost: '0.2',
      total_cost: '0.3',
      estimated_prompt_tokens: 0,
      estimated_completion_tokens: 0,
      estimated_cost: '0',
      llm_runs: 2,
      unpriced_runs: 1,
      error_runs: 1,
    })
    expect(trace.runs[2]!.llm!.messages!.output).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    ])
  })

  inLong(() => {
    it('D-19: its lean view omits big fields and nothing else', async () => {
      const full = await read<ReadTrace>(`/api/v1/traces/${root.id}`)
      const lean = await read<ReadTrace>(`/api/v1/traces/${root.id}?view=lean`)
      expect(lean.totals).toEqual(full.totals)
      expect(lean.runs.map(({ id }) => id)).toEqual(full.runs.map(({ id }) => id))
      for (const found of lean.runs) {
        for (const field of ['inputs', 'outputs', 'events', 'serialized'])
          expect(found).not.toHaveProperty(field)
        expect(found.llm ?? {}).not.toHaveProperty('messages')
      }
    })
  })

  it('a trace without a root is returned', async () => {
    const lost = traceRun('lost root', 10, undefined)
    const orphan = traceRun('orphan', 11, lost, { run_type: 'llm', inputs: question, outputs: usage(1, 1) })
    await sentAndReadable([orphan])
    const trace = await read<ReadTrace>(`/api/v1/traces/${lost.id}`)
    expect(trace).toMatchObject({
      root: null,
      runs: [{ id: orphan.id, parent_run_id: lost.id }],
      totals: { total_tokens: 2, llm_runs: 1 },
    })
  })
})

describe('POST /runs/query', () => {
  const COUNT = 25
  const LIMIT = 10

  async function page(session: string, order: 'asc' | 'desc', cursor: string | null): Promise<Page> {
    const from = cursor === null ? {} : { cursor }
    return await read<Page>('/api/v1/runs/query', { session: [session], order, limit: LIMIT, ...from })
  }

  inLong(() => {
    it.each(['desc', 'asc'] as const)('pages are complete while runs are written (%s)', async (order) => {
      const project = `pages-${order}`
      const at = (n: number, rest: object = {}) =>
        traceRun(`n${n}`, n * 1000, undefined, { session_name: project, ...rest })
      const sent = Array.from({ length: COUNT }, (_, n) => at(n, { end_time: undefined }))
      await sentAndReadable(sent)
      const [{ id: session }] = await read<[{ id: string }]>(`/sessions?name=${project}`)

      const seen: ReadTraceRun[] = []
      let cursor: string | null = null
      do {
        const { runs, cursors }: Page = await page(session, order, cursor)
        seen.push(...runs)
        cursor = cursors.next
        // Between two pages, newer and older runs are added, and some runs end, both on pages already read and on later
        // ones.
        await sentAndReadable([at(COUNT + seen.length), at(-1 - seen.length)])
        const ended = sent.slice(seen.length - 5, seen.length + 5)
        await send(
          [],
          ended.map(({ id }) => ({ id, end_time: isoAt(1e6), outputs: { done: true } })),
        )
      } while (cursor !== null)

      const ids = new Set(sent.map(({ id }) => id))
      const shown = seen.filter(({ id }) => ids.has(id)).map(({ id }) => id)
      const expected = sent.map(({ id }) => id)
      expect(shown).toEqual(order === 'asc' ? expected : expected.toReversed())
      const starts = seen.map(({ start_time }) => start_time)
      expect(starts).toEqual(order === 'asc' ? starts.toSorted() : starts.toSorted().reverse())
    })

    it('returns previews unless payloads are selected, and only selected fields', async () => {
      const [first] = (await read<Page>('/api/v1/runs/query', { run_type: 'tool' })).runs
      expect(first).toMatchObject({ name: 'tool', inputs_preview: expect.stringContaining('tool') as string })
      for (const field of ['inputs', 'outputs', 'events']) expect(first).not.toHaveProperty(field)
      const select = ['inputs', 'total_tokens']
      const { runs } = await read<Page>('/api/v1/runs/query', { run_type: 'tool', select })
      const { id, name, run_type, start_time, trace_id } = first!
      const always = { id, name, run_type, start_time, trace_id }
      expect(runs).toEqual([{ ...always, inputs: { input: 'tool' }, total_tokens: 0 }])
    })
  })

  it.each([
    ['a limit over 100', { limit: 101 }],
    ['a limit of nothing', { limit: 0 }],
    ['a cursor of its own making', { cursor: 'e30' }],
    ['an id that is none', { trace: 'nope' }],
    ['a time that is none', { start_time: 'yesterday' }],
    ['a filter that does not parse', { filter: 'eq(name, ' }],
    ['a filter on an unknown field', { filter: 'eq(favourite_colour, "red")' }],
    ['an order that is none', { order: 'sideways' }],
  ])('refuses %s with 422', async (_, body) => {
    const response = await ask('/api/v1/runs/query', jsonBody('POST', body))
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { code: expect.any(String) as string },
    ])
  })
})

describe('GET /sessions', () => {
  it('lists, finds by name, pages, and reads one', async () => {
    const further = { method: 'POST', body: JSON.stringify({ name: 'further' }) }
    const headers = { 'content-type': 'application/json' }
    expect((await ask('/api/v1/sessions', { ...further, headers })).status).toBe(200)
    const all = await read<{ id: string; name: string; run_count: number }[]>('/api/v1/sessions')
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['shapes']))
    const [shapes] = await read<typeof all>('/api/v1/sessions?name=shapes')
    expect(shapes).toMatchObject({ name: 'shapes', run_count: 6 })
    const [whole] = await read<typeof all>('/api/v1/sessions?name=shapes&include_stats=true')
    expect(await read(`/api/v1/sessions/${shapes!.id}`)).toEqual(whole)
    expect(await read('/api/v1/sessions?limit=1&offset=1')).toMatchObject([{ id: all[1]!.id }])
    expect(await read('/api/v1/sessions?name=nowhere')).toEqual([])
  })
})

describe('invalid requests', () => {
  it.each([
    [`/runs/${NOWHERE}`, 404],
    [`/traces/${NOWHERE}`, 404],
    [`/sessions/${NOWHERE}`, 404],
    [`/runs/${NOWHERE}/attachments/picture`, 404],
    ['/runs/nope', 422],
    ['/traces/nope', 422],
    ['/sessions?limit=0', 422],
  ])('%s answers %i with the reason', async (path, status) => {
    const response = await ask(`/api/v1${path}`)
    const problem = { detail: expect.anything() as unknown, code: expect.any(String) as string }
    expect([response.status, await response.json()]).toMatchObject([status, problem])
  })

  it.each(['/runs/query', `/runs/${NOWHERE}`, '/sessions', '/feedback'])(
    '%s without a key is 401',
    async (path) => {
      for (const key of ['', 'lsv2_pt_unknown0000000000000000000000000_0000000000']) {
        const method = path === '/runs/query' ? 'POST' : 'GET'
        const response = await ask(`/api/v1${path}`, { method, headers: { 'x-api-key': key } })
        expect([response.status, await response.json()]).toMatchObject([
          401,
          { detail: expect.stringMatching(/^Invalid token: /), error: 'Invalid token' },
        ])
      }
    },
  )
})

describe('reads of a real client', () => {
  const folder = new URL('../../corpus/ls-js-read-endpoints/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.headers.json'))
  const text = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

  it('are all answered', async () => {
    const answers: [string, number][] = []
    for (const file of files) {
      const { method, url } = JSON.parse(text(file)) as { method: string; url: string }
      const body = method === 'GET' ? {} : { body: text(file.replace('.headers.json', '.body')) }
      const response = await setup().weir.request(url, {
        method,
        headers: { 'content-type': 'application/json' },
        ...body,
      })
      answers.push([`${method} ${url.replace(/\?.*/, '')}`, response.status])
    }
    for (const [call, status] of answers) {
      // These runs were never sent. Shares are created by run id.
      const unknown = call.startsWith('GET /runs/') || call.endsWith('/share')
      expect([call, status]).toEqual([call, unknown ? 404 : 200])
    }
    expect(answers).toHaveLength(12)
  })
})
