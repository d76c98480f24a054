import { ROLE_PERMISSIONS, ROLES, type Role } from '../../../../identity/permissions.ts'
import { AppError } from '../../../../base/errors.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { TIER_DAYS } from '../tracing/sessions.ts'
import { ownWorkspaces } from './workspaces.ts'

const TAG = 'Identity'

const DESCRIPTIONS: Readonly<Record<Role, string>> = {
  admin: 'Everything.',
  operator: 'Everything but members, keys and billing.',
  user: 'Reads and writes in its workspaces, and does not see the organization.',
  viewer: 'Reads in its workspaces, and sees the organization.',
}

/** LangSmith has the same settings for the organization and for the workspace. */
const TTL_PATHS = ['/ttl-settings', '/orgs/ttl-settings', '/workspaces/current/ttl-settings'] as const

function ttlRoutes(): PlatformRoute[] {
  return TTL_PATHS.map((path) =>
    route({
      method: 'GET',
      path,
      needs: path === '/orgs/ttl-settings' ? 'organization:read' : 'workspaces:read',
      summary: 'How long new projects keep traces',
      description:
        'Of the workspace if SETUP_FILE sets it there, else DEFAULT_RETENTION_DAYS; PATCH /sessions/{id} changes it for a project.',
      tag: TAG,
      reply: 'ttl-settings',
      async handle({ deps, principal: { organization_id, workspace_id } }) {
        const isOfAll = path === '/orgs/ttl-settings'
        const retention_days = isOfAll
          ? deps.projects.retention_days
          : await deps.projects.newRetention(workspace_id)
        const isShort = retention_days !== null && retention_days <= TIER_DAYS.shortlived
        const settings = {
          tenant_id: isOfAll ? null : workspace_id,
          organization_id,
          default_trace_tier: isShort ? ('shortlived' as const) : ('longlived' as const),
          apply_to_all_projects: false,
          longlived_ttl_days: isShort ? TIER_DAYS.longlived : retention_days,
          configured_by: 'system' as const,
        }
        return { body: [settings] }
      },
    }),
  )
}

/** The organization, its roles, and the information about a workspace that LangSmith's SDKs request. */
export function organizationRoutes(): PlatformRoute[] {
  return [
    ...ttlRoutes(),
    route({
      method: 'GET',
      path: '/orgs/current',
      needs: 'organization:read',
      summary: 'The organization of the key',
      tag: TAG,
      reply: 'organization',
      errors: ['not_found'],
      async handle({ deps, principal }) {
        const organization = await deps.identity.organization(principal.organization_id)
        if (organization === undefined) throw new AppError('not_found')
        const { id, display_name } = organization
        return { body: { id, display_name, plan: deps.plan ?? 'enterprise' } }
      },
    }),
    route({
      method: 'GET',
      path: '/orgs/current/roles',
      needs: 'organization:read',
      summary: 'The roles and what they may do',
      tag: TAG,
      reply: 'role-list',
      handle: async () => ({
        body: ROLES.map((name) => ({
          name,
          description: DESCRIPTIONS[name],
          permissions: [...ROLE_PERMISSIONS[name]],
        })),
      }),
    }),
    route({
      method: 'GET',
      path: '/settings',
      needs: 'any key',
      summary: 'The workspace, as LangSmith SDKs request it',
      tag: TAG,
      reply: 'tenant-settings',
      errors: ['not_found'],
      async handle({ deps, principal }) {
        const own = await ownWorkspaces(deps, principal)
        const workspace = own.find(({ id }) => id === principal.workspace_id)
        if (workspace === undefined) throw new AppError('not_found')
        const { id, display_name, created_at } = workspace
        return {
          body: { id, display_name, created_at: new Date(created_at).toISOString(), tenant_handle: null },
        }
      },
    }),
  ]
}
