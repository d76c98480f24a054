import { expect, it } from 'vitest'
import { membersOf } from './json-members.ts'
import { createMessageReader } from './message-entry.ts'

const DELTA = {
  event: 'content-block-delta',
  index: 0,
  delta: { type: 'text-delta', text: 'hi' },
  run_id: 'r',
}
/** Texts that look like parts of an entry, to be used as content. */
const HOSTILE = ['"data":', ',"tail":"x"', '\\"data\\":', ',"metadata":{}}', '}', '\\', '"']

it.each([
  ['only its event', { data: DELTA }],
  ['the facts of its message', { id: 'm', role: 'ai', node: 'model', data: DELTA }],
  ['metadata', { id: 'm', node: 'model', data: { event: 'message-start' }, metadata: { a: [1] } }],
  ['a tail', { node: 'model', data: DELTA, tail: '"x"' }],
  ['an event with such members of its own', { node: 'a', data: { metadata: { b: 1 }, tail: 'x', z: [] } }],
  ...HOSTILE.flatMap((text): [string, Record<string, unknown>][] => [
    [`text ${text}`, { id: text, node: text, data: { ...DELTA, delta: { type: 'text-delta', text } } }],
    [`tail ${text}`, { node: text, data: { data: text, tail: text }, metadata: { text }, tail: text }],
  ]),
])('V-20: the event of an entry with %s is that of its data and node', (_what, entry) => {
  const read = createMessageReader()
  const text = JSON.stringify(entry)
  const stored = { id: '17-2', position: 4, run_id: 'r', event: 'v2/messages|model:1|b', data: text }
  for (const { data } of [{ data: '{"node":"other","data":{}}' }, stored, stored]) {
    const event = read({ ...stored, data }, 'r')
    expect(event.data).toBe(membersOf(data)?.get('data'))
    expect(event.node).toBe((JSON.parse(data) as { node?: string }).node)
    expect(event).toMatchObject({
      id: '17-2',
      event_id: '17-2',
      seq: 5120,
      timestamp: 17,
      method: 'messages',
      namespace: ['model:1', 'b'],
    })
  }
  expect(read({ ...stored, event: 'v2/messages' }, 'r').namespace).toEqual([])
})
