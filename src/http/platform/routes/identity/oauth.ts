import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import { hashToken, isRedirect, LOGIN_MS, newToken } from '../../../../identity/oauth.ts'
import type { Principal } from '../../../../identity/principal.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import { requiredTextParameter } from '../../../api/parameters.ts'
import type { RouteReply } from '../../../api/route.ts'
import { sessionSecretOf } from '../../../server/browser/session-cookie.ts'
import { actorOf, recordOfNobody } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import {
  type Authorization,
  readAuthorization,
  type RedirectedFault,
  redirectTo,
} from '../../oauth/authorization.ts'
import { consentPage, faultPage, PAGE_HEADERS, signInPage } from '../../oauth/consent-page.ts'
import { resourceMetadata, resourceOf, serverMetadata } from '../../oauth/metadata.ts'
import { assertClient, endKey, exchangeCode, OauthFault, refreshTokens } from '../../oauth/tokens.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { ownWorkspaces } from './workspaces.ts'

const TAG = 'Agents'
const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }
const MAX_FORM_BYTES = 64 * 1024
/** Characters of an origin in the audit. */
const MAX_ORIGIN = 300
const READ_ONLY =
  'You are signed in with a read-only key, which makes no other keys. Sign in with another one.'
const FOREIGN = 'The deployment belongs to a workspace that you may not use.'
/** In the query of a page that has opened itself once. */
const AGAIN = 'again'

/** With AUTH=off nobody needs a token. */
function available({ gates }: AppDeps): void {
  if (gates !== undefined) throw new AppError('not_found', { message: 'AUTH is off: no token is needed.' })
}

/** Routes of the authorization server, for clients of MCP that have no key (rules OAU-1 to OAU-6). */
export function oauthRoutes(): PlatformRoute[] {
  return [...metadataRoutes(), registrationRoute(), ...consentRoutes(), ...tokenRoutes()]
}

function metadataRoutes(): PlatformRoute[] {
  const resource = '/.well-known/oauth-protected-resource'
  const shared = {
    method: 'GET',
    needs: 'open',
    tag: TAG,
    reply: 'bytes',
    wire_types: ['application/json'],
    any_origin: true,
    errors: ['not_found'],
    available,
  } as const
  return [
    ...[resource, `${resource}/mcp`, `${resource}/api/mcp`].map((path) =>
      route({
        ...shared,
        path,
        summary: 'Where clients of MCP get a token (RFC 9728)',
        handle: async ({ deps, req }) => ({ body: JSON.stringify(resourceMetadata(deps, req)) }),
      }),
    ),
    route({
      ...shared,
      path: `${resource}/deployments/{name}/mcp`,
      summary: 'Where clients that call the graphs of a deployment get a token (RFC 9728)',
      params: { name: requiredTextParameter('Name of the deployment.') },
      async handle({ deps, req, params: { name } }) {
        if (deps.consentsIn?.(name) === undefined)
          throw new AppError('not_found', { message: 'No deployment of this name accepts tokens.' })
        return { body: JSON.stringify(resourceMetadata(deps, req, name)) }
      },
    }),
    route({
      ...shared,
      path: '/.well-known/oauth-authorization-server',
      summary: 'The addresses of the authorization server (RFC 8414)',
      handle: async ({ deps, req }) => ({ body: JSON.stringify(serverMetadata(deps, req)) }),
    }),
  ]
}

function registrationRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/oauth/register',
    // Clients have no key yet. The session that gives its consent decides what they may do.
    needs: 'open',
    summary: 'Register a client of OAuth (RFC 7591)',
    description: 'Without a key. A client that is unused for 30 days is deleted.',
    tag: TAG,
    body: 'oauth-registration',
    unreadable: oauthFault('invalid_client_metadata', 'redirect_uris must be a list of addresses.'),
    reply: 'bytes',
    status: 201,
    wire_types: ['application/json'],
    any_origin: true,
    errors: ['not_found', 'invalid_json', 'rate_limited'],
    available,
    async handle({ deps, body, req }) {
      const address = req.socket.remoteAddress ?? ''
      deps.oauth.registrations.take(address)
      const { redirect_uris, client_name = 'Unnamed client' } = body
      if (!redirect_uris.every(isRedirect))
        return oauthFault('invalid_redirect_uri', 'An address must be https, or http at a loopback address.')
      const created_at = deps.clock.now()
      const client = { id: newUuid(), name: client_name, redirect_uris, created_at }
      if (!(await deps.oauth.store.addClient(client)))
        throw new AppError('rate_limited', { message: 'This server has too many clients of OAuth.' })
      // The audit gets no paths, of which a stranger could send 40 KB.
      const origins = [...new Set(redirect_uris.map((uri) => new URL(uri).origin.slice(0, MAX_ORIGIN)))]
      const details = { name: client_name, redirect_origins: origins, address }
      await recordOfNobody(deps, { action: 'oauth_client.create', subject_id: client.id, details })
      const answer = {
        client_id: client.id,
        client_id_issued_at: Math.floor(created_at / 1000),
        client_name,
        redirect_uris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }
      return { headers: JSON_TYPE, body: JSON.stringify(answer) }
    },
  })
}

function oauthFault(error: string, error_description: string): RouteReply<string> {
  return { status: 400, headers: JSON_TYPE, body: JSON.stringify({ error, error_description }) }
}

function pageReply(status: number, body: string): RouteReply<string> {
  return { status, headers: PAGE_HEADERS, body }
}

/** Sends the browser on to the client; 303, so that a form is not sent again. */
function redirectReply(location: string): RouteReply<string> {
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, body: '' }
}

/** Reads the request of a client; a fault becomes a page, or goes to the client's address. */
async function authorization(
  deps: AppDeps,
  req: IncomingMessage,
  sent: URLSearchParams,
): Promise<Authorization | RouteReply<string>> {
  let read: Authorization | RedirectedFault
  try {
    read = await readAuthorization(deps, req, sent)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
    return pageReply(400, faultPage(error.message))
  }
  if (!('error' in read)) return read
  const { error, description } = read
  return redirectReply(redirectTo(deps, req, read, { error, error_description: description }))
}

function consentRoutes(): PlatformRoute[] {
  const shared = {
    path: '/oauth/authorize',
    tag: TAG,
    reply: 'bytes',
    wire_types: ['text/html', 'application/json', 'application/x-www-form-urlencoded'],
    other_replies: { 303: null, 400: null },
    available,
  } as const
  return [
    route({
      ...shared,
      method: 'GET',
      needs: 'open',
      summary: 'The page on which a member allows or denies a client of OAuth',
      description: 'For browsers that are signed in. The page cannot be framed.',
      errors: ['not_found'],
      async handle({ deps, req }) {
        const sent = new URL(req.url ?? '', 'http://weir').searchParams
        const asked = await authorization(deps, req, sent)
        if (!('client' in asked)) return asked
        const principal = await memberOf(deps, req)
        if (principal === undefined) return pageReply(200, signInPage(onceMore(sent)))
        if (principal.read_only) return pageReply(400, faultPage(READ_ONLY))
        const choice = await choiceOf(deps, principal, asked)
        if (choice.workspaces.length === 0) return pageReply(400, faultPage(FOREIGN))
        return pageReply(200, consentPage(asked, sent, choice))
      },
    }),
    route({
      ...shared,
      method: 'POST',
      needs: 'any writing key',
      summary: 'Allow or deny a client of OAuth',
      description: 'The form of the page. Only for sessions of browsers, and only from pages of this server.',
      body: 'raw',
      errors: ['not_found', 'body_too_large', 'foreign_origin', 'misdirected_request'],
      async handle({ deps, req, body, principal }) {
        if (principal.session === undefined)
          throw new AppError('forbidden', { message: 'Forbidden: a consent needs a session of a browser.' })
        const sent = readForm(body)
        const asked = await authorization(deps, req, sent)
        if (!('client' in asked)) return asked
        const isAllowed = sent.get('decision') === 'allow'
        const answer = isAllowed
          ? { code: await giveConsent(deps, principal, asked, sent.get('workspace')) }
          : { error: 'access_denied' }
        return redirectReply(redirectTo(deps, req, asked, answer))
      },
    }),
  ]
}

/** The member of the browser's session; undefined if the request shows none that is valid. */
async function memberOf(deps: AppDeps, { headers }: IncomingMessage): Promise<Principal | undefined> {
  const session = sessionSecretOf(headers)
  if (session === undefined) return undefined
  try {
    return await deps.authenticator.authenticate(
      { key: undefined, session, workspace: undefined },
      'organization',
    )
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthorized') return undefined
    throw error
  }
}

/** The address of the page once more, for a browser that held its cookie back; undefined the second time. */
function onceMore(sent: URLSearchParams): string | undefined {
  if (sent.has(AGAIN)) return undefined
  const query = new URLSearchParams(sent)
  query.set(AGAIN, '1')
  return `/oauth/authorize?${query.toString()}`
}

/** Who consents, and for which workspaces; for a deployment only its own. */
async function choiceOf(deps: AppDeps, principal: Principal, { resource: { deployment } }: Authorization) {
  const { organization_id, user_id, short_key, workspace_id } = principal
  const members = user_id === null ? [] : await deps.identity.members(organization_id)
  const own = members.find((member) => member.user_id === user_id)
  const all = await ownWorkspaces(deps, principal)
  const sorted = all.toSorted((a, b) => Number(b.id === workspace_id) - Number(a.id === workspace_id))
  const workspaces =
    deployment === undefined ? sorted : all.filter(({ id }) => id === deployment.workspace_id)
  return { workspaces, member: own?.email ?? `the key ${short_key}` }
}

/**
 * Stores a consent with the rights of the session's member that its scope has, or for `weir login` with all of them;
 * returns its code. @throws AppError forbidden
 */
async function giveConsent(
  { oauth, clock }: AppDeps,
  principal: Principal,
  { client, redirect_uri, challenge, resource }: Authorization,
  workspace: string | null,
): Promise<string> {
  const workspace_id = parseUuid(workspace ?? principal.workspace_id)
  if (workspace_id === undefined || !principal.workspace_ids.includes(workspace_id))
    throw new AppError('forbidden')
  const { path, scope, deployment } = resource
  if (deployment !== undefined && deployment.workspace_id !== workspace_id) throw new AppError('forbidden')
  const now = clock.now()
  const { organization_id, user_id, role } = principal
  const isLogin = scope === 'login'
  if (isLogin && user_id === null)
    throw new AppError('forbidden', { message: 'Forbidden: a service key has no personal access tokens.' })
  const lasts = isLogin ? now + LOGIN_MS : Infinity
  const ends_at = Math.min(principal.expires_at ?? Infinity, lasts)
  const expires_at = ends_at === Infinity ? null : ends_at
  const own = principal.all_workspaces ? null : [...principal.workspace_ids]
  const key = {
    id: newUuid(),
    organization_id,
    user_id,
    short_key: '',
    description: isLogin ? client.name : `${client.name} (OAuth)`,
    role,
    read_only: scope === 'read',
    workspace_ids: isLogin ? own : [workspace_id],
    default_workspace_id: isLogin && principal.workspace_ids.length > 1 ? null : workspace_id,
    created_at: now,
    expires_at,
    last_used_at: null,
  }
  const code = newToken('code')
  const { at: _at, ...actor } = actorOf(principal, clock)
  const consent = {
    client_id: client.id,
    redirect_uri,
    challenge,
    resource: path,
    key,
    actor,
    ends_at: expires_at,
  }
  await oauth.store.addCode(hashToken(code), consent, now)
  return code
}

/** @throws AppError body_too_large */
function readForm(body: Uint8Array): URLSearchParams {
  if (body.length > MAX_FORM_BYTES) throw new AppError('body_too_large')
  return new URLSearchParams(new TextDecoder().decode(body))
}

function tokenRoutes(): PlatformRoute[] {
  const shared = {
    method: 'POST',
    needs: 'open',
    tag: TAG,
    body: 'raw',
    reply: 'bytes',
    wire_types: ['application/json', 'application/x-www-form-urlencoded'],
    other_replies: { 400: null },
    any_origin: true,
    errors: ['not_found', 'body_too_large'],
    available,
  } as const
  return [
    route({
      ...shared,
      path: '/oauth/token',
      summary: 'Exchange a code or a refresh token for tokens',
      description: 'Access tokens last an hour, refresh tokens 30 days; each is replaced when it is used.',
      async handle({ deps, req, body }) {
        try {
          return { headers: JSON_TYPE, body: JSON.stringify(await tokensFor(deps, req, readForm(body))) }
        } catch (error) {
          if (error instanceof OauthFault) return oauthFault(error.error, error.message)
          throw error
        }
      },
    }),
    route({
      ...shared,
      path: '/oauth/revoke',
      summary: 'End a consent by one of its tokens (RFC 7009)',
      async handle({ deps, body }) {
        const token = readForm(body).get('token')
        if (token === null) return oauthFault('invalid_request', 'token is missing.')
        const key = await deps.oauth.store.keyOf(hashToken(token))
        if (key !== undefined) await endKey(deps, key)
        return { headers: JSON_TYPE, body: '{}' }
      },
    }),
  ]
}

async function tokensFor(deps: AppDeps, req: IncomingMessage, sent: URLSearchParams): Promise<JsonObject> {
  const named = sent.get('resource')
  const resource = resourceOf(deps, req, named)
  if (resource === undefined) throw new OauthFault('invalid_target', 'resource is not one of this server.')
  const wanted = named === null ? undefined : resource.path
  switch (sent.get('grant_type')) {
    case 'authorization_code':
      await assertClient(deps, sent)
      return await exchangeCode(deps, sent, wanted)
    case 'refresh_token':
      await assertClient(deps, sent)
      return await refreshTokens(deps, sent, wanted)
    case null:
      throw new OauthFault('invalid_request', 'grant_type is missing.')
    default:
      throw new OauthFault(
        'unsupported_grant_type',
        'grant_type must be authorization_code or refresh_token.',
      )
  }
}
