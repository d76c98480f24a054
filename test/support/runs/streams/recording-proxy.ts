import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'

/** An event of protocol v2 that passed the proxy, and its connection, counted from 1. */
export interface PassedEvent {
  connection: number
  event: { event_id: string; seq: number; method: string; params: PassedParams }
}

interface PassedParams {
  namespace: string[]
  node?: string
  data: unknown
}

/** A proxy in front of a deployment that adds the key and records what protocol v2 sends. */
export interface RecordingProxy {
  readonly url: string
  readonly events: readonly PassedEvent[]
  /** Texts of all events that passed as server-sent events. */
  frames(): string[]
  /** Breaks all connections. */
  cut(): void
  close(): Promise<void>
}

/** Starts a proxy for the deployment at `target`. */
export async function startRecordingProxy(target: string, key: string): Promise<RecordingProxy> {
  const events: PassedEvent[] = []
  const frames: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0

  function record(connection: number, text: string): void {
    const parsed = JSON.parse(text) as { type?: string }
    if (parsed.type === 'event') events.push({ connection, event: parsed as PassedEvent['event'] })
  }

  function recordFrames(connection: number, answer: IncomingMessage): void {
    let rest = ''
    answer.setEncoding('utf8').on('data', (piece: string) => {
      const whole = (rest + piece).split('\n\n')
      rest = whole.pop() ?? ''
      for (const frame of whole) {
        const data = /^data: (.*)$/m.exec(frame)?.[1]
        frames.push(frame)
        if (data !== undefined) record(connection, data)
      }
    })
  }

  function serve(req: IncomingMessage, res: ServerResponse): void {
    const connection = ++connections
    const { host: _host, ...headers } = req.headers
    const outgoing = request(
      `${target}${req.url ?? ''}`,
      { method: req.method, headers: { ...headers, 'x-api-key': key }, agent: false },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        if (req.url?.includes('/stream/events') === true) recordFrames(connection, answer)
        answer.on('error', () => res.destroy())
        answer.on('close', () => res.end())
        answer.pipe(res)
      },
    )
    outgoing.on('error', () => res.destroy())
    res.on('close', () => outgoing.destroy())
    req.pipe(outgoing)
  }

  // Only clients close idle connections: if the proxy did, a request sent at that moment would get ECONNRESET.
  const server = createServer({ keepAliveTimeout: 0 }, serve)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const accepting = new WebSocketServer({ noServer: true })
  server.on('upgrade', (req, socket, head) => {
    accepting.handleUpgrade(req, socket, head, (near) => {
      const connection = ++connections
      const far = new WebSocket(`${target.replace('http', 'ws')}${req.url ?? ''}`, {
        headers: { 'x-api-key': key },
      })
      const waiting: string[] = []
      near.on('message', (data: Buffer) => {
        if (far.readyState === WebSocket.OPEN) far.send(String(data))
        else waiting.push(String(data))
      })
      far.on('open', () => {
        for (const text of waiting.splice(0)) far.send(text)
      })
      far.on('message', (data: Buffer) => {
        record(connection, String(data))
        near.send(String(data))
      })
      far.on('close', (code, reason) => near.close(isSendable(code) ? code : undefined, reason))
      far.on('error', () => near.terminate())
      near.on('close', () => far.terminate())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    events,
    frames: () => frames,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function isSendable(code: number): boolean {
  return code === 1000 || (code >= 1007 && code <= 1014) || code >= 3000
}
