import { newUuid } from '../../base/ids.ts'
import { isExactInteger, parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { isTooDeep } from '../../trace/json/json-text.ts'

/** The version of the protocol without sessions: each request names it in `params._meta`. */
export const MODERN = '2026-07-28'
/** The versions with `initialize`, newest first. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

const VERSIONS: readonly string[] = [MODERN, ...LEGACY]

const META_VERSION = 'io.modelcontextprotocol/protocolVersion'
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** Codes of JSON-RPC, and of MCP's version of 2026-07-28. */
const RPC_ERRORS = {
  parse: -32700,
  invalid_request: -32600,
  unknown_method: -32601,
  invalid_params: -32602,
  internal: -32603,
  header_mismatch: -32020,
  unsupported_version: -32022,
} as const

/** An error that the client gets as a JSON-RPC error. */
export class RpcFault extends Error {
  readonly rpc: keyof typeof RPC_ERRORS
  /** HTTP status; most clients only read errors with 200. */
  readonly status: number
  readonly data: JsonValue | undefined

  constructor(
    rpc: keyof typeof RPC_ERRORS,
    message: string,
    { status = 200, data }: { status?: number; data?: JsonValue } = {},
  ) {
    super(message)
    this.rpc = rpc
    this.status = status
    this.data = data
  }
}

/** The `error` of a JSON-RPC message. */
export function faultJson({ rpc, message, data }: RpcFault): JsonObject {
  return { code: RPC_ERRORS[rpc], message, ...(data !== undefined && { data }) }
}

/** A request of a client that awaits a result. */
export interface McpRequest {
  id: string | number
  method: string
  params: JsonObject
  /** Whether the request names its protocol version itself (2026-07-28), which legacy clients never do. */
  modern: boolean
  /** Whether the client shows its user forms (rule MCP-8). */
  shows_forms: boolean
}

/** What a client answers to a request that a stream has sent it; without a result it has refused. */
export interface McpAnswer {
  answers: string
  result: JsonObject | undefined
}

/** Headers by lower-case name, as Node reads them. */
type SentHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The request in a body, or the answer to one of ours; undefined for what gets no result and is nobody's: a notification,
 * or an answer to a request that was never sent.
 * @throws RpcFault with status 400 for a body that is not one JSON-RPC message, for headers that differ from the body
 * and for an unknown version
 */
export function readMessage(body: Uint8Array, headers: SentHeaders): McpRequest | McpAnswer | undefined {
  const message = parse(body)
  const { id, method } = message
  // Some clients write what they leave out as null.
  const params = message['params'] ?? {}
  if (message['jsonrpc'] !== '2.0') throw malformed('jsonrpc must be "2.0"')
  if (method === undefined) {
    const { result, error } = message
    if (result === undefined && error === undefined) throw malformed('it has no method, and no result')
    return typeof id === 'string' ? { answers: id, result: isObject(result) ? result : undefined } : undefined
  }
  if (typeof method !== 'string') throw malformed('method must be a text')
  if (id === undefined) return undefined
  if (!isIdentifier(id)) throw malformed('id must be a text or a number')
  if (!isObject(params)) throw new RpcFault('invalid_params', 'params must be an object.')
  const meta = isObject(params['_meta']) ? params['_meta'] : {}
  const version = meta[META_VERSION]
  if (version === undefined) {
    if (method !== 'initialize') assertVersion(headers['mcp-protocol-version'] ?? LEGACY[0])
    return { id, method, params, modern: false, shows_forms: isFormSession(headers['mcp-session-id']) }
  }
  assertHeaders(headers, { version, method, name: method === 'tools/call' ? params['name'] : undefined })
  assertVersion(version, [MODERN])
  const capabilities = meta[META_CAPABILITIES]
  return { id, method, params, modern: true, shows_forms: showsForms(capabilities) }
}

/** Whether capabilities of a client say that it shows forms: by themselves, or by naming no kind of elicitation. */
export function showsForms(capabilities: JsonValue | undefined): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined
  return isObject(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined)
}

const FORM_SESSION = 'forms-'

/**
 * The session of a legacy client that shows forms, which says so in `initialize` only. The id says it again with each
 * request; no server keeps anything about it (docs/adr/0077).
 */
export function formSession(): string {
  return FORM_SESSION + newUuid()
}

function isFormSession(session: string | string[] | undefined): boolean {
  return typeof session === 'string' && session.startsWith(FORM_SESSION)
}

/** The id to which an error about this body belongs; null if it cannot be read. */
export function idOf(body: Uint8Array): string | number | null {
  try {
    const { id } = parse(body)
    return isIdentifier(id) ? id : null
  } catch {
    return null
  }
}

/** Whether a value can be the id of a request or a token of progress, which may be an integer beyond 2^53. */
export function isIdentifier(value: JsonValue | undefined): value is string | number {
  return typeof value === 'string' || typeof value === 'number' || isExactInteger(value)
}

function parse(body: Uint8Array): JsonObject {
  const text = new TextDecoder().decode(body)
  let value: JsonValue
  try {
    value = parseExact(text)
  } catch {
    throw new RpcFault('parse', 'The body is not JSON.', { status: 400 })
  }
  if (isTooDeep(text, value)) throw malformed('it is nested too deeply')
  if (Array.isArray(value)) throw malformed('batches are not supported')
  if (!isObject(value)) throw malformed('a message is an object')
  return value
}

function malformed(message: string): RpcFault {
  return new RpcFault('invalid_request', `Invalid request: ${message}.`, { status: 400 })
}

/** @throws RpcFault for a version that is not one of `known` */
function assertVersion(requested: JsonValue, known: readonly JsonValue[] = VERSIONS): void {
  if (known.includes(requested)) return
  const data = { supported: [...VERSIONS], requested }
  throw new RpcFault('unsupported_version', 'Unsupported protocol version.', { status: 400, data })
}

/** Proxies route by these headers, so they must not differ from the body. */
function assertHeaders(
  headers: SentHeaders,
  { version, method, name }: { version: JsonValue; method: string; name: JsonValue | undefined },
): void {
  const wanted: [header: string, value: JsonValue | undefined][] = [
    ['mcp-protocol-version', version],
    ['mcp-method', method],
    ['mcp-name', name],
  ]
  for (const [header, value] of wanted) {
    if (value === undefined || decodeHeader(headers[header]) === value) continue
    const text = `The header ${header} does not equal the body.`
    throw new RpcFault('header_mismatch', text, { status: 400 })
  }
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/

/** The text of a header, which is in base64 where it has characters that headers cannot carry. */
function decodeHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const [, encoded] = ENCODED.exec(value) ?? []
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8')
}
