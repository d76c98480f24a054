import { Readable } from 'node:stream'
import type { Principal } from '../auth/principal.ts'
import { AppError } from '../base/errors.ts'
import { NIL_UUID } from '../base/ids.ts'
import type { Admission } from './admission.ts'
import type { AppDeps } from './app-deps.ts'
import { credentialsOf } from './credentials.ts'
import { type Exchange, sendBytes, sendJson, sendStream } from './exchange.ts'
import { withBody } from './ingest-handler.ts'
import { assertJsonBody, MAX_JSON_BODY_BYTES, parseJsonBody } from './json-body.ts'
import { readParameters } from './parameters.ts'
import type { Route, RouteReply } from './route.ts'

/** Who open routes act for: nobody, who owns nothing. */
const NOBODY: Principal = {
  organization_id: NIL_UUID,
  workspace_id: NIL_UUID,
  user_id: null,
  api_key_id: NIL_UUID,
  short_key: '',
  workspace_ids: [],
}

async function readBody(
  exchange: Exchange,
  route: Route,
  deps: AppDeps,
  admission: Admission,
): Promise<unknown> {
  const { body } = route
  if (body === undefined) return undefined
  if (body !== 'raw') assertJsonBody(exchange.req)
  const max_body_bytes = body === 'raw' ? deps.limits.max_body_bytes : MAX_JSON_BODY_BYTES
  return await withBody(
    exchange,
    admission,
    { ...deps.limits, max_body_bytes },
    async ({ bytes, aborted }) => {
      if (aborted) throw new AppError('invalid_request', { message: 'The body stopped early.' })
      return body === 'raw' ? bytes : parseJsonBody(bytes, body, deps.registry)
    },
  )
}

async function sendReply(exchange: Exchange, route: Route, reply: RouteReply<unknown>): Promise<void> {
  const status = reply.status ?? route.status
  const headers = { 'content-type': route.reply_type, ...reply.headers }
  const { body } = reply
  if (route.reply !== 'bytes') sendJson(exchange, status, body, reply.headers)
  else if (body instanceof Readable) await sendStream(exchange, status, headers, body)
  else sendBytes(exchange, status, headers, body instanceof Uint8Array ? body : String(body))
}

/**
 * Runs one matched route: caller, parameters, body, handler, answer. Rejects with what should be answered as a
 * problem. `params` are the path's, decoded.
 */
export async function dispatch(
  exchange: Exchange,
  route: Route,
  params: Readonly<Record<string, string | string[] | undefined>>,
  deps: AppDeps,
  admission: Admission,
): Promise<void> {
  exchange.route = route.path
  if (!route.open)
    exchange.principal = await deps.authenticator.authenticate(credentialsOf(exchange.req.headers))
  const search = new URLSearchParams(exchange.search)
  const context = {
    deps,
    principal: exchange.principal ?? NOBODY,
    params: readParameters(route.params, 'path', (name) => [params[name] ?? []].flat()),
    query: readParameters(route.query, 'query', (name) => search.getAll(name)),
    body: await readBody(exchange, route, deps, admission),
    req: exchange.req,
  }
  await sendReply(exchange, route, await route.handle(context))
}
