import { describe, expect, it } from 'vitest'
import { routeName } from '../api/access.ts'
import { platformRoutes } from './routes.ts'

describe('IDENTITY-7: the permissions of routes', () => {
  it('leaves exactly these routes open (D-5)', () => {
    const open = platformRoutes().filter(({ needs }) => needs === 'open')
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
    const reading = platformRoutes().filter(({ needs }) => needs.endsWith(':read'))
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
      .filter(({ acts_in }) => acts_in === 'organization')
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
    for (const path of ['/settings', '/sessions', '/runs']) expect(paths).not.toContain(path)
  })
})
