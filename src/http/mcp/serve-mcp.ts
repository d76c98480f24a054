import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { RouteReply } from '../api/route.ts'
import { faultJson, idOf, LEGACY, type McpRequest, MODERN, readMessage, RpcFault } from './message.ts'
import { progressStream, progressToken } from './progress.ts'

/** A tool as `tools/list` returns it. */
export interface McpTool {
  name: string
  title?: string
  description: string
  inputSchema: JsonObject
  annotations: JsonObject
}

/** A page of tools; without `nextCursor` it is the last one. */
export interface ToolPage {
  tools: readonly McpTool[]
  nextCursor?: string
}

/** The result of a tool. Failures of a tool are results too, because models read them; only wrong calls are errors. */
export interface ToolResult {
  content: JsonObject[]
  isError?: boolean
  structuredContent?: JsonObject
}

/** The tools of one address, for one caller. */
export interface ToolServer {
  /** Name and version that clients show. */
  info: { name: string; version: string }
  /** How a model should use the tools. */
  instructions?: string
  /** @throws RpcFault invalid_params for an unknown cursor */
  list(cursor: string | undefined): Promise<ToolPage>
  /** @throws RpcFault invalid_params for an unknown tool */
  call(name: string, args: JsonObject, params: JsonObject): Promise<ToolResult>
}

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
    const request = readMessage(body, headers)
    if (request === undefined) return { status: 202, body: '' }
    const result = resultOf(request, server)
    const token = progressToken(request, headers)
    if (token === undefined) return json(200, { jsonrpc: '2.0', id: request.id, result: await result })
    return await progressStream({ id: request.id, token }, result)
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error
    return json(error.status, { jsonrpc: '2.0', id: idOf(body), error: faultJson(error) })
  }
}

function json(status: number, message: JsonObject): RouteReply<string> {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) }
}

async function resultOf(request: McpRequest, server: ToolServer): Promise<JsonObject> {
  const result = await plainResult(request, server)
  return request.modern ? { resultType: 'complete', ...result } : result
}

async function plainResult({ method, params, modern }: McpRequest, server: ToolServer): Promise<JsonObject> {
  if (method === 'tools/list') {
    const { tools, nextCursor } = await server.list(text(params['cursor']))
    const kept = modern ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {}
    return { tools: toJson(tools), ...(nextCursor !== undefined && { nextCursor }), ...kept }
  }
  if (method === 'tools/call') return toJson(await callTool(params, server)) as JsonObject
  if (modern && method === 'server/discover') return discovery(server)
  if (!modern && method === 'initialize') return welcome(params, server)
  if (!modern && method === 'ping') return {}
  throw new RpcFault('unknown_method', `Method not found: ${method.slice(0, 100)}`, {
    status: modern ? 404 : 200,
  })
}

async function callTool(params: JsonObject, server: ToolServer): Promise<ToolResult> {
  const { name } = params
  const args = params['arguments'] ?? {}
  if (typeof name !== 'string') throw new RpcFault('invalid_params', 'params.name must name a tool.')
  if (!isObject(args)) throw new RpcFault('invalid_params', 'params.arguments must be an object.')
  return await server.call(name, args, params)
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
