import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'
import { type StreamChunk, createStreamItems } from './stream-items.ts'

function play(modes: string[], chunks: StreamChunk[], subgraphs = false) {
  const items = createStreamItems(new Set(modes), subgraphs)
  const made = [...chunks.flatMap((chunk) => items.ofChunk(chunk)), ...items.atEnd()]
  return {
    made: made.map(({ event, data }) => [event, JSON.parse(data) as unknown]),
    last: items.lastValues(),
  }
}

const token = (text: string) => new AIMessageChunk({ id: 'm', content: text })

describe('createStreamItems', () => {
  it('yields only the requested modes, and still records the last values', () => {
    const { made, last } = play(
      ['updates'],
      [
        [[], 'values', { n: 1 }],
        [[], 'updates', { plan: { n: 2 } }],
        [[], 'custom', 'no'],
        [[], 'values', { n: 2 }],
      ],
    )
    expect(made).toEqual([['updates', { plan: { n: 2 } }]])
    expect(last).toBe('{"n":2}')
  })

  it('puts the namespace into the name with subgraphs; values of a subgraph are not the last ones', () => {
    const { made, last } = play(
      ['values'],
      [
        [[], 'values', { n: 1 }],
        [['a:1', 'b:2'], 'values', { n: 7 }],
      ],
      true,
    )
    expect(made).toEqual([
      ['values', { n: 1 }],
      ['values|a:1|b:2', { n: 7 }],
    ])
    expect(last).toBe('{"n":1}')
  })

  it('has all interrupts in one last values event', () => {
    const { made, last } = play(
      ['values'],
      [
        [[], 'values', { n: 1 }],
        [[], 'values', { __interrupt__: [{ id: 'a', value: 1 }] }],
        [[], 'values', { __interrupt__: [{ id: 'b', value: 2 }] }],
        [[], 'values', { n: 2 }],
      ],
    )
    const interrupts = {
      __interrupt__: [
        { id: 'a', value: 1 },
        { id: 'b', value: 2 },
      ],
    }
    expect(made).toEqual([
      ['values', { n: 1 }],
      ['values', { n: 2 }],
      ['values', interrupts],
    ])
    expect(last).toBe(JSON.stringify(interrupts))
  })

  it('has an empty list for a graph that stopped before a node', () => {
    expect(play(['updates'], [[[], 'values', { __interrupt__: [] }]])).toEqual({
      made: [],
      last: '{"__interrupt__":[]}',
    })
  })

  it('names the node twice in the metadata of a message', () => {
    const metadata = { langgraph_node: 'model', tags: [] }
    const { made } = play(['messages-tuple'], [[['model:1'], 'messages', [token('a'), metadata]]])
    expect(made).toEqual([
      [
        'messages',
        [
          expect.objectContaining({ id: 'm', content: 'a', type: 'ai' }),
          { ...metadata, graph_node: 'model' },
        ],
      ],
    ])
  })

  it('sends values before messages/complete of the same step, as LangGraph’s server does', () => {
    const whole = new AIMessage({ id: 'm', content: 'a' })
    const { made } = play(['messages', 'values'], [[[], 'values', { messages: [whole] }]])
    expect(made.map(([event]) => event)).toEqual(['values', 'messages/complete'])
  })

  it('sends a growing message as metadata, partial and complete', () => {
    const metadata = { langgraph_node: 'model' }
    const whole = new AIMessage({ id: 'm', content: 'ab' })
    const { made } = play(
      ['messages'],
      [
        [[], 'messages', [token('a'), metadata]],
        [[], 'messages', [token('b'), metadata]],
        [[], 'messages', [new AIMessage({ content: 'without an id' }), metadata]],
        [[], 'values', { messages: [whole] }],
        [[], 'values', { messages: [whole] }],
      ],
    )
    expect(made).toEqual([
      ['messages/metadata', { m: { metadata: { langgraph_node: 'model', graph_node: 'model' } } }],
      ['messages/partial', [expect.objectContaining({ id: 'm', content: 'a' })]],
      ['messages/partial', [expect.objectContaining({ id: 'm', content: 'ab' })]],
      ['messages/complete', [expect.objectContaining({ id: 'm', content: 'ab', type: 'ai' })]],
    ])
  })

  it('shows checkpoints without handlers and internal keys', () => {
    const configurable = { thread_id: 't', checkpoint_id: 'c', checkpoint_ns: '', __pregel_send: 'internal' }
    const payload = {
      config: { configurable, callbacks: { cyclic: true } },
      values: { n: 1 },
      next: ['plan'],
      tasks: [{ id: '1', name: 'sub', state: { configurable: { thread_id: 't', checkpoint_ns: 'sub:1' } } }],
      parentConfig: undefined,
    }
    const checkpoint = { thread_id: 't', checkpoint_id: 'c', checkpoint_ns: '', checkpoint_map: null }
    const shown = {
      config: { configurable: { thread_id: 't', checkpoint_id: 'c', checkpoint_ns: '' } },
      parent_config: null,
      checkpoint,
      parent_checkpoint: null,
      values: { n: 1 },
      next: ['plan'],
      tasks: [
        {
          id: '1',
          name: 'sub',
          checkpoint: { thread_id: 't', checkpoint_id: null, checkpoint_ns: 'sub:1', checkpoint_map: null },
        },
      ],
    }
    const debug = { type: 'checkpoint', step: 1, payload }
    expect(
      play(
        ['checkpoints', 'debug'],
        [
          [[], 'checkpoints', payload],
          [[], 'debug', debug],
        ],
      ).made,
    ).toEqual([
      ['checkpoints', shown],
      ['debug', { type: 'checkpoint', step: 1, payload: shown }],
    ])
  })
})
