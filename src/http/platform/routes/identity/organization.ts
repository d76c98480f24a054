import { ROLE_PERMISSIONS, ROLES, type Role } from '../../../../identity/permissions.ts'
import { AppError } from '../../../../base/errors.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { ownWorkspaces } from './workspaces.ts'

const TAG = 'Identity'

const DESCRIPTIONS: Readonly<Record<Role, string>> = {
  admin: 'Everything.',
  operator: 'Everything but members, keys and billing.',
  user: 'Reads and writes in its workspaces, and does not see the organization.',
  viewer: 'Reads in its workspaces, and sees the organization.',
}

/** The organization, its roles, and the information about a workspace that LangSmith's SDKs request. */
export function organizationRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/orgs/current',
      summary: 'The organization of the key',
      tag: TAG,
      reply: 'organization',
      errors: ['not_found'],
      async handle({ deps, principal }) {
        const organization = await deps.identity.organization(principal.organization_id)
        if (organization === undefined) throw new AppError('not_found')
        return { body: { id: organization.id, display_name: organization.display_name, plan: 'enterprise' } }
      },
    }),
    route({
      method: 'GET',
      path: '/orgs/current/roles',
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
