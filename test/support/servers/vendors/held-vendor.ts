import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A server with OpenAI's API that records requests, and sends an answer when the test calls `say` or `end`. */
export interface HeldVendor {
  /** The server's base URL, with `/v1`. */
  readonly url: string
  /** The bodies of all calls, in order. */
  readonly asked: readonly Record<string, unknown>[]
  /** Sends a text as the next piece of the newest answer. */
  say(piece: string): void
  /** Ends the newest answer. */
  end(): void
  /** True if the caller disconnected before the end of the newest answer. */
  wasLeft(): boolean
  stop(): Promise<void>
}

export async function startHeldVendor(): Promise<HeldVendor> {
  const asked: Record<string, unknown>[] = []
  let answer: ServerResponse | undefined
  let isLeft = false
  const write = (data: object | string): void => {
    answer?.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      asked.push(JSON.parse(body) as Record<string, unknown>)
      answer = res
      isLeft = false
      res.on('close', () => {
        isLeft = !res.writableEnded
      })
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    say: (content) => write({ choices: [{ index: 0, delta: { content } }] }),
    end() {
      write({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
      write({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } })
      write('[DONE]')
      answer?.end()
    },
    wasLeft: () => isLeft,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
