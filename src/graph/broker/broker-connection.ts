import { connect } from 'node:net'
import { AppError, type ErrorCode } from '../../base/errors.ts'
import { openChannel } from '../pool/channel.ts'
import {
  type BrokerMessage,
  type BrokerOperationName,
  type BrokerPlace,
  type FromBroker,
  MAX_BROKER_FRAME,
  MAX_BROKER_HEAD,
  type ToBroker,
} from './frames.ts'

export interface BrokerAnswer {
  body: Record<string, unknown>
  parts: readonly Buffer[]
}

/** A host's connection to the storage broker of its server. */
export interface BrokerConnection {
  /** @throws AppError the refusal of the broker; store_unavailable when the connection has ended */
  request(op: BrokerOperationName, message: BrokerMessage): Promise<BrokerAnswer>
  close(): void
}

interface Waiting {
  resolve: (answer: BrokerAnswer) => void
  reject: (error: AppError) => void
}

/** Connects and sends the token. `lost` is called when the connection ends before `close`. */
export async function connectBroker(
  { socket: path, token }: BrokerPlace,
  lost: () => void,
): Promise<BrokerConnection> {
  const socket = connect(path)
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const waiting = new Map<number, Waiting>()
  let [nextId, isClosed, isOver] = [1, false, false]
  const channel = openChannel<FromBroker, ToBroker>(socket, ({ head, parts }) => {
    const entry = waiting.get(head.id)
    waiting.delete(head.id)
    if ('refused' in head) entry?.reject(refusal(head.refused))
    else entry?.resolve({ body: head.body, parts })
  })
  socket.once('close', () => {
    isOver = true
    for (const { reject } of waiting.values()) reject(new AppError('store_unavailable'))
    waiting.clear()
    if (!isClosed) lost()
  })
  channel.send({ op: 'open', token })
  return {
    request(op, { body, parts }) {
      if (isOver) return Promise.reject(new AppError('store_unavailable'))
      const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
      if (bytes > MAX_BROKER_FRAME / 2) return Promise.reject(tooLarge('values', MAX_BROKER_FRAME >> 21))
      // Most requests are small, and their sizes are known without making their text twice.
      if (isLong(body) && JSON.stringify(body).length > MAX_BROKER_HEAD / 2)
        return Promise.reject(tooLarge('rows', MAX_BROKER_HEAD >> 21))
      const id = nextId++
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        channel.send({ ...body, op, id }, parts)
      })
    },
    close() {
      isClosed = true
      socket.end()
    },
  }
}

function refusal({ code, message }: { code: ErrorCode; message: string }): AppError {
  return new AppError(code, { message })
}

/** Whether a request may be above the limit of heads. */
function isLong(body: BrokerMessage['body']): boolean {
  return Object.values(body).some((value) => Array.isArray(value) && value.length > 1_000)
}

function tooLarge(what: string, mib: number): AppError {
  const message = `A step's ${what} have more than ${mib} MiB, the limit of the storage of deployments.`
  return new AppError('body_too_large', { message })
}
