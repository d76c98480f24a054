import { AppError } from '../../base/errors.ts'
import type { Principal } from '../../identity/principal.ts'
import type { GuardedRoute, Need, Route, RouteAccess, RouteHead } from './route.ts'

/** The table of permissions of an API: route → requirement (D-40). */
export type RouteNeeds = Readonly<Record<string, Need>>

/**
 * Routes that act in the organization or report on the whole server. A key without a default workspace may call them
 * without X-Tenant-Id, since scrapers of metrics cannot send one, and /mcp lists the workspaces. Routes of secrets are not among them, because secrets
 * belong to a workspace.
 */
const ORGANIZATION_ROUTE =
  /^\w+ \/(auth|oauth|mcp|orgs|api-key|workspaces(?!\/current)|setup|audit-logs|usage-limits|metrics|ingest\/health|info\/health)(\/|$)/

/** Name of a route in a table of permissions. */
export function routeName({ method, path }: Pick<RouteHead, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/**
 * The routes, each with its requirement; `whole`: routes that are only for keys of all workspaces. @throws AppError internal when a route is not in the table, or the table has
 * an unknown route
 */
export function guardRoutes<D>(
  routes: readonly Route<D>[],
  needs: RouteNeeds,
  whole: ReadonlySet<string>,
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
export function accessOf(name: string, needs: RouteNeeds, whole: ReadonlySet<string>): RouteAccess {
  const need = needs[name]
  if (need === undefined) throw new AppError('internal', { message: `${name} is not in the table.` })
  const acts_in = ORGANIZATION_ROUTE.test(name) ? 'organization' : 'workspace'
  return { need, whole_organization: whole.has(name), acts_in }
}

/** @throws AppError permission_required with the missing permission, forbidden for a key of some workspaces */
export function assertAllowed(
  principal: Principal,
  { need, whole_organization }: Pick<RouteAccess, 'need' | 'whole_organization'>,
): void {
  if (!has(principal, need))
    throw new AppError('permission_required', { message: `Forbidden: this needs ${needText(need)}.` })
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
