import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { createLogger } from '../../../base/log.ts'
import type { Batch, StoredEvent } from '../../../events/event-log.ts'
import type { EventStream } from '../../../runs/streams/streams.ts'
import { createExchange, sendLive } from '../../server/exchange.ts'
import { createOutflow } from '../../server/outflow.ts'
import { createSse } from './sse.ts'

const HEADERS = { 'content-type': 'text/event-stream' }
const partsOf = () => ({
  logger: createLogger({ level: 'silent' }),
  outflow: createOutflow(),
  limits: { at_once: 3, at_once_per_key: 2 },
})

interface WrittenStream extends EventStream {
  push(...batch: StoredEvent[]): void
  end(error?: Error): void
  /** Number of batches that were read. */
  taken: number
  closed: boolean
}

function writtenStream(): WrittenStream {
  const waiting: (Batch | Error | 'end')[] = []
  let wake = (): void => undefined
  const add = (item: Batch | Error | 'end'): void => {
    waiting.push(item)
    wake()
  }
  async function* read(): AsyncGenerator<Batch> {
    for (;;) {
      const next = waiting.shift()
      if (next === 'end' || stream.closed) return
      if (next instanceof Error) throw next
      if (next !== undefined) {
        stream.taken++
        yield next
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  const stream: WrittenStream = {
    batches: read(),
    taken: 0,
    closed: false,
    push: (...batch) => add(batch),
    end: (error) => add(error ?? 'end'),
    close() {
      stream.closed = true
      wake()
    },
  }
  return stream
}

function eventOf(seq: number, data = '1'): StoredEvent {
  return { id: `1-${seq}`, position: seq, run_id: null, event: 'values', data }
}

/** Serves each stream in turn; a disconnect of the client closes its stream, as when reading from a log. */
async function serve(streams: EventStream[], heartbeat_ms?: number): Promise<string> {
  const sse = createSse({ ...partsOf(), ...(heartbeat_ms !== undefined && { heartbeat_ms }) })
  const waiting = [...streams]
  const server: Server = createServer((req, res) => {
    const stream = waiting.shift()
    if (stream === undefined) return res.destroy()
    res.once('close', () => stream.close())
    return void sendLive(
      createExchange(req, res),
      200,
      HEADERS,
      sse.body(stream, { compact: false, holder: 'key' }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function open(url: string): Promise<IncomingMessage> {
  const asked = get(url, { agent: false })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  onTestFinished(() => void response.destroy())
  return response
}

/** The text received so far; `text` grows with each chunk. */
function collect(response: IncomingMessage): { text: string } {
  const collected = { text: '' }
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    collected.text += chunk
  })
  response.on('error', () => undefined)
  return collected
}

function closed(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve))
}

describe('STREAM-22: limits of open streams', () => {
  it('apply per caller and in total', () => {
    const sse = createSse(partsOf())
    const leave = sse.enter('a')
    sse.enter('a')
    const refusal = expect.objectContaining({ code: 'too_many_streams', status: 429, retryable: true })
    expect(() => sse.enter('a')).toThrow(refusal)
    sse.enter('b')
    expect(() => sse.enter('c')).toThrow(refusal)
    leave()
    leave()
    sse.enter('c')
    expect(() => sse.enter('d')).toThrow(refusal)
  })
})

describe('an event stream over HTTP', () => {
  it('sends headers at once, events as they arrive, and a proper end', async () => {
    const stream = writtenStream()
    const response = await open(await serve([stream]))
    expect(response.headers).toMatchObject(HEADERS)
    const seen = collect(response)
    stream.push(eventOf(1), eventOf(2))
    await eventually(async () => expect(seen.text.match(/^id: /gm)).toHaveLength(2))
    stream.end()
    await closed(response)
    expect([response.complete, stream.closed]).toEqual([true, true])
  })

  it('that fails is cut after the sent events, so that the client notices', async () => {
    const stream = writtenStream()
    const response = await open(await serve([stream]))
    const seen = collect(response)
    stream.push(eventOf(1))
    stream.end(new Error('the server stops'))
    await closed(response)
    expect([response.complete, seen.text, stream.closed]).toEqual([
      false,
      'event: values\ndata: 1\nid: 1-1\n\n',
      true,
    ])
  })

  it('sends comments while it is idle, without ending an event', async () => {
    const streams = [writtenStream(), writtenStream()]
    const url = await serve(streams, 10)
    const seen = (await Promise.all([open(url), open(url)])).map(collect)
    await eventually(async () => {
      for (const { text } of seen) expect(text.split(': heartbeat\n').length).toBeGreaterThan(5)
    })
    for (const { text } of seen) expect(text.replaceAll(': heartbeat\n', '')).toBe('')
  })

  it('is closed when its client disconnects', async () => {
    const stream = writtenStream()
    const response = await open(await serve([stream], 10))
    response.destroy()
    await eventually(async () => expect(stream.closed).toBe(true))
  })

  it('reads no faster than its client', async () => {
    const slow = writtenStream()
    const response = await open(await serve([slow], 10))
    response.pause()
    const COUNT = 500
    const data = JSON.stringify('x'.repeat(100_000))
    for (let seq = 0; seq < COUNT; seq++) slow.push(eventOf(seq, data))
    slow.end()
    // Write until the buffers of the sockets on both sides are full.
    let before = 0
    await eventually(async () => {
      const was = before
      before = slow.taken
      expect([before > 0, before]).toEqual([true, was])
    })
    expect(slow.taken).toBeLessThan(COUNT / 2)
    const seen = collect(response)
    response.resume()
    await closed(response)
    expect(seen.text.match(/^id: /gm)).toHaveLength(COUNT)
  })

  it('is not opened for a HEAD', async () => {
    const stream = writtenStream()
    const url = await serve([stream])
    const response = await fetch(url, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, HEADERS['content-type']])
    expect([stream.taken, stream.closed]).toEqual([0, true])
  })
})
