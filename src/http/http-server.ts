import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AppError } from '../base/errors.ts'
import type { App } from './app.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, limitConnections } from './connections.ts'

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
  /** When `port` is taken, the next free one is as good (D-55), but for `avoid`. */
  orNext?: { avoid: number | undefined }
  /** Of the time until the head of a request is in; 15 s unless said. */
  headers_timeout_ms?: number
  connections?: ConnectionLimits
}

/** Whole requests must be in within this time, however slowly they drip; then node answers 408. */
const REQUEST_TIMEOUT_MS = 300_000
const HEADERS_TIMEOUT_MS = 15_000
/** Longer than load balancers commonly keep a connection, so that they close it first. */
const KEEP_ALIVE_MS = 75_000
const SWEEP_MS = 50
/** How often Node looks for requests that are late. */
const LATE_CHECK_MS = 1000

/** So many ports in a row are tried; after them any free one is taken. */
const NEXT_PORTS = 100
const LAST_PORT = 65_535

/** Where the address is the reason, an error that tells the operator what to set. */
function listenError(error: unknown, { host, port, setting = 'PORT' }: ListenOptions): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  const messages: Partial<Record<string, string>> = {
    EADDRINUSE: `${host}:${port} is in use, and ${setting} names it. Stop what listens there, or set ${setting} to another port; 0 takes any free one, and without ${setting} the next free one is taken.`,
    EACCES: `This user may not listen on ${host}:${port}. Set ${setting} to a port from 1024 on; 0 takes any free one.`,
    EADDRNOTAVAIL: `HOST is ${host}, which is not an address of this machine. 127.0.0.1 is always one, 0.0.0.0 means all of them.`,
    ENOTFOUND: `HOST is ${host}, a name that leads to no address. 127.0.0.1 is this machine, 0.0.0.0 means all of its addresses.`,
  }
  const message = messages[code]
  return message === undefined ? error : new AppError('config_invalid', { message, cause: error })
}

function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve(server.address() as AddressInfo)
    })
  })
}

async function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port, orNext } = options
  const last = orNext === undefined ? port : Math.min(port + NEXT_PORTS - 1, LAST_PORT)
  for (let next = port; next <= last; next++) {
    if (next === orNext?.avoid) continue
    try {
      return await listenOn(server, host, next)
    } catch (error) {
      // Systems also refuse ports that they have set aside.
      const { code } = error as NodeJS.ErrnoException
      if (orNext === undefined || (code !== 'EADDRINUSE' && code !== 'EACCES'))
        throw listenError(error, options)
    }
  }
  return await listenOn(server, host, 0)
}

/** Listens for a moment. @throws AppError config_invalid as `startHttpServer` does */
export async function assertFree(options: ListenOptions): Promise<void> {
  const server = createServer()
  await listen(server, options)
  await new Promise((closed) => server.close(closed))
}

/**
 * Serves the app on `host` and `port` (0 = any free one).
 * @throws AppError config_invalid when the port is taken and no other may be, or when there is no such address here
 */
export async function startHttpServer(app: Pick<App, 'handle'>, options: ListenOptions): Promise<HttpServer> {
  let stopping = false
  const timeouts = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: options.headers_timeout_ms ?? HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: LATE_CHECK_MS,
  }
  const server = createServer(timeouts, (req, res) => {
    if (!connections.admit(req, res)) return
    if (stopping) res.setHeader('connection', 'close')
    app.handle(req, res)
  })
  const connections = limitConnections(server, options.connections ?? CONNECTION_LIMITS)
  const closeIdle = (): void => {
    server.closeIdleConnections()
    connections.closeUnused()
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
