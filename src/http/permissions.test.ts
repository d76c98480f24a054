import { describe, expect, it } from 'vitest'
import { PERMISSIONS } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { AppError } from '../base/errors.ts'
import { accessOf, assertAllowed, guardRoutes, type Need, ROUTE_NEEDS, routeName } from './permissions.ts'
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

describe('the table of permissions', () => {
  it('has every route and no other, and only permissions that there are', () => {
    expect(platformRoutes().map(routeName).toSorted()).toEqual(Object.keys(ROUTE_NEEDS).toSorted())
    const words = new Set<string>([...PERMISSIONS, 'any key', 'any writing key', 'open'])
    expect(Object.values(ROUTE_NEEDS).filter((need) => !words.has(need))).toEqual([])
  })

  it('leaves exactly these routes open (D-5)', () => {
    const open = platformRoutes().filter(({ access }) => access.need === 'open')
    expect(open.map(({ path }) => path).toSorted()).toEqual(['/', '/docs', '/info', '/ok', '/openapi.json'])
  })

  it('lets nothing but reading through with a permission to read', () => {
    const reading = platformRoutes().filter(({ access }) => access.need.endsWith(':read'))
    const asking = ['POST /runs/query', 'POST /runs/validate']
    expect(
      reading
        .filter(({ method }) => method !== 'GET')
        .map(routeName)
        .toSorted(),
    ).toEqual(asking)
  })

  it('says of every route whether it acts in a workspace', () => {
    const paths = platformRoutes()
      .filter(({ access }) => access.acts_in === 'organization')
      .map(({ path }) => path)
    const roots = ['/orgs/current', '/workspaces', '/usage-limits', '/metrics', '/ingest/health']
    expect(paths.filter((path) => !roots.some((root) => path.startsWith(root)))).toEqual([])
    expect(paths).toEqual(expect.arrayContaining([...roots, '/orgs/current/members', '/workspaces/{id}']))
    const others = ['GET /settings', 'GET /sessions', 'POST /runs']
    expect(others.map((name) => accessOf(name).acts_in)).toEqual(others.map(() => 'workspace'))
  })

  it('fails the start when a route is missing or left over', () => {
    const routes = platformRoutes()
    const { 'GET /sessions': _left, ...needs } = ROUTE_NEEDS
    expect(() => guardRoutes(routes, needs)).toThrow('without an entry: GET /sessions; without a route: none')
    expect(() => guardRoutes(routes.filter(({ path }) => path !== '/feedback'))).toThrow(
      'without an entry: none; without a route: POST /feedback, GET /feedback',
    )
    expect(() => accessOf('GET /nowhere')).toThrow('not in the table')
  })
})

describe('assertAllowed', () => {
  it('says what is missing', () => {
    expect(outcome({}, 'runs:read')).toBe('allowed')
    expect(outcome({}, 'runs:create')).toBe('403 Forbidden: this needs the permission runs:create.')
    expect(outcome({ permissions: new Set() }, 'any key')).toBe('allowed')
    expect(outcome({ permissions: new Set() }, 'any writing key')).toBe('allowed')
    expect(outcome({ read_only: true }, 'any writing key')).toMatch(/^403 .*not read-only/)
  })

  it('keeps what concerns the organization from keys of some workspaces', () => {
    expect(outcome({}, 'runs:read', true)).toMatch(/^403 .*all workspaces/)
    expect(outcome({ all_workspaces: true }, 'runs:read', true)).toBe('allowed')
  })
})
