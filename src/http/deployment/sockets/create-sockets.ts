import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { AppError, toAppError } from '../../../base/errors.ts'
import { parseUuid } from '../../../base/ids.ts'
import { MAX_JSON_BODY_BYTES } from '../../body/json.ts'
import type { DeploymentDeps } from '../deps.ts'
import type { DeploymentContext } from '../route.ts'
import { setHeader } from '../request/withhold-credentials.ts'
import { closeFor, CLOSED, serveSocket } from './serve-socket.ts'

/** A request whose connection becomes a socket. */
interface Upgrade {
  req: IncomingMessage
  socket: Duplex
  head: Buffer
  /** Path without prefixes and query. */
  path: string
}

/** Whoever opened a socket. */
export interface SocketCaller {
  /** Called again before each command. @throws AppError unauthorized, forbidden, permission_required */
  callerNow(): Promise<DeploymentContext>
  /** Calls `end` when the caller may no longer read; the returned function ends the watch. */
  watch(end: (refusal: AppError) => void): () => void
}

/** Time between two pings of a socket. */
const PING_MS = 20_000
/** Time without a pong after which a socket is ended. */
const SILENT_MS = 40_000
/** Subprotocol of clients that cannot send headers. The second subprotocol that they name contains the key. */
const WITH_KEY = 'weir.v2'

/** The id of the thread in the path of a socket, as the client sent it; undefined for other paths. */
export function threadOfSocket(path: string): string | undefined {
  return /^\/threads\/([^/]+)\/stream\/events$/.exec(path)?.[1]
}

const require = createRequire(import.meta.url)

/** Loads `ws`, which servers without sockets do not need. */
function createSocketServer(): WebSocketServer {
  const ws = require('ws') as { WebSocketServer: typeof WebSocketServer }
  return new ws.WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_JSON_BODY_BYTES,
    handleProtocols: (protocols) => protocols.has(WITH_KEY) && WITH_KEY,
  })
}

/** WebSockets of protocol v2 (V-34 to V-39). */
export function createSockets(deps: Pick<DeploymentDeps, 'streams' | 'sse'>) {
  let server: WebSocketServer | undefined
  const open = watchSockets()
  deps.streams.closing.addEventListener('abort', open.close)

  async function begin(
    { req, socket, path }: Upgrade,
    webSocket: WebSocket,
    { callerNow, watch }: SocketCaller,
  ): Promise<void> {
    // Frames that arrive before the caller is identified stay in the connection.
    webSocket.pause()
    webSocket.on('error', () => undefined)
    open.add(webSocket)
    try {
      if (deps.streams.closing.aborted) throw new AppError('shutting_down')
      takeKeyFromProtocol(req)
      const { principal } = await callerNow()
      if (webSocket.readyState !== webSocket.OPEN) return
      const thread_id = parseUuid(threadOfSocket(path) ?? '')
      if (thread_id === undefined)
        throw new AppError('invalid_request', { message: 'The id of a thread is a UUID.' })
      const leave = deps.sse.enter(principal.holder)
      webSocket.once('close', leave)
      webSocket.once(
        'close',
        watch((refusal) => closeFor(webSocket, refusal)),
      )
      serveSocket({ webSocket, socket, thread_id, callerNow })
      webSocket.resume()
    } catch (error) {
      webSocket.resume()
      closeFor(webSocket, toAppError(error))
    }
  }

  return {
    /** Accepts the connection, and closes it with 4000 + status if the caller is refused, then or later. */
    accept(upgrade: Upgrade, caller: SocketCaller): void {
      const { req, socket, head } = upgrade
      server ??= createSocketServer()
      server.handleUpgrade(req, socket, head, (webSocket) => void begin(upgrade, webSocket, caller))
    },
  }
}

/** Sends pings to sockets, with one timer for all of them, and ends those that do not answer. */
function watchSockets(): { add(socket: WebSocket): void; close(): void } {
  /** Time of the last answer of each socket. */
  const open = new Map<WebSocket, number>()
  let timer: NodeJS.Timeout | undefined

  function ping(): void {
    const now = performance.now()
    for (const [socket, answeredAt] of open) {
      if (now - answeredAt > SILENT_MS) socket.terminate()
      else socket.ping()
    }
  }

  return {
    add(socket) {
      const answered = (): void => void open.set(socket, performance.now())
      answered()
      socket.on('pong', answered)
      socket.once('close', () => {
        open.delete(socket)
        if (open.size > 0) return
        clearInterval(timer)
        timer = undefined
      })
      timer ??= setInterval(ping, PING_MS).unref()
    },
    close() {
      for (const socket of open.keys()) socket.close(CLOSED.stopping)
    },
  }
}

const PROTOCOL = 'sec-websocket-protocol'
const KEY = /^key\.([A-Za-z\d_-]+)$/

/**
 * Moves the key from the subprotocol `key.<base64url>` to a header, because a page cannot send headers with a socket.
 */
function takeKeyFromProtocol(req: IncomingMessage): void {
  const { headers } = req
  const named = (headers[PROTOCOL] ?? '').split(',').map((one) => one.trim())
  const key = named.map((one) => KEY.exec(one)?.[1]).find((one) => one !== undefined)
  if (key === undefined) return
  setHeader(req, PROTOCOL, WITH_KEY)
  if (!named.includes(WITH_KEY) || headers['x-api-key'] !== undefined) return
  setHeader(req, 'x-api-key', Buffer.from(key, 'base64url').toString())
}
