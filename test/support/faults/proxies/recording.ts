import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'

/** One recorded request, with its response. */
export interface Recorded {
  method: string
  /** The URL as sent, with the query. */
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
  status: number
  answer_type: string
  answer_headers: IncomingHttpHeaders
  sent: Buffer
  /** The body of the response, decompressed. */
  answer: Buffer
}

/** An HTTP proxy that forwards requests unchanged and records them. */
export interface RecordingProxy {
  readonly url: string
  readonly requests: Recorded[]
  stop(): Promise<void>
}

function decoded(sent: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'zstd') return zstdDecompressSync(sent)
  return encoding === 'gzip' ? gunzipSync(sent) : sent
}

/** Forwards a request with unchanged headers, so that its body keeps the client's framing and encoding. */
async function passOn(req: IncomingMessage, target: string): Promise<Recorded> {
  const { method = 'GET', url = '/', headers } = req
  const onward = request(new URL(url, target), { method, headers, agent: false })
  const answering = once(onward, 'response') as Promise<[IncomingMessage]>
  // When a client disconnects, the pipeline fails first.
  answering.catch(() => undefined)
  const body = new PassThrough()
  const recording = buffer(body)
  await pipeline(
    req,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        body.write(chunk)
        yield chunk
      }
      body.end()
    },
    onward,
  )
  const [answer] = await answering
  const sent = await buffer(answer)
  return {
    method,
    url,
    headers,
    body: await recording,
    status: answer.statusCode ?? 0,
    answer_type: answer.headers['content-type'] ?? '',
    answer_headers: answer.headers,
    sent,
    answer: decoded(sent, answer.headers['content-encoding']),
  }
}

/** Starts a recording proxy in front of `target`, e.g. `http://127.0.0.1:1984`. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const requests: Recorded[] = []
  // Clients close idle connections: a request that is sent while the server closes its connection gets ECONNRESET.
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    passOn(req, target).then(
      (recorded) => {
        requests.push(recorded)
        const { 'transfer-encoding': _chunked, connection: _own, ...headers } = recorded.answer_headers
        const length = { 'content-length': recorded.sent.length }
        res.writeHead(recorded.status, { ...headers, ...length }).end(recorded.sent)
      },
      () => res.destroy(),
    )
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
