import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../../identity/permissions.ts'
import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import { assertAllowed, guardRoutes, routeName } from '../api/access.ts'
import { platformAccess, ROUTE_NEEDS, WHOLE_ORGANIZATION } from './permissions.ts'
import type { Need } from '../api/route.ts'
import { platformRoutes } from './routes.ts'

const PRINCIPAL: Principal = {
  organization_id: 'o',
  workspace_id: 'w',
  workspace_chosen: true,
  user_id: null,
  api_key_id: 'k',
  short_key: 's',
  holder: 'k',
  workspace_ids: ['w'],
  all_workspaces: false,
  permissions: new Set(['runs:read']),
  expires_at: null,
  role: 'user',
  read_only: false,
}

function outcome(changes: Partial<Principal>, need: Need, whole_organization = false): string {
  try {
    assertAllowed({ ...PRINCIPAL, ...changes }, { need, whole_organization })
    return 'allowed'
  } catch (error) {
    return error instanceof AppError ? `${error.status} ${error.message}` : String(error)
  }
}

describe('IDENTITY-7: the table of permissions', () => {
  it('has every route and no other, and only existing permissions', () => {
    expect(platformRoutes().map(routeName).toSorted()).toEqual(Object.keys(ROUTE_NEEDS).toSorted())
    const words = new Set<string>([...PERMISSIONS, 'any key', 'any writing key', 'open'])
    expect(Object.values(ROUTE_NEEDS).filter((need) => !words.has(need))).toEqual([])
  })

  it('leaves exactly these routes open (D-5)', () => {
    const open = platformRoutes().filter(({ access }) => access.need === 'open')
    expect(open.map(({ path }) => path).toSorted()).toEqual([
      '/',
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/api/mcp',
      '/.well-known/oauth-protected-resource/deployments/{name}/mcp',
      '/.well-known/oauth-protected-resource/mcp',
      // The token of the link gives the permission.
      '/auth/invites',
      '/auth/invites/accept',
      '/auth/providers',
      '/auth/session',
      '/auth/session',
      '/docs',
      '/docs/{file}',
      // The token in the path gives the permission.
      '/feedback/tokens/{token}',
      '/feedback/tokens/{token}',
      '/host/deployments',
      '/info',
      // A redirect, which reveals nothing about the deployment.
      '/o/{tenant}/host/deployments/{id}',
      // Clients of OAuth have no key; the consent needs a session.
      '/oauth/authorize',
      '/oauth/register',
      '/oauth/revoke',
      '/oauth/token',
      // The provider, and the cookie of the attempt, prove who comes back.
      '/oauth/{id}/callback',
      '/oauth/{id}/login',
      '/ok',
      '/openapi.json',
      '/public/attachments/{id}/{name}',
      '/public/{token}/run',
      '/public/{token}/run/{id}',
      '/public/{token}/runs/query',
      '/ready',
      // SCIM has tokens of its own.
      '/scim/v2/Groups',
      '/scim/v2/Groups',
      ...Array.from({ length: 4 }, () => '/scim/v2/Groups/{id}'),
      '/scim/v2/ResourceTypes',
      '/scim/v2/Schemas',
      '/scim/v2/ServiceProviderConfig',
      '/scim/v2/Users',
      '/scim/v2/Users',
      ...Array.from({ length: 4 }, () => '/scim/v2/Users/{id}'),
      '/v2/public/{token}/run/{id}',
      '/v2/public/{token}/runs/query',
      '/v2/uploads/{token}',
    ])
  })

  it('allows only reading with a permission to read', () => {
    const reading = platformRoutes().filter(({ access }) => access.need.endsWith(':read'))
    const asking = [
      'POST /runs/differences',
      'POST /runs/facets',
      'POST /runs/group',
      'POST /runs/query',
      'POST /runs/stats',
      'POST /runs/validate',
      'POST /sessions/{id}/dashboard',
      'POST /traces/{trace_id}/search',
      'POST /v1/projects/{id}/deploy_logs',
      'POST /v1/projects/{id}/revisions/{revision_id}/build_logs',
      'POST /v1/projects/{id}/revisions/{revision_id}/deploy_logs',
      'POST /v2/runs/query',
      'POST /v2/threads/query',
      'POST /v2/threads/stats',
      'POST /v2/traces/query',
    ]
    expect(
      reading
        .filter(({ method }) => method !== 'GET')
        .map(routeName)
        .toSorted(),
    ).toEqual(asking)
  })

  it('knows of every route whether it acts in a workspace', () => {
    const paths = platformRoutes()
      .filter(({ access }) => access.acts_in === 'organization')
      .map(({ path }) => path)
    const roots = [
      '/auth/',
      '/orgs/',
      '/oauth/',
      '/workspaces',
      '/setup',
      '/usage-limits',
      '/metrics',
      '/ingest/health',
      '/info/health',
      '/api-key',
      '/audit-logs',
      '/mcp',
    ]
    expect(paths.filter((path) => !roots.some((root) => path.startsWith(root)))).toEqual([])
    expect(paths).toEqual(
      expect.arrayContaining([
        ...roots.slice(3),
        '/auth/tickets',
        '/orgs/current/members',
        '/workspaces/{id}',
      ]),
    )
    const others = ['GET /settings', 'GET /sessions', 'POST /runs']
    expect(others.map((name) => platformAccess(name).acts_in)).toEqual(others.map(() => 'workspace'))
  })

  it('fails the start when a route is missing or left over', () => {
    const routes = platformRoutes()
    const { 'GET /sessions': _left, ...needs } = ROUTE_NEEDS
    expect(() => guardRoutes(routes, needs, WHOLE_ORGANIZATION)).toThrow(
      'without an entry: GET /sessions; without a route: none',
    )
    expect(() =>
      guardRoutes(
        routes.filter(({ path }) => path !== '/feedback'),
        ROUTE_NEEDS,
        WHOLE_ORGANIZATION,
      ),
    ).toThrow('without an entry: none; without a route: POST /feedback, GET /feedback')
    expect(() => platformAccess('GET /nowhere')).toThrow('not in the table')
  })
})

describe('assertAllowed', () => {
  it('names the missing permission', () => {
    expect(outcome({}, 'runs:read')).toBe('allowed')
    expect(outcome({}, 'runs:create')).toBe('403 Forbidden: this needs the permission runs:create.')
    expect(outcome({ permissions: new Set() }, 'any key')).toBe('allowed')
    expect(outcome({ permissions: new Set() }, 'any writing key')).toBe('allowed')
    expect(outcome({ read_only: true }, 'any writing key')).toMatch(/^403 .*not read-only/)
  })

  it('refuses routes about the organization for keys of some workspaces', () => {
    expect(outcome({}, 'runs:read', true)).toMatch(/^403 .*all workspaces/)
    expect(outcome({ all_workspaces: true }, 'runs:read', true)).toBe('allowed')
  })
})
