import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import type { RouteReply } from '../api/route.ts'
import { faultJson, isIdentifier, type McpRequest, RpcFault } from './message.ts'

/** Time in which a refusal is still an HTTP status; after it the stream has begun. */
const REFUSAL_MS = 300
const PROGRESS_MS = 2000
/** Notifications between two comments, which keep proxies from closing the connection. */
const COMMENT_EACH = 7

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

type Token = string | number

/** The token of a call that asks for progress and accepts a stream of events; undefined for any other request. */
export function progressToken(
  { method, params }: McpRequest,
  { accept }: IncomingMessage['headers'],
): Token | undefined {
  const { progressToken: token } = isObject(params['_meta']) ? params['_meta'] : {}
  return method === 'tools/call' && isIdentifier(token) && /text\/event-stream|\*\/\*/.test(accept ?? '')
    ? token
    : undefined
}

/**
 * A stream of progress that ends with the response (rule MCP-5). Clients give up on a call that says nothing for a
 * minute. @throws what the call throws at once, so that it has its HTTP status
 */
export async function progressStream(
  { id, token }: { id: string | number; token: Token },
  result: Promise<JsonObject>,
): Promise<RouteReply<Readable>> {
  await Promise.race([result, pause(REFUSAL_MS)])
  const response = result.then(
    (value) => ({ jsonrpc: '2.0', id, result: value }),
    (error: unknown) => ({ jsonrpc: '2.0', id, error: errorJson(error) }),
  )
  return { headers: HEADERS, body: Readable.from(events(token, response)) }
}

async function* events(token: Token, response: Promise<JsonObject>): AsyncGenerator<string> {
  const begun = performance.now()
  for (let count = 0; ; count += 1) {
    const seconds = count === 0 ? 0 : Math.max(count, Math.round((performance.now() - begun) / 1000))
    const params = { progressToken: token, progress: seconds, message: `running for ${seconds} s` }
    yield event({ jsonrpc: '2.0', method: 'notifications/progress', params })
    if (count % COMMENT_EACH === COMMENT_EACH - 1) yield ': still running\n\n'
    const stop = new AbortController()
    const waited = pause(PROGRESS_MS, undefined, { signal: stop.signal }).catch(() => undefined)
    const done = await Promise.race([response, waited])
    stop.abort()
    if (done !== undefined) return yield event(done)
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
