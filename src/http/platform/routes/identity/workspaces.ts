import type { Workspace } from '../../../../identity/identity-store.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { managedMembers, toMember } from './members.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'

const TAG = 'Identity'

/** The workspaces that the caller may use and that are not deleted, oldest first. */
export async function ownWorkspaces(deps: AppDeps, principal: Principal): Promise<Workspace[]> {
  const all = await deps.identity.workspaces(principal.organization_id)
  return all.filter(({ id }) => principal.all_workspaces || principal.workspace_ids.includes(id))
}

function toWorkspace(
  { id, organization_id, display_name, created_at }: Workspace,
  managed: ReadonlySet<string>,
): SchemaTypes['workspace'] {
  const workspace = { id, organization_id, display_name, created_at: new Date(created_at).toISOString() }
  return managed.has(id) ? { ...workspace, managed: true } : workspace
}

function managedOf({ managed }: AppDeps, { organization_id }: Principal): Promise<ReadonlySet<string>> {
  return managed.ids(organization_id, 'workspace')
}

/** @throws AppError not_found for a workspace that the caller may not use, as for an unknown one */
function requireOwn(principal: Principal, id: string): void {
  if (!principal.workspace_ids.includes(id)) throw new AppError('not_found')
}

const PARAMS = { id: uuidParameter('Id of the workspace.') }

function createRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/workspaces',
    needs: 'workspaces:manage',
    whole_organization: true,
    summary: 'Create a workspace',
    description: 'Keys and members of all workspaces may use it at once.',
    tag: TAG,
    body: 'workspace-create',
    reply: 'workspace',
    errors: ['conflict'],
    async handle({ deps, principal, body }) {
      const workspace = {
        id: parseUuid(body.id) ?? newUuid(),
        organization_id: principal.organization_id,
        display_name: body.display_name.trim(),
        created_at: deps.clock.now(),
      }
      await deps.identity.createWorkspace(workspace, actorOf(principal, deps.clock))
      deps.authenticator.forgetAll()
      return { body: toWorkspace(workspace, await managedOf(deps, principal)) }
    },
  })
}

/** Maximum number of deployments that are counted. */
const MAX_DEPLOYMENTS = 1000

/** What LangSmith's clients ask about the workspace of the request. */
function currentRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/workspaces/current/members',
      needs: 'organization:read',
      summary: 'The members of the workspace of the request',
      tag: TAG,
      reply: 'workspace-members',
      async handle({ deps, principal }) {
        const { organization_id, workspace_id: tenant_id } = principal
        const all = await deps.identity.members(organization_id)
        const members = all.filter(({ workspace_ids }) => workspace_ids?.includes(tenant_id) ?? true)
        const managed = await managedMembers(deps, principal)
        return {
          body: { tenant_id, members: members.map((one) => toMember(principal, one, managed)), pending: [] },
        }
      },
    }),
    route({
      method: 'GET',
      path: '/workspaces/current/stats',
      needs: 'workspaces:read',
      summary: 'How many projects and deployments the workspace of the request has',
      tag: TAG,
      reply: 'workspace-stats',
      async handle({ deps, principal: { workspace_id: tenant_id } }) {
        const [projects, deployments] = await Promise.all([
          deps.projects.keys(tenant_id, {}),
          deps.controlPlane().then((plane) => plane.list(tenant_id, { limit: MAX_DEPLOYMENTS, offset: 0 })),
        ])
        const absent = { dataset_count: 0, repo_count: 0, annotation_queue_count: 0, dashboards_count: 0 }
        const own = { tracer_session_count: projects.length, deployment_count: deployments.length }
        return { body: { tenant_id, ...own, ...absent } }
      },
    }),
  ]
}

function deleteRoute(): PlatformRoute {
  return route({
    method: 'DELETE',
    path: '/workspaces/{id}',
    needs: 'workspaces:manage',
    summary: 'Delete a workspace',
    description:
      'It can no longer be read or written. Its data stays on disk, and its usage in reports. The last workspace cannot be deleted.',
    tag: TAG,
    params: PARAMS,
    query: OVERRIDE_QUERY,
    reply: 'bytes',
    status: 204,
    errors: ['not_found', 'conflict', 'managed_by_file'],
    async handle({ deps, principal, params: { id }, query: { override } }) {
      requireOwn(principal, id)
      await assertUnmanaged(deps, principal, { kind: 'workspace', id, override })
      const actor = actorOf(principal, deps.clock)
      const deleted = await deps.identity.deleteWorkspace(principal.organization_id, id, actor)
      deps.authenticator.forgetAll()
      if (!deleted) throw new AppError('not_found')
      return { body: '' }
    },
  })
}

/** Routes of workspaces. A workspace that the caller may not use is treated as unknown. */
export function workspaceRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/workspaces',
      needs: 'workspaces:read',
      summary: 'The workspaces that the key may use',
      tag: TAG,
      query: OFFSET_QUERY,
      description: NEXT_PAGE,
      reply: 'workspace-list',
      async handle({ deps, principal, query }) {
        const managed = await managedOf(deps, principal)
        const own = await ownWorkspaces(deps, principal)
        const shown = own.map((workspace) => toWorkspace(workspace, managed))
        return boundedPage(shown, query.offset)
      },
    }),
    createRoute(),
    ...currentRoutes(),
    route({
      method: 'GET',
      path: '/workspaces/{id}',
      needs: 'workspaces:read',
      summary: 'Read a workspace',
      tag: TAG,
      params: PARAMS,
      reply: 'workspace',
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const workspace = (await ownWorkspaces(deps, principal)).find((own) => own.id === id)
        if (workspace === undefined) throw new AppError('not_found')
        return { body: toWorkspace(workspace, await managedOf(deps, principal)) }
      },
    }),
    route({
      method: 'PATCH',
      path: '/workspaces/{id}',
      needs: 'workspaces:manage',
      summary: 'Rename a workspace',
      tag: TAG,
      params: PARAMS,
      query: OVERRIDE_QUERY,
      body: 'workspace-update',
      reply: 'workspace',
      errors: ['not_found', 'managed_by_file'],
      async handle({ deps, principal, params: { id }, query: { override }, body }) {
        requireOwn(principal, id)
        await assertUnmanaged(deps, principal, { kind: 'workspace', id, override })
        const { identity, clock } = deps
        const name = body.display_name.trim()
        const actor = actorOf(principal, clock)
        const renamed = await identity.renameWorkspace(principal.organization_id, id, name, actor)
        if (renamed === undefined) throw new AppError('not_found')
        return { body: toWorkspace(renamed, await managedOf(deps, principal)) }
      },
    }),
    deleteRoute(),
  ]
}
