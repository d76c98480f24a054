import type { Workspace } from '../../auth/identity-store.ts'
import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../base/errors.ts'
import type { AppDeps } from '../app-deps.ts'
import { type Route, route } from '../route.ts'

const TAG = 'Identity'

function iso(time: number): string {
  return new Date(time).toISOString()
}

async function ownWorkspaces(deps: AppDeps, principal: Principal): Promise<Workspace[]> {
  const all = await deps.identity.workspaces(principal.organization_id)
  return all.filter(({ id }) => principal.workspace_ids.includes(id))
}

function toWorkspace({ id, organization_id, display_name, created_at }: Workspace) {
  return { id, organization_id, display_name, created_at: iso(created_at) }
}

/** Organization, workspaces and what LangSmith's SDKs ask of them. */
export function identityRoutes(): Route[] {
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
      path: '/workspaces',
      summary: 'The workspaces that the key may use',
      tag: TAG,
      reply: 'workspace-list',
      handle: async ({ deps, principal }) => ({
        body: (await ownWorkspaces(deps, principal)).map(toWorkspace),
      }),
    }),
    route({
      method: 'GET',
      path: '/settings',
      summary: 'What LangSmith SDKs read of the workspace',
      tag: TAG,
      reply: 'tenant-settings',
      errors: ['not_found'],
      async handle({ deps, principal }) {
        const own = await ownWorkspaces(deps, principal)
        const workspace = own.find(({ id }) => id === principal.workspace_id)
        if (workspace === undefined) throw new AppError('not_found')
        const { id, display_name, created_at } = workspace
        return { body: { id, display_name, created_at: iso(created_at), tenant_handle: null } }
      },
    }),
  ]
}
