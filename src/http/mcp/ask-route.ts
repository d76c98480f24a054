import { AppError } from '../../base/errors.ts'
import { parseExact } from '../../schema/exact-json.ts'
import type { Registry, SchemaName } from '../../schema/registry.ts'
import { readParameters } from '../api/parameters.ts'
import type { Route, RouteContext } from '../api/route.ts'
import { parseJsonBody } from '../body/json.ts'
import { assertAllowed, routeName } from '../api/access.ts'

/** The input of a route: parameters of path and query as text, and its body. */
export interface RouteInput {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | undefined>>
  /** JSON, or bytes for a route with a raw body, which are JSON too. */
  body?: unknown
}

/** The JSON that a route answers the caller; null for an empty answer. @throws AppError as the route does */
export type AskRoute = (name: string, input?: RouteInput) => Promise<unknown>

/**
 * Asks routes of an API as the caller of `context`, without HTTP: the same permissions, checks and handlers. Only for
 * routes that answer JSON.
 */
export function createAskRoute<D extends { registry: Registry }>(
  routes: readonly Route<D>[],
  {
    deps,
    principal,
    req,
    gone,
  }: Pick<RouteContext<unknown, unknown, unknown, D>, 'deps' | 'principal' | 'req' | 'gone'>,
): AskRoute {
  // Handlers read only the headers of a request. Those of the response are about the outer request.
  const { 'if-none-match': _known, ...headers } = req.headers
  const asJson = Object.create(req, {
    headers: { value: { ...headers, 'content-type': 'application/json' } },
  })
  return async (name, { params = {}, query = {}, body } = {}) => {
    const route = routes.find((one) => routeName(one) === name)
    if (route === undefined) throw new AppError('internal', { message: `There is no route ${name}.` })
    if (!principal.workspace_chosen && route.acts_in === 'workspace') throw new AppError('workspace_required')
    assertAllowed(principal, route)
    route.available?.(deps)
    const reply = await route.handle({
      deps,
      principal,
      params: readParameters(route.params, 'path', (key) => [params[key] ?? []].flat()),
      query: readParameters(route.query, 'query', (key) => [query[key] ?? []].flat()),
      body: checkedBody(route, body, deps.registry),
      req: asJson,
      gone,
    })
    reply.sent?.()
    return jsonOf(await reply.body, name)
  }
}

function checkedBody(
  { body: schema }: { body?: SchemaName | 'raw' },
  body: unknown,
  registry: Registry,
): unknown {
  if (schema === undefined) return undefined
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  return schema === 'raw' ? bytes : parseJsonBody(bytes, schema, registry)
}

function jsonOf(body: unknown, name: string): unknown {
  if (typeof body === 'string') return parseLines(body)
  if (body instanceof Uint8Array) return parseLines(new TextDecoder().decode(body))
  if (typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype)
    return body
  if (Array.isArray(body)) return body
  throw new AppError('internal', { message: `${name} does not answer JSON.` })
}

/** JSON, or NDJSON as a list. */
function parseLines(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return parseExact(text)
  } catch {
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.map((line): unknown => parseExact(line))
  }
}
