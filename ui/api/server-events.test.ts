import { describe, expect, it } from 'vitest'
import { readEvents, type ServerEvent } from './server-events.ts'

function bodyOf(...pieces: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
  return new ReadableStream({
    pull(controller) {
      const next = bytes.shift()
      if (next === undefined) controller.close()
      else controller.enqueue(next)
    },
  })
}

async function all(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  heard?: () => void,
): Promise<ServerEvent[]> {
  const events: ServerEvent[] = []
  for await (const event of readEvents(body, heard)) events.push(event)
  return events
}

describe('server-sent events', () => {
  it('are the same however the pieces of the body are cut', async () => {
    const text = 'event: open\ndata: {}\n\n: heartbeat\n\nevent: runs\ndata: {"name":"é"}\n\n'
    const wanted = [
      { event: 'open', data: '{}' },
      { event: 'runs', data: '{"name":"é"}' },
    ]
    expect(await all(bodyOf(text))).toEqual(wanted)
    expect(await all(bodyOf(...Array.from(text)))).toEqual(wanted)
    expect(await all(bodyOf(text.replaceAll('\n', '\r\n')))).toEqual(wanted)
  })

  it('without a name are messages, several lines of data are one text, and what never ended is none', async () => {
    expect(await all(bodyOf('data: a\ndata: b\n\nevent: cut\ndata: c'))).toEqual([
      { event: 'message', data: 'a\nb' },
    ])
  })

  it('keep the line ends of JavaScript that are none in a stream of events', async () => {
    const data = JSON.stringify({ text: 'a\u2028b\u2029c' })
    expect(await all(bodyOf(`data: ${data}\n\n`))).toEqual([{ event: 'message', data }])
  })

  it('tell of every piece that arrives, heartbeats too', async () => {
    let pieces = 0
    await all(bodyOf(': heartbeat\n', ': heartbeat\n'), () => (pieces += 1))
    expect(pieces).toBe(2)
  })
})
