import { generateApiKey, hashApiKey, shortKey } from '../../auth/api-keys.ts'
import type { ApiKey, Member } from '../../auth/identity-store.ts'
import { permissionsOf, ROLES, type Role } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { covers, type Reach, seenOf, sees, sharedWorkspaces } from '../../auth/reach.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid, parseUuid } from '../../base/ids.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { parseTime } from '../../trace/time.ts'
import { actorOf } from '../actor.ts'
import type { AppDeps } from '../app-deps.ts'
import { bodyFault } from '../json-body.ts'
import { optionalUuidParameter, uuidParameter } from '../parameters.ts'
import { type Route, route } from '../route.ts'
import { ownWorkspaceId, readWorkspaceIds } from '../workspace-ids.ts'

const TAG = 'Identity'
const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
/** Of 65,536 short keys an organization may have used many; this many misses in a row mean nearly all. */
const MAX_DRAWS = 200

type Body = SchemaTypes['service-key-create']

/** A key before it is drawn, with what of its owner bounds it. */
interface WantedKey {
  body: Body
  owner: Member | undefined
  role: Role
}

function fault(path: string, message: string): AppError {
  return bodyFault([{ code: 'value_error', path, message }])
}

function tooMuch(): AppError {
  return new AppError('forbidden', { message: 'Forbidden: the key may do more than yours.' })
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

function toAnswer(principal: Principal, key: ApiKey): SchemaTypes['api-key'] {
  const { id, short_key, description, user_id, role, read_only, default_workspace_id } = key
  const seen = default_workspace_id !== null && sees(principal, [default_workspace_id])
  return {
    id,
    short_key,
    description,
    user_id,
    role,
    read_only,
    workspaces: seenOf(principal, key.workspace_ids),
    default_workspace_id: seen ? default_workspace_id : null,
    created_at: new Date(key.created_at).toISOString(),
    expires_at: isoOrNull(key.expires_at),
    last_used_at: isoOrNull(key.last_used_at),
  }
}

function reachOf(
  key: Pick<ApiKey, 'role' | 'read_only' | 'workspace_ids'>,
  owner: Member | undefined,
): Reach {
  return {
    permissions: permissionsOf({ ...key, member_role: owner?.role ?? null }),
    workspace_ids: sharedWorkspaces(key.workspace_ids, owner?.workspace_ids ?? null),
  }
}

async function memberOf({ identity }: AppDeps, organization_id: string, user_id: string) {
  return (await identity.members(organization_id)).find((member) => member.user_id === user_id)
}

/** @throws AppError invalid_request */
function parseExpiry(text: string, now: number): number {
  const time = parseTime(text)
  if (time === undefined) throw fault('expires_at', 'must be an ISO 8601 time')
  const expires_at = Math.floor(time / 1000)
  if (expires_at <= now) throw fault('expires_at', 'must be in the future')
  return expires_at
}

/**
 * When a new key ends, epoch milliseconds or null for never: no later than the one that asks, and when it does unless said.
 * @throws AppError forbidden, invalid_request
 */
function readExpiry(principal: Principal, text: string | null | undefined, now: number): number | null {
  if (text === undefined) return principal.expires_at
  const expires_at = text === null ? null : parseExpiry(text, now)
  if ((expires_at ?? Infinity) > (principal.expires_at ?? Infinity)) {
    throw new AppError('forbidden', { message: 'Forbidden: the key would outlive yours.' })
  }
  return expires_at
}

/**
 * The workspace of requests that name none: the only one, unless said, so that the key goes on when a second is made.
 * @throws AppError forbidden, invalid_request
 */
function readDefault(
  principal: Principal,
  { default_workspace_id: named }: Body,
  all: readonly string[] | null,
): string | null {
  if (named === null || named === undefined) {
    const now = all ?? principal.workspace_ids
    return now.length === 1 ? (now[0] ?? null) : null
  }
  const id = ownWorkspaceId(principal, named)
  if (all !== null && !all.includes(id)) throw fault('default_workspace_id', 'must be one of workspaces')
  return id
}

/**
 * Stores a new key and answers it, this once with the key itself.
 * @throws AppError forbidden when it could do more than the caller, invalid_request
 */
async function create(deps: AppDeps, principal: Principal, { body, owner, role }: WantedKey) {
  const { identity, clock } = deps
  const workspace_ids = readWorkspaceIds(principal, body.workspaces)
  const served = sharedWorkspaces(workspace_ids, owner?.workspace_ids ?? null)
  if (served?.length === 0) throw fault('workspaces', 'the member may use none of these')
  const wanted: ApiKey = {
    id: newUuid(),
    organization_id: principal.organization_id,
    short_key: '',
    description: body.description.trim(),
    user_id: owner?.user_id ?? null,
    role,
    read_only: body.read_only ?? false,
    workspace_ids,
    default_workspace_id: readDefault(principal, body, served),
    created_at: clock.now(),
    expires_at: readExpiry(principal, body.expires_at, clock.now()),
    last_used_at: null,
  }
  if (!covers(principal, reachOf(wanted, owner))) throw tooMuch()
  const actor = actorOf(principal, clock)
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const key = generateApiKey(owner === undefined ? 'service' : 'personal')
    const drawn = { ...wanted, short_key: shortKey(key) }
    if (await identity.createKey({ ...drawn, key_hash: hashApiKey(key) }, actor))
      return { key, ...toAnswer(principal, drawn) }
  }
  throw new AppError('conflict', { message: 'The organization has used nearly all short keys.' })
}

/** Revokes the key that is one of those that the caller sees. @throws AppError not_found, forbidden */
async function revoke(
  deps: AppDeps,
  principal: Principal,
  key: ApiKey | undefined,
  owner: Member | undefined,
): Promise<void> {
  if (key === undefined || !sees(principal, key.workspace_ids)) throw new AppError('not_found')
  if (!covers(principal, reachOf(key, owner))) throw tooMuch()
  const kind = key.user_id === null ? 'service' : 'personal'
  const actor = actorOf(principal, deps.clock)
  const gone = await deps.identity.deleteKey(principal.organization_id, kind, key.id, actor)
  deps.authenticator.forget(key.id)
  if (!gone) throw new AppError('not_found')
}

/** With AUTH=off everyone who gets through to the server would have a key for the time after. @throws AppError forbidden */
function assertKeysCanBeMade({ gates }: AppDeps): void {
  if (gates === undefined) return
  const message = 'With AUTH=off no keys are made: start the server with AUTH=on.'
  throw new AppError('forbidden', { message })
}

function serviceKeyRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: SERVICE,
      summary: 'The service keys of your workspaces',
      tag: TAG,
      reply: 'api-key-list',
      async handle({ deps, principal }) {
        const keys = await deps.identity.apiKeys(principal.organization_id, 'service')
        const seen = keys.filter(({ workspace_ids }) => sees(principal, workspace_ids))
        return { body: seen.map((key) => toAnswer(principal, key)) }
      },
    }),
    route({
      method: 'POST',
      path: SERVICE,
      summary: 'Make a service key',
      description: 'It may do no more than the key that asks. The key itself is told this once.',
      tag: TAG,
      body: 'service-key-create',
      reply: 'api-key-created',
      errors: ['conflict'],
      available: assertKeysCanBeMade,
      handle: async ({ deps, principal, body }) => ({
        headers: { 'cache-control': 'no-store' },
        body: await create(deps, principal, { body, owner: undefined, role: body.role ?? 'user' }),
      }),
    }),
    route({
      method: 'DELETE',
      path: `${SERVICE}/{id}`,
      summary: 'Revoke a service key',
      description: 'Refused at once by this process, by others within 30 s.',
      tag: TAG,
      params: { id: uuidParameter('Id of the key.') },
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const keys = await deps.identity.apiKeys(principal.organization_id, 'service')
        const key = keys.find((one) => one.id === id)
        await revoke(deps, principal, key, undefined)
        return { body: '' }
      },
    }),
  ]
}

/** Whose tokens the caller asks about: his own, or those of a member whom he manages. */
function ownerId(principal: Principal, named: string | undefined): string | null {
  const user_id = named ?? principal.user_id
  if (user_id !== principal.user_id && !principal.permissions.has('organization:manage')) {
    const message = 'Forbidden: tokens of others need the permission organization:manage.'
    throw new AppError('forbidden', { message })
  }
  return user_id
}

/** The role of a new token: no higher than its owner's. @throws AppError forbidden */
function tokenRole(principal: Principal, owner: Member, named: Role | null | undefined): Role {
  if (named === null || named === undefined)
    return owner.user_id === principal.user_id ? principal.role : owner.role
  if (ROLES.indexOf(named) < ROLES.indexOf(owner.role)) throw tooMuch()
  return named
}

function createTokenRoute(): Route {
  return route({
    method: 'POST',
    path: PERSONAL,
    summary: 'Make a personal access token',
    description:
      'It acts for its owner and may do no more than he, nor more than the key that asks. The token itself is told this once.',
    tag: TAG,
    body: 'personal-token-create',
    reply: 'api-key-created',
    errors: ['conflict'],
    available: assertKeysCanBeMade,
    async handle({ deps, principal, body }) {
      const user_id = ownerId(principal, parseUuid(body.user_id ?? undefined))
      if (user_id === null) throw fault('user_id', 'a service key has no user: name one')
      const owner = await memberOf(deps, principal.organization_id, user_id)
      if (owner === undefined || !sees(principal, owner.workspace_ids))
        throw fault('user_id', 'there is no such member')
      const role = tokenRole(principal, owner, body.role)
      return {
        headers: { 'cache-control': 'no-store' },
        body: await create(deps, principal, { body, owner, role }),
      }
    },
  })
}

function personalTokenRoutes(): Route[] {
  return [
    route({
      method: 'GET',
      path: PERSONAL,
      summary: 'Your personal access tokens',
      tag: TAG,
      query: { user_id: optionalUuidParameter('Of this member; others need `organization:manage`.') },
      reply: 'api-key-list',
      async handle({ deps, principal, query }) {
        const user_id = ownerId(principal, query.user_id)
        const keys = await deps.identity.apiKeys(principal.organization_id, 'personal')
        const seen = keys.filter((key) => key.user_id === user_id && sees(principal, key.workspace_ids))
        return { body: seen.map((key) => toAnswer(principal, key)) }
      },
    }),
    createTokenRoute(),
    route({
      method: 'DELETE',
      path: `${PERSONAL}/{id}`,
      summary: 'Revoke a personal access token',
      description:
        'Your own, or with `organization:manage` that of a member. Refused at once by this process, by others within 30 s.',
      tag: TAG,
      params: { id: uuidParameter('Id of the token.') },
      reply: 'bytes',
      status: 204,
      errors: ['not_found'],
      async handle({ deps, principal, params: { id } }) {
        const { organization_id, user_id, permissions } = principal
        const key = (await deps.identity.apiKeys(organization_id, 'personal')).find((one) => one.id === id)
        const mayAsk = key?.user_id === user_id || permissions.has('organization:manage')
        const owner = key?.user_id && mayAsk ? await memberOf(deps, organization_id, key.user_id) : undefined
        await revoke(deps, principal, mayAsk ? key : undefined, owner)
        return { body: '' }
      },
    }),
  ]
}

/** Service keys and personal access tokens. */
export function apiKeyRoutes(): Route[] {
  return [...serviceKeyRoutes(), ...personalTokenRoutes()]
}
