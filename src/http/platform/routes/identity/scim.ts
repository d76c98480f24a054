import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../../base/errors.ts'
import { hashApiKey } from '../../../../identity/api-keys.ts'
import { rightsOfGroups } from '../../../../identity/oidc/admission.ts'
import { readGroup, readUser } from '../../../../identity/scim/attributes.ts'
import { readGroupPatch, readUserPatch } from '../../../../identity/scim/patch.ts'
import { readFilter } from '../../../../identity/scim/filter.ts'
import {
  configJson,
  scimFaultJson,
  groupJson,
  listJson,
  resourceTypes,
  schemas,
  userJson,
} from '../../../../identity/scim/resources.ts'
import { MAX_COUNT, type ScimCaller, ScimFault, TOKEN_PREFIX } from '../../../../identity/scim/scim.ts'
import type { Method, RouteReply } from '../../../api/route.ts'
import { textParameter } from '../../../api/parameters.ts'
import type { AppDeps } from '../../app-deps.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { type PlatformRoute, route } from '../../route.ts'

const TAG = 'SCIM'
const ROOT = '/scim/v2'
const TYPE = 'application/scim+json'
const STATUS = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 } as const
const MAX_BODY_BYTES = 4 * 1024 * 1024
const DEFAULT_COUNT = 100
const BEARER = /^Bearer +(\S+)$/i

/** A request of SCIM whose token was checked. */
interface Call {
  deps: AppDeps
  caller: ScimCaller
  /** Address of `/scim/v2`. */
  base: string
  id: string
  search: URLSearchParams
  /** The JSON of the body; undefined without a body. */
  body: unknown
}

interface Answer {
  status?: number
  /** Undefined for no body. */
  body?: object
}

/** Who calls: the provider of the token. @throws ScimFault 401 */
async function callerOf(deps: AppDeps, { headers }: IncomingMessage): Promise<ScimCaller> {
  const { scim, signIn, clock } = deps
  const [, token = ''] = BEARER.exec(headers.authorization ?? '') ?? []
  const known = token.startsWith(TOKEN_PREFIX)
    ? await scim.tokens.find(hashApiKey(token), clock.now())
    : undefined
  if (known === undefined) {
    throw new ScimFault(401, undefined, 'This server has no such token of SCIM.')
  }
  const provider = signIn.people?.settings.providers.find(({ id }) => id === known.provider)
  if (provider === undefined)
    throw new ScimFault(
      401,
      undefined,
      `The sign-in provider "${known.provider}" of this token is not set any more.`,
    )
  const { issuer, group_roles, default_role } = provider
  return {
    organization_id: known.organization_id,
    actor: { api_key_id: known.id, short_key: 'SCIM', user_id: null, at: clock.now() },
    issuer,
    rightsOf: (groups, workspaces) => rightsOfGroups(groups, group_roles, workspaces),
    otherwise: default_role && { role: default_role, workspace_ids: null },
  }
}

function parsed(body: Uint8Array | undefined): unknown {
  if (body === undefined || body.length === 0) return undefined
  if (body.length > MAX_BODY_BYTES) throw new AppError('body_too_large')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new ScimFault(400, 'invalidSyntax', 'The body is not JSON.')
  }
}

function replyOf({ status = 200, body }: Answer): RouteReply<string> {
  const headers = { 'content-type': TYPE, 'cache-control': 'no-store' }
  return { status, headers, body: body === undefined ? '' : JSON.stringify(body) }
}

/** The error as SCIM words it. */
function faultOf(error: unknown): ScimFault | undefined {
  if (error instanceof ScimFault) return error
  if (error instanceof AppError && error.code === 'conflict')
    return new ScimFault(409, 'mutability', error.message)
  return undefined
}

const BODY = { body: 'raw' } as const
const NONE = {} as const

function scimRoute(
  method: Method,
  path: string,
  summary: string,
  answer: (call: Call) => Promise<Answer>,
): PlatformRoute {
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  const withId = path.includes('{id}')
  const isList = method === 'GET' && !withId && path.endsWith('s')
  return route({
    method,
    path: `${ROOT}${path}`,
    // Callers have tokens of their own.
    needs: 'open',
    summary,
    description: 'RFC 7644, with a token of `POST /orgs/current/scim-tokens`.',
    tag: TAG,
    ...(withId && {
      params: {
        id: {
          description: 'Its id.',
          required: true,
          schema: { type: 'string' },
          read: (values: readonly string[]) => values.at(-1) ?? '',
        },
      },
    }),
    ...(isList && {
      query: {
        filter: textParameter('`userName eq "…"`, `externalId eq "…"` or `displayName eq "…"`.'),
        startIndex: textParameter('The first resource, from 1.'),
        count: textParameter(`Maximum number of resources, at most ${MAX_COUNT}.`),
      },
    }),
    ...((hasBody ? BODY : NONE) as { body?: 'raw' }),
    reply: 'bytes',
    wire_types: [TYPE, 'application/json'],
    status: STATUS[method],
    other_replies: { 400: null, 401: null, 404: null, 409: null },
    errors: ['body_too_large'],
    async handle({ deps, req, params, body }) {
      try {
        const caller = await callerOf(deps, req)
        const { searchParams: search } = new URL(req.url ?? '', 'http://weir')
        const { id = '' } = params as { id?: string }
        const base = `${ownAddress(deps, req)}${ROOT}`
        const sent = body as Uint8Array | undefined
        return replyOf(await answer({ deps, caller, base, id, search, body: parsed(sent) }))
      } catch (error) {
        const fault = faultOf(error)
        if (fault === undefined) throw error
        return replyOf({ status: fault.status, body: scimFaultJson(fault) })
      }
    },
  })
}

/** A number of the query, at least `minimum`; `otherwise` for a missing or unreadable one. */
function numberOf(text: string | null, minimum: number, otherwise: number): number {
  const number = Number(text ?? otherwise)
  return Number.isInteger(number) ? Math.min(Math.max(minimum, number), Number.MAX_SAFE_INTEGER) : otherwise
}

function queryOf(search: URLSearchParams) {
  const start = numberOf(search.get('startIndex'), 1, 1)
  const limit = Math.min(numberOf(search.get('count'), 0, DEFAULT_COUNT), MAX_COUNT)
  return { start, query: { filter: readFilter(search.get('filter') ?? undefined), offset: start - 1, limit } }
}

/** Only the resource with the id. @throws ScimFault 404 */
function only<T>({ resources: [found] }: { resources: T[] }): T {
  if (found === undefined) throw new ScimFault(404, undefined, 'There is no such resource.')
  return found
}

const byId = (value: string) => ({ filter: { attribute: 'id', value }, offset: 0, limit: 1 }) as const

function userRoutes(): PlatformRoute[] {
  /** Whoever may have other rights now is looked up again. */
  const changed = (deps: AppDeps): void => deps.authenticator.forgetAll()
  return [
    scimRoute('GET', '/Users', 'List users', async ({ deps, caller, base, search }) => {
      const { start, query } = queryOf(search)
      const { total, resources } = await deps.scim.store.users(caller.organization_id, query)
      return {
        body: listJson(
          resources.map((one) => userJson(one, base)),
          total,
          start,
        ),
      }
    }),
    scimRoute('POST', '/Users', 'Create a user: a member', async ({ deps, caller, base, body }) => {
      const user = await deps.scim.store.createUser(readUser(body), caller)
      changed(deps)
      return { status: 201, body: userJson(user, base) }
    }),
    scimRoute('GET', '/Users/{id}', 'Read a user', async ({ deps, caller, base, id }) => {
      const user = only(await deps.scim.store.users(caller.organization_id, byId(id)))
      return { body: userJson(user, base) }
    }),
    scimRoute('PUT', '/Users/{id}', 'Replace a user', async ({ deps, caller, base, id, body }) => {
      const user = await deps.scim.store.changeUser(id, readUser(body), caller, true)
      changed(deps)
      return { body: userJson(user, base) }
    }),
    scimRoute('PATCH', '/Users/{id}', 'Change a user', async ({ deps, caller, base, id, body }) => {
      const user = await deps.scim.store.changeUser(id, readUserPatch(body), caller)
      changed(deps)
      return { body: userJson(user, base) }
    }),
    scimRoute('DELETE', '/Users/{id}', 'Remove a member', async ({ deps, caller, id }) => {
      await deps.scim.store.removeUser(id, caller)
      changed(deps)
      return { status: 204 }
    }),
  ]
}

function groupRoutes(): PlatformRoute[] {
  const withMembers = (search: URLSearchParams): boolean =>
    !(search.get('excludedAttributes') ?? '').toLowerCase().split(',').includes('members')
  return [
    scimRoute('GET', '/Groups', 'List groups', async ({ deps, caller, base, search }) => {
      const { start, query } = queryOf(search)
      const { total, resources } = await deps.scim.store.groups(caller.organization_id, query)
      const shown = resources.map((one) => groupJson(one, base, withMembers(search)))
      return { body: listJson(shown, total, start) }
    }),
    scimRoute('POST', '/Groups', 'Create a group', async ({ deps, caller, base, body }) => {
      const group = await deps.scim.store.createGroup(readGroup(body), caller)
      deps.authenticator.forgetAll()
      return { status: 201, body: groupJson(group, base) }
    }),
    scimRoute('GET', '/Groups/{id}', 'Read a group', async ({ deps, caller, base, id, search }) => {
      const group = only(await deps.scim.store.groups(caller.organization_id, byId(id)))
      return { body: groupJson(group, base, withMembers(search)) }
    }),
    scimRoute('PUT', '/Groups/{id}', 'Replace a group', async ({ deps, caller, base, id, body }) => {
      const group = await deps.scim.store.changeGroup(id, readGroup(body), caller)
      deps.authenticator.forgetAll()
      return { body: groupJson(group, base) }
    }),
    scimRoute('PATCH', '/Groups/{id}', 'Change a group', async ({ deps, caller, base, id, body }) => {
      const group = await deps.scim.store.changeGroup(id, readGroupPatch(body), caller)
      deps.authenticator.forgetAll()
      return { body: groupJson(group, base) }
    }),
    scimRoute('DELETE', '/Groups/{id}', 'Delete a group', async ({ deps, caller, id }) => {
      await deps.scim.store.removeGroup(id, caller)
      deps.authenticator.forgetAll()
      return { status: 204 }
    }),
  ]
}

/** SCIM 2.0 (TEAM-10). */
export function scimRoutes(): PlatformRoute[] {
  return [
    scimRoute('GET', '/ServiceProviderConfig', 'What this server can do', async ({ base }) => ({
      body: configJson(base),
    })),
    scimRoute('GET', '/ResourceTypes', 'The types of resources', async ({ base }) => {
      const types = resourceTypes(base)
      return { body: listJson(types, types.length, 1) }
    }),
    scimRoute('GET', '/Schemas', 'The attributes of resources', async ({ base }) => {
      const all = schemas(base)
      return { body: listJson(all, all.length, 1) }
    }),
    ...userRoutes(),
    ...groupRoutes(),
  ]
}
