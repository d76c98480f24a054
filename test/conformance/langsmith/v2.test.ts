import { Client } from 'langsmith-latest'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { RUN_SELECTS } from '../../../src/trace/json/selected-run.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { sentOrder } from '../../support/traces/sent-order.ts'
import { useClientSetup } from './js/client-setup.ts'
import { inLong, someInShort } from '../../support/length.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'

const setup = useClientSetup()
const PROJECT = 'api-v2'
const TRACES = 5
/** Ids of each trace's root and model call, oldest trace first. */
const ids = Array.from({ length: TRACES }, () => ({ root: newUuid(), llm: newUuid() }))
const [first, second] = [ids[0]!, ids[1]!]
/** All fields; the type of the client knows only those of LangSmith. */
const ALL_SELECTS = RUN_SELECTS as NonNullable<Parameters<Client['runs']['retrieve']>[1]['selects']>
let client: Client
let project_id = ''

/** Five traces of a chain with one model call that has a cost; the call of the second trace fails. */
beforeAll(async () => {
  const { weir, proxy } = setup()
  client = new Client({ apiUrl: proxy.url, apiKey: weir.key })
  const now = Date.now() - 60_000
  const post = ids.flatMap(({ root, llm }, n) => {
    const start = now + n * 1000
    const shared = { session_name: PROJECT, trace_id: root, start_time: start, end_time: start + 500 }
    return [
      {
        ...shared,
        id: root,
        name: `pipeline ${n}`,
        run_type: 'chain',
        inputs: { question: `q${n}` },
        outputs: { answer: n },
        extra: { metadata: { thread_id: 'thread', deep: { kept: true } } },
        tags: ['nightly'],
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
        ...(n === 1 && { error: 'no luck' }),
        extra: { metadata: { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' } },
        dotted_order: sentOrder(start, root, llm),
      },
    ]
  })
  const sent = await weir.request('/api/v1/runs/batch', jsonBody('POST', { post }))
  expect(sent.status).toBe(202)
  await drained(weir)
  await eventually(async () => {
    const found = await weir.json<{ runs: unknown[] }>(
      '/api/v1/runs/query',
      jsonBody('POST', { id: ids.flatMap(({ root, llm }) => [root, llm]) }),
    )
    expect(found.runs).toHaveLength(2 * TRACES)
  })
  const [project] = await weir.json<{ id: string }[]>(`/api/v1/sessions?name=${PROJECT}`)
  project_id = project!.id
})

type Query = Parameters<Client['runs']['query']>[0]

async function idsOf(query: Query): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = []
  for await (const run of client.runs.query({ project_ids: [project_id], ...query })) found.push(run.id)
  return found
}

describe('runs.query', () => {
  it('S-8, S-14: reads all pages, each run once, newest first, and returns only the id by default', async () => {
    const found = await idsOf({ page_size: 3 })
    expect(found).toHaveLength(2 * TRACES)
    expect(new Set(found)).toEqual(new Set(ids.flatMap(({ root, llm }) => [root, llm])))
    const { items } = await client.runs.query({ project_ids: [project_id], page_size: 1 })
    expect(items).toEqual([{ id: expect.any(String), query_metadata: null }])
  })

  it.each(
    someInShort<[string, Query, () => string[]]>(
      [
        ['is_root', { is_root: true }, () => ids.map(({ root }) => root).toReversed()],
        ['has_error', { has_error: true }, () => [second.llm]],
        ['run_type', { run_type: 'LLM', page_size: 2 }, () => ids.map(({ llm }) => llm).toReversed()],
        ['filter', { filter: 'eq(status, "ERROR")' }, () => [second.llm]],
        ['trace_filter', { trace_filter: 'eq(name, "pipeline 1")', run_type: 'LLM' }, () => [second.llm]],
        ['tree_filter', { tree_filter: 'eq(status, "error")', is_root: true }, () => [second.root]],
        ['trace_id', { trace_id: first.root, is_root: false }, () => [first.llm]],
        ['ids', { ids: [first.root] }, () => [first.root]],
        ['max_start_time', { max_start_time: '2020-01-01T00:00:00Z' }, () => []],
      ],
      4,
    ),
  )('%s', async (_name, query, expected) => {
    expect(await idsOf(query)).toEqual(expected())
  })

  it('S-16: include_subtree_usage adds up all descendants', async () => {
    const of = async (include_subtree_usage: boolean) => {
      const query: Query = {
        project_ids: [project_id],
        ids: [first.root],
        include_subtree_usage,
        selects: ['TOTAL_TOKENS', 'TOTAL_COST'],
      }
      return (await client.runs.query(query)).items[0]
    }
    expect(await of(true)).toMatchObject({ total_tokens: 7, total_cost: 0.25 })
    expect(await of(false)).toMatchObject({ total_tokens: 0, total_cost: null })
  })

  it('S-12, S-13: is 501 for unsupported fields, which clients need not send again, and 422 for a wrong window', async () => {
    const asked = await setup().weir.request(
      '/v2/runs/query',
      jsonBody('POST', { project_ids: [project_id], ai_search: 'runs that went wrong' }),
    )
    expect([asked.status, asked.headers.get('x-should-retry')]).toEqual([501, 'false'])
    const min_feedback_modified_at = new Date(0).toISOString()
    await expect(client.runs.query({ project_ids: [project_id], min_feedback_modified_at })).rejects.toThrow(
      '422',
    )
  })

  inLong(() => {
    it('S-33: gives the same items as server-sent events', async () => {
      const events = setup().weir.request('/api/v2/runs/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ project_ids: [project_id], is_root: true, selects: ['ID', 'INPUTS'] }),
      })
      const text = await (await events).text()
      expect(text).toContain('event: data\ndata: [{"op":"add","path":"","value":{"items":[')
      expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true)
    })
  })
})

describe('runs.retrieve', () => {
  it('S-17 to S-20: returns every field', async () => {
    const root = await client.runs.retrieve(first.root, { project_id, selects: ALL_SELECTS })
    expect(Object.keys(root).toSorted()).toEqual(RUN_SELECTS.map((select) => select.toLowerCase()).toSorted())
    expect(root).toMatchObject({
      id: first.root,
      name: 'pipeline 0',
      run_type: 'CHAIN',
      status: 'SUCCESS',
      latency_seconds: 0.5,
      inputs: { question: 'q0' },
      outputs: { answer: 0 },
      metadata: { thread_id: 'thread', deep: { kept: true } },
      tags: ['nightly'],
      thread_id: 'thread',
      is_root: true,
      parent_run_ids: [],
      project_id,
      trace_id: first.root,
    })
    const llm = await client.runs.retrieve(second.llm, { project_id, selects: ALL_SELECTS })
    expect(llm).toMatchObject({
      status: 'ERROR',
      error: 'no luck',
      total_tokens: 7,
      total_cost: 0.25,
      prompt_token_details: { raw: { cache_read: 1 } },
      parent_run_ids: [second.root],
    })
  })

  it('S-8: returns only selected fields, and 404 for another project', async () => {
    expect(await client.runs.retrieve(first.root, { project_id, selects: ['NAME'] })).toEqual({
      name: 'pipeline 0',
    })
    await expect(client.runs.retrieve(first.root, { project_id: newUuid() })).rejects.toThrow('404')
  })

  it('returns the page of a run in the web interface', async () => {
    const { url } = await client.runs.getURL(first.llm, { project_id, trace_id: first.root })
    expect(url).toMatch(new RegExp(`^http://[^/]+/app/traces/${first.root}\\?run=${first.llm}$`))
  })
})

describe('traces', () => {
  inLong(() => {
    it('S-23: are listed by their roots, with sums over the whole trace', async () => {
      const found: unknown[] = []
      const selects = ['NAME', 'TOTAL_TOKENS', 'TOTAL_COST'] as const
      for await (const trace of client.traces.query({ project_id, page_size: 2, selects: [...selects] }))
        found.push(trace)
      expect(found).toEqual(
        [4, 3, 2, 1, 0].map((n) => ({
          root_run: { name: `pipeline ${n}` },
          trace_aggregates: { total_tokens: 7, total_cost: 0.25 },
          query_metadata: null,
        })),
      )
      const { items } = await client.traces.query({ project_id, tree_filter: 'eq(status, "error")' })
      expect(items).toEqual([{ root_run: { id: second.root }, query_metadata: null }])
    })
  })

  it('have their runs, oldest first', async () => {
    const { items } = await client.traces.listRuns(first.root, { project_id, selects: ['NAME'] })
    expect(items?.map(({ name }) => name).toSorted()).toEqual(['model', 'pipeline 0'])
    const only = await client.traces.listRuns(first.root, { project_id, filter: 'eq(run_type, "llm")' })
    expect(only.items).toEqual([{ id: first.llm }])
    await expect(client.traces.listRuns(newUuid(), { project_id })).rejects.toThrow('404')
  })
})

inLong(() => {
  describe('methods of API v1 that have no successor', () => {
    it('give, read, change and delete feedback', async () => {
      const { id } = await client.createFeedback(first.root, 'liked', {
        score: 1,
        comment: 'yes',
        sessionId: project_id,
      })
      expect(await client.readFeedback(id)).toMatchObject({ id, key: 'liked', score: 1, run_id: first.root })
      await client.updateFeedback(id, { score: 0 })
      const listed: unknown[] = []
      for await (const one of client.listFeedback({ runIds: [first.root], feedbackKeys: ['liked'] }))
        listed.push(one)
      expect(listed).toMatchObject([{ id, score: 0, comment: 'yes' }])
      await client.deleteFeedback(id)
      await expect(client.readFeedback(id)).rejects.toThrow('404')
    })

    it('getRunStats returns figures', async () => {
      const stats = await client.getRunStats({ projectIds: [project_id], isRoot: true })
      expect(stats).toMatchObject({ run_count: TRACES, total_tokens: 7 * TRACES, error_rate: 0 })
    })

    it('deleteProject deletes a project', async () => {
      const { id } = await client.createProject({ projectName: 'to be deleted' })
      await client.deleteProject({ projectId: id })
      expect(await client.hasProject({ projectName: 'to be deleted' })).toBe(false)
      expect(await client.hasProject({ projectName: PROJECT })).toBe(true)
    })
  })
})
