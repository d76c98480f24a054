import type { Member } from '../../auth/identity-store.ts'
import { ROLE_PERMISSIONS } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { covers, seenOf, sees } from '../../auth/reach.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { actorOf } from '../actor.ts'
import type { AppDeps } from '../app-deps.ts'
import { bodyFault } from '../json-body.ts'
import { uuidParameter } from '../parameters.ts'
import { type Route, route } from '../route.ts'
import { readWorkspaceIds } from '../workspace-ids.ts'

const TAG = 'Identity'

function toMember(principal: Principal, member: Member): SchemaTypes['member'] {
  const { user_id, email, full_name, role, workspace_ids } = member
  return { user_id, email, full_name, role, workspace_ids: seenOf(principal, workspace_ids) }
}

/** @throws AppError forbidden when the member is or would be more than the caller */
function assertCovers(principal: Principal, { role, workspace_ids }: Pick<Member, 'role' | 'workspace_ids'>) {
  if (covers(principal, { permissions: ROLE_PERMISSIONS[role], workspace_ids })) return
  throw new AppError('forbidden', { message: 'Forbidden: this is about more than your key may do.' })
}

/**
 * The member, whom the caller may manage.
 * @throws AppError not_found when there is none that the caller sees, forbidden when he is more than the caller
 */
async function manageable({ identity }: AppDeps, principal: Principal, user_id: string): Promise<Member> {
  const members = await identity.members(principal.organization_id)
  const member = members.find((one) => one.user_id === user_id)
  if (member === undefined || !sees(principal, member.workspace_ids)) throw new AppError('not_found')
  assertCovers(principal, member)
  return member
}

function addRoute(): Route {
  return route({
    method: 'POST',
    path: '/orgs/current/members',
    summary: 'Add a member',
    description:
      'A user who has this email already is taken, with his name. Issue him a personal access token next.',
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
      return { body: toMember(principal, added) }
    },
  })
}

function changeRoute(): Route {
  return route({
    method: 'PATCH',
    path: '/orgs/current/members/{user_id}',
    summary: 'Change the role, the workspaces or the name of a member',
    description: 'His keys follow at once. One admin stays.',
    tag: TAG,
    params: { user_id: uuidParameter('The member.') },
    body: 'member-update',
    reply: 'member',
    errors: ['not_found', 'conflict'],
    async handle({ deps, principal, params: { user_id }, body }) {
      const before = await manageable(deps, principal, user_id)
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
      return { body: toMember(principal, changed) }
    },
  })
}

/** Members of the workspaces that the caller may use. */
export function memberRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: '/orgs/current/members',
      summary: 'The members of your workspaces',
      tag: TAG,
      reply: 'member-list',
      async handle({ deps, principal }) {
        const members = await deps.identity.members(principal.organization_id)
        const seen = members.filter(({ workspace_ids }) => sees(principal, workspace_ids))
        return { body: seen.map((member) => toMember(principal, member)) }
      },
    }),
    addRoute(),
    changeRoute(),
    route({
      method: 'DELETE',
      path: '/orgs/current/members/{user_id}',
      summary: 'Remove a member, and revoke his personal access tokens',
      description: 'One admin stays.',
      tag: TAG,
      params: { user_id: uuidParameter('The member.') },
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'conflict'],
      async handle({ deps, principal, params: { user_id } }) {
        await manageable(deps, principal, user_id)
        const actor = actorOf(principal, deps.clock)
        const ended = await deps.identity.removeMember(principal.organization_id, user_id, actor)
        deps.authenticator.forgetAll()
        if (ended === undefined) throw new AppError('not_found')
        return { body: '' }
      },
    }),
  ]
}
