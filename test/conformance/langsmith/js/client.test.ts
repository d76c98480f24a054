import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Client } from 'langsmith'
import { RunTree } from 'langsmith/run_trees'
import type { Run } from 'langsmith/schemas'
import { getCurrentRunTree, traceable } from 'langsmith/traceable'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../src/base/ids.ts'
import { eventually } from '../../../support/eventually.ts'
import { makeClient, readEnded, readNow, useClientSetup } from './client-setup.ts'
import { inLong } from '../../../support/length.ts'

const setup = useClientSetup()
let client: Client

beforeAll(() => {
  client = makeClient(setup())
})

/** Options of every traced function of these tests. */
const traced = (name: string, rest: object = {}) => ({
  name,
  client,
  tracingEnabled: true,
  project_name: 'langsmith-js',
  ...rest,
})

const MODEL = { ls_provider: 'my_provider', ls_model_name: 'gpt-4.1-mini' }
const QUESTION = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'Hi there' },
]

describe('traceable', () => {
  it('nests: a traced call is returned as one tree', async () => {
    const id = newUuid()
    const retrieve = traceable(async (query: string) => [{ page_content: query, type: 'Document' }], {
      ...traced('retrieve', { run_type: 'retriever' }),
    })
    const add = traceable((a: number, b: number) => a + b, traced('adder', { run_type: 'tool' }))
    const rag = traceable(
      async (question: string) => {
        const documents = await retrieve(question)
        return { answer: documents[0]!.page_content, sum: await add(2, 3) }
      },
      traced('rag', { id, tags: ['t1', 't2'], metadata: { user_id: 'u1', session_id: 'thread-1' } }),
    )
    expect(await rag('why?')).toEqual({ answer: 'why?', sum: 5 })

    const root = await readEnded(client, id)
    expect(root).toMatchObject({
      name: 'rag',
      run_type: 'chain',
      status: 'success',
      error: null,
      trace_id: id,
      parent_run_id: null,
      inputs: { input: 'why?' },
      outputs: { answer: 'why?', sum: 5 },
      tags: ['t1', 't2'],
      thread_id: 'thread-1',
      extra: { metadata: { user_id: 'u1', session_id: 'thread-1' }, runtime: { library: 'langsmith' } },
    })
    const tree = await eventually(async () => {
      const found = await client.readRun(id, { loadChildRuns: true })
      expect(found.child_runs).toHaveLength(2)
      return found
    })
    const [first, second] = tree.child_runs as [Run, Run]
    expect(first).toMatchObject({
      name: 'retrieve',
      run_type: 'retriever',
      parent_run_id: id,
      inputs: { input: 'why?' },
      outputs: { outputs: [{ page_content: 'why?', type: 'Document' }] },
    })
    expect(second).toMatchObject({
      name: 'adder',
      run_type: 'tool',
      parent_run_id: id,
      inputs: { args: [2, 3] },
      outputs: { outputs: 5 },
    })
    for (const child of [first, second]) expect(child.dotted_order).toContain(`${root.dotted_order}.`)
    expect(Date.parse(String(root.end_time))).toBeGreaterThanOrEqual(Date.parse(root.start_time))
  })

  inLong(() => {
    it('keeps the error of a child and of its parent', async () => {
      const id = newUuid()
      let childId = ''
      const inner = traceable(
        async () => {
          childId = getCurrentRunTree().id
          throw new RangeError('boom from inner')
        },
        traced('inner', { run_type: 'tool' }),
      )
      const outer = traceable(async () => await inner(), traced('outer', { id }))
      await expect(outer()).rejects.toThrow('boom from inner')
      for (const [name, failed] of [
        ['outer', id],
        ['inner', childId],
      ] as const) {
        const found = await readEnded(client, failed)
        expect(found).toMatchObject({ name, status: 'error' })
        expect(found.error).toContain('boom from inner')
      }
    })
  })

  it('reads the first token from a streaming generator, and estimates missing counts', async () => {
    const id = newUuid()
    const say = traceable(
      async function* (_input: { messages: typeof QUESTION }) {
        yield* ['Hello', ', ', 'world']
      },
      traced('stream_llm', {
        id,
        run_type: 'llm',
        metadata: MODEL,
        aggregator: (pieces: string[]) => ({ role: 'assistant', content: pieces.join('') }),
      }),
    )
    const heard: string[] = []
    for await (const piece of say({ messages: QUESTION })) heard.push(piece)
    expect(heard.join('')).toBe('Hello, world')

    const found = await readEnded(client, id)
    expect(found.events.map(({ name }) => name)).toEqual(['new_token', 'new_token', 'new_token'])
    const [first] = found.events
    expect(Date.parse(String(found.first_token_time))).toBe(Date.parse(String(first?.time)))
    expect(found.llm).toMatchObject({
      provider: 'my_provider',
      model: 'gpt-4.1-mini',
      usage_source: { input: 'estimate', output: 'estimate' },
      usage_metadata: { input_tokens: 19, output_tokens: 3, total_tokens: 22 },
      messages: { output: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello, world' }] }] },
      checks: { run_type: { ok: true }, format: { ok: true }, model: { ok: true }, usage: { ok: false } },
    })
    expect(found.llm!.time_to_first_token_ms).toBeGreaterThanOrEqual(0)
  })

  inLong(() => {
    it('marks a stream that was left before its end', async () => {
      const id = newUuid()
      const count = traceable(
        async function* () {
          yield 1
          yield 2
        },
        traced('left', { id }),
      )
      for await (const _ of count()) break
      expect(await readEnded(client, id)).toMatchObject({
        status: 'error',
        error: 'Cancelled',
        outputs: { outputs: [1] },
      })
    })

    it('sends numbers, unicode and odd keys, which are returned unchanged', async () => {
      const id = newUuid()
      const odd = {
        big: 2 ** 53 - 1,
        small: 1e-7,
        emoji: '👩‍🚀 ü \u0000 \ud83d',
        'a.b': { $ref: '#/x', constructor: 1 },
        deep: JSON.parse('[[[[[[[[[[{"x":[]}]]]]]]]]]]') as unknown,
        nothing: null,
      }
      const same = traceable((value: object) => value, traced('odd', { id }))
      await same(odd)
      const found = await readEnded(client, id)
      expect(found.inputs).toEqual(odd)
      expect(found.outputs).toEqual(odd)
    })
  })
})

describe('attachments', () => {
  it('are returned byte for byte with their type', async () => {
    const id = newUuid()
    const picture = randomBytes(100_000)
    const note = Buffer.from('a\r\n------LangSmithFormBoundary\r\nContent-Disposition: form-data\r\n\r\nb')
    const look = traceable(
      (input: { question: string }) => input.question.length,
      traced('with-files', {
        id,
        extractAttachments: (input: { question: string; picture: Uint8Array; note: Uint8Array }) => [
          { picture: ['image/png', input.picture], note: ['text/plain', input.note] },
          { question: input.question },
        ],
      }),
    ) as (input: { question: string; picture: Uint8Array; note: Uint8Array }) => Promise<number>
    expect(await look({ question: 'what?', picture, note })).toBe(5)

    const { attachments, inputs } = await readEnded(client, id)
    expect(inputs).toEqual({ question: 'what?' })
    expect(Object.keys(attachments).sort()).toEqual(['note', 'picture'])
    for (const [name, mime_type, bytes] of [
      ['picture', 'image/png', picture],
      ['note', 'text/plain', note],
    ] as const) {
      expect(attachments[name]).toMatchObject({ mime_type, size: bytes.length })
      const response = await setup().weir.request(attachments[name]!.url)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe(mime_type)
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    }
  })
})

inLong(() => {
  describe('RunTree', () => {
    it('is pending until its update arrives, in a request of its own', async () => {
      const tree = new RunTree({
        ...traced('two-requests', { run_type: 'llm', metadata: MODEL }),
        inputs: { messages: QUESTION },
      })
      await tree.postRun()
      await client.awaitPendingTraceBatches()
      const pending = await eventually(() => readNow(client, tree.id))
      expect(pending).toMatchObject({
        status: 'pending',
        end_time: null,
        outputs: null,
        first_token_time: null,
      })

      const started = Date.parse(pending.start_time)
      tree.addEvent({ name: 'new_token', time: new Date(started + 250).toISOString() })
      tree.addEvent({ name: 'new_token', time: new Date(started + 120).toISOString() })
      await tree.end({ messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello, world' }] }] })
      await tree.patchRun()
      const ended = await readEnded(client, tree.id)
      expect(ended).toMatchObject({ status: 'success', inputs: { messages: QUESTION } })
      expect(Date.parse(String(ended.first_token_time))).toBe(started + 120)
      expect(ended.llm!.time_to_first_token_ms).toBeGreaterThan(119)
      expect(ended.llm!.time_to_first_token_ms).toBeLessThan(121)
      expect(ended.received_at).toBe(pending.received_at)
    })
  })
})

inLong(() => {
  describe('runs without a trace', () => {
    it('createRun and updateRun create a root', async () => {
      const id = newUuid()
      const start_time = Date.now()
      await client.createRun({
        id,
        name: 'plain',
        run_type: 'llm',
        inputs: { prompt: 'Say this is a test' },
        project_name: 'langsmith-js',
        start_time,
        extra: { metadata: MODEL },
      })
      await client.updateRun(id, {
        end_time: start_time + 100,
        outputs: { choices: [{ text: 'This is a test' }] },
      })
      const found = await readEnded(client, id)
      expect(found).toMatchObject({ trace_id: id, parent_run_id: null, status: 'success' })
      expect(Date.parse(found.start_time)).toBe(start_time)
      expect(found.dotted_order).toMatch(new RegExp(`^\\d{8}T\\d{12}Z${id}$`))
      expect(found.llm).toMatchObject({
        input_format: 'openai-completions',
        output_format: 'openai-completions',
      })
    })
  })
})

describe('requests of the SDK', () => {
  const ofPath = (path: string) => setup().proxy.requests.filter(({ url }) => url === path)

  it('reads /info once and follows it: multipart, chunked, gzipped', async () => {
    const before = ofPath('/info').length
    const own = makeClient(setup())
    const id = newUuid()
    await traceable(() => 'x', { ...traced('zipped', { id }), client: own })()
    await readEnded(own, id)
    expect(ofPath('/info').length).toBe(before + 1)
    const carrier = ofPath('/runs/multipart').find(
      ({ headers, body }) =>
        headers['content-encoding'] === 'gzip' &&
        headers['transfer-encoding'] === 'chunked' &&
        gunzipSync(body).includes(`post.${id}`),
    )
    expect(carrier?.status).toBe(202)
    expect(ofPath('/runs/batch')).toEqual([])
  })

  inLong(() => {
    it('uses the batch form after multipart was refused', async () => {
      const own = makeClient(setup(), {
        fetchImplementation: async (url, init) =>
          String(url).endsWith('/runs/multipart')
            ? new Response('{}', { status: 404 })
            : await fetch(url, init),
      })
      const id = newUuid()
      const inner = traceable((n: number) => n + 1, { ...traced('inner'), client: own })
      await traceable(async (n: number) => await inner(n), { ...traced('batched', { id }), client: own })(1)
      expect(await readEnded(own, id)).toMatchObject({
        name: 'batched',
        inputs: { input: 1 },
        outputs: { outputs: 2 },
      })
      expect(ofPath('/runs/batch').map(({ status }) => status)).toContain(202)
    })

    it.each(['/api', '/api/v1'])('are accepted under %s too', async (prefix) => {
      const own = makeClient(setup(), { apiUrl: setup().proxy.url + prefix })
      const id = newUuid()
      await traceable(() => 'x', { ...traced('prefixed', { id }), client: own })()
      expect(await readEnded(own, id)).toMatchObject({ name: 'prefixed' })
    })
  })
})
