import { Readable } from 'node:stream'
import type { Principal } from '../auth/principal.ts'
import { AppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { Admission } from './admission.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Registry } from '../schema/registry.ts'
import type { BrowserGates } from './browser-gates.ts'
import { announcedLength, type BodyLimits, withBody } from './body.ts'
import { credentialsOf } from './credentials.ts'
import {
  type Exchange,
  leaving,
  type LiveBody,
  sendBytes,
  sendJson,
  sendLater,
  sendLive,
  sendStream,
} from './exchange.ts'
import { assertJsonType, assertPlainBody, MAX_JSON_BODY_BYTES, parseJsonBody } from './json-body.ts'
import { readParameters } from './parameters.ts'
import { assertAllowed } from './permissions.ts'
import type { GuardedRoute, RouteAccess, RouteHead, RouteReply } from './route.ts'

/** The principal of routes that need none: it owns nothing. */
const NOBODY: Principal = {
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

/** What every API stands on to answer a matched route. */
export interface DispatchDeps {
  authenticator: Pick<Authenticator, 'authenticate'>
  registry: Registry
  limits: BodyLimits
  /** With AUTH=off: what requests must pass. */
  gates: BrowserGates | undefined
  /** How JSON bodies are read, where it is not as on the platform API. */
  json_bodies?: { max_bytes: number /** JSON that stands for an empty body. */; empty: string }
}

async function readBody(
  exchange: Exchange,
  { body }: RouteHead,
  deps: DispatchDeps,
  admission: Admission,
): Promise<unknown> {
  if (body === undefined) return undefined
  // An empty body needs no type.
  if (body !== 'raw' && announcedLength(exchange.req) !== 0) {
    assertJsonType(exchange.req, deps.gates !== undefined)
    assertPlainBody(exchange.req)
  }
  const { json_bodies, limits, registry } = deps
  const max_body_bytes =
    body === 'raw' ? limits.max_body_bytes : (json_bodies?.max_bytes ?? MAX_JSON_BODY_BYTES)
  return await withBody(exchange, admission, { ...limits, max_body_bytes }, async ({ bytes, aborted }) => {
    if (aborted) throw new AppError('invalid_request', { message: 'The body stopped early.' })
    if (body === 'raw') return bytes
    const sent = bytes.length === 0 && json_bodies !== undefined ? Buffer.from(json_bodies.empty) : bytes
    return parseJsonBody(sent, body, registry)
  })
}

function isLive(body: unknown): body is LiveBody {
  return typeof body === 'object' && body !== null && 'writeTo' in body
}

async function sendReply(exchange: Exchange, route: RouteHead, reply: RouteReply<unknown>): Promise<void> {
  const status = reply.status ?? route.status
  const headers = { 'content-type': route.reply_type, ...reply.headers }
  const { body } = reply
  if (body === '') sendBytes(exchange, status, reply.headers ?? {}, body)
  else if (route.reply !== 'bytes') sendJson(exchange, status, body, reply.headers)
  else if (body instanceof Readable) await sendStream(exchange, status, headers, body)
  else if (body instanceof Promise) await sendLater(exchange, status, headers, body)
  else if (isLive(body)) await sendLive(exchange, status, headers, body)
  else sendBytes(exchange, status, headers, body instanceof Uint8Array ? body : String(body))
}

/** Calls `act` when the answer is out, or cannot be any more. */
function onceClosed({ res }: Exchange, act: () => void): void {
  if (res.closed || res.destroyed) act()
  else res.once('close', act)
}

async function identify(
  { req }: Exchange,
  { access }: { access: RouteAccess },
  { gates, authenticator }: DispatchDeps,
): Promise<Principal> {
  gates?.assertOwn(req)
  return await authenticator.authenticate(credentialsOf(req.headers), access.acts_in)
}

/**
 * Runs one matched route: caller, permission, parameters, body, handler, answer. Rejects with what should be answered as a
 * problem. `params` are the path's, decoded.
 */
export async function dispatch<D extends DispatchDeps>(
  exchange: Exchange,
  route: GuardedRoute<D>,
  params: Readonly<Record<string, string | string[] | undefined>>,
  deps: D,
  admission: Admission,
): Promise<void> {
  exchange.route ||= route.path
  if (route.access.need !== 'open') {
    exchange.principal ??= await identify(exchange, route, deps)
    assertAllowed(exchange.principal, route.access)
  }
  route.available?.(deps)
  const search = new URLSearchParams(exchange.search)
  const context = {
    deps,
    principal: exchange.principal ?? NOBODY,
    params: readParameters(route.params, 'path', (name) => [params[name] ?? []].flat()),
    query: readParameters(route.query, 'query', (name) => search.getAll(name)),
    body: await readBody(exchange, route, deps, admission),
    req: exchange.req,
    gone: () => leaving(exchange.res),
  }
  const reply = await route.handle(context)
  if (reply.sent !== undefined) onceClosed(exchange, reply.sent)
  // Not awaited: an answer may take hours, and what was asked need not be kept for it.
  return sendReply(exchange, route, reply)
}
