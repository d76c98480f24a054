import { Command, isInterrupted, START, StateGraph, Annotation, MemorySaver } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import { describe, expect, it } from 'vitest'
import { useDeployment } from '../../deployments/use-deployment.ts'

const setup = useDeployment()

const remote = (graphId: string): RemoteGraph => new RemoteGraph({ graphId, client: setup().client })

async function newThread(): Promise<{ configurable: { thread_id: string } }> {
  const { thread_id } = await setup().client.threads.create()
  return { configurable: { thread_id } }
}

async function all<T>(items: AsyncIterable<T> | Promise<AsyncIterable<T>>): Promise<T[]> {
  const found: T[] = []
  for await (const item of await items) found.push(item)
  return found
}

describe('RemoteGraph of LangGraph for JavaScript', () => {
  it('invokes a graph with and without a thread, with a config that is added to its own', async () => {
    const graph = remote('kinds')
    expect(await graph.invoke({ kind: 'plain' })).toMatchObject({
      log: ['begun', 'answered plain', 'finished'],
    })
    const configured = graph.withConfig({ configurable: { one: 1 }, tags: ['t'] })
    const values = await configured.invoke({ kind: 'config' }, { configurable: { two: 2 } })
    expect(values).toMatchObject({ answer: { configurable: { one: 1, two: 2 } } })
    await expect(graph.invoke({ kind: 'fail' })).rejects.toThrow('no more quota')
  })

  it('streams in one mode, in several, and with the events of subgraphs', async () => {
    const graph = remote('kinds')
    const updates = await all(graph.stream({ kind: 'sub' }, { streamMode: 'updates' }))
    expect(updates.map((update) => Object.keys(update as object))).toEqual([
      ['begin'],
      ['nested'],
      ['finish'],
    ])
    const values = await all(graph.stream({ kind: 'plain' }, { streamMode: 'values' }))
    expect(values.at(-1)).toMatchObject({ log: ['begun', 'answered plain', 'finished'] })
    expect(await all(graph.stream({ kind: 'custom' }, { streamMode: 'custom' }))).toEqual([{ step: 1 }])
    for (const streamMode of ['debug', 'tasks', 'checkpoints'] as const)
      expect([streamMode, (await all(graph.stream({ kind: 'plain' }, { streamMode }))).length > 2]).toEqual([
        streamMode,
        true,
      ])
    const several = await all(graph.stream({ kind: 'custom' }, { streamMode: ['custom', 'updates'] }))
    expect(several.map((event) => (event as [string])[0])).toContain('custom')
    const inner = await all(graph.stream({ kind: 'sub' }, { streamMode: 'updates', subgraphs: true }))
    const spaces = inner.map((event) => (event as [string[]])[0].map((name) => name.replace(/:.*/, '')))
    expect(spaces).toContainEqual(['nested'])
    expect(spaces).toContainEqual([])
    const tokens = await all(
      remote('tokens').stream({ messages: [{ role: 'user', content: 'hi' }] }, { streamMode: 'messages' }),
    )
    expect(tokens).toHaveLength(5)
  })

  it('has the events, messages and output of a run over the second protocol', async () => {
    const input = { messages: [{ role: 'user', content: 'hi' }], tokens: 3 }
    const run = await remote('tokens').streamEvents(input, { version: 'v3' })
    const texts: string[] = []
    for await (const message of run.messages) texts.push(await message.text)
    expect(texts).toEqual(['tok0 tok1 tok2 '])
    const output = (await run.output) as { messages: unknown[] }
    expect(output.messages).toHaveLength(2)
    const asking = await remote('kinds').streamEvents({ kind: 'ask' }, { version: 'v3' })
    await asking.output
    expect([asking.interrupted, asking.interrupts]).toMatchObject([
      true,
      [{ payload: { question: 'go on?' } }],
    ])
  })

  it('reads, changes and forks the state of a thread', async () => {
    const graph = remote('kinds')
    const config = await newThread()
    await graph.invoke({ kind: 'plain' }, config)
    const state = await graph.getState(config)
    expect(state).toMatchObject({ next: [], values: { kind: 'plain' }, config })
    const history = await all(graph.getStateHistory(config))
    expect(history.map(({ next }) => next[0])).toEqual([undefined, 'finish', 'respond', 'begin', '__start__'])
    expect((await all(graph.getStateHistory(config, { limit: 2 }))).length).toBe(2)
    const before = await all(graph.getStateHistory(config, { before: history[2]!.config }))
    expect(before.map(({ next }) => next[0])).toEqual(['begin', '__start__'])
    const forked = await graph.updateState(history[2]!.config, { answer: 42 }, 'begin')
    expect(forked.configurable).toMatchObject(config.configurable)
    expect(await graph.getState(forked)).toMatchObject({ values: { answer: 42 }, next: ['respond'] })
    expect(await graph.getState(history[2]!.config)).toMatchObject({ next: ['respond'] })
    expect((await graph.getState(config)).values).toMatchObject({ answer: 42 })
  })

  it('draws the graph, and names its subgraphs', async () => {
    const graph = remote('kinds')
    const drawn = await graph.getGraphAsync()
    expect(Object.keys(drawn.nodes)).toEqual(
      expect.arrayContaining(['__start__', 'begin', 'nested', '__end__']),
    )
    expect(drawn.drawMermaid()).toContain('begin')
    const inside = await graph.getGraphAsync({ xray: true })
    expect(Object.keys(inside.nodes).some((id) => id.startsWith('nested:'))).toBe(true)
    const subgraphs = await all(graph.getSubgraphsAsync(undefined, true))
    expect(subgraphs.map(([name]) => name)).toEqual(['nested'])
    expect((await all(graph.getSubgraphsAsync('nested'))).length).toBe(1)
  })

  it('raises an interrupt, and resumes with its answer', async () => {
    const graph = remote('kinds')
    const config = await newThread()
    await expect(graph.invoke({ kind: 'ask' }, config)).rejects.toMatchObject({
      interrupts: [{ value: { question: 'go on?' } }],
    })
    const { next, tasks } = await graph.getState(config)
    expect([next, tasks[0]?.interrupts]).toMatchObject([['respond'], [{ value: { question: 'go on?' } }]])
    expect(await graph.invoke(new Command({ resume: 'yes' }), config)).toMatchObject({ answer: 'yes' })
    const halted = await newThread()
    const halts = new RemoteGraph({ graphId: 'kinds', client: setup().client, interruptBefore: ['finish'] })
    await all(halts.stream({ kind: 'plain' }, halted)).catch(() => undefined)
    expect((await graph.getState(halted)).next).toEqual(['finish'])
  })

  it('is a node of another graph, and its interrupt that of the other graph', async () => {
    const State = Annotation.Root({
      kind: Annotation<string>(),
      log: Annotation<string[]>(),
      answer: Annotation<unknown>(),
    })
    const outer = new StateGraph(State)
      .addNode('remote', remote('kinds'))
      .addEdge(START, 'remote')
      .compile({ checkpointer: new MemorySaver() })
    const config = { configurable: { thread_id: '0198f3a0-0000-7000-8000-000000000001' } }
    expect(await outer.invoke({ kind: 'plain' }, config)).toMatchObject({
      log: ['begun', 'answered plain', 'finished'],
    })
    const events = await all(
      await outer.stream({ kind: 'sub' }, { ...config, streamMode: 'updates', subgraphs: true }),
    )
    const depths = events.map(([namespace]) => namespace.length)
    expect(Math.max(...depths)).toBeGreaterThan(1)
    const other = { configurable: { thread_id: '0198f3a0-0000-7000-8000-000000000002' } }
    expect(isInterrupted(await outer.invoke({ kind: 'ask' }, other))).toBe(true)
  })
})
