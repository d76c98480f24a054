import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { within } from '../../base/background/within.ts'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import type { RouteReply } from '../api/route.ts'
import { faultJson, isIdentifier, type McpRequest, RpcFault } from './message.ts'
import type { ToolOutcome, ToolQuestion } from './tool-server.ts'

/** Time in which a refusal is still an HTTP status; after it the stream has begun. */
const REFUSAL_MS = 300
/** Shortest time between two notifications, and the time after which one says only that the call goes on. */
const TOLD_MS = 250
const PROGRESS_MS = 2000
/** Time after which a comment keeps proxies from closing the connection. */
const COMMENT_MS = 15_000

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

type Token = string | number

/** Whether a client reads a stream of events. */
export function takesStream({ accept }: IncomingMessage['headers']): boolean {
  return /text\/event-stream|\*\/\*/.test(accept ?? '')
}

/** The token of a call that asks for progress and accepts a stream of events; undefined for any other request. */
export function progressToken(
  { method, params }: McpRequest,
  headers: IncomingMessage['headers'],
): Token | undefined {
  const { progressToken: token } = isObject(params['_meta']) ? params['_meta'] : {}
  return method === 'tools/call' && isIdentifier(token) && takesStream(headers) ? token : undefined
}

export function isQuestion(outcome: ToolOutcome): outcome is ToolQuestion {
  return 'forms' in outcome
}

interface CallStream {
  id: string | number
  /** Undefined for a client that asks for no progress. */
  token: Token | undefined
  /** The last text that the tool told; the stream takes it away when it has sent it. */
  told: { text?: string }
  /** The `result` of the response. */
  resultJson(outcome: ToolOutcome): JsonObject
}

/**
 * A stream of progress and of questions that ends with the response (rules MCP-5, MCP-8). Clients give up on a call that
 * says nothing for a minute. @throws what the call throws at once, so that it has its HTTP status
 */
export async function callStream(
  call: CallStream,
  outcome: Promise<ToolOutcome>,
): Promise<RouteReply<Readable>> {
  await within(outcome, REFUSAL_MS, () => undefined)
  return { headers: HEADERS, body: Readable.from(events(call, outcome)) }
}

async function* events(call: CallStream, first: Promise<ToolOutcome>): AsyncGenerator<string> {
  const { id, resultJson } = call
  let outcome = first
  const progress = progressOf(call)
  try {
    for (;;) {
      yield* progress(outcome)
      const done = await outcome
      if (!isQuestion(done) || done.answered === undefined)
        return yield event({ jsonrpc: '2.0', id, result: resultJson(done) })
      for (const { message, requestedSchema } of Object.values(done.forms))
        yield event({
          jsonrpc: '2.0',
          id: done.state,
          method: 'elicitation/create',
          params: { message, requestedSchema },
        })
      outcome = done.answered()
    }
  } catch (error) {
    yield event({ jsonrpc: '2.0', id, error: errorJson(error) })
  }
}

/** Notifications and comments until an outcome is there. */
function progressOf({ token, told }: CallStream): (outcome: Promise<ToolOutcome>) => AsyncGenerator<string> {
  const begun = performance.now()
  let notified = -Infinity
  let written = begun
  return async function* (outcome) {
    const settled = outcome.then(
      () => true,
      () => true,
    )
    for (;;) {
      const now = performance.now()
      if (token !== undefined && (told.text !== undefined || now - notified >= PROGRESS_MS)) {
        const passed = notified === -Infinity ? 0 : (now - begun) / 1000
        const { text = `running for ${Math.round(passed)} s` } = told
        delete told.text
        const params = { progressToken: token, progress: Math.round(passed * 100) / 100, message: text }
        yield event({ jsonrpc: '2.0', method: 'notifications/progress', params })
        notified = now
      }
      if (now - written >= COMMENT_MS) {
        yield ': still running\n\n'
        written = now
      }
      if (await within(settled, TOLD_MS, () => false)) return
    }
  }
}

function event(message: JsonObject): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

/** An error after the stream has begun, when it can no longer be a status. */
function errorJson(error: unknown): JsonObject {
  if (error instanceof RpcFault) return faultJson(error)
  const message = error instanceof AppError ? error.message : 'Internal error'
  return faultJson(new RpcFault('internal', message))
}
