import { AppError } from '../../base/errors.ts'
import type { ActsIn } from '../../identity/authenticator.ts'
import type { Permission } from '../../identity/permissions.ts'
import type { Principal } from '../../identity/principal.ts'

/** What a caller needs: a permission, any key, any key that is not read-only, or nothing. */
export type Need = Permission | 'any key' | 'any writing key' | 'open'

/** Who may call a route; every route states it (D-66). */
export interface RouteAccess {
  needs: Need
  /** Whether the route is about the organization as a whole, and so only for keys of all of its workspaces. */
  whole_organization?: boolean
}

/**
 * Paths of routes that act in the organization or report on the whole server. A key without a default workspace may call
 * them without X-Tenant-Id, since scrapers of metrics cannot send one, and /mcp lists the workspaces. Routes of secrets
 * are not among them, because secrets belong to a workspace.
 */
const ORGANIZATION_PATH =
  /^\/(auth|oauth|mcp|orgs|api-key|workspaces(?!\/current)|setup|audit-logs|usage-limits|metrics|ingest\/health|info\/health)(\/|$)/

export function actsIn(path: string): ActsIn {
  return ORGANIZATION_PATH.test(path) ? 'organization' : 'workspace'
}

/** Name of a route, as tools that ask it give it. */
export function routeName({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`
}

/** @throws AppError permission_required with the missing permission, forbidden for a key of some workspaces */
export function assertAllowed(
  principal: Principal,
  { needs, whole_organization = false }: RouteAccess,
): void {
  if (!has(principal, needs))
    throw new AppError('permission_required', { message: `Forbidden: this needs ${needText(needs)}.` })
  if (whole_organization && !principal.all_workspaces) {
    throw new AppError('forbidden', { message: 'Forbidden: this needs a key of all workspaces.' })
  }
}

function has({ permissions, read_only }: Principal, needs: Need): boolean {
  if (needs === 'open' || needs === 'any key') return true
  return needs === 'any writing key' ? !read_only : permissions.has(needs)
}

function needText(needs: Need): string {
  return needs === 'any writing key' ? 'a key that is not read-only' : `the permission ${needs}`
}
