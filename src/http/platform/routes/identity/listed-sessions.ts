import type { ListedSession } from '../../../../identity/browser-sessions.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { actorOf } from '../../actor.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'Identity'

function isOwn({ user_id, api_key_id }: Principal, session: ListedSession): boolean {
  return user_id === null ? session.api_key_id === api_key_id : session.user_id === user_id
}

/** Whether the caller may end sessions of others. */
function managesAll({ permissions, all_workspaces }: Principal): boolean {
  return permissions.has('organization:manage') && all_workspaces
}

function toAnswer(principal: Principal, session: ListedSession): SchemaTypes['auth-session-list'][number] {
  const { id, user_id, short_key, provider } = session
  const iso = (time: number): string => new Date(time).toISOString()
  return {
    id,
    user_id,
    short_key,
    provider,
    created_at: iso(session.created_at),
    last_used_at: iso(session.last_used_at),
    expires_at: iso(session.expires_at),
    is_current: id === principal.session?.id,
  }
}

const LISTS = [
  { path: '/auth/sessions', needs: 'any key', summary: 'Your browser sessions' },
  {
    path: '/orgs/current/sessions',
    needs: 'organization:manage',
    whole_organization: true,
    summary: 'The browser sessions of all',
  },
] as const

/** Lists of browser sessions, and their end (TEAM-6). */
export function listedSessionRoutes(): PlatformRoute[] {
  const lists = LISTS.map((about) =>
    route({
      ...about,
      method: 'GET',
      description: NEXT_PAGE,
      tag: TAG,
      query: OFFSET_QUERY,
      reply: 'auth-session-list',
      async handle({ deps, principal, query }) {
        const all = await deps.signIn.sessions.list(principal.organization_id, deps.clock.now())
        const seen = about.path === '/auth/sessions' ? all.filter((one) => isOwn(principal, one)) : all
        return boundedPage(
          seen.map((one) => toAnswer(principal, one)),
          query.offset,
        )
      },
    }),
  )
  return [
    ...lists,
    route({
      method: 'DELETE',
      path: '/auth/sessions/{id}',
      needs: 'any writing key',
      summary: 'End a browser session',
      description: 'One of yours; an admin of all workspaces ends those of others too.',
      tag: TAG,
      params: { id: uuidParameter('The session.') },
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const { organization_id } = principal
        const { sessions } = deps.signIn
        const all = await sessions.list(organization_id, deps.clock.now())
        const session = all.find((one) => one.id === id)
        if (session === undefined || !(isOwn(principal, session) || managesAll(principal)))
          throw new AppError('not_found')
        if (!(await sessions.endListed(organization_id, id, actorOf(principal, deps.clock))))
          throw new AppError('not_found')
        deps.authenticator.forgetSession(id)
        return { body: '' }
      },
    }),
  ]
}
