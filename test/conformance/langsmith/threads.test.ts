import { Client as OldClient } from 'langsmith'
import { Client } from 'langsmith-latest'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { STATS_SELECTS } from '../../../src/http/platform/routes/v2/threads.ts'
import { TURN_SELECTS } from '../../../src/trace/json/turn.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { sentOrder } from '../../support/traces/sent-order.ts'
import { useClientSetup } from './js/client-setup.ts'
import { inLong, someInShort } from '../../support/length.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const setup = useClientSetup()
const PROJECT = 'threads-of-traces'
/** A thread id may be any text: metadata of clients contains such ids. */
const ODD = 't/1 x?ä'
const CHILD_ONLY = 'named by a child'
/** Traces in order of time, one second apart. Each has the metadata of the root, and of the model call below it. */
const TRACES: { root: object; llm: object; error?: string }[] = [
  { root: { session_id: ODD }, llm: {} },
  { root: {}, llm: { conversation_id: CHILD_ONLY } },
  { root: { thread_id: ODD, session_id: 'not this one' }, llm: { thread_id: 'nor this one' } },
  { root: {}, llm: {} },
  { root: { conversation_id: ODD }, llm: {}, error: 'no luck' },
]
const ids = TRACES.map(() => ({ root: newUuid(), llm: newUuid() }))
const now = Date.now() - 60_000
const startOf = (n: number): number => now + n * 1000
let client: Client
let old: OldClient
let project_id = ''

function runsOf(n: number): object[] {
  const { root, llm } = ids[n]!
  const { root: metadata, llm: below, error } = TRACES[n]!
  const start = startOf(n)
  const shared = { session_name: PROJECT, trace_id: root, start_time: start, end_time: start + 500 }
  return [
    {
      ...shared,
      id: root,
      name: `turn ${n}`,
      run_type: 'chain',
      inputs: { question: `q${n}` },
      outputs: { answer: `a${n}` },
      ...(error !== undefined && { error }),
      extra: { metadata },
      dotted_order: sentOrder(start, root),
    },
    {
      ...shared,
      id: llm,
      parent_run_id: root,
      name: 'model',
      run_type: 'llm',
      inputs: { messages: [{ role: 'user', content: 'hi' }] },
      outputs: {
        messages: [{ role: 'assistant', content: 'ho' }],
        usage_metadata: {
          input_tokens: 5,
          output_tokens: 2,
          total_tokens: 7,
          input_token_details: { cache_read: 1 },
          total_cost: 0.25,
        },
      },
      extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini', ...below } },
      dotted_order: sentOrder(start, root, llm),
    },
  ]
}

beforeAll(async () => {
  const { weir, proxy } = setup()
  client = new Client({ apiUrl: proxy.url, apiKey: weir.key })
  old = new OldClient({ apiUrl: proxy.url, apiKey: weir.key })
  const headers = { 'content-type': 'application/json' }
  const post = TRACES.flatMap((_, n) => runsOf(n))
  const sent = await weir.request('/api/v1/runs/batch', {
    method: 'POST',
    headers,
    body: JSON.stringify({ post }),
  })
  expect(sent.status).toBe(202)
  const id = ids.flatMap(({ root, llm }) => [root, llm])
  await drained(weir)
  await eventually(async () => {
    const found = await weir.json<{ runs: unknown[] }>('/api/v1/runs/query', {
      method: 'POST',
      headers,
      body: JSON.stringify({ id }),
    })
    expect(found.runs).toHaveLength(id.length)
  })
  const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
  project_id = project!.id
  const feedback = { run_id: ids[0]!.root, key: 'liked', score: 1 }
  await weir.request('/api/v1/feedback', { method: 'POST', headers, body: JSON.stringify(feedback) })
})

type Query = Parameters<Client['threads']['query']>[0]

async function threadsOf(query: Query = {}): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = []
  for await (const thread of client.threads.query({ project_id, ...query })) found.push(thread.thread_id)
  return found
}

/** The fields of Weir that the SDK's types do not have. */
type Own = 'UNPRICED_RUNS' | 'LATENCY_P95'

describe('threads.query', () => {
  it('S-25: lists threads by their latest trace with figures over all of them', async () => {
    const { items } = await client.threads.query({ project_id, page_size: 1 })
    const time = (n: number) => expect.stringContaining(new Date(startOf(n)).toISOString().slice(0, 23))
    expect(items).toEqual([
      {
        thread_id: ODD,
        count: 3,
        trace_id: ids[4]!.root,
        first_trace_id: ids[0]!.root,
        last_trace_id: ids[4]!.root,
        start_time: time(4),
        min_start_time: time(0),
        max_start_time: time(4),
        first_inputs: expect.stringContaining('q0'),
        last_outputs: expect.stringContaining('a4'),
        last_error: 'no luck',
        num_errored_turns: 1,
        latency_p50: 0.5,
        latency_p95: 0.5,
        latency_p99: 0.5,
        total_tokens: 21,
        total_cost: 0.75,
        unpriced_runs: 0,
        total_token_details: { cache_read: 3 },
        total_cost_details: expect.any(Object),
        feedback_stats: { liked: expect.objectContaining({ n: 1, avg: 1 }) },
        query_metadata: null,
      },
    ])
  })

  it.each(
    someInShort<[string, Query, string[]]>(
      [
        ['page by page', { page_size: 1 }, [ODD, CHILD_ONLY]],
        ['filter', { filter: 'eq(name, "turn 1")' }, [CHILD_ONLY]],
        [
          'filter and trace_filter on two traces',
          { filter: 'eq(name, "turn 0")', trace_filter: 'eq(name, "turn 4")' },
          [ODD],
        ],
        ['tree_filter', { tree_filter: 'eq(run_type, "llm")' }, [ODD, CHILD_ONLY]],
        ['tree_filter without a match', { tree_filter: 'eq(run_type, "tool")' }, []],
        ['thread_filter', { thread_filter: 'and(gt(count, 2), eq(num_errored_turns, 1))' }, [ODD]],
        [
          'max_start_time',
          { max_start_time: new Date(startOf(2)).toISOString(), page_size: 1 },
          [CHILD_ONLY, ODD],
        ],
        ['min_start_time', { min_start_time: new Date(startOf(3)).toISOString() }, [ODD]],
      ],
      4,
    ),
  )('%s', async (_title, query, expected) => {
    expect(await threadsOf(query)).toEqual(expected)
  })

  inLong(() => {
    it('S-33: gives the same items as server-sent events', async () => {
      const found: unknown[] = []
      // This call does not use the proxy, because the OpenAPI document does not describe streams.
      const direct = new Client({ apiUrl: setup().weir.url, apiKey: setup().weir.key })
      for await (const page of await direct.threads.streaming.query({ project_id })) found.push(page)
      expect(JSON.stringify(found)).toContain(CHILD_ONLY)
    })

    it('S-13: refuses an invalid thread_filter, unsupported fields, and projects of others', async () => {
      await expect(threadsOf({ thread_filter: 'eq(colour, "red")' })).rejects.toThrow('422')
      const asked = await setup().weir.request(
        '/v2/threads/query',
        jsonBody('POST', { project_id, ai_search: 'angry users' }),
      )
      expect([asked.status, asked.headers.get('x-should-retry')]).toEqual([501, 'false'])
      await expect(threadsOf({ project_id: newUuid() })).rejects.toThrow('404')
    })
  })
})

describe('threads.listTraces', () => {
  it('S-24, S-26: numbers the traces in the whole thread, oldest first, with the selected fields', async () => {
    const found: unknown[] = []
    const query = { project_id, page_size: 1, selects: ['NAME', 'TURN_NUMBER', 'TOTAL_TOKENS'] } as const
    for await (const turn of client.threads.listTraces(ODD, { ...query, selects: [...query.selects] }))
      found.push(turn)
    expect(found).toEqual(
      [0, 2, 4].map((n, i) => ({
        trace_id: ids[n]!.root,
        name: `turn ${n}`,
        turn_number: i + 1,
        total_tokens: 7,
      })),
    )
    const { items } = await client.threads.listTraces(ODD, {
      project_id,
      filter: 'eq(status, "error")',
      selects: ['TURN_NUMBER'],
    })
    expect(items).toEqual([{ trace_id: ids[4]!.root, turn_number: 3 }])
    const child = await client.threads.listTraces(CHILD_ONLY, { project_id, selects: ['NAME'] })
    expect(child.items).toEqual([{ trace_id: ids[1]!.root, name: 'turn 1' }])
  })

  it('S-10, S-26: returns every field', async () => {
    const { items } = await client.threads.listTraces(ODD, {
      project_id,
      selects: TURN_SELECTS as Exclude<(typeof TURN_SELECTS)[number], Own>[],
      page_size: 1,
    })
    const [turn] = items
    expect(Object.keys(turn!).toSorted()).toEqual(
      TURN_SELECTS.map((select) => select.toLowerCase()).toSorted(),
    )
    expect(turn).toMatchObject({
      thread_id: ODD,
      op: 2,
      latency: 0.5,
      inputs: { question: 'q0' },
      outputs: { answer: 'a0' },
      total_cost: 0.25,
      prompt_token_details: { raw: { cache_read: 1 } },
      error: null,
    })
    await expect(client.threads.listTraces('nothing', { project_id })).rejects.toThrow('404')
  })
})

describe('threads.stats and threads.aggregateStats', () => {
  it('S-27: return figures of one thread', async () => {
    const selects = STATS_SELECTS as Exclude<(typeof STATS_SELECTS)[number], Own>[]
    const stats = await client.threads.stats(ODD, { session_id: project_id, selects })
    expect(stats).toMatchObject({
      turns: 3,
      latency_p50_seconds: 0.5,
      latency_p95_seconds: 0.5,
      total_tokens: 21,
      total_cost: 0.75,
      prompt_token_details: { raw: { cache_read: 3 } },
      feedback_stats: { liked: { n: 1 } },
    })
    const filter = 'eq(status, "success")'
    expect(
      await client.threads.stats(ODD, { session_id: project_id, selects: ['TURNS', 'TOTAL_TOKENS'], filter }),
    ).toEqual({
      turns: 2,
      total_tokens: 14,
    })
    await expect(
      client.threads.stats('nothing', { session_id: project_id, selects: ['TURNS'] }),
    ).rejects.toThrow('404')
  })

  inLong(() => {
    it('S-27: return figures of all threads, or of some', async () => {
      const select: Parameters<Client['threads']['aggregateStats']>[0]['select'] = [
        'THREAD_COUNT',
        'TRACE_COUNT',
        'TOTAL_TOKENS',
        'PROMPT_TOKEN_DETAILS',
      ]
      const of = (query: object) => client.threads.aggregateStats({ project_id, select, ...query })
      expect(await of({})).toEqual({
        thread_count: 2,
        trace_count: 4,
        total_tokens: 28,
        prompt_token_details: { cache_read: 4 },
      })
      const one = { thread_count: 1, trace_count: 1, total_tokens: 7 }
      expect(await of({ filter: 'eq(name, "turn 1")' })).toMatchObject(one)
      expect(await of({ thread_filter: 'lt(count, 2)' })).toMatchObject(one)
    })
  })
})

describe('v1', () => {
  it('listGroupRuns returns the threads, page by page', async () => {
    const found: unknown[] = []
    for await (const thread of old.listGroupRuns({
      projectId: project_id,
      groupBy: 'conversation',
      limit: 1,
    }))
      found.push(thread)
    expect(found).toMatchObject([
      { group_key: ODD, count: 3, total_tokens: 21, last_error: 'no luck' },
      { group_key: CHILD_ONLY, count: 1, total_cost: 0.25, last_error: null },
    ])
  })

  inLong(() => {
    it('readThread and listThreads find the same traces', async () => {
      const turns: string[] = []
      for await (const run of old.readThread({ projectId: project_id, threadId: ODD })) turns.push(run.id)
      expect(turns).toEqual([0, 2, 4].map((n) => ids[n]!.root))
      const threads = await old.listThreads({ projectId: project_id })
      expect(threads.map(({ thread_id, count }) => [thread_id, count])).toEqual([
        [ODD, 3],
        [CHILD_ONLY, 1],
      ])
    })
  })
})
