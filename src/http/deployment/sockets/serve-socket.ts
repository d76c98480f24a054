import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { type AppError, toAppError } from '../../../base/errors.ts'
import { carryOut, type ProtocolCommand } from '../../../runs/streams-v2/commands/commands.ts'
import { refusalOf } from '../../../runs/streams-v2/commands/refused.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { callOf } from '../call-of.ts'
import { commandDeps, commandOf, NO_COMMAND } from '../request/protocol-command.ts'
import type { DeploymentContext } from '../route.ts'
import { createSender, type Sender } from './sender.ts'
import { Subscriptions } from './subscriptions.ts'

/** Codes with which the server closes sockets. */
export const CLOSED = {
  stopping: 1012,
  fault: 1011,
  overload: 1013,
  refused: 4000,
  thread_gone: 4404,
} as const

/**
 * Maximum number of waiting commands, and of their bytes. Above either of them, further frames stay in the connection.
 */
const MAX_WAITING = 32
const MAX_WAITING_BYTES = 1 << 20
/** Maximum length of a reason; a close frame has room for 123 bytes. */
const MAX_REASON_BYTES = 120

/** A socket whose caller may read the thread. */
export interface OpenSocket {
  webSocket: WebSocket
  socket: Duplex
  thread_id: string
  /** @throws AppError unauthorized, forbidden, permission_required */
  callerNow(): Promise<DeploymentContext>
}

/** Cuts a text between characters to the length that fits into a close frame. */
function reasonOf(message: string): string {
  return Buffer.from(message)
    .toString('utf8', 0, MAX_REASON_BYTES)
    .replace(/\ufffd+$/, '')
}

/** Closes a socket because of an error. Clients try again after the codes 1012 and 1013. */
export function closeFor(
  webSocket: Pick<WebSocket, 'close'>,
  { code, status, message, retryable }: AppError,
): void {
  if (code === 'shutting_down') webSocket.close(CLOSED.stopping)
  else if (status === 429 || retryable) webSocket.close(CLOSED.overload, reasonOf(message))
  else if (status >= 500) webSocket.close(CLOSED.fault)
  else webSocket.close(CLOSED.refused + status, reasonOf(message))
}

/**
 * Executes the commands that arrive over the socket, one after the other, and sends the events of its subscriptions.
 */
export function serveSocket(open: OpenSocket): void {
  const { webSocket, socket } = open
  const sender = createSender(webSocket, socket, () => webSocket.close(CLOSED.overload))
  const subscriptions = new Subscriptions(open.thread_id, sender, (error) => {
    if (error === undefined) webSocket.close(CLOSED.thread_gone)
    else closeFor(webSocket, error)
  })
  let waiting = 0
  let bytes = 0
  let done: Promise<void> = Promise.resolve()
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    waiting++
    bytes += data.length
    if (waiting >= MAX_WAITING || bytes >= MAX_WAITING_BYTES) webSocket.pause()
    done = done
      .then(() => answerFrame(open, subscriptions, isBinary ? '' : data.toString(), sender.send))
      .catch((error: unknown) => closeFor(webSocket, toAppError(error)))
      .finally(() => {
        waiting--
        bytes -= data.length
        if (webSocket.isPaused && bytes < MAX_WAITING_BYTES) webSocket.resume()
      })
  })
  webSocket.once('close', () => subscriptions.close())
}

/** Answers one frame; resolves when the client has read enough for the next one. */
async function answerFrame(
  open: OpenSocket,
  subscriptions: Subscriptions,
  text: string,
  send: Sender['send'],
): Promise<void> {
  const command = commandOf(parsed(text))
  if (command === undefined) return void (await send(JSON.stringify(NO_COMMAND)))
  const context = await open.callerNow()
  const answer = await answerOf(open, subscriptions, context, command)
  await send(JSON.stringify(answer.body))
  answer.after?.()
}

/** Parses JSON; undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** Executes a command; returns its answer, and a function that must be called after the answer was sent. */
async function answerOf(
  { thread_id }: OpenSocket,
  subscriptions: Subscriptions,
  context: DeploymentContext,
  command: ProtocolCommand,
): Promise<{ body: JsonObject; after?: () => void }> {
  const { id, method, params } = command
  try {
    switch (method) {
      case 'subscription.subscribe':
      case 'subscription.reconnect': {
        const { result, begin, applied_through_seq } = await subscriptions.add(context, params)
        const meta = { thread_id, applied_through_seq }
        return { body: { type: 'success', id, result, meta }, after: begin }
      }
      case 'subscription.unsubscribe': {
        const { subscription_id } = params
        if (subscriptions.remove(String(subscription_id)))
          return { body: { type: 'success', id, result: {} } }
        const message = `There is no subscription ${String(subscription_id)}.`
        return { body: { type: 'error', id, error: 'no_such_subscription', message, code: 'not_found' } }
      }
      default:
        return { body: await carryOut(commandDeps(context, thread_id), callOf(context), thread_id, command) }
    }
  } catch (error) {
    const refused = toAppError(error)
    const { code, message, status } = refused
    if (code === 'unauthorized' || code === 'shutting_down') throw error
    const refusal = status === 429 ? 'unknown_error' : refusalOf(refused)
    return { body: { type: 'error', id, error: refusal, message, code } }
  }
}
