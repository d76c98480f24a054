import { createServer, type ServerHttp2Session } from 'node:http2'
import { CONNECTION_LIMITS, type ConnectionLimits, limitConnections } from '../server/connections.ts'
import type { HttpServer } from '../server/http-server.ts'
import { listen, type ListenOptions, urlOf } from '../server/listen.ts'
import type { GrpcHandler } from './otlp-calls.ts'

export interface GrpcServerOptions extends ListenOptions {
  connections?: ConnectionLimits
  /** Called when a connection begins with another protocol than HTTP/2, such as OTLP over HTTP/1.1. */
  onOtherProtocol?: (remoteAddress: string | undefined) => void
}

/** Time limit for the first call of a connection. */
const FIRST_CALL_MS = 15_000
/** Time without calls after which a connection is closed; gRPC clients reconnect by themselves. */
const IDLE_MS = 300_000
/**
 * Maximum bytes of a message that are sent but not yet read; allows 20 MB a second over a network with a delay of 50
 * ms.
 */
const STREAM_WINDOW_BYTES = 1 << 20
const CONNECTION_WINDOW_BYTES = 4 << 20
/** Maximum megabytes of all messages of a connection in memory. The handler limits the size of a single message. */
const SESSION_MEMORY_MB = 64

/** Serves gRPC over HTTP/2 without TLS on `host` and `port` (0 = any free one). @throws AppError config_invalid as `listen` does */
export async function startGrpcServer(handle: GrpcHandler, options: GrpcServerOptions): Promise<HttpServer> {
  const limits = options.connections ?? CONNECTION_LIMITS
  const server = createServer({
    settings: { initialWindowSize: STREAM_WINDOW_BYTES, maxConcurrentStreams: limits.max_open_requests },
    maxSessionMemory: SESSION_MEMORY_MB,
  })
  const sessions = new Set<ServerHttp2Session>()
  const idle = new Set<ServerHttp2Session>()
  const closeIdle = (): void => {
    for (const session of idle) session.close()
  }
  limitConnections(
    { on: (event, listener) => server.on(event, listener), closeIdleConnections: closeIdle },
    limits,
  )

  server.on('session', (session) => {
    sessions.add(session)
    idle.add(session)
    let calls = 0
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
    session.setTimeout(FIRST_CALL_MS, () => {
      if (calls === 0) session.destroy()
    })
    session.on('stream', (stream, headers) => {
      if (calls++ === 0) {
        idle.delete(session)
        session.setTimeout(IDLE_MS)
      }
      stream.once('close', () => {
        if (--calls === 0 && !session.closed) idle.add(session)
      })
      handle(stream, headers)
    })
    const from = session.socket.remoteAddress
    session.on('error', (error) => {
      if (error.message.includes('bad client magic')) options.onOtherProtocol?.(from)
    })
    session.once('close', () => {
      sessions.delete(session)
      idle.delete(session)
    })
  })
  const address = await listen(server, options)

  return {
    url: urlOf(address),
    port: address.port,
    async stop(grace_ms) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Sends GOAWAY: active calls finish, and clients start no new calls.
      for (const session of sessions) session.close()
      const deadline = setTimeout(() => {
        for (const session of sessions) session.destroy()
      }, grace_ms)
      await closed
      clearTimeout(deadline)
    },
  }
}
