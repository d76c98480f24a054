import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { RouteReply } from '../api/route.ts'
import { callStream, isQuestion, progressToken, takesStream } from './call-stream.ts'
import {
  faultJson,
  formSession,
  idOf,
  LEGACY,
  type McpRequest,
  MODERN,
  readMessage,
  RpcFault,
  showsForms,
} from './message.ts'
import type { ToolCall, ToolOutcome, ToolServer } from './tool-server.ts'

/** A message is parsed in the main thread, so it has less room than a body of traces. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024

/** How long clients may keep a list of tools, in milliseconds. */
const LIST_TTL_MS = 60_000

/** What a route has beside its result: nothing for a notification, and messages that have no result. */
export const MCP_REPLIES = { 202: null, 400: 'json-rpc-failure', 404: 'json-rpc-failure' } as const

/**
 * The answer to a POST of a client of the Model Context Protocol, in the versions with `initialize` (2024-11-05 to
 * 2025-11-25) and without (2026-07-28); the body of a request decides (modelcontextprotocol.io, versions of these dates).
 * @throws AppError body_too_large, and what a tool throws
 */
export async function serveMcp(
  body: Uint8Array,
  headers: IncomingMessage['headers'],
  server: ToolServer,
): Promise<RouteReply<string | Readable>> {
  if (body.length > MAX_MESSAGE_BYTES) {
    const message = `A message may have at most ${MAX_MESSAGE_BYTES} bytes.`
    throw new AppError('body_too_large', { message })
  }
  try {
    const message = readMessage(body, headers)
    if (message === undefined) return { status: 202, body: '' }
    if ('answers' in message) {
      await server.answer?.(message.answers, message.result).catch(unlessFault)
      return { status: 202, body: '' }
    }
    if (message.method === 'tools/call') return await toolReply(message, headers, server)
    const { id, method, params, modern } = message
    const result = await plainResult(message, server)
    const asks = server.answer !== undefined && showsForms(params['capabilities'])
    const isNew = !modern && method === 'initialize' && asks
    const reply = json(200, { jsonrpc: '2.0', id, result: typed(message, result) })
    return isNew ? { ...reply, headers: { ...reply.headers, 'mcp-session-id': formSession() } } : reply
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error
    return json(error.status, { jsonrpc: '2.0', id: idOf(body), error: faultJson(error) })
  }
}

/** An answer to a question that is no longer open, or that nobody asked, has no answer itself. */
function unlessFault(error: unknown): void {
  if (!(error instanceof RpcFault)) throw error
}

function json(status: number, message: JsonObject): RouteReply<string> {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) }
}

/** The result in the form of the request's version. */
function typed({ modern }: McpRequest, result: JsonObject): JsonObject {
  return modern ? { resultType: 'complete', ...result } : result
}

/** A call as JSON; as a stream for a client that wants progress, or that must show a form before the call goes on. */
async function toolReply(
  request: McpRequest,
  headers: IncomingMessage['headers'],
  server: ToolServer,
): Promise<RouteReply<string | Readable>> {
  const { id, modern, shows_forms } = request
  const token = progressToken(request, headers)
  const asks = modern ? 'again' : takesStream(headers) ? 'stream' : undefined
  const told: { text?: string } = {}
  const outcome = server.call({
    ...readCall(request),
    ...(shows_forms && asks !== undefined && { asks }),
    ...(token !== undefined && { tell: (text: string) => void (told.text = text) }),
  })
  const resultJson = (one: ToolOutcome): JsonObject =>
    isQuestion(one) ? questionJson(one) : typed(request, toJson(one) as JsonObject)
  const stream = { id, token, told, resultJson }
  if (token !== undefined) return await callStream(stream, outcome)
  const first = await outcome
  if (isQuestion(first) && first.answered !== undefined) return await callStream(stream, outcome)
  return json(200, { jsonrpc: '2.0', id, result: resultJson(first) })
}

/** A question to a client that repeats its call with the answers. */
function questionJson({ forms, state }: Extract<ToolOutcome, { forms: unknown }>): JsonObject {
  const requests = Object.entries(forms).map(([key, form]) => [
    key,
    { method: 'elicitation/create', params: { mode: 'form', ...form } },
  ])
  const inputRequests = Object.fromEntries(requests) as JsonObject
  return { resultType: 'input_required', inputRequests, requestState: state }
}

async function plainResult({ method, params, modern }: McpRequest, server: ToolServer): Promise<JsonObject> {
  if (method === 'tools/list') {
    const { tools, nextCursor } = await server.list(text(params['cursor']))
    const kept = modern ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {}
    return { tools: toJson(tools), ...(nextCursor !== undefined && { nextCursor }), ...kept }
  }
  if (modern && method === 'server/discover') return discovery(server)
  if (!modern && method === 'initialize') return welcome(params, server)
  if (!modern && method === 'ping') return {}
  throw new RpcFault('unknown_method', `Method not found: ${method.slice(0, 100)}`, {
    status: modern ? 404 : 200,
  })
}

function readCall({ params, modern }: McpRequest): ToolCall {
  const { name, requestState: state } = params
  const args = params['arguments'] ?? {}
  const responses = params['inputResponses'] ?? {}
  if (typeof name !== 'string') throw new RpcFault('invalid_params', 'params.name must name a tool.')
  if (!isObject(args)) throw new RpcFault('invalid_params', 'params.arguments must be an object.')
  if (!isObject(responses)) throw new RpcFault('invalid_params', 'params.inputResponses must be an object.')
  return { name, args, params, ...(modern && typeof state === 'string' && { answers: { state, responses } }) }
}

const CAPABILITIES = { tools: { listChanged: false } }

function welcome({ protocolVersion: asked }: JsonObject, { info, instructions }: ToolServer): JsonObject {
  const known = LEGACY.find((version) => version === asked)
  return {
    protocolVersion: known ?? LEGACY[0],
    capabilities: CAPABILITIES,
    serverInfo: { ...info },
    ...(instructions !== undefined && { instructions }),
  }
}

function discovery({ info, instructions }: ToolServer): JsonObject {
  return {
    supportedVersions: [MODERN, ...LEGACY],
    capabilities: CAPABILITIES,
    ...(instructions !== undefined && { instructions }),
    ttlMs: LIST_TTL_MS,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { ...info } },
  }
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Tools and results consist of JSON only, but their types have optional properties. */
function toJson(value: unknown): JsonValue {
  return parseExact(JSON.stringify(value))
}
