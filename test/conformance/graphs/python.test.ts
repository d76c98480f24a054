import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { writePythonProject } from '../../support/runs/python-project.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'
import { useFolder } from '../../support/folder.ts'

const ENVIRONMENT = join(PYTHON, '..', '..')
const WITHOUT = withoutPython()

describe.skipIf(WITHOUT !== '')(`Python graphs${WITHOUT}`, () => {
  let dir: string
  let weir: WeirProcess
  let client: Client
  const wait = async (graph: string, input: object, thread: string | null = null): Promise<unknown> =>
    client.runs.wait(thread as null, graph, { input: input as Record<string, unknown>, raiseError: false })

  useFolder(async (made) => {
    dir = made
    const GRAPHS = await writePythonProject(dir)
    weir = await startWeir({ GRAPHS, VIRTUAL_ENV: ENVIRONMENT, OTLP_GRPC_PORT: '0' })
    client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
  })
  afterAll(async () => {
    await weir.stop().catch(() => undefined)
  })

  it('P-28: run beside graphs of another language, from files, packages and modules', async () => {
    for (const graph of ['kinds', 'typescript'])
      expect(await wait(graph, { kind: 'plain' })).toMatchObject({
        log: ['begun', 'answered plain', 'finished'],
      })
    for (const graph of ['talk', 'talk_module'])
      expect(await wait(graph, { messages: [] })).toMatchObject({
        messages: [{ type: 'ai', content: 'good day' }],
      })
  })

  it('may come from factories that are context managers, which get the runtime of the server', async () => {
    const context = { tone: 'dry' }
    const made = await client.runs.wait(null, 'factory', { input: {}, context })
    expect(made).toEqual({ said: ['threads.create_run', context, 'BrokeredStore'] })
    const config = { configurable: { break: true } }
    const failed = await client.runs.wait(null, 'factory', { input: {}, config, raiseError: false })
    expect(failed).toEqual({ __error__: { error: 'OSError', message: 'the session cannot be closed' } })
    expect(await client.assistants.getGraph('factory')).toMatchObject({ nodes: expect.any(Array) as unknown })
  })

  it('may come from sync functions and context managers', async () => {
    const config = { configurable: { word: 'hi' } }
    const said = async (graph: string) => client.runs.wait(null, graph, { input: {}, config })
    expect(await said('sync_factory')).toEqual({ found: 'hi' })
    expect(await said('bare_factory')).toEqual({ found: 'bare' })
    expect(await said('sync_manager')).toEqual({ found: 'managed hi' })
  })

  it('may be functions with tasks, which get the result of the previous run and can be interrupted', async () => {
    const { thread_id } = await client.threads.create()
    expect(await wait('functional', { n: 2 }, thread_id)).toEqual({ total: 4, answer: null })
    const asked = await wait('functional', { n: 3, question: 'sure?' }, thread_id)
    expect(asked).toMatchObject({ __interrupt__: [{ value: 'sure?' }] })
    const command = { resume: 'yes' }
    expect(await client.runs.wait(thread_id, 'functional', { command })).toEqual({ total: 10, answer: 'yes' })
  })

  it('get the store, a writer and the config from langgraph.config, in sync nodes', async () => {
    const events: unknown[] = []
    const stream = client.runs.stream(null, 'helpers', {
      input: { ask: 'x' },
      streamMode: ['custom', 'values'],
    })
    for await (const { event, data } of stream) if (event !== 'metadata') events.push(data)
    expect(events).toEqual([
      { ask: 'x' },
      { asked: 'x' },
      { ask: 'x', found: { stored: [{ text: 'x' }], thread: true } },
    ])
    expect((await client.store.getItem(['helpers'], 'one'))?.value).toEqual({ text: 'x' })
  })

  it('stream the messages of a model that a sync node calls without streaming', async () => {
    const input = { messages: [{ role: 'user', content: 'hi' }] }
    const texts: unknown[] = []
    for await (const { event, data } of client.runs.stream(null, 'model', {
      input,
      streamMode: 'messages-tuple',
    }))
      if (event === 'messages') texts.push((data as unknown as [{ content: string }])[0].content)
    expect(texts.filter((text) => text !== '')).toEqual(['tok0 ', 'tok1 ', 'tok2 ', 'tok3 '])
  })

  it('HOST-8, V-40 to V-43: have streams of protocol v2, which say what those of protocol v1 say', async () => {
    const thread = client.threads.stream({ assistantId: 'agent' })
    const events: { method: string; params: { namespace: string[]; data: unknown } }[] = []
    thread.onEvent((event) => void events.push(event))
    const input = { messages: [{ type: 'human', content: 'sum', id: 'asked' }] }
    const { run_id } = await thread.run.start({ input })
    const said: string[] = []
    const calls: object[] = []
    const hear = async () => {
      for await (const { text } of thread.messages) said.push(await text)
    }
    const watch = async () => {
      for await (const { callId, name, input: given, output: made } of thread.toolCalls)
        calls.push({ callId, name, given, made: await made })
    }
    const [output] = await Promise.all([thread.output, hear(), watch()])
    const { messages } = output as { messages: { type: string }[] }
    await thread.close()
    expect(said).toEqual(['tok0 tok1 tok2 '])
    // The SDK may report a call once for each of its streams.
    const call = { callId: 'sum', name: 'add', given: { a: 1, b: 2 }, made: '3' }
    expect(calls.slice(0, 1)).toEqual([call])
    expect(calls).toEqual(calls.map(() => call))
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai'])
    const of = (method: string) => events.filter((event) => event.method === method)
    expect(of('lifecycle').map(({ params }) => params.data)).toEqual([
      { event: 'running', graph_name: 'agent' },
      { event: 'completed', graph_name: 'agent' },
    ])
    expect(of('values')).not.toHaveLength(0)
    // Every message of a Python graph has the namespace of its graph, whether or not it was streamed.
    expect(of('messages').map(({ params }) => params.namespace)).toEqual(of('messages').map(() => []))
    const joined: string[] = []
    const whole = client.runs.joinStream(thread.threadId, run_id ?? '', { lastEventId: '-1' })
    for await (const { event } of whole) joined.push(event)
    expect(new Set(joined)).toEqual(
      new Set(['metadata', 'values', 'updates', 'messages', 'tools', 'tasks', 'checkpoints']),
    )
  })

  it('call the API of their deployment with get_client()', async () => {
    const called = (await wait('api', { ask: 'bare_factory' })) as { found: { thread_id: string } }
    expect(called).toMatchObject({ found: { made: { found: 'bare' } } })
    const thread = await client.threads.get(called.found.thread_id)
    expect(thread).toMatchObject({
      status: 'idle',
      metadata: { made_by: 'a node' },
      values: { found: 'bare' },
    })
  })

  it('store no checkpoint of steps with durability exit, and all of them otherwise', async () => {
    const lengths = []
    for (const durability of ['exit', 'async', 'sync'] as const) {
      const { thread_id } = await client.threads.create()
      await client.runs.wait(thread_id, 'kinds', { input: { kind: 'plain' }, durability })
      lengths.push((await client.threads.getHistory(thread_id)).length)
    }
    expect(lengths).toEqual([1, 5, 5])
  })

  it('RUN-38: integers beyond 2^53 stay as they were sent', async () => {
    const send = async (method: string, path: string, body?: string): Promise<string> => {
      const headers = { 'x-api-key': weir.key, 'content-type': 'application/json' }
      const answer = await fetch(weir.deploymentUrl + path, { method, headers, ...(body && { body }) })
      return (await answer.text()).trim()
    }
    const big = '12345678901234567890'
    const echoed = await send(
      'POST',
      '/runs/wait',
      `{"assistant_id":"echo","input":{"text":[${big},-9007199254740993]}}`,
    )
    expect(echoed).toContain(`"text":[${big},-9007199254740993]`)
    const { thread_id } = await client.threads.create({ graphId: 'kinds' })
    await wait('kinds', { kind: 'ask' }, thread_id)
    const runs = `/threads/${thread_id}/runs`
    const resumed = await send('POST', `${runs}/wait`, `{"assistant_id":"kinds","command":{"resume":${big}}}`)
    expect(resumed).toContain(`"answer":${big}`)
    expect(await send('GET', runs)).toContain(`"resume":${big}`)
    await send('POST', `/threads/${thread_id}/state`, `{"values":{"kind":${big}},"as_node":"respond"}`)
    expect(await send('GET', `/threads/${thread_id}/state`)).toContain(`"kind":${big}`)
    await send('PUT', '/store/items', `{"namespace":["big"],"key":"k","value":{"n":${big}}}`)
    expect(await send('GET', '/store/items?namespace=big&key=k')).toContain(`"n":${big}`)
    await send('POST', '/threads', '{"metadata":{"guild":9007199254740993}}')
    const found = (id: string) => send('POST', '/threads/search', `{"metadata":{"guild":${id}}}`)
    expect(await found('9007199254740993')).toContain('"guild":9007199254740993')
    expect(await found('9007199254740992')).toBe('[]')
  })

  it('that cannot be loaded say the file, the line and the reason', async () => {
    const failed = { error: 'GraphLoadError', message: expect.any(String) as string }
    const broken = await wait('broken', {})
    expect(broken).toMatchObject({ __error__: failed })
    expect(JSON.stringify(broken)).toContain(`${dir}/broken.py:3: JSONDecodeError: Expecting property name`)
    expect(JSON.stringify(await wait('nameless', {}))).toContain('It has no variable \\"nothing\\". It has ')
  })

  it('P-28: a thread that they have written cannot be used by a graph of another language', async () => {
    const { thread_id } = await client.threads.create()
    await wait('kinds', { kind: 'plain' }, thread_id)
    expect(JSON.stringify(await wait('typescript', { kind: 'plain' }, thread_id))).toContain(
      'A graph of another language has written the thread.',
    )
    // The last run on the thread was of the TypeScript graph. So reads use this graph, which cannot read states of the
    // Python graph.
    const refused = { status: 409, message: expect.stringContaining('thread_of_other_language') as string }
    await expect(client.threads.getState(thread_id)).rejects.toMatchObject(refused)
    await expect(client.threads.updateState(thread_id, { values: {} })).rejects.toMatchObject(refused)
    // A graph in the thread's own language can still use the thread.
    expect(await wait('kinds', { kind: 'plain' }, thread_id)).toMatchObject({ kind: 'plain' })
    expect(await client.threads.getState(thread_id)).toMatchObject({ next: [] })
  })

  it('are traced, with the tokens and the first token of their model calls', async () => {
    const { thread_id } = await client.threads.create()
    const input = { tokens: 7, messages: [{ role: 'user', content: 'hi' }] }
    const stream = client.runs.stream(thread_id, 'tokens', { input, streamMode: ['messages-tuple'] })
    const events: string[] = []
    for await (const { event } of stream) events.push(event)
    expect(events.filter((event) => event === 'messages')).toHaveLength(7)
    await eventually(async () => {
      const answer = await weir.request(
        '/api/v1/runs/query',
        jsonBody('POST', {
          filter: `eq(thread_id, "${thread_id}")`,
          select: ['name', 'llm', 'first_token_time', 'status'],
        }),
      )
      const { runs } = (await answer.json()) as { runs: { name: string; [field: string]: unknown }[] }
      const call = runs.find(({ name }) => name === 'TokenModel')
      expect(call).toMatchObject({
        status: 'success',
        first_token_time: expect.any(String) as string,
        llm: { usage_metadata: { output_tokens: expect.any(Number) as number } },
      })
      expect(runs.map(({ name }) => name)).toEqual(expect.arrayContaining(['plan', 'model', 'finish']))
    })
  })
})
