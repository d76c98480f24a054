import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEvents, type StreamEvent } from './event-stream.ts'
import { tries } from '../../../test/support/properties.ts'

async function eventsOf(...chunks: (string | Uint8Array)[]): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  for await (const event of readEvents(bytesOf(bytes))) events.push(event)
  return events
}

async function* bytesOf(chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks
}

describe('readEvents', () => {
  it('returns events, without comments and incomplete events', async () => {
    const text =
      ': heartbeat\r\n\r\nevent: a\r\ndata: {"x":1}\r\nid: 7\r\n\r\ndata:one\ndata: two\n\nevent: cut\ndata: 1\n'
    expect(await eventsOf(text)).toEqual([
      { id: '7', event: 'a', data: '{"x":1}' },
      { id: undefined, event: 'message', data: 'one\ntwo' },
    ])
  })

  it('refuses an event that is longer than the limit', async () => {
    const long = 'data: 1234567890\n'
    const read = async (...lines: string[]): Promise<number> => {
      let count = 0
      for await (const _ of readEvents(bytesOf(lines.map((line) => Buffer.from(line))), 20)) count++
      return count
    }
    await expect(read(long, long, '\n')).rejects.toThrow(RangeError)
    expect(await read(long, '\n')).toBe(1)
  })

  it('returns the same wherever the bytes are split', async () => {
    const text = Buffer.from(
      'event: values\r\ndata: {"text":"Grüße 👋"}\r\nid: 1-0\r\n\r\n: x\n\ndata: 2\r\r'.repeat(2),
    )
    const whole = await eventsOf(text)
    expect(whole.length).toBeGreaterThan(1)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length)), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        const chunks = places.slice(1).map((end, n) => text.subarray(places[n], end))
        expect(await eventsOf(...chunks)).toEqual(whole)
      }),
      tries(),
    )
  })
})
