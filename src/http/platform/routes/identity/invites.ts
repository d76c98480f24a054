import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../../base/errors.ts'
import { newUuid } from '../../../../base/ids.ts'
import { generateApiKey, hashApiKey, shortKey } from '../../../../identity/api-keys.ts'
import { hashSecret, isSecret, newSecret } from '../../../../identity/browser-sessions.ts'
import type { Invite } from '../../../../identity/invites.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { reachesAnyOf, seenOf } from '../../../../identity/reach.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { uuidParameter } from '../../../api/parameters.ts'
import { bodyFault } from '../../../body/json.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { readWorkspaceIds } from '../../workspace-ids.ts'
import { assertKeysCanBeMade } from './api-keys.ts'
import { assertCovers } from './members.ts'

const TAG = 'Identity'
const NO_STORE = { 'cache-control': 'no-store' }
const HOUR_MS = 3_600_000
const WEEK_H = 168
const ID = { id: uuidParameter('The invitation.') }
/** Number of keys that are drawn until one has a free short form. */
const MAX_DRAWS = 20

function toAnswer(principal: Principal, invite: Invite): SchemaTypes['invite'] {
  const { organization_id: _, key_expires_at: _end, created_at, expires_at, workspace_ids, ...shown } = invite
  return {
    ...shown,
    workspace_ids: seenOf(principal, workspace_ids),
    created_at: new Date(created_at).toISOString(),
    expires_at: new Date(expires_at).toISOString(),
  }
}

function linkOf(deps: AppDeps, req: IncomingMessage, secret: string): string {
  return `${ownAddress(deps, req)}/app/invite#token=${secret}`
}

/** The invitation if the caller may manage it. @throws AppError not_found, forbidden */
async function manageable({ invites, clock }: AppDeps, principal: Principal, id: string): Promise<Invite> {
  const waiting = await invites.list(principal.organization_id, clock.now())
  const invite = waiting.find((one) => one.id === id)
  if (invite === undefined || !reachesAnyOf(principal, invite.workspace_ids)) throw new AppError('not_found')
  assertCovers(principal, invite)
  return invite
}

function createRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/orgs/current/invites',
    needs: 'organization:manage',
    summary: 'Invite somebody by a link',
    description:
      'Send `url` to the person: it works once, until `expires_at`. Where people sign in at a provider, the verified address of the person must be `email`; otherwise the link makes a member and its personal access token, which expires together with the key that invites.',
    tag: TAG,
    body: 'invite-create',
    reply: 'invite-created',
    errors: ['quota_reached'],
    available: assertKeysCanBeMade,
    async handle({ deps, principal, body, req }) {
      const { role } = body
      const workspace_ids = readWorkspaceIds(principal, body.workspace_ids)
      assertCovers(principal, { role, workspace_ids })
      const email = body.email?.toLowerCase() ?? null
      if (email === null && deps.signIn.people !== undefined)
        throw bodyFault([
          { code: 'missing_field', path: 'email', message: 'is needed: people sign in at a provider' },
        ])
      const now = deps.clock.now()
      const { organization_id, user_id: created_by, expires_at: key_expires_at } = principal
      const expires_at = now + (body.expires_in_hours ?? WEEK_H) * HOUR_MS
      const invite = {
        id: newUuid(),
        organization_id,
        email,
        role,
        workspace_ids,
        created_by,
        created_at: now,
        expires_at,
        key_expires_at,
      }
      const secret = newSecret()
      await deps.invites.create(invite, hashSecret(secret), actorOf(principal, deps.clock))
      return { headers: NO_STORE, body: { url: linkOf(deps, req, secret), ...toAnswer(principal, invite) } }
    },
  })
}

function renewRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/orgs/current/invites/{id}/renew',
    needs: 'organization:manage',
    summary: 'Make a new link for an invitation',
    description:
      'The earlier link does not work any more; the new one works as long as the earlier one was made for, at most a week.',
    tag: TAG,
    params: ID,
    reply: 'invite-created',
    errors: ['not_found'],
    available: assertKeysCanBeMade,
    async handle({ deps, principal, params: { id }, req }) {
      const { organization_id, created_at, expires_at: before } = await manageable(deps, principal, id)
      const expires_at = deps.clock.now() + Math.min(before - created_at, WEEK_H * HOUR_MS)
      const secret = newSecret()
      const place = { id, organization_id, expires_at, key_expires_at: principal.expires_at }
      const invite = await deps.invites.renew(place, hashSecret(secret), actorOf(principal, deps.clock))
      if (invite === undefined) throw new AppError('not_found')
      return { headers: NO_STORE, body: { url: linkOf(deps, req, secret), ...toAnswer(principal, invite) } }
    },
  })
}

function deadLink(): AppError {
  return new AppError('unauthorized', {
    message: 'This invitation was used or revoked, or has expired. Ask for another link.',
  })
}

/** The invitation of a link. Wrong links count as failed sign-ins. @throws AppError unauthorized, rate_limited */
async function invited(deps: AppDeps, req: IncomingMessage, token: string): Promise<Invite> {
  ;(deps.gates ?? deps.sessionGates)?.assertOwn(req)
  const address = req.socket.remoteAddress ?? ''
  const { failures } = deps.signIn
  failures.take(address)
  const found = isSecret(token) ? await deps.invites.find(hashSecret(token), deps.clock.now()) : undefined
  if (found === undefined) throw deadLink()
  failures.giveBack(address)
  return found
}

/** Makes the member and its key. @throws AppError unauthorized, conflict, invalid_request */
async function accept(
  { invites, clock }: AppDeps,
  invite: Invite,
  { token, email: given, full_name }: SchemaTypes['invite-accept'],
): Promise<SchemaTypes['invite-accepted']> {
  const email = invite.email ?? given?.toLowerCase()
  if (email === undefined) throw bodyFault([{ code: 'missing_field', path: 'email', message: 'is required' }])
  const person = { user_id: newUuid(), email, full_name: full_name?.trim() || null }
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const key = generateApiKey('personal')
    const stored = { id: newUuid(), short_key: shortKey(key), key_hash: hashApiKey(key) }
    const member = await invites.accept(hashSecret(token), person, stored, clock.now())
    if (member === undefined) throw deadLink()
    if (member !== 'retry') return { key, user_id: member.user_id, email: member.email, role: member.role }
  }
  throw new AppError('conflict', { message: 'The organization has used nearly all short keys.' })
}

function acceptRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/auth/invites',
      needs: 'open',
      summary: 'What the link of an invitation is for',
      description: 'The link stays usable. After ten wrong links a minute from one address: 429.',
      tag: TAG,
      body: 'invite-token',
      reply: 'invite-shown',
      errors: ['unauthorized', 'foreign_origin', 'misdirected_request', 'rate_limited'],
      async handle({ deps, body, req }) {
        const { email, role, expires_at, organization_id } = await invited(deps, req, body.token)
        const organization = (await deps.identity.organization(organization_id))?.display_name ?? ''
        const by_provider = deps.signIn.people !== undefined
        const end = new Date(expires_at).toISOString()
        return { headers: NO_STORE, body: { organization, email, role, expires_at: end, by_provider } }
      },
    }),
    route({
      method: 'POST',
      path: '/auth/invites/accept',
      needs: 'open',
      summary: 'Accept an invitation',
      description:
        'Makes the member and its personal access token. Where people sign in at a provider, they accept by signing in, and this is 409.',
      tag: TAG,
      body: 'invite-accept',
      reply: 'invite-accepted',
      errors: ['unauthorized', 'conflict', 'foreign_origin', 'misdirected_request', 'rate_limited'],
      available: assertKeysCanBeMade,
      async handle({ deps, body, req }) {
        const invite = await invited(deps, req, body.token)
        if (deps.signIn.people !== undefined)
          throw new AppError('conflict', { message: 'Accept the invitation by signing in at the provider.' })
        return { headers: NO_STORE, body: await accept(deps, invite, body) }
      },
    }),
  ]
}

/** Invitations by link (TEAM-9). */
export function inviteRoutes(): PlatformRoute[] {
  return [
    createRoute(),
    renewRoute(),
    route({
      method: 'GET',
      path: '/orgs/current/invites',
      needs: 'organization:manage',
      summary: 'Invitations that wait',
      description: NEXT_PAGE,
      tag: TAG,
      query: OFFSET_QUERY,
      reply: 'invite-list',
      async handle({ deps, principal, query }) {
        const waiting = await deps.invites.list(principal.organization_id, deps.clock.now())
        const seen = waiting.filter(({ workspace_ids }) => reachesAnyOf(principal, workspace_ids))
        const shown = seen.map((invite) => toAnswer(principal, invite))
        return boundedPage(shown, query.offset)
      },
    }),
    route({
      method: 'DELETE',
      path: '/orgs/current/invites/{id}',
      needs: 'organization:manage',
      summary: 'Revoke an invitation',
      tag: TAG,
      params: ID,
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        await manageable(deps, principal, id)
        const actor = actorOf(principal, deps.clock)
        if (!(await deps.invites.revoke(principal.organization_id, id, actor)))
          throw new AppError('not_found')
        return { body: '' }
      },
    }),
    ...acceptRoutes(),
  ]
}
