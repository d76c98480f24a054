import { AppError } from '../../../base/errors.ts'
import { generateApiKey, hashApiKey, shortKey } from '../../../identity/api-keys.ts'
import {
  ACCESS_MS,
  type Consent,
  fitsChallenge,
  hashToken,
  type KeyRef,
  LOGIN_RESOURCE,
  newToken,
  scopeOf,
  type TokenPair,
} from '../../../identity/oauth.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { AppDeps } from '../app-deps.ts'
import { findClient } from './authorization.ts'

/** An error of the token endpoint (RFC 6749, 5.2). */
export class OauthFault extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

/** After this many collisions of short keys in a row, nearly all of an organization are used. */
const MAX_DRAWS = 200

function newPair(): TokenPair {
  return { access: newToken('access'), refresh: newToken('refresh') }
}

function pairJson({ access, refresh }: TokenPair, resource: string): JsonObject {
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_MS / 1000,
    refresh_token: refresh,
    scope: scopeOf(resource),
  }
}

/** Ends the key of a consent, and with it all of its tokens. */
export async function endKey(
  { identity, authenticator, clock }: AppDeps,
  { id, organization_id, short_key, user_id }: KeyRef,
): Promise<void> {
  const kind = user_id === null ? 'service' : 'personal'
  const actor = { api_key_id: id, short_key, user_id, at: clock.now() }
  await identity.deleteKey(organization_id, kind, id, actor)
  authenticator.forget(id)
}

/**
 * Clients that this server does not know any more register again when they are told so. @throws OauthFault invalid_client
 */
export async function assertClient(deps: AppDeps, sent: URLSearchParams): Promise<void> {
  const known = await findClient(deps, sent.get('client_id'))
  if (known === undefined) throw new OauthFault('invalid_client', 'This server does not know the client.')
}

/** Exchanges a code for tokens, once. @throws OauthFault */
export async function exchangeCode(
  deps: AppDeps,
  sent: URLSearchParams,
  resource: string | undefined,
): Promise<JsonObject> {
  const { oauth, clock } = deps
  const taken = await oauth.store.takeCode(hashToken(sent.get('code') ?? ''), clock.now())
  const refused = new OauthFault('invalid_grant', 'The code is unknown, was used, or is older than a minute.')
  if (taken === undefined) throw refused
  if ('reused' in taken) {
    if (taken.reused !== undefined) await endKey(deps, taken.reused)
    throw refused
  }
  const redirect_uri = sent.get('redirect_uri')
  if (
    taken.client_id !== sent.get('client_id') ||
    (redirect_uri !== null && redirect_uri !== taken.redirect_uri)
  )
    throw new OauthFault('invalid_grant', 'The code belongs to another client or address.')
  if (!fitsChallenge(sent.get('code_verifier') ?? '', taken.challenge))
    throw new OauthFault('invalid_grant', 'code_verifier does not fit the challenge.')
  if (resource !== undefined && resource !== taken.resource)
    throw new OauthFault('invalid_target', 'The code is for another resource.')
  const secret = await createKey(deps, taken)
  if (taken.resource === LOGIN_RESOURCE) return loginJson(secret, taken.key.expires_at, clock.now())
  const pair = newPair()
  if (!(await oauth.store.start(taken, pair, clock.now()))) {
    await endKey(deps, taken.key)
    throw new OauthFault('invalid_grant', 'The key with which the consent was given was deleted.')
  }
  return pairJson(pair, taken.resource)
}

/** The personal access token of `weir login`, which is not refreshed. */
function loginJson(access_token: string, expires_at: number | null, now: number): JsonObject {
  const expires_in = expires_at === null ? {} : { expires_in: Math.floor((expires_at - now) / 1000) }
  return { access_token, token_type: 'Bearer', ...expires_in }
}

/** Stores the key of a consent; returns its secret. @throws OauthFault if the member has left since */
async function createKey({ identity, clock }: AppDeps, { key, actor: author }: Consent): Promise<string> {
  const { user_id } = key
  const actor = { ...author, at: clock.now() }
  for (let draws = 0; draws < MAX_DRAWS; draws++) {
    const secret = generateApiKey(user_id === null ? 'service' : 'personal')
    const stored = { ...key, key_hash: hashApiKey(secret), short_key: shortKey(secret) }
    try {
      if (await identity.createKey(stored, actor)) return secret
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      throw new OauthFault('invalid_grant', error.message)
    }
  }
  throw new AppError('internal', { message: 'No short key is left for another key.' })
}

/** Replaces a refresh token. One that was replaced before ends its whole family (rule OAU-5). @throws OauthFault */
export async function refreshTokens(
  deps: AppDeps,
  sent: URLSearchParams,
  resource: string | undefined,
): Promise<JsonObject> {
  const pair = newPair()
  const refresh_hash = hashToken(sent.get('refresh_token') ?? '')
  const asked = { client_id: sent.get('client_id') ?? '', resource }
  const result = await deps.oauth.store.rotate(refresh_hash, asked, pair, deps.clock.now())
  if (result !== undefined && 'resource' in result) return pairJson(pair, result.resource)
  if (result !== undefined) await endKey(deps, result.reused)
  throw new OauthFault('invalid_grant', 'The refresh token is unknown, was used, or has ended.')
}
