import { AppError } from '../../../base/errors.ts'
import type { Registry } from '../../../schema/registry.ts'
import { readParameters } from '../../api/parameters.ts'
import { parseJsonBody } from '../../body/json.ts'
import { assertAllowed, routeName } from '../permissions.ts'
import type { GuardedPlatformRoute, PlatformContext } from '../route.ts'

/** The input of a route: parameters of path and query as text, and its body. */
export interface RouteInput {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | undefined>>
  /** JSON, or bytes for a route with a raw body, which are JSON too. */
  body?: unknown
}

/** The JSON that a route of the platform API answers the caller. @throws AppError as the route does */
export type AskRoute = (name: string, input?: RouteInput) => Promise<unknown>

/**
 * Asks routes of the platform API as the caller of `context`, without HTTP: the same permissions, checks and handlers.
 * Only for routes that answer JSON.
 */
export function createAskRoute(
  routes: readonly GuardedPlatformRoute[],
  { deps, principal, req, gone }: Pick<PlatformContext, 'deps' | 'principal' | 'req' | 'gone'>,
): AskRoute {
  // Handlers read only headers of a request.
  const asJson = Object.create(req, { headers: { value: { 'content-type': 'application/json' } } })
  return async (name, { params = {}, query = {}, body } = {}) => {
    const route = routes.find((one) => routeName(one) === name)
    if (route === undefined) throw new AppError('internal', { message: `There is no route ${name}.` })
    assertAllowed(principal, route.access)
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
    return jsonOf(reply.body, name)
  }
}

function checkedBody({ body: schema }: GuardedPlatformRoute, body: unknown, registry: Registry): unknown {
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
  try {
    return JSON.parse(text)
  } catch {
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.map((line): unknown => JSON.parse(line))
  }
}
