import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunKwargs } from '../../../../src/runs/model.ts'
import type { JsonObject, JsonValue } from '../../../../src/schema/json.ts'
import { withoutPython } from '../../../support/python.ts'
import {
  ask,
  configOf,
  dataOf,
  describeHosts,
  type HostBench,
  openHostBench,
  parse,
  stateOf,
} from '../../../support/runs/hosts/graph-hosts.ts'

/** Half of a surrogate pair, as of a title that was cut inside an emoji. */
const HALF = 'smile \ud83d'

describeHosts((open, language) => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await open(['talking', 'echo', 'wide', 'unstorable', 'kinds'])
  })
  afterAll(() => bench.stop())

  /** `event: node: text` of each message and custom event. Ids of namespaces are left out, as are empty texts. */
  async function said(kwargs: Partial<RunKwargs>): Promise<string[]> {
    const { end, items } = await bench.run('talking', { messages: [{ role: 'user', content: 'hi' }] }, kwargs)
    expect(end.kind).toBe('done')
    return items.flatMap(({ event, data }) => {
      const name = event.replace(/:[^|]*/g, '')
      if (name.startsWith('custom')) return [`${name}: ${data}`]
      if (!/^messages(\||$)/.test(name)) return []
      const [message, about] = JSON.parse(data) as [{ content: string }, { langgraph_node: string }]
      return message.content === '' ? [] : [`${name}: ${about.langgraph_node}: ${message.content}`]
    })
  }
  const outer = ['tok0 ', 'tok1 ', 'tok2 '].map((text) => `messages: outer: ${text}`)

  describe('STREAM-6: messages of a graph whose subgraph has a model', () => {
    it('are, without subgraphs, the message of the subgraph as one, with the node of the parent', async () => {
      expect(await said({ stream_mode: ['messages-tuple'] })).toEqual([
        'messages: child: tok0 tok1 ',
        ...outer,
      ])
    })

    it('are, with subgraphs, all tokens, with their namespace', async () => {
      expect(await said({ stream_mode: ['messages-tuple'], subgraphs: true })).toEqual([
        'messages|child: speak: tok0 ',
        'messages|child: speak: tok1 ',
        ...outer,
      ])
    })

    it('come beside custom events, which those of LangGraph for Python have with subgraphs only', async () => {
      const inside = (name: string) => `${name}: "from inside"`
      const plain = await said({ stream_mode: ['messages-tuple', 'custom'] })
      const custom = language === 'python' ? [] : [inside('custom')]
      expect(plain.toSorted()).toEqual([...custom, 'messages: child: tok0 tok1 ', ...outer].toSorted())
      expect(await said({ stream_mode: ['custom'], subgraphs: true })).toEqual([inside('custom|child')])
    })

    it('are the same beside events of LangChain', async () => {
      expect(await said({ stream_mode: ['messages-tuple', 'events'] })).toEqual([
        'messages: child: tok0 tok1 ',
        ...outer,
      ])
    })
  })

  it('RUN-37, D-45: the root of a trace has the name of the config, otherwise the id of a graph without a name', async () => {
    const rootOf = async (config: JsonObject): Promise<unknown> => {
      const job = await bench.job('echo', {}, { config }, undefined, true)
      const { traces } = await bench.execute(job)
      return traces.flatMap(({ post }) => post as JsonObject[]).find(({ id }) => id === job.trace_id)?.[
        'name'
      ]
    }
    expect(await rootOf({})).toBe('echo')
    expect(await rootOf({ run_name: 'nightly' })).toBe('nightly')
  })

  describe('a lone surrogate', () => {
    it.each(['input', 'metadata', 'configurable', 'context'])(
      'in %s reaches the graph and its state',
      async (place) => {
        const config = {
          configurable: { user: place === 'configurable' ? HALF : 'x' },
          metadata: { title: HALF },
        }
        const text = place === 'input' ? HALF : 'x'
        const context = { user: place === 'context' ? HALF : 'x' }
        const job = await bench.job('echo', { text }, { config, context }, undefined, true)
        const { end } = await bench.execute(job)
        expect(end).toMatchObject({ kind: 'done' })
        expect(stateOf(end)).toEqual({ text, context, user: config.configurable.user })
        // The next run reads the checkpoint of this one.
        const again = await bench.run('echo', { text: 'y' }, { context }, job.run.thread_id)
        expect(stateOf(again.end)).toMatchObject({ text: 'y' })
      },
    )
  })

  it('max_concurrency limits the nodes of a step that run at the same time', async () => {
    const most = async (config: JsonObject) => stateOf((await bench.run('wide', {}, { config })).end)
    expect(await most({})).toEqual({ runs: 4, most: 4 })
    expect(await most({ max_concurrency: 2 })).toEqual({ runs: 4, most: 2 })
  })

  it('a value that cannot be stored ends the run with an error that names its key', async () => {
    const { end } = await bench.run('unstorable', { text: 'x' })
    const message = expect.stringMatching(/^The value of "text" cannot be stored: ./) as string
    expect(end).toMatchObject({ kind: 'failed', error: 'TypeError', message, retryable: false })
  })

  describe('a list of state values', () => {
    const update = async (values: JsonValue) => {
      const job = await bench.job('kinds', { kind: 'plain' })
      await bench.execute(job)
      const { thread_id } = job.run
      const about = { graph_id: 'kinds', config: configOf({ thread_id }) }
      await ask(bench, { name: 'update_state', ...about, values, as_node: 'respond' })
      return (await ask(bench, { name: 'state', ...about, subgraphs: false })) as { values: JsonObject }
    }

    it('is written whole: reducers get every value', async () => {
      const { values } = await update([{ log: ['a'] }, { log: ['b'], kind: 'x' }])
      expect(values).toMatchObject({ log: ['begun', 'answered plain', 'finished', 'a', 'b'], kind: 'x' })
      expect((await update([])).values).toMatchObject({ log: ['begun', 'answered plain', 'finished'] })
    })

    it('is refused whole', async () => {
      for (const values of [
        [{ kind: 'x' }, { kind: 'y' }],
        [{ log: ['a'] }, 'text'],
      ])
        await expect(update(values)).rejects.toMatchObject({ code: 'invalid_request' })
    })
  })

  it('the context is an empty object if a request has none', async () => {
    expect(stateOf((await bench.run('echo', { text: 'x' })).end)).toMatchObject({ context: {} })
  })
})

const WITHOUT = withoutPython()
describe.skipIf(WITHOUT !== '')(`a host of Python graphs${WITHOUT}`, () => {
  let bench: HostBench
  beforeAll(async () => {
    bench = await openHostBench(['settings', 'slim', 'mixed', 'traced', 'pooled', 'expiring'], {
      language: 'python',
    })
  })
  afterAll(() => bench.stop())

  it('RUN-37: gives the fields of the context that its class has, with the defaults of the others', async () => {
    const seen = async (context: JsonObject) =>
      stateOf((await bench.run('settings', { text: 'x' }, { context })).end)['context']
    expect(await seen({ user: 'u', 'x-other': 1 })).toEqual({ user: 'u', n: 1 })
    expect(await seen({ other: 1 })).toEqual({ user: 'nobody', n: 1 })
  })

  it.each<[string, Partial<RunKwargs>]>([
    ['without subgraphs', { subgraphs: false }],
    ['with subgraphs', { subgraphs: true }],
  ])('streams only the channels of the output schema, %s', async (_, kwargs) => {
    const stream_mode = ['values', 'updates']
    const { end, items } = await bench.run('slim', { question: 'hi' }, { stream_mode, ...kwargs })
    expect(dataOf(items, 'values')).toEqual([{ answer: 'hi!' }])
    expect(dataOf(items, 'updates')).toEqual([{ hide: null }, { tell: { answer: 'hi!' } }])
    expect(end.kind === 'done' && parse(end.values)).toEqual({ answer: 'hi!' })
    expect(stateOf(end)).toEqual({ question: 'hi', hidden: 'secret', answer: 'hi!' })
  })

  it('RUN-30: stores items for the minutes that a node names', async () => {
    expect(stateOf((await bench.run('expiring', {})).end)['text']).toEqual(['long'])
  })

  it('has a schema of a state with a channel whose type has none', async () => {
    const made = await ask(bench, { name: 'schemas', graph_id: 'mixed', config: {} })
    const { properties } = (made as { state_schema: { properties: JsonObject } }).state_schema
    expect(Object.keys(properties)).toEqual(['text', 'context', 'user', 'session'])
  })

  async function tracedRun(graph: string, input: JsonObject, what: { name: string } | { run_type: string }) {
    const job = await bench.job(graph, input, {}, undefined, true)
    const { end, traces } = await bench.execute(job)
    const posted = traces.flatMap(({ post }) => post as JsonObject[])
    const parent_run_id = expect.any(String) as string
    const found = posted.filter((one) => Object.entries(what).every(([name, value]) => one[name] === value))
    expect(found).not.toEqual([])
    for (const one of found) expect(one).toMatchObject({ trace_id: job.trace_id, parent_run_id })
    return { calls: found.length, ...stateOf(end) }
  }

  it('D-45: runs nodes that call @traceable functions, which are in the trace of the run', async () => {
    expect(await tracedRun('traced', { text: 'loud' }, { name: 'shout' })).toMatchObject({ text: 'LOUD' })
  })

  it('D-45: has model calls in the thread pools of a node in the trace of the run', async () => {
    const text = 'tok0 '.repeat(4)
    expect(await tracedRun('pooled', {}, { run_type: 'llm' })).toMatchObject({ calls: 4, text })
  })
})
