import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../base/errors.ts'

/** How many connections there may be, and how much may go on in one of them. */
export interface ConnectionLimits {
  /** Of one listener. */
  max_connections: number
  /** Of those, from one address. */
  max_connections_per_address: number
  /** Requests of one connection that have no answer yet: a client may send many before it reads one (pipelining). */
  max_open_requests: number
}

/** Where a process may have fewer file descriptors, the system's limit comes first. */
export const CONNECTION_LIMITS: ConnectionLimits = {
  max_connections: 10_000,
  max_connections_per_address: 7500,
  max_open_requests: 100,
}

/** The connections of a listener. */
export interface Connections {
  /** Counts a request until its answer is out; false when its connection has too many, and has been closed. */
  admit(req: IncomingMessage, res: ServerResponse): boolean
  /** Closes connections on which nothing has come yet, which Node counts as busy. */
  closeUnused(): void
}

interface Connection {
  address: string
  /** Requests without an answer. */
  requests: number
}

/** At most so often idle connections are closed to make room: each time all connections are looked at. */
const MAKE_ROOM_MS = 100

/** What a connection beyond the limits is told before it is closed. */
function refusal(): string {
  const { code, message } = new AppError('overloaded', { message: 'Too many connections are open.' })
  const body = JSON.stringify({ detail: message, code })
  const head = 'HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1'
  return `${head}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Counts the connections of `server` and keeps them within `limits`. */
export function limitConnections(server: Server, limits: ConnectionLimits): Connections {
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
  /** Closes idle connections, so that a new one can be taken. */
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
    admit({ socket }, res) {
      const connection = open.get(socket)
      if (connection === undefined || connection.requests >= limits.max_open_requests) {
        socket.destroy()
        return false
      }
      connection.requests++
      res.once('close', () => connection.requests--)
      return true
    },
    closeUnused() {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}
