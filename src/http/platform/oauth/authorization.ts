import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import { isRedirectOf, LOGIN_CLIENT, LOGIN_RESOURCE, type OauthClient } from '../../../identity/oauth.ts'
import type { AppDeps } from '../app-deps.ts'
import { ownAddress } from '../../server/browser/own-address.ts'
import { type Resource, resourceOf } from './metadata.ts'

/** A request of a client for a consent, checked. */
export interface Authorization {
  client: OauthClient
  redirect_uri: string
  state: string | null
  challenge: string
  resource: Resource
}

/** A fault that the client is told at its own address. */
export interface RedirectedFault {
  redirect_uri: string
  state: string | null
  error: string
  description: string
}

/** The fields of the request that the form of the consent sends again. */
export const AUTHORIZATION_FIELDS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const

const S256 = /^[\w-]{43}$/
const MAX_STATE = 2000

/**
 * Reads the request of a client. A fault goes to the client, once its address is known.
 * @throws AppError invalid_request for an unknown client or an address that is not the client's, where no redirect is safe
 */
export async function readAuthorization(
  deps: AppDeps,
  req: IncomingMessage,
  sent: URLSearchParams,
): Promise<Authorization | RedirectedFault> {
  const client = await findClient(deps, sent.get('client_id'))
  if (client === undefined)
    throw fault('This server does not know the client. Remove its sign-in there, and connect it again.')
  const redirect_uri =
    sent.get('redirect_uri') ?? (client.redirect_uris.length === 1 ? client.redirect_uris[0] : '')
  if (redirect_uri === undefined || !isRedirectOf(client, redirect_uri))
    throw fault('The address to which the client wants to return is not one that it registered.')
  const state = sent.get('state')
  const refuse = (error: string, description: string): RedirectedFault => ({
    redirect_uri,
    state,
    error,
    description,
  })
  if ((state?.length ?? 0) > MAX_STATE)
    return { ...refuse('invalid_request', 'state is too long'), state: null }
  if (sent.get('response_type') !== 'code')
    return refuse('unsupported_response_type', 'response_type must be code')
  const challenge = sent.get('code_challenge') ?? ''
  if (sent.get('code_challenge_method') !== 'S256' || !S256.test(challenge))
    return refuse('invalid_request', 'code_challenge with code_challenge_method S256 is required')
  if (client.id === LOGIN_CLIENT.id) {
    const resource = { path: LOGIN_RESOURCE, scope: 'login' } as const
    return { client, redirect_uri, state, challenge, resource }
  }
  const resource = resourceOf(deps, req, sent.get('resource'))
  if (resource === undefined) return refuse('invalid_target', 'resource is not one of this server')
  const scopes = (sent.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  if (scopes.length > 0 && !scopes.includes(resource.scope))
    return refuse('invalid_scope', `the scope is ${resource.scope}`)
  return { client, redirect_uri, state, challenge, resource }
}

/** A client that registered itself, or `weir login`; undefined for an unknown one. */
export async function findClient(
  { oauth, clock }: AppDeps,
  id: string | null,
): Promise<OauthClient | undefined> {
  return id === LOGIN_CLIENT.id ? LOGIN_CLIENT : await oauth.store.client(id ?? '', clock.now())
}

function fault(message: string): AppError {
  return new AppError('invalid_request', { message })
}

/** The client's address with a response, which names this server (RFC 9207). */
export function redirectTo(
  deps: AppDeps,
  req: IncomingMessage,
  { redirect_uri, state }: Pick<Authorization, 'redirect_uri' | 'state'>,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirect_uri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (state !== null) url.searchParams.set('state', state)
  url.searchParams.set('iss', ownAddress(deps, req))
  return url.href
}
