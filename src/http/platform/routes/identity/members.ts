import type { Member } from '../../../../identity/identity-store.ts'
import { ROLE_PERMISSIONS } from '../../../../identity/permissions.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { covers, seenOf, reachesAnyOf } from '../../../../identity/reach.ts'
import { AppError } from '../../../../base/errors.ts'
import { newUuid } from '../../../../base/ids.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { bodyFault } from '../../../body/json.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { readWorkspaceIds } from '../../workspace-ids.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'

const TAG = 'Identity'

export function toMember(
  principal: Principal,
  member: Member,
  managed: ReadonlySet<string>,
): SchemaTypes['member'] {
  const { user_id, email, full_name, role, workspace_ids } = member
  return {
    user_id,
    email,
    full_name,
    role,
    workspace_ids: seenOf(principal, workspace_ids),
    ...(managed.has(user_id) && { managed: true }),
  }
}

/** The ids of the members that a set-up file manages. */
export function managedMembers(
  { managed }: AppDeps,
  { organization_id }: Principal,
): Promise<ReadonlySet<string>> {
  return managed.ids(organization_id, 'member')
}

/** @throws AppError forbidden when the member has, or would get, more permissions than the caller */
export function assertCovers(
  principal: Principal,
  { role, workspace_ids }: Pick<Member, 'role' | 'workspace_ids'>,
) {
  if (covers(principal, { permissions: ROLE_PERMISSIONS[role], workspace_ids })) return
  throw new AppError('forbidden', {
    message: 'Forbidden: the member has rights that your key does not have.',
  })
}

/**
 * Returns the member if the caller may manage it. @throws AppError not_found when no member with this id is visible to
 * the caller, forbidden when the member has more permissions than the caller
 */
async function manageable({ identity }: AppDeps, principal: Principal, user_id: string): Promise<Member> {
  const members = await identity.members(principal.organization_id)
  const member = members.find((one) => one.user_id === user_id)
  if (member === undefined || !reachesAnyOf(principal, member.workspace_ids)) throw new AppError('not_found')
  assertCovers(principal, member)
  return member
}

function addRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/orgs/current/members',
    needs: 'organization:manage',
    summary: 'Add a member',
    description:
      'If a user with this email exists, that user is added, under the existing name. Create a personal access token for the member next.',
    tag: TAG,
    body: 'member-create',
    reply: 'member',
    errors: ['conflict'],
    async handle({ deps, principal, body }) {
      const workspace_ids = readWorkspaceIds(principal, body.workspace_ids)
      assertCovers(principal, { role: body.role, workspace_ids })
      const { organization_id } = principal
      const member = {
        organization_id,
        user_id: newUuid(),
        email: body.email.toLowerCase(),
        full_name: body.full_name?.trim() || null,
        role: body.role,
        workspace_ids,
        created_at: deps.clock.now(),
      }
      const added = await deps.identity.addMember(member, actorOf(principal, deps.clock))
      return { body: toMember(principal, added, await managedMembers(deps, principal)) }
    },
  })
}

function changeRoute(): PlatformRoute {
  return route({
    method: 'PATCH',
    path: '/orgs/current/members/{user_id}',
    needs: 'organization:manage',
    summary: 'Change the role, the workspaces or the name of a member',
    description: 'Applies at once to the keys of the member. The last admin cannot be changed.',
    tag: TAG,
    params: { user_id: uuidParameter('The member.') },
    query: OVERRIDE_QUERY,
    body: 'member-update',
    reply: 'member',
    errors: ['not_found', 'conflict', 'managed_by_file'],
    async handle({ deps, principal, params: { user_id }, query: { override }, body }) {
      const before = await manageable(deps, principal, user_id)
      await assertUnmanaged(deps, principal, { kind: 'member', id: user_id, override })
      if (body.email !== undefined && body.email.toLowerCase() !== before.email)
        throw bodyFault([{ code: 'value_error', path: 'email', message: 'cannot be changed' }])
      const change = {
        ...(body.full_name !== undefined && { full_name: body.full_name?.trim() || null }),
        ...(body.role !== undefined && { role: body.role }),
        ...(body.workspace_ids !== undefined && {
          workspace_ids: readWorkspaceIds(principal, body.workspace_ids),
        }),
      }
      assertCovers(principal, { ...before, ...change })
      const actor = actorOf(principal, deps.clock)
      const changed = await deps.identity.changeMember(principal.organization_id, user_id, change, actor)
      deps.authenticator.forgetAll()
      if (changed === undefined) throw new AppError('not_found')
      return { body: toMember(principal, changed, await managedMembers(deps, principal)) }
    },
  })
}

/** Members of the workspaces that the caller may use. */
export function memberRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path: '/orgs/current/members',
      needs: 'organization:read',
      summary: 'The members of your workspaces',
      tag: TAG,
      query: OFFSET_QUERY,
      description: NEXT_PAGE,
      reply: 'member-list',
      async handle({ deps, principal, query }) {
        const members = await deps.identity.members(principal.organization_id)
        const seen = members.filter(({ workspace_ids }) => reachesAnyOf(principal, workspace_ids))
        const managed = await managedMembers(deps, principal)
        const shown = seen.map((member) => toMember(principal, member, managed))
        return boundedPage(shown, query.offset)
      },
    }),
    addRoute(),
    changeRoute(),
    route({
      method: 'DELETE',
      path: '/orgs/current/members/{user_id}',
      needs: 'organization:manage',
      summary: 'Remove a member, and revoke its personal access tokens',
      description: 'The last admin cannot be removed.',
      tag: TAG,
      params: { user_id: uuidParameter('The member.') },
      query: OVERRIDE_QUERY,
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'conflict', 'managed_by_file'],
      async handle({ deps, principal, params: { user_id }, query: { override } }) {
        await manageable(deps, principal, user_id)
        await assertUnmanaged(deps, principal, { kind: 'member', id: user_id, override })
        const actor = actorOf(principal, deps.clock)
        const ended = await deps.identity.removeMember(principal.organization_id, user_id, actor)
        deps.authenticator.forgetAll()
        if (ended === undefined) throw new AppError('not_found')
        return { body: '' }
      },
    }),
  ]
}
