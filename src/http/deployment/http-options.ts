import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'

/** Groups of routes that langgraph.json can leave out. */
export const ROUTE_GROUPS = ['assistants', 'threads', 'runs', 'store', 'meta'] as const
export type RouteGroup = (typeof ROUTE_GROUPS)[number]

/** Which routes there are, and where, as langgraph.json says under `http`. */
export interface HttpOptions {
  /** `disable_runs` and the like. */
  disabled: ReadonlySet<RouteGroup>
  /** In front of every path, e.g. `/chat/v1`; empty for none. */
  mount_prefix: string
  /** Whether callers of the deployment's own HTTP app are identified first; undefined: as LangGraph's server does. */
  custom_route_auth: boolean | undefined
}

/** What health checks ask is also answered without the prefix. */
const HEALTH = '/ok'
/** Is no route's. */
export const NOWHERE = '/(none)'
const PREFIX = /^(\/[\w.~-]+)+$/

/** @throws AppError config_invalid for a prefix that is no path */
export function readHttpOptions(http: JsonObject): HttpOptions {
  const disabled = new Set(ROUTE_GROUPS.filter((group) => http[`disable_${group}`] === true))
  const given = http['mount_prefix'] ?? ''
  const mount_prefix = typeof given === 'string' ? given.replace(/\/+$/, '') : undefined
  if (mount_prefix === undefined || (mount_prefix !== '' && !PREFIX.test(mount_prefix))) {
    throw new AppError('config_invalid', {
      message: 'langgraph.json: http.mount_prefix must be a path such as "/chat".',
    })
  }
  const auth = http['enable_custom_route_auth']
  return { disabled, mount_prefix, custom_route_auth: typeof auth === 'boolean' ? auth : undefined }
}

/** The group of a route's path: runs are runs wherever they are, and UI components are in none. */
export function routeGroup(path: string): RouteGroup | undefined {
  if (path.startsWith('/ui/')) return undefined
  if (/^(\/threads\/\{thread_id\})?\/runs(\/|$)/.test(path)) return 'runs'
  const first = path.split('/')[1] ?? ''
  return ROUTE_GROUPS.find((group) => group === first) ?? 'meta'
}

/** The path of the API behind the mount prefix; one that no route has when it is not behind it. */
export function unmounted(path: string, { mount_prefix }: HttpOptions): string {
  if (mount_prefix === '' || path === HEALTH) return path
  if (path === mount_prefix) return '/'
  return path.startsWith(`${mount_prefix}/`) ? path.slice(mount_prefix.length) : NOWHERE
}
