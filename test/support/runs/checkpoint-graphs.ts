import { AIMessage, HumanMessage } from '@langchain/core/messages'
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  type StateSnapshot,
} from '@langchain/langgraph'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  n: Annotation<number>(),
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
})

/**
 * A graph with everything that a checkpointer must handle: a cycle, parallel tasks, Send, a subgraph, two interrupts in
 * one node, messages, and values that JSON lacks. Each call adds `n` of the input.
 */
export function createRichGraph(checkpointer: BaseCheckpointSaver) {
  const inner = new StateGraph(State)
    .addNode('deep', async (state) => ({ log: [`deep ${state.n}`] }))
    .addEdge(START, 'deep')
    .compile()
  return new StateGraph(State)
    .addNode('count', async (state) => ({ n: state.n + 1, log: [`count ${state.n}`] }))
    .addNode('left', async () => ({
      log: ['left'],
      messages: [new AIMessage({ id: 'left', content: 'left' })],
    }))
    .addNode('right', async () => ({
      log: ['right'],
      messages: [new HumanMessage({ id: 'right', content: 'right' })],
    }))
    .addNode('sent', async (state) => ({ log: [`sent ${state.n}`] }))
    .addNode('inner', inner)
    .addNode('ask', async () => ({ log: [`${interrupt('first')} ${interrupt('second')}`] }))
    .addEdge(START, 'count')
    .addConditionalEdges('count', ({ n }) => (n % 3 === 0 ? ['left', 'right'] : 'count'))
    .addConditionalEdges('left', ({ n }) => [
      new Send('sent', { n: n * 10 }),
      new Send('sent', { n: n * 100 }),
    ])
    .addEdge('right', 'inner')
    .addEdge('inner', 'ask')
    .addEdge('sent', END)
    .addEdge('ask', END)
    .compile({ checkpointer })
}

/** A graph whose subgraph waits for an answer after one finished step. */
export function createAskingGraph(checkpointer: BaseCheckpointSaver) {
  const Log = Annotation.Root({
    log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  })
  const inner = new StateGraph(Annotation.Root({ log: Annotation<string[]>() }))
    .addNode('before', async () => ({ log: ['before'] }))
    .addNode('ask', async ({ log }) => ({ log: [...log, String(interrupt('?'))] }))
    .addEdge(START, 'before')
    .addEdge('before', 'ask')
    .compile()
  return new StateGraph(Log).addNode('inner', inner).addEdge(START, 'inner').compile({ checkpointer })
}

export type RichGraph = ReturnType<typeof createRichGraph>

/** An action of a client on a thread. */
export type Action =
  | { do: 'invoke'; n: number }
  | { do: 'resume'; with: string }
  | { do: 'update'; n: number }
  | { do: 'fork'; back: number; n: number }
  | { do: 'replay'; back: number }
  | { do: 'copy'; back: number }

/** Performs an action. An error of LangGraph (a resume of a thread that does not wait) is returned as text. */
export async function act(graph: RichGraph, thread_id: string, action: Action): Promise<string> {
  const config = { configurable: { thread_id } }
  const earlier = async (back: number) => {
    const states = await historyOf(graph, thread_id)
    return states[Math.min(back, states.length - 1)]?.config ?? config
  }
  try {
    if (action.do === 'invoke') await graph.invoke({ n: action.n }, config)
    else if (action.do === 'resume') await graph.invoke(new Command({ resume: action.with }), config)
    else if (action.do === 'update')
      await graph.updateState(config, { n: action.n, log: ['updated'] }, 'count')
    else if (action.do === 'fork') await graph.invoke({ n: action.n }, await earlier(action.back))
    else if (action.do === 'replay') await graph.invoke(null, await earlier(action.back))
    else await graph.updateState(await earlier(action.back), null, '__copy__')
    return 'done'
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}

export async function historyOf(graph: RichGraph, thread_id: string): Promise<StateSnapshot[]> {
  const states: StateSnapshot[] = []
  for await (const state of graph.getStateHistory({ configurable: { thread_id } })) states.push(state)
  return states
}

/**
 * A thread's history. Each id is replaced by its position in the history, so that two checkpointers can be compared.
 */
export async function outlineOf(graph: RichGraph, thread_id: string) {
  const states = await historyOf(graph, thread_id)
  const ids = states.map(({ config }) => config.configurable?.['checkpoint_id'] as unknown)
  return states.map((state) => ({
    values: state.values as unknown,
    next: state.next,
    source: state.metadata?.source,
    step: state.metadata?.step,
    parent: ids.indexOf(state.parentConfig?.configurable?.['checkpoint_id']),
    tasks: state.tasks.map(({ name, path, error, interrupts, result }) => ({
      name,
      path,
      error,
      interrupts: interrupts.map(({ value }): unknown => value),
      result,
    })),
  }))
}
