import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { expect, it } from 'vitest'
import type { AnyGraph } from '../load-graphs.ts'
import { liveSnapshot } from './live-snapshot.ts'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, next) => before.concat(next), default: () => [] }),
})
const inner = new StateGraph(State)
  .addNode('left', () => ({ log: [String(interrupt('left'))] }))
  .addNode('right', () => ({ log: [String(interrupt('right'))] }))
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .compile()
const CONFIG = { configurable: { thread_id: 't' } }

/** A graph whose node `twice` asks two questions one after the other, beside nodes that ask one each. */
function newGraph(): AnyGraph {
  const graph = new StateGraph(State)
    .addNode('twice', () => ({ log: [`${String(interrupt('first'))} ${String(interrupt('second'))}`] }))
    .addNode('silent', () => {
      interrupt('silent')
      return {}
    })
    .addNode('inner', inner)
    .addNode('after', () => ({ log: ['after'] }))
    .addEdge(START, 'twice')
    .addEdge(START, 'silent')
    .addEdge(START, 'inner')
    .addEdge(['twice', 'silent', 'inner'], 'after')
    .addEdge('after', END)
    .compile({ checkpointer: new MemorySaver() })
  return graph as unknown as AnyGraph
}

it('V-11, V-32: a state has only the interrupts that wait, and all nodes that have not finished', async () => {
  const graph = newGraph()
  const ids = new Map<unknown, string>()
  /** The state in short, and the values of the interrupts of each subgraph. */
  const look = async () => {
    const { next, tasks } = await liveSnapshot(graph, CONFIG, { subgraphs: true })
    for (const { id = '', value } of tasks.flatMap(({ interrupts }) => interrupts)) ids.set(value, id)
    const below = tasks.flatMap(({ state }) => (state && 'tasks' in state ? state.tasks : []))
    const asked = (of: typeof tasks): unknown[] =>
      of.flatMap(({ interrupts }) => interrupts.map((one) => one.value))
    return [next, asked(tasks), asked(below)]
  }
  const answer = async (value: string) => {
    await graph.invoke(new Command({ resume: { [ids.get(value) ?? '']: 'yes' } }), CONFIG)
    return look()
  }
  await graph.invoke({ log: [] }, CONFIG)
  const sides = ['left', 'right']
  expect(await look()).toEqual([['twice', 'silent', 'inner'], ['first', 'silent', ...sides], sides])
  expect(await answer('first')).toEqual([['twice', 'silent', 'inner'], ['second', 'silent', ...sides], sides])
  expect(await answer('silent')).toEqual([['twice', 'inner'], ['second', ...sides], sides])
  expect(await answer('left')).toEqual([['twice', 'inner'], ['second', 'right'], ['right']])
  expect(await answer('right')).toEqual([['twice'], ['second'], []])
  expect(await answer('second')).toEqual([[], [], []])
})
