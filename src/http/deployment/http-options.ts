import { AppError } from '../../base/errors.ts'
import type { JsonObject } from '../../schema/json.ts'

/** Groups of routes that langgraph.json can disable. */
export const ROUTE_GROUPS = ['assistants', 'threads', 'runs', 'store', 'mcp', 'a2a', 'meta'] as const
export type RouteGroup = (typeof ROUTE_GROUPS)[number]

/** The served routes and their prefix: `http` of langgraph.json. */
export interface HttpOptions {
  /** `disable_runs` and similar options. */
  disabled: ReadonlySet<RouteGroup>
  /** Prefix of every path, e.g. `/chat/v1`; empty for none. */
  mount_prefix: string
  /** Whether requests to the custom HTTP app are authenticated; undefined for the default of LangGraph's server. */
  custom_route_auth: boolean | undefined
}

/** Path that is also served without the prefix, for health checks. */
const HEALTH = '/ok'
/** A path that has no route. */
export const NOWHERE = '/(none)'
const PREFIX = /^(\/[\w.~-]+)+$/

/** @throws AppError config_invalid for a prefix that is not a path */
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

/** The group of a route by its path; run routes are one group under every path. Undefined for UI components. */
export function routeGroup(path: string): RouteGroup | undefined {
  if (path.startsWith('/ui/')) return undefined
  if (path.startsWith('/.well-known/agent')) return 'a2a'
  if (/^(\/threads\/\{thread_id\})?\/runs(\/|$)/.test(path)) return 'runs'
  const first = path.split('/')[1] ?? ''
  return ROUTE_GROUPS.find((group) => group === first) ?? 'meta'
}

/** The path without the mount prefix; a path without a route if the prefix is missing. */
export function unmounted(path: string, { mount_prefix }: HttpOptions): string {
  if (mount_prefix === '' || path === HEALTH) return path
  if (path === mount_prefix) return '/'
  return path.startsWith(`${mount_prefix}/`) ? path.slice(mount_prefix.length) : NOWHERE
}
