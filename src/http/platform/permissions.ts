import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import type { GuardedRoute, Need, Route, RouteAccess, RouteHead } from '../api/route.ts'

/**
 * Route → requirement (D-40): the only source for the server, the OpenAPI document, docs/api/permissions.md and the
 * permission matrix test. The server does not start if a route is missing here.
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
  'POST /otel/v1/metrics': 'runs:create',
  'POST /v1/metrics': 'runs:create',
  'POST /public/otel/v1/traces': 'runs:create',
  'POST /feedback': 'runs:create',
  'PATCH /feedback/{id}': 'runs:create',
  'DELETE /feedback/{id}': 'runs:create',
  'POST /feedback/tokens': 'runs:create',
  'POST /feedback/tokens/{token}': 'open',
  'GET /feedback/tokens/{token}': 'open',
  'POST /feedback-configs': 'runs:create',
  'PATCH /feedback-configs': 'runs:create',
  'DELETE /feedback-configs': 'runs:create',

  'GET /runs/{id}': 'runs:read',
  'GET /runs/{id}/media': 'runs:read',
  'POST /runs/query': 'runs:read',
  'POST /runs/stats': 'runs:read',
  'POST /runs/facets': 'runs:read',
  'GET /traces/{trace_id}': 'runs:read',
  'POST /traces/{trace_id}/search': 'runs:read',
  'GET /live': 'runs:read',
  'GET /runs/{id}/attachments/{name}': 'runs:read',
  'POST /runs/validate': 'runs:read',
  'GET /feedback': 'runs:read',
  'GET /feedback/{id}': 'runs:read',
  'GET /feedback/tokens': 'runs:create',
  'GET /feedback-configs': 'runs:read',

  'POST /v2/runs/query': 'runs:read',
  'GET /v2/runs/{id}': 'runs:read',
  'GET /v2/runs/{id}/url': 'runs:read',
  'POST /v2/traces/query': 'runs:read',
  'GET /v2/traces/{id}/runs': 'runs:read',
  'PUT /runs/{id}/share': 'runs:create',
  'GET /runs/{id}/share': 'runs:read',
  'DELETE /runs/{id}/share': 'runs:create',
  'POST /v2/runs/{id}/share': 'runs:create',
  'DELETE /v2/runs/{id}/share': 'runs:create',
  'POST /v2/threads/{id}/share': 'runs:create',
  'GET /v2/threads/{id}/share': 'runs:read',
  'DELETE /v2/threads/{id}/share': 'runs:create',
  'GET /public/{token}/run': 'open',
  'GET /public/{token}/run/{id}': 'open',
  'POST /public/{token}/runs/query': 'open',
  'POST /v2/public/{token}/runs/query': 'open',
  'GET /v2/public/{token}/run/{id}': 'open',
  'GET /public/attachments/{id}/{name}': 'open',
  'POST /v2/threads/query': 'runs:read',
  'POST /v2/threads/stats': 'runs:read',
  'GET /v2/threads/{id}/traces': 'runs:read',
  'GET /v2/threads/{id}/stats': 'runs:read',
  'POST /runs/group': 'runs:read',
  'DELETE /sessions': 'runs:delete',
  'DELETE /sessions/{id}': 'runs:delete',
  'DELETE /traces/{trace_id}': 'runs:delete',
  'POST /runs/delete': 'runs:delete',
  'POST /runs/delete/traces': 'runs:delete',
  'GET /runs/delete/{job_id}': 'runs:read',

  'GET /sessions': 'projects:read',
  'POST /sessions': 'projects:create',
  'GET /sessions/{id}': 'projects:read',
  'PATCH /sessions/{id}': 'projects:create',

  'GET /sessions/resolutions': 'projects:read',
  'POST /sessions/{id}/dashboard': 'projects:read',
  'GET /v2/sessions': 'projects:read',
  'POST /v2/sessions': 'projects:create',
  'GET /v2/sessions/{id}': 'projects:read',
  'PATCH /v2/sessions/{id}': 'projects:create',

  'GET /model-price-map': 'workspaces:read',
  'GET /model-price-map/lookup': 'workspaces:read',
  'POST /model-price-map': 'workspaces:manage',
  'POST /model-price-map/preview': 'workspaces:manage',
  'PUT /model-price-map/{id}': 'workspaces:manage',
  'DELETE /model-price-map/{id}': 'workspaces:manage',
  'POST /runs/reprice': 'workspaces:manage',
  'GET /runs/reprice/{job_id}': 'runs:read',

  'GET /playground/models': 'playground:use',
  'POST /playground/runs': 'playground:use',
  'GET /workspaces/current/secrets': 'secrets:manage',
  'POST /workspaces/current/secrets': 'secrets:manage',
  'PUT /workspaces/current/secrets/{key}': 'secrets:manage',
  'DELETE /workspaces/current/secrets/{key}': 'secrets:manage',

  'POST /auth/session': 'open',
  'GET /auth/session': 'any key',
  'DELETE /auth/session': 'open',
  'POST /auth/tickets': 'any key',
  'GET /auth/sessions': 'any key',
  'DELETE /auth/sessions/{id}': 'any writing key',
  'GET /orgs/current/sessions': 'organization:manage',
  'GET /auth/providers': 'open',
  'POST /auth/invites': 'open',
  'POST /auth/invites/accept': 'open',
  'GET /oauth/{id}/login': 'open',
  'GET /oauth/{id}/callback': 'open',

  'GET /workspaces': 'workspaces:read',
  'POST /workspaces': 'workspaces:manage',
  'GET /workspaces/{id}': 'workspaces:read',
  'GET /workspaces/current/members': 'organization:read',
  'GET /workspaces/current/stats': 'workspaces:read',
  'GET /workspaces/current/ttl-settings': 'workspaces:read',
  'GET /ttl-settings': 'workspaces:read',
  'GET /orgs/ttl-settings': 'organization:read',
  'PATCH /workspaces/{id}': 'workspaces:manage',
  'DELETE /workspaces/{id}': 'workspaces:manage',
  'GET /settings': 'any key',

  'GET /orgs/current': 'organization:read',
  'GET /orgs/current/roles': 'organization:read',
  'GET /orgs/current/members': 'organization:read',
  'POST /orgs/current/members': 'organization:manage',
  'PATCH /orgs/current/members/{user_id}': 'organization:manage',
  'DELETE /orgs/current/members/{user_id}': 'organization:manage',
  'GET /orgs/current/invites': 'organization:manage',
  'POST /orgs/current/invites': 'organization:manage',
  'POST /orgs/current/invites/{id}/renew': 'organization:manage',
  'DELETE /orgs/current/invites/{id}': 'organization:manage',
  'GET /orgs/current/service-keys': 'organization:read',
  'POST /orgs/current/service-keys': 'organization:manage',
  'DELETE /orgs/current/service-keys/{id}': 'organization:manage',
  'GET /orgs/current/personal-access-tokens': 'any key',
  'POST /orgs/current/personal-access-tokens': 'any writing key',
  'DELETE /orgs/current/personal-access-tokens/{id}': 'any writing key',
  'GET /api-key': 'organization:read',
  'POST /api-key': 'organization:manage',
  'DELETE /api-key/{id}': 'organization:manage',
  'GET /api-key/current': 'any key',
  'POST /api-key/current': 'any writing key',
  'DELETE /api-key/current/{id}': 'any writing key',
  'GET /orgs/current/audit-logs': 'organization:read',
  'GET /orgs/current/audit-logs/export': 'organization:read',
  'GET /audit-logs': 'organization:read',

  'GET /orgs/current/scim-tokens': 'organization:manage',
  'POST /orgs/current/scim-tokens': 'organization:manage',
  'DELETE /orgs/current/scim-tokens/{id}': 'organization:manage',
  // These have tokens of their own.
  'GET /scim/v2/ServiceProviderConfig': 'open',
  'GET /scim/v2/ResourceTypes': 'open',
  'GET /scim/v2/Schemas': 'open',
  'GET /scim/v2/Users': 'open',
  'POST /scim/v2/Users': 'open',
  'GET /scim/v2/Users/{id}': 'open',
  'PUT /scim/v2/Users/{id}': 'open',
  'PATCH /scim/v2/Users/{id}': 'open',
  'DELETE /scim/v2/Users/{id}': 'open',
  'GET /scim/v2/Groups': 'open',
  'POST /scim/v2/Groups': 'open',
  'GET /scim/v2/Groups/{id}': 'open',
  'PUT /scim/v2/Groups/{id}': 'open',
  'PATCH /scim/v2/Groups/{id}': 'open',
  'DELETE /scim/v2/Groups/{id}': 'open',

  'GET /setup': 'organization:manage',
  'POST /setup': 'organization:manage',
  'GET /workspaces/{id}/limits': 'workspaces:read',
  'PUT /workspaces/{id}/limits': 'organization:manage',
  'GET /usage-limits': 'organization:read',
  'PUT /usage-limits': 'organization:manage',
  'DELETE /usage-limits/{id}': 'organization:manage',
  'GET /orgs/current/billing/usage': 'organization:read',
  'GET /orgs/current/billing/granular-usage': 'organization:read',
  'GET /orgs/current/billing/granular-usage/export': 'organization:read',
  'GET /orgs/current/billing/usage-traces': 'organization:read',
  'GET /orgs/current/billing/usage-runs': 'organization:read',
  'GET /orgs/current/billing/usage-details': 'organization:read',
  'GET /orgs/current/billing/usage-details/export': 'organization:read',
  'POST /orgs/current/billing/usage-rebuild': 'organization:manage',
  'GET /orgs/current/billing/usage-rebuild': 'organization:read',

  'GET /v2/deployments': 'deployments:read',
  'POST /v2/deployments': 'deployments:manage',
  'GET /v2/deployments/{id}': 'deployments:read',
  'PATCH /v2/deployments/{id}': 'deployments:manage',
  'DELETE /v2/deployments/{id}': 'deployments:manage',
  'POST /v2/deployments/{id}/upload-url': 'deployments:manage',
  'POST /v2/deployments/{id}/push-token': 'deployments:manage',
  'PUT /v2/uploads/{token}': 'open',
  'GET /v2/deployments/{id}/revisions': 'deployments:read',
  'GET /v2/deployments/{id}/revisions/{revision_id}': 'deployments:read',
  'POST /v2/deployments/{id}/revisions/{revision_id}/redeploy': 'deployments:manage',
  'POST /v2/deployments/{id}/revisions/{revision_id}/interrupt': 'deployments:manage',
  'POST /v1/projects/{id}/deploy_logs': 'deployments:read',
  'POST /v1/projects/{id}/revisions/{revision_id}/deploy_logs': 'deployments:read',
  'POST /v1/projects/{id}/revisions/{revision_id}/build_logs': 'deployments:read',
  'GET /deployments/{id}/logs': 'deployments:read',
  'GET /deployments/runtimes': 'deployments:read',
  'GET /v2/listeners': 'deployments:read',
  'GET /o/{tenant}/host/deployments/{id}': 'open',
  'GET /host/deployments': 'open',

  'POST /mcp': 'any key',

  // Clients have no key yet. What they may do is decided by the session that gives its consent.
  'GET /.well-known/oauth-protected-resource': 'open',
  'GET /.well-known/oauth-protected-resource/mcp': 'open',
  'GET /.well-known/oauth-protected-resource/api/mcp': 'open',
  'GET /.well-known/oauth-authorization-server': 'open',
  'POST /oauth/register': 'open',
  'GET /oauth/authorize': 'open',
  'POST /oauth/authorize': 'any writing key',
  'POST /oauth/token': 'open',
  'POST /oauth/revoke': 'open',

  'GET /ingest/health': 'organization:read',
  'GET /metrics': 'organization:read',
  'GET /ok': 'open',
  'GET /ready': 'open',
  'GET /info': 'open',
  'GET /info/health': 'any key',
  'GET /docs': 'open',
  'GET /docs/{file}': 'open',
  'GET /openapi.json': 'open',
  'GET /': 'open',
}

/** Routes about the organization as a whole, which are only for keys of all of its workspaces. */
export const WHOLE_ORGANIZATION: ReadonlySet<string> = new Set([
  'POST /workspaces',
  'GET /orgs/current/audit-logs',
  'GET /orgs/current/audit-logs/export',
  'GET /audit-logs',
  'GET /orgs/current/sessions',
  'GET /orgs/current/scim-tokens',
  'POST /orgs/current/scim-tokens',
  'DELETE /orgs/current/scim-tokens/{id}',
  'GET /usage-limits',
  'PUT /usage-limits',
  'DELETE /usage-limits/{id}',
  'PUT /workspaces/{id}/limits',
  'GET /setup',
  'POST /setup',
  'POST /orgs/current/billing/usage-rebuild',
])

/**
 * Routes that act in the organization or report on the whole server. A key without a default workspace may call them
 * without X-Tenant-Id, since scrapers of metrics cannot send one, and /mcp lists the workspaces. Routes of secrets are not among them, because secrets
 * belong to a workspace.
 */
const ORGANIZATION_ROUTE =
  /^\w+ \/(auth|oauth|mcp|orgs|api-key|workspaces(?!\/current)|setup|audit-logs|usage-limits|metrics|ingest\/health|info\/health)(\/|$)/

/** Name of a route in ROUTE_NEEDS. */
export function routeName({ method, path }: Pick<RouteHead, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/**
 * The routes, each with its requirement. @throws AppError internal when a route is not in the table, or the table has
 * an unknown route
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
