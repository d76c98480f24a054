import type { Permission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError } from '../base/errors.ts'
import type { GuardedRoute, Route, RouteAccess, RouteHead } from './route.ts'

/** What a route asks of its caller: a permission, a key whatever it may do, such a key that is not read-only, or nothing. */
export type Need = Permission | 'any key' | 'any writing key' | 'open'

/**
 * Route → what it needs (D-40): the one source for the server, the OpenAPI document, docs/permissions.md and the
 * permission matrix test. A route that is missing here fails the start.
 */
export const ROUTE_NEEDS: Readonly<Record<string, Need>> = {
  'POST /runs/multipart': 'runs:create',
  'POST /runs/batch': 'runs:create',
  'POST /runs': 'runs:create',
  'PATCH /runs/{id}': 'runs:create',
  'POST /otel/v1/traces': 'runs:create',
  'POST /v1/traces': 'runs:create',
  'POST /otel/v1/logs': 'runs:create',
  'POST /v1/logs': 'runs:create',
  'POST /feedback': 'runs:create',

  'GET /runs/{id}': 'runs:read',
  'POST /runs/query': 'runs:read',
  'GET /traces/{trace_id}': 'runs:read',
  'GET /runs/{id}/attachments/{name}': 'runs:read',
  'POST /runs/validate': 'runs:read',
  'GET /feedback': 'runs:read',

  'GET /sessions': 'projects:read',
  'POST /sessions': 'projects:create',
  'GET /sessions/{id}': 'projects:read',
  'PATCH /sessions/{id}': 'projects:create',

  'GET /model-price-map': 'workspaces:read',
  'GET /model-price-map/lookup': 'workspaces:read',
  'POST /model-price-map': 'workspaces:manage',
  'PUT /model-price-map/{id}': 'workspaces:manage',
  'DELETE /model-price-map/{id}': 'workspaces:manage',
  'POST /runs/reprice': 'workspaces:manage',
  'GET /runs/reprice/{job_id}': 'runs:read',

  'GET /workspaces': 'workspaces:read',
  'POST /workspaces': 'workspaces:manage',
  'PATCH /workspaces/{id}': 'workspaces:manage',
  'DELETE /workspaces/{id}': 'workspaces:manage',
  'GET /settings': 'any key',

  'GET /orgs/current': 'organization:read',
  'GET /orgs/current/roles': 'organization:read',
  'GET /orgs/current/members': 'organization:read',
  'POST /orgs/current/members': 'organization:manage',
  'PATCH /orgs/current/members/{user_id}': 'organization:manage',
  'DELETE /orgs/current/members/{user_id}': 'organization:manage',
  'GET /orgs/current/service-keys': 'organization:read',
  'POST /orgs/current/service-keys': 'organization:manage',
  'DELETE /orgs/current/service-keys/{id}': 'organization:manage',
  'GET /orgs/current/personal-access-tokens': 'any key',
  'POST /orgs/current/personal-access-tokens': 'any writing key',
  'DELETE /orgs/current/personal-access-tokens/{id}': 'any writing key',
  'GET /orgs/current/audit-logs': 'organization:read',

  'GET /usage-limits': 'organization:read',
  'PUT /usage-limits': 'organization:manage',
  'DELETE /usage-limits/{id}': 'organization:manage',
  'GET /orgs/current/billing/granular-usage': 'organization:read',
  'GET /orgs/current/billing/granular-usage/export': 'organization:read',
  'GET /orgs/current/billing/usage-details': 'organization:read',
  'GET /orgs/current/billing/usage-details/export': 'organization:read',
  'POST /orgs/current/billing/usage-rebuild': 'organization:manage',
  'GET /orgs/current/billing/usage-rebuild': 'organization:read',

  'GET /ingest/health': 'organization:read',
  'GET /metrics': 'organization:read',
  'GET /ok': 'open',
  'GET /info': 'open',
  'GET /docs': 'open',
  'GET /openapi.json': 'open',
  'GET /': 'open',
}

/** What concerns the organization as a whole: for keys of all of its workspaces only. */
export const WHOLE_ORGANIZATION: ReadonlySet<string> = new Set([
  'POST /workspaces',
  'GET /orgs/current/audit-logs',
  'GET /usage-limits',
  'PUT /usage-limits',
  'DELETE /usage-limits/{id}',
  'POST /orgs/current/billing/usage-rebuild',
])

/**
 * Names of the routes that act in the organization or tell of the whole server: a key without a default workspace need
 * not name one there, which scrapers of metrics could not do.
 */
const ORGANIZATION_ROUTE = /^\w+ \/(orgs\/current|workspaces|usage-limits|metrics|ingest\/health)(\/|$)/

/** Name of a route in ROUTE_NEEDS. */
export function routeName({ method, path }: Pick<RouteHead, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/**
 * The routes, each with what it needs.
 * @throws AppError internal when a route is not in the table, or the table has one that is not
 */
export function guardRoutes<D>(
  routes: readonly Route<D>[],
  needs = ROUTE_NEEDS,
  whole = WHOLE_ORGANIZATION,
): GuardedRoute<D>[] {
  const names = new Set(routes.map(routeName))
  const strays = [...Object.keys(needs), ...whole].filter((name) => !names.has(name))
  const missing = [...names].filter((name) => !Object.hasOwn(needs, name))
  if (missing.length > 0 || strays.length > 0) {
    const lists = `without an entry: ${missing.join(', ') || 'none'}; without a route: ${strays.join(', ') || 'none'}`
    throw new AppError('internal', { message: `The table of permissions does not fit the routes: ${lists}.` })
  }
  return routes.map((route) => ({ ...route, access: accessOf(routeName(route), needs, whole) }))
}

/** @throws AppError internal for a route that is not in the table */
export function accessOf(name: string, needs = ROUTE_NEEDS, whole = WHOLE_ORGANIZATION): RouteAccess {
  const need = needs[name]
  if (need === undefined) throw new AppError('internal', { message: `${name} is not in the table.` })
  const acts_in = ORGANIZATION_ROUTE.test(name) ? 'organization' : 'workspace'
  return { need, whole_organization: whole.has(name), acts_in }
}

/** @throws AppError forbidden, saying what is missing */
export function assertAllowed(
  principal: Principal,
  { need, whole_organization }: Pick<RouteAccess, 'need' | 'whole_organization'>,
): void {
  if (!has(principal, need))
    throw new AppError('forbidden', { message: `Forbidden: this needs ${needText(need)}.` })
  if (whole_organization && !principal.all_workspaces) {
    throw new AppError('forbidden', { message: 'Forbidden: this needs a key of all workspaces.' })
  }
}

function has({ permissions, read_only }: Principal, need: Need): boolean {
  if (need === 'open' || need === 'any key') return true
  return need === 'any writing key' ? !read_only : permissions.has(need)
}

function needText(need: Need): string {
  return need === 'any writing key' ? 'a key that is not read-only' : `the permission ${need}`
}
