import { hash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { AppError, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { FrameBounds } from '../../base/streams/bounded-frames.ts'
import { type Channel, openChannel } from '../pool/channel.ts'
import { makeSocketFolder, socketPath } from '../project/socket-folder.ts'
import {
  type BrokerOperations,
  type BrokerPlace,
  type FromBroker,
  MAX_BROKER_FRAME,
  MAX_BROKER_HEAD,
  type ToBroker,
} from './frames.ts'

/** The access of one host to the storage of its deployment. */
export interface BrokerGrant {
  place: BrokerPlace
  /** Ends the access and closes the host's connection. */
  revoke(): void
}

/** Serves hosts over a Unix socket, so that they need no access to the server's stores (P-25). */
export interface StorageBroker {
  /** Gives one host access: a token that is valid for one connection and only for these operations. */
  grant(operations: BrokerOperations): BrokerGrant
  close(): Promise<void>
}

interface Granted {
  operations: BrokerOperations
  socket: Socket | undefined
}

/** Bounds of the first frame of a connection. This frame contains the token. */
const OF_OPENING: FrameBounds = { max_bytes: 4_096, max_head_bytes: 4_096 }
const OF_REQUESTS: FrameBounds = { max_bytes: MAX_BROKER_FRAME, max_head_bytes: MAX_BROKER_HEAD }
/** Time limit for a new connection to send its token. */
const OPEN_MS = 10_000
/** Maximum number of connections that have not sent a token yet. */
const MAX_UNKNOWN = 64
/** Maximum bytes of one host's requests and answers in memory. Above it, the host's socket is not read. */
const MAX_BYTES = 32 << 20
const MAX_REQUESTS = 256

/** Opens the socket of the broker, in a folder that only its owner may access. */
export async function startStorageBroker(logger: Logger): Promise<StorageBroker> {
  const folder = await makeSocketFolder('store')
  const path = socketPath(folder, 'broker')
  const grants = new Map<string, Granted>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket, grants, logger)
  })
  server.maxConnections = MAX_UNKNOWN + 4_096
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  return {
    grant(operations) {
      const token = randomBytes(32).toString('base64url')
      const key = keyOf(token)
      const granted: Granted = { operations, socket: undefined }
      grants.set(key, granted)
      return {
        place: { socket: path, token },
        revoke() {
          grants.delete(key)
          granted.socket?.destroy()
        },
      }
    },
    async close() {
      grants.clear()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The key under which a token is stored. It is a hash, so the time of a look-up reveals nothing about a token. */
function keyOf(token: string): string {
  return hash('sha256', token, 'base64')
}

/** Serves one connection. If its token is wrong, the connection is closed without an answer. */
function serve(socket: Socket, grants: ReadonlyMap<string, Granted>, logger: Logger): void {
  let granted: Granted | undefined
  const unopened = setTimeout(() => socket.destroy(), OPEN_MS)
  socket.once('close', () => clearTimeout(unopened))
  const channel: Channel<FromBroker> = openChannel<ToBroker, FromBroker>(
    socket,
    ({ head, parts }) => {
      if (granted !== undefined) {
        if (head.op !== 'open') void answer(granted.operations, head, parts)
        return
      }
      const found = head.op === 'open' ? grants.get(keyOf(head.token)) : undefined
      if (found === undefined || found.socket !== undefined) {
        logger.warn({}, 'a connection to the storage broker has no valid token')
        socket.destroy()
        return
      }
      clearTimeout(unopened)
      granted = found
      granted.socket = socket
    },
    {
      boundsOf: () => (granted === undefined ? OF_OPENING : OF_REQUESTS),
      broken: (reason) =>
        logger.warn({ reason }, 'a host sent the storage broker a message that cannot be read'),
    },
  )
  const flow = createFlow(socket, channel)

  async function answer(
    operations: BrokerOperations,
    { op, id, ...body }: Extract<ToBroker, { id: number }>,
    parts: readonly Buffer[],
  ): Promise<void> {
    const leave = flow.enter(parts.reduce((sum, part) => sum + part.length, 0))
    try {
      if (!Object.hasOwn(operations, op)) throw new AppError('invalid_request')
      const found = await operations[op](body, parts)
      const bytes = found.parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
      if (bytes > MAX_BROKER_FRAME / 2) throw tooLarge()
      channel.send({ id, body: found.body }, found.parts)
    } catch (thrown) {
      const { code, message, cause } = toAppError(thrown)
      if (code === 'internal') logger.error({ op, err: cause }, 'an operation of the storage broker failed')
      channel.send({ id, refused: { code, message } })
    } finally {
      leave()
    }
  }
}

/** Stops reading a socket while too many bytes of its requests and answers are in memory. */
function createFlow(
  socket: Socket,
  channel: Pick<Channel<FromBroker>, 'hold'>,
): { enter(bytes: number): () => void } {
  let [requests, waiting] = [0, 0]
  const look = (): void => {
    const isSlow = socket.writable && socket.writableLength > MAX_BYTES
    channel.hold(requests >= MAX_REQUESTS || waiting > MAX_BYTES || isSlow)
  }
  socket.on('drain', look)
  return {
    enter(bytes) {
      requests++
      waiting += bytes
      look()
      return () => {
        requests--
        waiting -= bytes
        look()
      }
    },
  }
}

function tooLarge(): AppError {
  const message = `The answer has more than ${MAX_BROKER_FRAME >> 21} MiB, the limit of the storage of deployments.`
  return new AppError('body_too_large', { message })
}
