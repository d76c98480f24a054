import type { IncomingMessage } from 'node:http'
import {
  type BrowserSession,
  hashSecret,
  isSecret,
  newSecret,
  TICKET_MS,
} from '../../../../identity/browser-sessions.ts'
import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { newUuid, NIL_UUID } from '../../../../base/ids.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { recordOfNobody } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import { ownAddress } from '../../../server/browser/own-address.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { bodyFault } from '../../../body/json.ts'
import { noSessionCookie, sessionCookie, sessionSecretOf } from '../../../server/browser/session-cookie.ts'
import { ownWorkspaces } from './workspaces.ts'

const TAG = 'Identity'
/** The header of commands on the server's machine. */
const LOCAL_SECRET_HEADER = 'x-weir-local'
const NO_STORE = { 'cache-control': 'no-store' }

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** The response about the caller, the caller's permissions, and the features of this server. */
async function toAnswer(deps: AppDeps, principal: Principal): Promise<SchemaTypes['auth-session']> {
  const { organization_id, user_id, api_key_id, short_key, role, read_only, permissions, session } = principal
  const organization = await deps.identity.organization(organization_id)
  if (organization === undefined) throw new AppError('not_found')
  const members = user_id === null ? [] : await deps.identity.members(organization_id)
  const user = members.find((member) => member.user_id === user_id)
  const workspaces = await ownWorkspaces(deps, principal)
  const { deployment } = deps.signIn
  return {
    auth: deps.gates === undefined ? 'on' : 'off',
    session_id: session?.id ?? null,
    expires_at: isoOrNull(session?.expires_at ?? principal.expires_at),
    user: user ? { id: user.user_id, email: user.email, full_name: user.full_name } : null,
    api_key:
      short_key === '' ? null : { id: api_key_id, short_key, expires_at: isoOrNull(principal.expires_at) },
    role,
    read_only,
    permissions: [...permissions],
    all_workspaces: principal.all_workspaces,
    organization: { id: organization.id, display_name: organization.display_name },
    workspaces: workspaces.map(({ id, display_name }) => ({ id, display_name })),
    default_workspace_id: principal.workspace_chosen ? principal.workspace_id : null,
    features: { usage: deps.usage !== undefined, deployments: deployment === undefined ? [] : [deployment] },
    version: deps.version,
  }
}

/**
 * Refuses to sign in from pages of other sites, which could otherwise sign the browser in with their own key.
 * @throws AppError misdirected_request, foreign_origin
 */
function assertOwnPage({ gates, sessionGates }: AppDeps, req: IncomingMessage): void {
  ;(gates ?? sessionGates)?.assertOwn(req)
}

function wrongTicket(): AppError {
  const message =
    'This link was used already, or is older than 15 minutes. weir open prints another; an API key signs in too.'
  return new AppError('unauthorized', { message })
}

/** @throws AppError key_sign_in_off */
function assertKeysSignIn({ signIn: { people } }: AppDeps): void {
  if (people?.settings.key_sign_in === false) throw new AppError('key_sign_in_off')
}

/** Whether a command on the server's machine sends the request: it has a secret of DATA_DIR. */
function isLocal({ signIn: { localSecret } }: AppDeps, { headers }: IncomingMessage): boolean {
  const sent = headers[LOCAL_SECRET_HEADER]
  return localSecret !== undefined && typeof sent === 'string' && hashSecret(sent) === hashSecret(localSecret)
}

type SignInBody = SchemaTypes['auth-sign-in']

/** The id of the body's API key, or of the key that made its ticket. @throws AppError unauthorized */
async function provenKey(deps: AppDeps, { key, ticket }: SignInBody): Promise<string> {
  if (key !== undefined) {
    assertKeysSignIn(deps)
    const principal = await deps.authenticator.authenticate({ key, workspace: undefined }, 'organization')
    return principal.api_key_id
  }
  const taken =
    ticket !== undefined && isSecret(ticket)
      ? await deps.signIn.sessions.takeTicket(hashSecret(ticket), deps.clock.now())
      : undefined
  if (taken === undefined) throw wrongTicket()
  return taken
}

/** Writes a refused sign-in to the audit (TEAM-14). */
async function recordRefusal(deps: AppDeps, error: unknown, address: string): Promise<void> {
  if (!(error instanceof AppError)) return
  const details = { result: 'refused', reason: error.code, address }
  await recordOfNobody(deps, { action: 'session.sign_in', subject_id: NIL_UUID, details })
}

/**
 * Starts a session for the key or ticket of the body. An attempt is counted before its outcome is known, so that
 * concurrent attempts count too; a successful attempt is subtracted again.
 * @throws AppError unauthorized, invalid_request, rate_limited
 */
async function signIn(
  deps: AppDeps,
  body: SignInBody,
  address: string,
): Promise<{ secret: string; session: BrowserSession }> {
  const { failures, sessions } = deps.signIn
  if (body.key === undefined && body.ticket === undefined)
    throw bodyFault([{ code: 'missing_field', path: 'key', message: 'a key or a ticket is required' }])
  failures.take(address)
  const api_key_id = await provenKey(deps, body).catch(async (error: unknown) => {
    await recordRefusal(deps, error, address)
    throw error
  })
  const secret = newSecret()
  const wanted = { id: newUuid(), secret_hash: hashSecret(secret), api_key_id }
  const session = await sessions.start(wanted, deps.clock.now())
  if (session === undefined) throw wrongTicket()
  failures.giveBack(address)
  return { secret, session }
}

/** Whether the browser reached this server over https, itself or through a proxy. */
function isHttps({ publicUrl }: AppDeps, { headers }: IncomingMessage): boolean {
  if (headers.origin !== undefined) return headers.origin.startsWith('https:')
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  return own?.protocol === 'https:' && own.host === headers.host
}

function signInRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/auth/session',
    needs: 'open',
    summary: 'Sign a browser in with a key or a ticket',
    description:
      'Sets the cookie `weir_session_{port}`, which replaces a key for pages of this server only. It ends after 7 days without use, after 30 days, with its key, or by `DELETE`. After ten failures a minute from one address: 429.',
    tag: TAG,
    body: 'auth-sign-in',
    reply: 'auth-session',
    errors: ['unauthorized', 'key_sign_in_off', 'foreign_origin', 'misdirected_request', 'rate_limited'],
    async handle({ deps, body, req }) {
      assertOwnPage(deps, req)
      if (deps.gates !== undefined) {
        const principal = await deps.authenticator.authenticate(
          { key: '', workspace: undefined },
          'organization',
        )
        return { headers: NO_STORE, body: await toAnswer(deps, principal) }
      }
      const { secret, session } = await signIn(deps, body, req.socket.remoteAddress ?? '')
      const credentials = { key: undefined, session: secret, workspace: undefined }
      const principal = await deps.authenticator.authenticate(credentials, 'organization')
      const max_age_s = Math.ceil((session.expires_at - session.created_at) / 1000)
      const cookie = sessionCookie(req.headers, secret, { max_age_s, isHttps: isHttps(deps, req) })
      return { headers: { ...NO_STORE, 'set-cookie': cookie }, body: await toAnswer(deps, principal) }
    },
  })
}

function ticketRoute(): PlatformRoute {
  return route({
    method: 'POST',
    path: '/auth/tickets',
    needs: 'any key',
    summary: 'Create a link that signs a browser in',
    description:
      'The ticket can be used once, within 15 minutes, and signs in with the key of the request. It is the fragment of `url`, which browsers do not send. With `AUTH=off` no ticket is made, because none is needed; with `KEY_SIGN_IN=off` only `weir open` on the server makes one.',
    tag: TAG,
    reply: 'auth-ticket',
    errors: ['conflict', 'key_sign_in_off'],
    async handle({ deps, principal, req }) {
      if (principal.session !== undefined)
        throw new AppError('forbidden', { message: 'Forbidden: a ticket needs an API key, not a session.' })
      if (!isLocal(deps, req)) assertKeysSignIn(deps)
      const page = `${ownAddress(deps, req)}/app/`
      if (deps.gates !== undefined)
        return { headers: NO_STORE, body: { ticket: null, url: page, expires_at: null } }
      const now = deps.clock.now()
      const ticket = newSecret()
      if (!(await deps.signIn.sessions.addTicket(hashSecret(ticket), principal.api_key_id, now)))
        throw new AppError('unauthorized')
      const expires_at = new Date(now + TICKET_MS).toISOString()
      return { headers: NO_STORE, body: { ticket, url: `${page}#ticket=${ticket}`, expires_at } }
    },
  })
}

/** Ends the session with this secret; returns its id, and the address to sign out at the provider too. */
async function endSession(
  { signIn: { sessions, people }, clock }: AppDeps,
  secret: string,
): Promise<{ id: string | undefined; logout_url?: string | undefined }> {
  const ended = await people?.signOut(secret)
  return ended ?? { id: await sessions.end(hashSecret(secret), clock.now()) }
}

function signOutRoute(): PlatformRoute {
  return route({
    method: 'DELETE',
    path: '/auth/session',
    needs: 'open',
    summary: 'Sign this browser out',
    description:
      'Ends the session of the cookie, if there is one, and removes the cookie. With `OAUTH_IDP_LOGOUT_ENABLED` the answer to a person who signed in at a provider has the address that signs out there too.',
    tag: TAG,
    reply: 'bytes',
    reply_type: 'application/json',
    reply_schema: 'auth-sign-out',
    other_replies: { 204: null },
    errors: ['foreign_origin', 'misdirected_request'],
    async handle({ deps, req }) {
      assertOwnPage(deps, req)
      const secret = sessionSecretOf(req.headers)
      const { id, logout_url } = secret === undefined ? { id: undefined } : await endSession(deps, secret)
      if (id !== undefined) deps.authenticator.forgetSession(id)
      const headers = { ...NO_STORE, 'set-cookie': noSessionCookie(req.headers) }
      return logout_url === undefined
        ? { status: 204, headers, body: '' }
        : { headers, body: JSON.stringify({ logout_url }) }
    },
  })
}

/** Sessions of browsers, and tickets that start one. */
export function browserSessionRoutes(): PlatformRoute[] {
  return [
    signInRoute(),
    route({
      method: 'GET',
      path: '/auth/session',
      needs: 'any key',
      summary: 'Who the caller is and what it may do',
      description: 'For a session cookie and for a key.',
      tag: TAG,
      reply: 'auth-session',
      errors: ['not_found'],
      handle: async ({ deps, principal }) => ({ headers: NO_STORE, body: await toAnswer(deps, principal) }),
    }),
    signOutRoute(),
    ticketRoute(),
  ]
}
