import { describe, expect, it } from 'vitest'
import { type BlockEvent, createMessageBlocks } from './message-blocks.ts'

const PUSH = ['__pregel_push', 0, false]
const PULL = ['__pregel_pull', 'work']

/** A run whose chunks `[task, id, text]` are converted to events of messages. */
function newRun(ofPython: boolean, langgraph_path: unknown[] = PUSH) {
  const blocks = createMessageBlocks(ofPython)
  const events: BlockEvent[] = []
  return {
    events,
    chunk(
      langgraph_checkpoint_ns: string,
      id: string,
      content: string,
      isWhole = false,
      path = langgraph_path,
    ) {
      const node = { langgraph_node: 'work', langgraph_path: path }
      const metadata = { langgraph_checkpoint_ns, ...node, run_id: 'the run' }
      const streamed = !isWhole && { tool_call_chunks: [] }
      const type = ofPython && !isWhole ? 'AIMessageChunk' : 'ai'
      events.push(...blocks.ofTuple(JSON.stringify([{ id, type, content, ...streamed }, metadata])))
    },
    /** The start of a task that `Send` made. */
    sent: (...namespace: string[]) =>
      blocks.started(namespace, JSON.stringify({ id: '2', name: 'work', triggers: ['__pregel_push'] })),
    updated: (namespace: string[], update: object) =>
      void events.push(...blocks.updated(namespace, 'work', JSON.stringify(update))),
    stepped: (...namespace: string[]) => void events.push(...blocks.stepped(namespace)),
    finish: () => void events.push(...blocks.finish()),
  }
}

/** The text of each message as a client collects it. A message that has ended has `.` appended. */
function textsOf(events: readonly BlockEvent[]): Record<string, string> {
  const texts: Record<string, string> = {}
  const keys = new Map<unknown, string>()
  for (const { namespace, data } of events) {
    const graph = namespace.filter((segment) => !segment.startsWith('work:'))
    if (data['event'] === 'message-start')
      keys.set(data['run_id'], `${graph.join('|')} ${String(data['id'])}`)
    const key = keys.get(data['run_id']) ?? ''
    if (data['event'] === 'message-start') texts[key] = ''
    if (data['event'] === 'content-block-delta') texts[key] += (data['delta'] as { text: string }).text
    if (data['event'] === 'message-finish') texts[key] += '.'
  }
  return texts
}

describe.each([true, false])('V-20: parallel messages, of Python: %s', (ofPython) => {
  it('V-20: of tasks of the same node have all their tokens, also after one of the tasks has returned', () => {
    const run = newRun(ofPython)
    run.chunk('work:1', 'a', '1')
    run.chunk('work:2', 'b', '2')
    run.chunk('work:1', 'a', '1')
    run.updated([], { messages: [{ id: 'a' }] })
    run.chunk('work:2', 'b', '2')
    run.updated([], { out: 'no message' })
    run.chunk('work:2', 'b', '2')
    expect(textsOf(run.events)).toEqual({ ' a': '11.', ' b': '222' })
    run.stepped()
    expect(textsOf(run.events)).toEqual({ ' a': '11.', ' b': '222.' })
  })

  it('V-20: of a task and one made by Send of the same node have all their tokens', () => {
    const run = newRun(ofPython)
    run.chunk('work:1', 'a', '1', false, PULL)
    run.chunk('work:2', 'b', '2')
    run.updated([], { messages: [{ id: 'b' }] })
    run.chunk('work:1', 'a', '1', false, PULL)
    expect(textsOf(run.events)).toEqual({ ' a': '11', ' b': '2.' })
    run.updated([], { messages: [{ id: 'a' }] })
    expect(textsOf(run.events)).toEqual({ ' a': '11.', ' b': '2.' })
  })

  it('V-20: of a task have all their tokens, also when one made by Send that has no messages returns first', () => {
    const run = newRun(ofPython, PULL)
    run.sent()
    run.chunk('work:1', 'a', '1')
    run.updated([], { out: 'no message' })
    run.chunk('work:1', 'a', '1')
    expect(textsOf(run.events)).toEqual({ ' a': '11' })
    run.stepped()
    run.chunk('work:3', 'c', '3')
    run.updated([], { out: 'no message' })
    expect(textsOf(run.events)).toEqual({ ' a': '11.', ' c': '3.' })
  })

  it('V-20: of the same node in several subgraphs have all their tokens', () => {
    const run = newRun(ofPython, PULL)
    run.chunk('sub:1|work:3', 'a', '1')
    run.chunk('sub:2|work:4', 'b', '2')
    run.updated(['sub:1'], {})
    run.chunk('sub:2|work:4', 'b', '2')
    expect(textsOf(run.events)).toEqual({ 'sub:1 a': '1.', 'sub:2 b': '22' })
    run.stepped('sub:1')
    run.chunk('sub:2|work:4', 'b', '2')
    run.finish()
    expect(textsOf(run.events)).toEqual({ 'sub:1 a': '1.', 'sub:2 b': '222.' })
  })

  it('V-20: with the same id, of several tasks, are messages of their own', () => {
    const run = newRun(ofPython)
    run.chunk('sub:1|work:3', 'same', '1')
    run.chunk('sub:2|work:4', 'same', '2')
    run.chunk('sub:1|work:3', 'same', '1')
    run.finish()
    expect(textsOf(run.events)).toEqual({ 'sub:1 same': '11.', 'sub:2 same': '2.' })
  })
})

it('V-20: each event of a message names it for clients that collect several at a time', () => {
  const call = 'a5a5a5a5-0000-4000-8000-000000000000'
  for (const id of [`run-${call}`, `lc_run--${call}`, 'chatcmpl-1']) {
    const run = newRun(true)
    run.chunk('work:1', id, '1')
    run.finish()
    const [start, ...others] = run.events.map(({ data }) => data)
    const run_id = start?.['run_id']
    expect(start).toMatchObject({ event: 'message-start', id })
    expect(run_id).toEqual(id === 'chatcmpl-1' ? expect.stringMatching(/^[0-9a-f-]{36}$/) : call)
    for (const data of others) expect(data).toMatchObject({ message_id: id, run_id })
  }
})

it('V-20: a message that a graph shows again after its subgraph is sent once', () => {
  const run = newRun(true, PULL)
  run.chunk('sub:1|work:3', 'a', '1')
  run.chunk('sub:1', 'a', '1', true)
  run.updated(['sub:1'], {})
  run.chunk('sub:1', 'a', '1', true)
  run.finish()
  expect(textsOf(run.events)).toEqual({ 'sub:1 a': '1.' })
})

it('V-20: a message that a Python node returns is streamed if a model made it', () => {
  const ids = (ofPython: boolean): unknown[] => {
    const { ofTuple } = createMessageBlocks(ofPython)
    const node = { langgraph_node: 'work', langgraph_checkpoint_ns: 'work:1', langgraph_path: PULL }
    const whole = (id: string, metadata: object): BlockEvent[] =>
      ofTuple(
        JSON.stringify([
          { type: 'ai', id, content: '1' },
          { ...node, ...metadata },
        ]),
      )
    const events = [...whole('of node', {}), ...whole('of model', { ls_model_type: 'chat' })]
    return events.filter(({ data }) => data['event'] === 'message-start').map(({ data }) => data['id'])
  }
  expect(ids(true)).toEqual(['of model'])
  expect(ids(false)).toEqual(['of node', 'of model'])
})

it('V-20: the chunk with which LangChain for Python ends a call begins no message', () => {
  const { ofTuple, finish } = createMessageBlocks(true)
  const metadata = { langgraph_node: 'work', langgraph_checkpoint_ns: 'work:1', langgraph_path: PULL }
  const chunk = (fields: object): BlockEvent[] =>
    ofTuple(JSON.stringify([{ type: 'AIMessageChunk', tool_call_chunks: [], ...fields }, metadata]))
  const last = { id: 'lc_run--1', content: '', chunk_position: 'last' }
  expect(chunk({ id: 'own', content: 'text' })).not.toEqual([])
  expect(chunk(last)).toEqual([])
  expect(chunk({ ...last, content: [] })).toEqual([])
  // Both are ends that belong to a message: the first has content, the second has the id of a message.
  expect(chunk({ ...last, id: 'lc_run--2', content: 'more' })).not.toEqual([])
  expect(chunk({ ...last, id: 'own', usage_metadata: { input_tokens: 1 } })).toEqual([])
  expect(finish().filter(({ data }) => data['event'] === 'message-finish')).toHaveLength(2)
  // A call that sends only its end gives an empty message.
  expect(chunk({ ...last, id: 'lc_run--3' })).not.toEqual([])
})
