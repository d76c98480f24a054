import { describe, expect, it } from 'vitest'
import { pacedEvents, pieceEnd } from './paced-events.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const EVENT = 'event: custom\nid: 1-1\ndata: {"n":1}\n\n'
const HEADERS = { 'content-type': 'text/event-stream' }

describe('paced events (ui.md, 7: 20,000 events, none lost, no task over 100 ms)', () => {
  it('cuts many small events into pieces of 25, and large ones into pieces of 64 KB', () => {
    const small = bytes(EVENT.repeat(60))
    const ends = [pieceEnd(small, 0)]
    while ((ends.at(-1) ?? 0) < small.byteLength) ends.push(pieceEnd(small, ends.at(-1) ?? 0))
    expect(ends).toEqual([25, 50, 60].map((events) => events * EVENT.length))
    const large = new Uint8Array(150_000)
    expect([pieceEnd(large, 0), pieceEnd(large, 131_072)]).toEqual([65_536, 150_000])
  })

  it('keeps each byte, in its order', async () => {
    const text = Array.from({ length: 3000 }, (_, n) => `data: ${n} é\n\n`).join('')
    expect(await pacedEvents(new Response(text, { headers: HEADERS })).text()).toBe(text)
    expect(await pacedEvents(new Response('', { headers: HEADERS })).text()).toBe('')
  })

  it('leaves other responses as they are', () => {
    const response = new Response('{}', { headers: { 'content-type': 'application/json' } })
    expect(pacedEvents(response)).toBe(response)
  })
})
