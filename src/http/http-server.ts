import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError } from '../base/errors.ts'
import type { App } from './app.ts'

/** A listening server. */
export interface HttpServer {
  /** E.g. `http://127.0.0.1:1984`; the real port where 0 was asked for. */
  readonly url: string
  readonly port: number
  /**
   * Takes no new connection, lets the requests that are under way finish, and resolves when all connections are
   * closed, at the latest after `grace_ms`, when the rest is cut.
   */
  stop(grace_ms: number): Promise<void>
}

/** Where to listen. */
export interface ListenOptions {
  host: string
  /** 0 = any free one. */
  port: number
  /** The setting that `port` is from, for the message when it is taken; PORT unless said. */
  setting?: string
}

/** Whole requests must be in within this time, however slowly they drip; then node answers 408. */
const REQUEST_TIMEOUT_MS = 300_000
const HEADERS_TIMEOUT_MS = 15_000
/** Longer than load balancers commonly keep a connection, so that they close it first. */
const KEEP_ALIVE_MS = 75_000
const SWEEP_MS = 50

/** An address that cannot be had is the operator's to mend. */
function listenError(error: NodeJS.ErrnoException, { host, port, setting = 'PORT' }: ListenOptions): Error {
  const taken = error.code === 'EADDRINUSE'
  if (!taken && error.code !== 'EACCES' && error.code !== 'EADDRNOTAVAIL') return error
  const what = taken ? 'is in use' : `cannot be listened on (${error.code})`
  return new AppError('config_invalid', {
    message: `${host}:${port} ${what}. Choose another ${setting} (0 takes any free one) or HOST.`,
    cause: error,
  })
}

function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options)))
    server.listen(options.port, options.host, () => {
      server.removeAllListeners('error')
      resolve(server.address() as AddressInfo)
    })
  })
}

/** Serves the app on `host` and `port` (0 = any free one). Rejects when the port is taken. */
export async function startHttpServer(app: Pick<App, 'handle'>, options: ListenOptions): Promise<HttpServer> {
  let stopping = false
  const server = createServer((req, res) => {
    if (stopping) res.setHeader('connection', 'close')
    app.handle(req, res)
  })
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const closeIdle = (): void => {
    server.closeIdleConnections()
    // Node counts a connection on which nothing has come yet as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  const { address, port, family } = await listen(server, options)
  const name = family === 'IPv6' ? `[${address}]` : address

  return {
    url: `http://${name}:${port}`,
    port,
    async stop(grace_ms) {
      stopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection whose last request began before the stop turns idle only later.
      const sweep = setInterval(closeIdle, SWEEP_MS)
      const deadline = setTimeout(() => server.closeAllConnections(), grace_ms)
      await closed
      clearInterval(sweep)
      clearTimeout(deadline)
    },
  }
}
