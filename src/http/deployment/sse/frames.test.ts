import { describe, expect, it } from 'vitest'
import type { Batch, StoredEvent } from '../../../events/event-log.ts'
import { RUN_DONE } from '../../../events/views.ts'
import { createCompactEncoder, createSharedEncoder, type Encoder } from './frames.ts'

let seq = 0

function eventOf(event: string, data: string): StoredEvent {
  return { id: `1-${seq++}`, position: seq, run_id: 'r', event, data }
}

function textOf(encode: Encoder, batch: Batch): string {
  return new TextDecoder().decode(Buffer.concat(encode(batch)))
}

describe('frames', () => {
  it('are event, data and id, each by the name that clients know', () => {
    const encode = createSharedEncoder()
    const batch = [eventOf('values|a:1', '{"t":"ö"}'), eventOf(RUN_DONE, '{}')]
    const [first, second] = batch.map(({ id }) => id)
    expect(textOf(encode, batch)).toBe(
      `event: values|a:1\ndata: {"t":"ö"}\nid: ${first}\n\nevent: metadata\ndata: {}\nid: ${second}\n\n`,
    )
  })

  it('are valid with any name of a node', () => {
    const event = eventOf('updates|a\nid: 9-9\r\n\r\nb', '1')
    expect(textOf(createSharedEncoder(), [event])).toBe(
      `event: updates|a id: 9-9 b\ndata: 1\nid: ${event.id}\n\n`,
    )
  })

  it('STREAM-18: of a gap have no id, so that the position of the client does not change', () => {
    const gap = { requested: '1-0', oldest: null }
    for (const encode of [createSharedEncoder(), createCompactEncoder()])
      expect(textOf(encode, [{ gap }])).toBe(`event: gap\ndata: ${JSON.stringify(gap)}\n\n`)
  })

  it('are made once for readers of the same event, as long as there is memory', () => {
    const encode = createSharedEncoder(100)
    const event = eventOf('values', '"x"')
    const [bytes] = encode([event])
    expect(encode([event])[0]).toBe(bytes)
    for (let n = 0; n < 10; n++) encode([eventOf('values', JSON.stringify('y'.repeat(90)))])
    expect(encode([event])[0]).not.toBe(bytes)
    expect(encode([event])[0]).toEqual(bytes)
  })

  it('that are large share their bytes between slow readers, and small ones are joined', () => {
    const encode = createSharedEncoder(100)
    const small = [eventOf('values', '1'), eventOf('values', '2'), eventOf('values', '3')] as const
    const large = eventOf('values', JSON.stringify('x'.repeat(100_000)))
    const batch = [small[0], small[1], large, small[2]]
    const pieces = encode(batch)
    expect(pieces).toHaveLength(3)
    expect(encode(batch)[1]).toBe(pieces[1])
    expect(Buffer.concat(pieces)).toEqual(Buffer.concat(batch.flatMap((one) => encode([one]))))
  })
})

/** The events that a client reads from compact frames according to docs/protocol/streams.md. */
function expanded(text: string): unknown[] {
  const metadata: unknown[] = []
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as unknown)
    .map((data) => {
      if (!Array.isArray(data)) return data
      if (typeof data[1] === 'number') return [data[0], metadata[data[1]]]
      metadata.push(data[1])
      return data
    })
}

describe('compact frames', () => {
  const meta = (node: string) => ({ langgraph_node: node, path: ['[', '"]', '\\'], text: ',{"a":1}]' })
  const token = (text: string, node: string, event = 'messages') =>
    eventOf(event, JSON.stringify([{ id: 'm', content: text, more: [{ a: '}"],\\' }] }, meta(node)]))

  it('contain the metadata of a message once, and lose no data', () => {
    const texts = ['a', '"', '\\', ']', ',{', '\\"', 'ö\n', `,${JSON.stringify(meta('one'))}]`]
    const batch = texts.flatMap((text) => [token(text, 'one'), token(text, 'two', 'messages|sub:1')])
    const wire = textOf(createCompactEncoder(), batch)
    expect(expanded(wire)).toEqual(batch.map(({ data }) => JSON.parse(data) as unknown))
    expect(wire.match(/"langgraph_node":"one","path"/g)).toHaveLength(1)
    expect(wire.match(/^id: /gm)).toHaveLength(batch.length)
  })

  it('start again on a new connection, also in the middle of a message', () => {
    const batch = [token('a', 'one'), token('b', 'one'), token('c', 'one')]
    const wire = textOf(createCompactEncoder(), batch.slice(1))
    expect(expanded(wire)).toEqual(batch.slice(1).map(({ data }) => JSON.parse(data) as unknown))
  })

  it('remember some metadata and number all of them', () => {
    const nodes = [...Array(40).keys(), 0, 39].map(String)
    const batch = nodes.flatMap((node) => [token('a', node), token('b', node)])
    const wire = textOf(createCompactEncoder(), batch)
    expect(expanded(wire)).toEqual(batch.map(({ data }) => JSON.parse(data) as unknown))
  })

  it('do not change any other event', () => {
    const batch = [
      eventOf('messages/partial', '[{"id":"m"}]'),
      eventOf('values', '[{},{}]'),
      eventOf('messages', '[1]'),
    ]
    const [wire, plain] = [createCompactEncoder(), createSharedEncoder()].map((encode) =>
      textOf(encode, batch),
    )
    expect(wire).toBe(plain)
  })
})
