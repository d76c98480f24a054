import { generateApiKey, hashApiKey, shortKey } from '../../../../identity/api-keys.ts'
import type { ApiKey, Member } from '../../../../identity/identity-store.ts'
import { permissionsOf, ROLES, type Role } from '../../../../identity/permissions.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { covers, type Reach, seenOf, reachesAnyOf, sharedWorkspaces } from '../../../../identity/reach.ts'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { parseTime } from '../../../../trace/derive/time.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { bodyFault } from '../../../body/json.ts'
import { optionalUuidParameter, uuidParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { ownWorkspaceId, readWorkspaceIds } from '../../workspace-ids.ts'
import { boundedPage, NEXT_PAGE, OFFSET_QUERY } from '../../next-page.ts'
import { assertUnmanaged, OVERRIDE_QUERY } from '../../request/own-change.ts'

const TAG = 'Identity'
const SERVICE = '/orgs/current/service-keys'
const PERSONAL = '/orgs/current/personal-access-tokens'
/** After this many collisions in a row, nearly all of the 65,536 short keys of an organization are used. */
const MAX_DRAWS = 200

type Body = SchemaTypes['service-key-create']

/** The body of a request for a new key, with the owner and the role that limit the key. */
interface WantedKey {
  body: Body
  owner: Member | undefined
  role: Role
}

function fault(path: string, message: string): AppError {
  return bodyFault([{ code: 'value_error', path, message }])
}

function tooMuch(): AppError {
  return new AppError('forbidden', {
    message: 'Forbidden: the key would have rights that yours does not have.',
  })
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

const NOT_MANAGED: ReadonlySet<string> = new Set()

function toAnswer(
  principal: Principal,
  key: ApiKey,
  managed: ReadonlySet<string> = NOT_MANAGED,
): SchemaTypes['api-key'] {
  const { id, short_key, description, user_id, role, read_only, default_workspace_id } = key
  const seen = default_workspace_id !== null && reachesAnyOf(principal, [default_workspace_id])
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
    ...(managed.has(id) && { managed: true }),
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
 * Expiry time of a new key in epoch milliseconds, null for never: not later than that of the caller's key, which is the
 * default. @throws AppError forbidden, invalid_request
 */
function readExpiry(principal: Principal, text: string | null | undefined, now: number): number | null {
  if (text === undefined) return principal.expires_at
  const expires_at = text === null ? null : parseExpiry(text, now)
  if ((expires_at ?? Infinity) > (principal.expires_at ?? Infinity)) {
    throw new AppError('forbidden', { message: 'Forbidden: the key would be valid longer than yours.' })
  }
  return expires_at
}

/**
 * The key's workspace for requests that name none: by default the only one, so that the key still works when a second
 * workspace is created. @throws AppError forbidden, invalid_request
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
 * Stores a new key and returns it; only this response contains its secret. @throws AppError forbidden if the key would
 * have more permissions than the caller, invalid_request
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

/** Revokes a key that is visible to the caller. @throws AppError not_found, forbidden */
async function revoke(
  deps: AppDeps,
  principal: Principal,
  key: ApiKey | undefined,
  owner: Member | undefined,
): Promise<void> {
  if (key === undefined || !reachesAnyOf(principal, key.workspace_ids)) throw new AppError('not_found')
  if (!covers(principal, reachOf(key, owner))) throw tooMuch()
  const kind = key.user_id === null ? 'service' : 'personal'
  const actor = actorOf(principal, deps.clock)
  const gone = await deps.identity.deleteKey(principal.organization_id, kind, key.id, actor)
  // The keys of consents that a service key gave end with it.
  if (kind === 'service') deps.authenticator.forgetAll()
  else deps.authenticator.forget(key.id)
  if (!gone) throw new AppError('not_found')
}

/**
 * Refuses to create keys with AUTH=off, because any caller could create a key that stays valid with AUTH=on. @throws
 * AppError forbidden
 */
export function assertKeysCanBeMade({ gates }: AppDeps): void {
  if (gates === undefined) return
  const message = 'With AUTH=off no keys are created: start the server with AUTH=on.'
  throw new AppError('forbidden', { message })
}

/** Routes of service keys under one path. */
function serviceKeyRoutes(path: string): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path,
      needs: 'organization:read',
      summary: 'The service keys of your workspaces',
      tag: TAG,
      query: OFFSET_QUERY,
      description: NEXT_PAGE,
      reply: 'api-key-list',
      async handle({ deps, principal, query }) {
        const keys = await deps.identity.apiKeys(principal.organization_id, 'service')
        const seen = keys.filter(({ workspace_ids }) => reachesAnyOf(principal, workspace_ids))
        const managed = await deps.managed.ids(principal.organization_id, 'service_key')
        const answers = seen.map((key) => toAnswer(principal, key, managed))
        return boundedPage(answers, query.offset)
      },
    }),
    route({
      method: 'POST',
      path,
      needs: 'organization:manage',
      summary: 'Create a service key',
      description:
        'It cannot have more permissions than the key of the request. Only this response contains the key itself.',
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
      path: `${path}/{id}`,
      needs: 'organization:manage',
      summary: 'Revoke a service key',
      description: 'This process refuses it at once, other processes within 30 s.',
      tag: TAG,
      params: { id: uuidParameter('Id of the key.') },
      query: OVERRIDE_QUERY,
      reply: 'bytes',
      status: 204,
      errors: ['not_found', 'managed_by_file'],
      async handle({ deps, principal, params: { id }, query: { override } }) {
        const keys = await deps.identity.apiKeys(principal.organization_id, 'service')
        const key = keys.find((one) => one.id === id)
        if (key !== undefined && reachesAnyOf(principal, key.workspace_ids))
          await assertUnmanaged(deps, principal, { kind: 'service_key', id, override })
        await revoke(deps, principal, key, undefined)
        return { body: '' }
      },
    }),
  ]
}

/**
 * The user whose tokens the caller requests: the caller, or a member that the caller manages.
 * @throws AppError permission_required
 */
function ownerId(principal: Principal, named: string | undefined): string | null {
  const user_id = named ?? principal.user_id
  if (user_id !== principal.user_id && !principal.permissions.has('organization:manage')) {
    const message = 'Forbidden: tokens of others need the permission organization:manage.'
    throw new AppError('permission_required', { message })
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

function createTokenRoute(path: string): PlatformRoute {
  return route({
    method: 'POST',
    path,
    needs: 'any writing key',
    summary: 'Create a personal access token',
    description:
      'It acts for its owner and cannot have more permissions than the owner or than the key of the request. Only this response contains the token itself.',
    tag: TAG,
    body: 'personal-token-create',
    reply: 'api-key-created',
    errors: ['conflict'],
    available: assertKeysCanBeMade,
    async handle({ deps, principal, body }) {
      const user_id = ownerId(principal, parseUuid(body.user_id ?? undefined))
      if (user_id === null) throw fault('user_id', 'a service key has no user: name one')
      const owner = await memberOf(deps, principal.organization_id, user_id)
      if (owner === undefined || !reachesAnyOf(principal, owner.workspace_ids))
        throw fault('user_id', 'there is no such member')
      const role = tokenRole(principal, owner, body.role)
      return {
        headers: { 'cache-control': 'no-store' },
        body: await create(deps, principal, { body, owner, role }),
      }
    },
  })
}

/** Routes of personal access tokens under one path. */
function personalTokenRoutes(path: string): PlatformRoute[] {
  return [
    route({
      method: 'GET',
      path,
      needs: 'any key',
      summary: 'Your personal access tokens',
      tag: TAG,
      description: NEXT_PAGE,
      query: {
        user_id: optionalUuidParameter('Of this member; others need `organization:manage`.'),
        ...OFFSET_QUERY,
      },
      reply: 'api-key-list',
      async handle({ deps, principal, query }) {
        const user_id = ownerId(principal, query.user_id)
        const keys = await deps.identity.apiKeys(principal.organization_id, 'personal')
        const seen = keys.filter(
          (key) => key.user_id === user_id && reachesAnyOf(principal, key.workspace_ids),
        )
        const answers = seen.map((key) => toAnswer(principal, key))
        return boundedPage(answers, query.offset)
      },
    }),
    createTokenRoute(path),
    route({
      method: 'DELETE',
      path: `${path}/{id}`,
      needs: 'any writing key',
      summary: 'Revoke a personal access token',
      description:
        'Your own, or with `organization:manage` that of a member. This process refuses it at once, other processes within 30 s.',
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

/** Service keys and personal access tokens, each also under the path of LangSmith's documentation. */
export function apiKeyRoutes(): PlatformRoute[] {
  return [
    ...serviceKeyRoutes(SERVICE),
    ...serviceKeyRoutes('/api-key'),
    ...personalTokenRoutes(PERSONAL),
    ...personalTokenRoutes('/api-key/current'),
  ]
}
