import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../schema/json.ts'
import { createPartialMessages } from './partial-messages.ts'

function partialOf(items: [event: string, data: unknown][], values?: unknown, maxChars?: number): JsonValue {
  const partial = createPartialMessages(maxChars)
  for (const [event, data] of items) partial.add({ event, data: JSON.stringify(data) })
  return partial.unfinished(values === undefined ? undefined : JSON.stringify(values))
}

function chunk(id: string, content: unknown, more = {}): [string, unknown] {
  return ['messages', [{ id, content, type: 'AIMessageChunk', ...more }, { langgraph_node: 'model' }]]
}

describe('CANCEL-8: the streamed parts of messages', () => {
  it('are joined by message, in order of their first part', () => {
    const items = [chunk('a', 'Hel'), chunk('b', 'x'), chunk('a', 'lo'), ['values', {}]] as [
      string,
      unknown,
    ][]
    expect(partialOf(items)).toEqual([
      { id: 'a', content: 'Hello', type: 'AIMessageChunk' },
      { id: 'b', content: 'x', type: 'AIMessageChunk' },
    ])
  })

  it('are joined from entries of protocol v2 as well (V-41)', () => {
    const entry = (data: object): [string, unknown] => [
      'v2/messages|model:1',
      { id: 'a', node: 'model', data },
    ]
    const text = (index: number, more: string) => ({
      event: 'content-block-delta',
      index,
      delta: { type: 'text-delta', text: more },
    })
    const items = [
      entry({ event: 'message-start', id: 'a' }),
      entry(text(0, 'Hel')),
      entry(text(0, 'lo')),
      entry({ event: 'content-block-finish', index: 0, content: {} }),
    ]
    expect(partialOf(items)).toMatchObject([{ id: 'a', content: 'Hello', type: 'AIMessageChunk' }])
  })

  it('do not include messages that are in the state', () => {
    expect(partialOf([chunk('a', '1'), chunk('b', '2')], { messages: [{ id: 'a' }] })).toMatchObject([
      { id: 'b' },
    ])
    expect(partialOf([chunk('a', '1')], { messages: [{ id: 'a' }] })).toBeNull()
    expect(partialOf([])).toBeNull()
  })

  it('have the latest form in mode messages, also from namespaced events', () => {
    const items: [string, unknown][] = [
      ['messages/metadata', { a: { metadata: {} } }],
      ['messages/partial|sub:1', [{ id: 'a', content: 'H' }]],
      ['messages/partial|sub:1', [{ id: 'a', content: 'Hi' }]],
    ]
    expect(partialOf(items)).toEqual([{ id: 'a', content: 'Hi' }])
  })

  it('have blocks and tool calls joined by index', () => {
    const call = (args: string, more = {}) => ({ tool_call_chunks: [{ index: 0, args, ...more }] })
    const items = [
      chunk('a', [{ type: 'text', index: 0, text: 'He' }], call('{"q"', { name: 'search', id: 'c1' })),
      chunk('a', [{ type: 'text', index: 0, text: 'y' }], call(':1}')),
    ]
    expect(partialOf(items)).toMatchObject([
      {
        content: [{ type: 'text', index: 0, text: 'Hey' }],
        tool_call_chunks: [{ index: 0, name: 'search', id: 'c1', args: '{"q":1}' }],
      },
    ])
  })

  it('are limited: the oldest messages are dropped first', () => {
    const items = ['a', 'b', 'c'].map((id) => chunk(id, 'x'.repeat(1000)))
    expect(partialOf(items, undefined, 2500)).toMatchObject([{ id: 'b' }, { id: 'c' }])
  })
})
