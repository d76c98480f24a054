import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/**
 * How a response is cut: the connection breaks (`cut`), the response ends as if it were complete (`end`), or the
 * connection breaks right after a complete event (`frame`).
 */
export const CUTS = ['cut', 'end', 'frame'] as const
export type Cut = (typeof CUTS)[number]

/** The kind and the position of a cut. */
export interface CutPlan {
  how: Cut
  /** Bytes of the body that pass before the cut. */
  after: number
}

/** A proxy in front of Weir that cuts event streams and WebSockets, and passes other requests unchanged. */
export interface CuttingProxy {
  readonly url: string
  /** Streams that were cut so far. */
  readonly cuts: number
  close(): Promise<void>
}

/**
 * Starts the proxy. `target` is called for every request, `plan` for every stream that begins; a stream without a plan
 * is not cut.
 */
export async function startCuttingProxy(
  target: () => string,
  plan: (path: string) => CutPlan | undefined,
): Promise<CuttingProxy> {
  const server = createServer((req, res) => {
    const { method = 'GET', url = '/', headers } = req
    const upstream = request(new URL(url, target()), { method, headers, agent: false })
    upstream.on('error', () => res.destroy())
    upstream.once('response', (answer) => pass(answer, res, url))
    res.once('close', () => upstream.destroy())
    req.pipe(upstream)
  })

  function pass(answer: IncomingMessage, res: ServerResponse, path: string): void {
    answer.on('error', () => res.destroy())
    res.writeHead(answer.statusCode ?? 502, answer.headers)
    const isStream = answer.headers['content-type'] === 'text/event-stream'
    const cut = isStream ? plan(path) : undefined
    if (cut === undefined) return void answer.pipe(res)
    res.flushHeaders()
    breakOff(answer, res, cut, () => counts.cuts++)
  }

  const sockets = new Set<Socket>()
  server.on('upgrade', (req: IncomingMessage, near: Socket, head: Buffer) => {
    const { hostname, port } = new URL(target())
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        sockets.delete(socket)
        near.destroySoon()
        far.destroySoon()
      })
    }
    far.write(`${requestHead(req)}\r\n\r\n`)
    far.write(head)
    near.pipe(far)
    passFrames(far, near, plan(req.url ?? '/')?.after, () => counts.cuts++)
  })

  const counts = { cuts: 0 }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return counts.cuts
    },
    async close() {
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passes the part of the response that the plan allows. A response that is shorter ends normally. */
function breakOff(answer: IncomingMessage, res: ServerResponse, { how, after }: CutPlan, count: () => void) {
  let left = after
  const stop = (): void => {
    answer.removeAllListeners('data')
    answer.destroy()
    count()
    if (how === 'end') res.end()
    else res.socket?.destroySoon()
  }
  answer.on('data', (chunk: Buffer) => {
    const end = endOf(chunk, left, how)
    left -= chunk.length
    res.write(chunk.subarray(0, end))
    if (end !== undefined) stop()
  })
  answer.once('end', () => res.end())
}

function requestHead({ method, url, rawHeaders }: IncomingMessage): string {
  const fields = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
  return [`${method} ${url} HTTP/1.1`, ...fields].join('\r\n')
}

/** Passes as many bytes of a WebSocket as the plan allows; without a plan, all bytes. */
function passFrames(far: Socket, near: Socket, after: number | undefined, count: () => void): void {
  let left = after ?? Number.POSITIVE_INFINITY
  far.on('data', (chunk: Buffer) => {
    near.write(chunk.subarray(0, Math.min(chunk.length, left)))
    left -= chunk.length
    if (left > 0) return
    far.removeAllListeners('data')
    far.destroy()
    count()
  })
}

/** The position in a chunk at which the response is cut; undefined if the cut comes later. */
function endOf(chunk: Buffer, left: number, how: Cut): number | undefined {
  if (how !== 'frame') return chunk.length >= left ? Math.max(0, left) : undefined
  const end = chunk.indexOf('\n\n', Math.max(0, left))
  return end < 0 ? undefined : end + 2
}
