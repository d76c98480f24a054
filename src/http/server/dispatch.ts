import { Readable } from 'node:stream'
import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { BodyAdmission } from '../body/admission.ts'
import { toJsonText } from '../../schema/raw-json.ts'
import type { Registry, SchemaName } from '../../schema/registry.ts'
import { mayBeLarge } from '../body/bulk.ts'
import { announcedLength, type BodyLimits, withBody } from '../body/body.ts'
import { type CallerDeps, callerOf, sessionOf } from './credentials.ts'
import {
  type Exchange,
  holderOf,
  disconnectSignal,
  sendBytes,
  sendLater,
  sendLive,
  sendStream,
} from './exchange.ts'
import { watchCaller } from './callers/open-callers.ts'
import { assertJsonType, assertPlainBody, MAX_JSON_BODY_BYTES, parseJsonBody } from '../body/json.ts'
import { readParameters } from '../api/parameters.ts'
import { assertAllowed } from '../api/access.ts'
import type { Route, RouteHead, RouteReply, Headers, LiveBody } from '../api/route.ts'
import type { Compressor } from './answer/compressor.ts'
import { names, validatorOf, versionOf } from './answer/entity-tag.ts'

/** The principal of routes without authentication; it has no permissions. */
export const NOBODY: Principal = {
  organization_id: NIL_UUID,
  workspace_id: NIL_UUID,
  workspace_chosen: false,
  user_id: null,
  api_key_id: NIL_UUID,
  short_key: '',
  holder: '',
  workspace_ids: [],
  all_workspaces: false,
  permissions: new Set(),
  role: 'viewer',
  read_only: true,
  expires_at: null,
}

export interface DispatchDeps extends CallerDeps {
  registry: Registry
  limits: BodyLimits
  /** Options of reading large JSON bodies. Absent: the maximum is a megabyte. */
  json_bodies?: JsonBodies
  /** Compresses responses to reads. Absent: responses are not compressed. */
  compressor?: Compressor
}

export interface JsonBodies {
  /** Maximum for schemas that may have more than a megabyte. */
  max_bytes: number
  /** The JSON that replaces an empty body. Absent: an empty body is an error. */
  empty?: string
  large: LargeBodies
}

/** Parses JSON bodies of more than a megabyte without blocking the event loop. */
export interface LargeBodies {
  /**
   * The body, checked, with large values as raw JSON (`schema/raw-json.ts`). The buffer of `bytes` is transferred.
   * @throws AppError invalid_json, invalid_request, body_too_large; rate_limited when `holder` has many bodies waiting;
   * worker_timeout, worker_failed
   */
  parse(
    bytes: Uint8Array<ArrayBuffer>,
    schema: SchemaName,
    holder: string,
    gone: AbortSignal,
  ): Promise<unknown>
}

function maxJsonBytes(schema: SchemaName, json_bodies: JsonBodies | undefined): number {
  return json_bodies !== undefined && mayBeLarge(schema) ? json_bodies.max_bytes : MAX_JSON_BODY_BYTES
}

async function readBody(
  exchange: Exchange,
  { body }: RouteHead,
  deps: DispatchDeps,
  admission: BodyAdmission,
): Promise<unknown> {
  if (body === undefined) return undefined
  // An empty body needs no content type.
  if (body !== 'raw' && announcedLength(exchange.req) !== 0) {
    // Browsers send a preflight request before a PUT to another origin, so PUT needs no strict type; the JavaScript
    // client sends PUT as text.
    const isStrict = deps.gates !== undefined && exchange.req.method !== 'PUT'
    assertJsonType(exchange.req, isStrict || sessionOf(exchange) !== undefined)
    assertPlainBody(exchange.req)
  }
  const { json_bodies, limits, registry } = deps
  const max_body_bytes = body === 'raw' ? limits.max_body_bytes : maxJsonBytes(body, json_bodies)
  return await withBody(exchange, admission, { ...limits, max_body_bytes }, async ({ bytes, aborted }) => {
    if (aborted) throw new AppError('invalid_request', { message: 'The body stopped early.' })
    if (body === 'raw') return bytes
    if (json_bodies !== undefined && bytes.length > MAX_JSON_BODY_BYTES)
      return await json_bodies.large.parse(bytes, body, holderOf(exchange), disconnectSignal(exchange.res))
    const { empty } = json_bodies ?? {}
    const sent = bytes.length === 0 && empty !== undefined ? Buffer.from(empty) : bytes
    return parseJsonBody(sent, body, registry)
  })
}

function isLive(body: unknown): body is LiveBody {
  return typeof body === 'object' && body !== null && 'writeTo' in body
}

async function sendReply(
  exchange: Exchange,
  route: RouteHead,
  reply: RouteReply<unknown>,
  compressor: Compressor | undefined,
): Promise<void> {
  const status = reply.status ?? route.status
  const caching = route.needs === 'open' ? undefined : NOT_SHARED
  const headers = { 'content-type': route.reply_type, ...caching, ...reply.headers }
  const { body } = reply
  if (body === '') sendBytes(exchange, status, reply.headers ?? {}, body)
  else if (route.reply !== 'bytes')
    await sendWhole(exchange, route, { status, headers, body: toJsonText(body) }, compressor)
  else if (body instanceof Readable) await sendStream(exchange, status, headers, body)
  else if (body instanceof Promise) await sendLater(exchange, status, headers, body)
  else if (isLive(body)) await sendLive(exchange, status, headers, body)
  else {
    const bytes = body instanceof Uint8Array ? body : String(body)
    await sendWhole(exchange, route, { status, headers, body: bytes }, compressor)
  }
}

/**
 * Sends a complete response: only status 304 if the client already has the response; compressed if the route only reads.
 */
async function sendWhole(
  exchange: Exchange,
  route: RouteHead,
  { status, headers, body }: { status: number; headers: Headers; body: Uint8Array | string },
  compressor: Compressor | undefined,
): Promise<void> {
  const { 'if-none-match': known, 'accept-encoding': accepted } = exchange.req.headers
  const version = route.revalidates && status === 200 ? versionOf(body) : undefined
  const all = version === undefined ? headers : { ...headers, ...validatorOf(version) }
  if (version !== undefined && names(known, version)) return sendBytes(exchange, NOT_MODIFIED, all, '')
  if (status !== 200 || compressor === undefined || !isRead(route))
    return sendBytes(exchange, status, all, body)
  const encoded = await compressor.encode(accepted?.toString(), all, body)
  sendBytes(exchange, status, encoded.headers, encoded.body)
}

const NOT_MODIFIED = 304
/** A cache between server and client must not give the response to other callers. */
const NOT_SHARED: Headers = { 'cache-control': 'private, no-cache' }

/** Whether a route only reads. Responses of such a route contain no secrets, which compression could reveal. */
function isRead({ needs }: RouteHead): boolean {
  return needs === 'open' || needs.endsWith(':read')
}

/** Calls `act` when the response was sent or its connection closed. */
function onceClosed({ res }: Exchange, act: () => void): void {
  if (res.closed || res.destroyed) act()
  else res.once('close', act)
}

/** Stands for an unreadable body, for which the route has its own response. */
const UNREADABLE = Symbol('unreadable')

function unreadableIn({ unreadable }: RouteHead): (error: unknown) => typeof UNREADABLE {
  return (error) => {
    const isFault = error instanceof AppError && BODY_FAULTS.has(error.code)
    if (unreadable === undefined || !isFault) throw error
    return UNREADABLE
  }
}

const BODY_FAULTS: ReadonlySet<string> = new Set(['invalid_json', 'invalid_request'])

/** The caller of a route. @throws AppError as `callerOf`; unauthorized with the challenge of a resource of OAuth */
async function callerFor<D extends DispatchDeps>(
  exchange: Exchange,
  { acts_in, oauth }: Route<D>,
  deps: D,
): Promise<Principal> {
  try {
    return await callerOf(exchange, deps, { acts_in, resource: oauth?.path(deps) })
  } catch (error) {
    if (oauth === undefined || !(error instanceof AppError) || error.code !== 'unauthorized') throw error
    const challenge = oauth.challenge(deps, exchange)
    throw challenge === undefined
      ? error
      : new AppError('unauthorized', { message: error.message, details: { challenge } })
  }
}

/**
 * Runs one matched route: caller, permission, parameters, body, handler, response. Rejects with the error that the
 * response must report. `params` are the decoded parameters of the path.
 */
export async function dispatch<D extends DispatchDeps>(
  exchange: Exchange,
  route: Route<D>,
  params: Readonly<Record<string, string | string[] | undefined>>,
  deps: D,
  admission: BodyAdmission,
): Promise<void> {
  exchange.route ||= route.path
  if (route.needs !== 'open') {
    exchange.principal ??= await callerFor(exchange, route, deps)
    assertAllowed(exchange.principal, route)
  }
  route.available?.(deps)
  const search = new URLSearchParams(exchange.search)
  const parameters = {
    params: readParameters(route.params, 'path', (name) => [params[name] ?? []].flat()),
    query: readParameters(route.query, 'query', (name) => search.getAll(name)),
  }
  const body = await readBody(exchange, route, deps, admission).catch(unreadableIn(route))
  let left: AbortSignal | undefined
  const reply =
    body === UNREADABLE && route.unreadable !== undefined
      ? route.unreadable
      : await route.handle({
          deps,
          principal: exchange.principal ?? NOBODY,
          ...parameters,
          body,
          req: exchange.req,
          // Handlers ask several times, and each signal listens to the response.
          gone: () => (left ??= disconnectSignal(exchange.res)),
        })
  if (reply.sent !== undefined) onceClosed(exchange, reply.sent)
  if (isLive(reply.body) || reply.body instanceof Promise)
    onceClosed(
      exchange,
      watchCaller(exchange, deps, route, () => exchange.res.destroy()),
    )
  // The response is not awaited, because it may take hours and the request's data is not needed for it.
  return sendReply(exchange, route, reply, deps.compressor)
}
