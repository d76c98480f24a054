import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const ENVIRONMENT = join(PYTHON, '..', '..')
const WITHOUT = withoutPython()

const BROKEN = 'import json\n\nvalue = json.loads("{")\ngraph = None\n'
const PACKAGED = `
from langgraph.graph import START, MessagesState, StateGraph
from .words import WORD
graph = StateGraph(MessagesState).add_node("say", lambda _: {"messages": [("ai", WORD)]}).add_edge(START, "say")
`

const FACTORY = `
import asyncio
import contextlib
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph_sdk.runtime import ServerRuntime

@contextlib.asynccontextmanager
async def make(config: RunnableConfig, runtime: ServerRuntime[dict]):
    entered = asyncio.current_task()
    found = runtime.execution_runtime
    said = [runtime.access_context, found and found.context, type(runtime.store).__name__]
    yield StateGraph(dict).add_node("say", lambda _: {"said": said}).add_edge(START, "say")
    # As anyio's cancel scopes demand, which MCP sessions use.
    assert asyncio.current_task() is entered
    if config.get("configurable", {}).get("break"):
        raise OSError("the session cannot be closed")
`

/** Exports of features.py. */
const FEATURES = [
  'functional',
  'sync_factory',
  'bare_factory',
  'sync_manager',
  'helpers',
  'model',
  'agent',
  'api',
]

interface TracedRun {
  id: string
  dotted_order: string
  parent_run_id: string | null
  status: string
  tags: string[]
  extra: { metadata: Record<string, unknown> }
  [field: string]: unknown
}

/** The metadata that LangChain and LangGraph give, and those of the test. */
function pick(metadata: Record<string, unknown>): Record<string, unknown> {
  const own = /^(of$|ls_|langgraph_(step|node|triggers|path)$)/
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => own.test(name)))
}

/** The same with all ids of messages alike. */
function withoutIds(value: object): object {
  const text = JSON.stringify(value).replaceAll(/"id":"[^"]*"/g, '"id":""')
  return JSON.parse(text) as object
}

/** A project with Python graphs and a TypeScript graph. */
async function writeProject(dir: string): Promise<string> {
  await mkdir(join(dir, 'src', 'talk'), { recursive: true })
  await writeFile(join(dir, 'broken.py'), BROKEN)
  await writeFile(join(dir, 'factory.py'), FACTORY)
  await writeFile(join(dir, 'src', 'talk', '__init__.py'), '')
  await writeFile(join(dir, 'src', 'talk', 'words.py'), 'WORD = "good day"\n')
  await writeFile(join(dir, 'src', 'talk', 'graph.py'), PACKAGED)
  const graphs = {
    kinds: `${FIXTURES}python-graphs/kinds.py:graph`,
    tokens: `${FIXTURES}python-graphs/tokens.py:graph`,
    hostile: `${FIXTURES}python-graphs/hostile.py:builder`,
    talk: './src/talk/graph.py:graph',
    talk_module: 'talk.graph:graph',
    typescript: `${FIXTURES}graphs/kinds.ts:graph`,
    broken: './broken.py:graph',
    factory: './factory.py:make',
    ...Object.fromEntries(FEATURES.map((name) => [name, `${FIXTURES}python-graphs/features.py:${name}`])),
    spinning: `${FIXTURES}python-graphs/features.py:hostile`,
    nameless: `${FIXTURES}python-graphs/kinds.py:nothing`,
  }
  const file = join(dir, 'langgraph.json')
  await writeFile(file, JSON.stringify({ dependencies: ['.'], graphs }))
  return file
}

describe.skipIf(WITHOUT !== '')(`Python graphs${WITHOUT}`, () => {
  let dir: string
  let weir: WeirProcess
  let client: Client
  const wait = async (graph: string, input: object, thread: string | null = null): Promise<unknown> =>
    client.runs.wait(thread as null, graph, { input: input as Record<string, unknown>, raiseError: false })

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-python-'))
    const GRAPHS = await writeProject(dir)
    weir = await startWeir({ GRAPHS, VIRTUAL_ENV: ENVIRONMENT, HOST_STALL_SECONDS: '2', OTLP_GRPC_PORT: '0' })
    client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
  })
  afterAll(async () => {
    await weir.stop().catch(() => undefined)
    await rm(dir, { recursive: true })
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

  it('may be functions with tasks, which remember what the last run has left and can be interrupted', async () => {
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
    expect(said).toEqual(['', 'tok0 tok1 tok2 '])
    // The SDK may tell of a call for each of its streams.
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
    // Messages of Python graphs are in the namespace of their graph, also those that were not streamed.
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
    // The thread is now one of the TypeScript graph, which cannot read its states.
    const refused = { status: 409, message: expect.stringContaining('thread_of_other_language') as string }
    await expect(client.threads.getState(thread_id)).rejects.toMatchObject(refused)
    await expect(client.threads.updateState(thread_id, { values: {} })).rejects.toMatchObject(refused)
    // A graph of its own language still can.
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
      const answer = await weir.request('/api/v1/runs/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          filter: `eq(thread_id, "${thread_id}")`,
          select: ['name', 'llm', 'first_token_time', 'status'],
        }),
      })
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

  it('D-45: have the trace that the SDK of LangSmith would have sent, with its tokens and costs', async () => {
    const alone = randomUUID()
    const env = {
      PATH: process.env['PATH'],
      LANGSMITH_TRACING: 'true',
      LANGSMITH_ENDPOINT: weir.url,
      LANGSMITH_API_KEY: weir.key,
      LANGSMITH_PROJECT: 'alone',
    }
    const cwd = `${FIXTURES}python-graphs`
    await promisify(execFile)(PYTHON, ['trace_alone.py', alone], { cwd, env })
    const { thread_id } = await client.threads.create()
    const input = { messages: [{ role: 'user', content: 'hi' }] }
    const config = { tags: ['mine'] }
    const { run_id } = await client.runs.create(thread_id, 'model', {
      input,
      config,
      metadata: { of: 'test' },
    })
    await client.runs.join(thread_id, run_id)
    const [own, sent] = [await traceOf(run_id), await traceOf(alone)]
    expect(own).toEqual(sent)
    expect(own.find(({ run_type }) => run_type === 'llm')).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 4,
      // 0.15 $ and 0.60 $ for a million.
      total_cost: '0.0001524',
    })
  })

  /** The runs of a finished trace in their order, without what differs each time. */
  async function traceOf(trace: string): Promise<Record<string, unknown>[]> {
    const select = ['name', 'run_type', 'status', 'parent_run_id', 'inputs', 'outputs', 'tags', 'extra']
    const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'total_cost', 'dotted_order']
    return eventually(async () => {
      const { runs } = await weir.json<{ runs: TracedRun[] }>('/api/v1/runs/query', {
        trace,
        select: ['id', ...select, ...counts],
      })
      expect(runs.length).toBeGreaterThan(2)
      expect(runs.map(({ status }) => status)).not.toContain('pending')
      const ordered = runs.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1))
      const places = new Map(ordered.map(({ id }, place) => [id, place]))
      return ordered.map((one) => ({
        ...withoutIds(Object.fromEntries([...select, ...counts].map((field) => [field, one[field]]))),
        ...{ dotted_order: undefined, extra: pick(one.extra.metadata), tags: one.tags.toSorted() },
        parent_run_id: one.parent_run_id && places.get(one.parent_run_id),
      }))
    })
  }

  it('D-42: end their host alone, and the run at fault fails with the place', async () => {
    expect(await wait('hostile', { act: 'exit' })).toMatchObject({
      __error__: { error: 'HostLost', message: 'The graph ended its process with code 3.' },
    })
    const blocked = JSON.stringify(await wait('hostile', { act: 'block' }))
    expect(blocked).toMatch(/A node held up the graph host for \d+ s\. \(\S+hostile\.py:\d+\)/)
    const left = { __error__: { error: 'HostLost', message: 'The graph ended its process with code 4.' } }
    expect(await wait('spinning', { ask: 'leave' })).toMatchObject(left)
    // In code outside of Python, which no handler of a signal interrupts.
    const spun = JSON.stringify(await wait('spinning', { ask: 'spin' }))
    expect(spun).toMatch(/A node held up the graph host for \d+ s\. \(\S+features\.py:\d+\)/)
    expect(await wait('hostile', { act: 'none' })).toMatchObject({ log: 'acted' })
  })
})

describe('a project with Python graphs on a machine without Python', () => {
  it('HOST-5: says what is missing, and the other graphs work', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'weir-no-python-'))
    const GRAPHS = await writeProject(dir)
    const weir = await startWeir({ GRAPHS, PATH: dir, OTLP_GRPC_PORT: '0' })
    try {
      const client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
      const wait = (graph: string) =>
        client.runs.wait(null, graph, { input: { kind: 'plain' }, raiseError: false })
      expect(JSON.stringify(await wait('kinds'))).toContain('python3 is not on the PATH')
      expect(await wait('typescript')).toMatchObject({ log: ['begun', 'answered plain', 'finished'] })
    } finally {
      await weir.stop().catch(() => undefined)
      await rm(dir, { recursive: true })
    }
  })
})
