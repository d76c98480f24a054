import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../../base/errors.ts'

/** Limits of connections, and of requests in one connection. */
export interface ConnectionLimits {
  /** Maximum number of connections of one listener. */
  max_connections: number
  /** Maximum number of connections from one address. */
  max_connections_per_address: number
  /**
   * Maximum number of unanswered requests of one connection; with pipelining a client may send many before it reads a
   * response.
   */
  max_open_requests: number
}

/** The default limits; the system's limit of file descriptors may be lower. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  max_connections: 10_000,
  max_connections_per_address: 7500,
  max_open_requests: 100,
}

interface Connection {
  address: string
  /** Number of unanswered requests. */
  requests: number
}

/** Minimum time between two searches for idle connections, because each search visits all connections. */
const MAKE_ROOM_MS = 100

/** The response that a connection beyond the limits gets before it is closed. */
function refusal(): string {
  const { code, message } = new AppError('overloaded', { message: 'Too many connections are open.' })
  const body = JSON.stringify({ detail: message, code })
  const head = 'HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1'
  return `${head}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** A server of any protocol. */
interface ConnectedServer {
  on(event: 'connection', listener: (socket: Socket) => void): unknown
  /** Closes connections without requests in progress. */
  closeIdleConnections(): void
}

/** Counts the connections of `server` and keeps them within `limits`. */
export function limitConnections(server: ConnectedServer, limits: ConnectionLimits) {
  const open = new Map<Socket, Connection>()
  const addresses = new Map<string, number>()
  let madeRoomAt = Number.NEGATIVE_INFINITY

  const forget = (socket: Socket): void => {
    const connection = open.get(socket)
    if (connection === undefined) return
    open.delete(socket)
    const { address } = connection
    const left = (addresses.get(address) ?? 1) - 1
    if (left === 0) addresses.delete(address)
    else addresses.set(address, left)
  }
  /** Closes idle connections so that a new one can be accepted. */
  const makeRoom = (): void => {
    if (performance.now() - madeRoomAt < MAKE_ROOM_MS) return
    madeRoomAt = performance.now()
    server.closeIdleConnections()
    for (const socket of open.keys()) if (socket.destroyed) forget(socket)
  }
  const take = (socket: Socket, address: string): boolean => {
    if (open.size >= limits.max_connections) makeRoom()
    const ofAddress = addresses.get(address) ?? 0
    if (open.size >= limits.max_connections || ofAddress >= limits.max_connections_per_address) return false
    open.set(socket, { address, requests: 0 })
    addresses.set(address, ofAddress + 1)
    return true
  }

  server.on('connection', (socket: Socket) => {
    if (take(socket, socket.remoteAddress ?? '')) {
      socket.once('close', () => forget(socket))
    } else {
      socket.end(refusal())
      socket.destroySoon()
    }
  })

  return {
    /**
     * Counts a request until its response is sent. Returns false if its connection had too many requests and was closed.
     */
    admit({ socket }: IncomingMessage, res: ServerResponse): boolean {
      const connection = open.get(socket)
      if (connection === undefined || connection.requests >= limits.max_open_requests) {
        socket.destroy()
        return false
      }
      connection.requests++
      res.once('close', () => connection.requests--)
      return true
    },
    /** Closes connections that have sent nothing yet; Node's closeIdleConnections() leaves them open. */
    closeUnused(): void {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
