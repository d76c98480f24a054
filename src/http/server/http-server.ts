import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { createServer } from '../../base/node/http.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, limitConnections } from './connections.ts'
import { listen, type ListenOptions, urlOf } from './listen.ts'

export interface HttpServer {
  /** URL of the server, e.g. `http://127.0.0.1:1984`; with the actual port if the setting is 0. */
  readonly url: string
  readonly port: number
  /**
   * Accepts no new connection and resolves when all connections are closed. Running requests can finish within
   * `grace_ms`; then the remaining connections are cut.
   */
  stop(grace_ms: number): Promise<void>
}

/** Takes over connections of requests that become WebSockets. */
export interface Sockets {
  /** Whether the upgrade request becomes a WebSocket. */
  takesSocket(req: IncomingMessage): boolean
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
}

export interface RequestHandler extends Sockets {
  handle(req: IncomingMessage, res: ServerResponse): void
}

export interface HttpServerOptions extends ListenOptions {
  /** Time limit for the head of a request. Default 15 s. */
  headers_timeout_ms?: number
  connections?: ConnectionLimits
  /** Called when a client begins with HTTP/2, as gRPC does; its connection is closed. */
  onHttp2?: (remoteAddress: string | undefined) => void
}

/** Time limit for the arrival of a complete request; after it, Node responds with 408. */
const REQUEST_TIMEOUT_MS = 300_000
const HEADERS_TIMEOUT_MS = 15_000
/**
 * Idle time of a connection: longer than the idle time of usual load balancers, so that the load balancer closes the
 * connection first.
 */
const KEEP_ALIVE_MS = 75_000
const SWEEP_MS = 50
/** Interval of Node's check for requests beyond their time limit. */
const LATE_CHECK_MS = 1000

/** The responses of Node to requests that it cannot parse, if there is no listener for the error. */
const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** A socket of node:http; `_httpMessage` is the response that is being sent. */
type AnsweredSocket = Socket & { _httpMessage?: { headersSent: boolean } | null }

/**
 * Reports connections that begin with HTTP/2. Node's parser reports them as an error with a special code. A listener
 * for that error must itself answer all requests that cannot be parsed, so this one sends Node's responses.
 */
function reportHttp2(server: Server, onHttp2: (remoteAddress: string | undefined) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: AnsweredSocket) => {
    if (error.code === 'HPE_PAUSED_H2_UPGRADE') onHttp2(socket.remoteAddress)
    const status = UNREADABLE[error.code ?? ''] ?? '400 Bad Request'
    const isAnswering = socket._httpMessage?.headersSent === true
    if (socket.writable && !isAnswering) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    socket.destroy(error)
  })
}

/**
 * Serves the app on `host` and `port` (0 = any free one).
 * @throws AppError config_invalid as `listen` does
 */
export async function startHttpServer(
  app: Pick<RequestHandler, 'handle'> & Partial<Sockets>,
  options: HttpServerOptions,
): Promise<HttpServer> {
  let stopping = false
  const timeouts = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: options.headers_timeout_ms ?? HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: LATE_CHECK_MS,
    // Other upgrades, such as to HTTP/2, are ordinary requests.
    shouldUpgradeCallback: (req: IncomingMessage) => app.takesSocket?.(req) === true,
  }
  const server = createServer(timeouts, (req, res) => {
    if (!connections.admit(req, res)) return
    if (stopping) res.setHeader('connection', 'close')
    app.handle(req, res)
  })
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (req, socket, head) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    app.upgrade?.(req, socket, head)
  })
  const { onHttp2 } = options
  if (onHttp2 !== undefined) reportHttp2(server, onHttp2)
  const connections = limitConnections(server, options.connections ?? CONNECTION_LIMITS)
  const closeIdle = (): void => {
    server.closeIdleConnections()
    connections.closeUnused()
  }
  const address = await listen(server, options)

  return {
    url: urlOf(address),
    port: address.port,
    async stop(grace_ms) {
      stopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection whose last request began before the stop becomes idle only later.
      const sweep = setInterval(closeIdle, SWEEP_MS)
      const deadline = setTimeout(() => {
        server.closeAllConnections()
        for (const socket of upgraded) socket.destroy()
      }, grace_ms)
      await closed
      clearInterval(sweep)
      clearTimeout(deadline)
    },
  }
}
