import { within } from '../../base/background/within.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import { createDiscovery, loadClient } from './discovery.ts'
import { type Claims, groupsIn, newerClaims, type Person, personOf } from './person.ts'
import type { ProviderSettings } from './provider-settings.ts'

/** The values of one attempt that its response must match. */
export interface AttemptChecks {
  state: string
  nonce: string
  /** Of PKCE. */
  code_verifier: string
}

/** Tokens with which the provider is asked again about a person who is signed in. */
export interface KeptTokens {
  /** For the sign-out at the provider. */
  id_token: string
  refresh_token: string | undefined
  access_token: string
  /** Epoch milliseconds. */
  access_expires_at: number
  /** Where the groups were found at the sign-in. */
  groups_in: 'token' | 'userinfo'
}

export interface Described {
  person: Person
  tokens: KeptTokens
}

/** The response when a provider is asked again; `person` is undefined if it cannot tell the groups this way. */
export type Asked = { person: Person | undefined; tokens: KeptTokens } | 'ended'

/** A provider of OpenID Connect. What it sends is checked before it is returned; all methods reject when it does not answer. */
export interface SignInProvider {
  readonly settings: ProviderSettings
  /** Whether the provider can be used: asks for its discovery document, unless that was read or failed a moment ago. */
  isAvailable(): Promise<boolean>
  /** The address to which the browser is sent. */
  signInUrl(checks: AttemptChecks, redirect_uri: string): Promise<string>
  /** The person of a response at the callback. @throws for every response that is not the one to this attempt */
  redeem(callback: URL, checks: AttemptChecks): Promise<Described>
  /**
   * Asks again about a person: with the refresh token, else for userinfo. Undefined if no token allows it any more,
   * `ended` if the provider has withdrawn the token.
   */
  ask(tokens: KeptTokens): Promise<Asked | undefined>
  /** The address that signs the browser out at the provider; undefined if it has none. */
  signOutUrl(id_token: string, back_to: string): Promise<string | undefined>
}

/** Time after which a provider counts as not available. */
const ANSWER_MS = 2_000
/** Lifetime of an access token whose provider does not tell it. */
const ACCESS_MS = 60_000

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

/** The claims of an id token. @throws when it was issued for another client */
function idClaims(tokens: Tokens, { client_id }: ProviderSettings): Claims | undefined {
  const claims = tokens.claims()
  if (claims?.azp !== undefined && claims.azp !== client_id)
    throw new Error('The id token was issued for another client.')
  return claims
}

function usesGroups({ group_roles, allowed_groups }: ProviderSettings): boolean {
  return group_roles.length > 0 || allowed_groups.length > 0
}

/** Whether userinfo may have something that the id token lacks. */
function needsUserinfo(token: Claims, settings: ProviderSettings): boolean {
  const lacksGroups = usesGroups(settings) && groupsIn(token, settings.groups_claim) === undefined
  return token['email'] === undefined || lacksGroups
}

/** The person, or undefined if only the id token of the sign-in had the groups, and there is no new one. */
function personOfUserinfo(
  settings: ProviderSettings,
  before: KeptTokens,
  userinfo: Claims,
): Person | undefined {
  if (usesGroups(settings) && before.groups_in === 'token') return undefined
  const token = withoutGroups(claimsOf(before.id_token), settings)
  return personOf(settings, {
    ...newerClaims(token, userinfo),
    ...(token['oid'] !== undefined && { oid: token['oid'] }),
  })
}

/** Claims without those that have the groups, which may be out of date. */
function withoutGroups(claims: Claims, { groups_claim }: ProviderSettings): Claims {
  const gone = new Set([groups_claim, groups_claim.split('.')[0]])
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !gone.has(name)))
}

/** The claims of an id token that was checked when it came. */
function claimsOf(id_token: string): Claims {
  return JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString()) as Claims
}

async function userinfoOf(configuration: Configuration, access_token: string, sub: string): Promise<Claims> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
  const { fetchUserInfo } = await loadClient()
  return await fetchUserInfo(configuration, access_token, sub)
}

/** What the calls of a provider share. */
interface Calls {
  settings: ProviderSettings
  clock: Clock
  configured(): Promise<Configuration>
}

function keep({ clock }: Calls, tokens: Tokens, before?: KeptTokens): Omit<KeptTokens, 'groups_in'> {
  const lifetime = tokens.expiresIn()
  return {
    id_token: tokens.id_token ?? before?.id_token ?? '',
    refresh_token: tokens.refresh_token ?? before?.refresh_token,
    access_token: tokens.access_token,
    access_expires_at: clock.now() + (lifetime === undefined ? ACCESS_MS : lifetime * 1000),
  }
}

/** The person of an id token, and of userinfo if the token lacks something. */
async function describe(
  calls: Calls,
  tokens: Tokens,
  token: Claims,
  before?: KeptTokens,
): Promise<Described> {
  const { settings, configured } = calls
  const sub = String(token['sub'])
  const userinfo = needsUserinfo(token, settings)
    ? await userinfoOf(await configured(), tokens.access_token, sub)
    : {}
  const person = personOf(settings, token, userinfo)
  if (person === undefined) throw new Error('The id token names nobody.')
  const isOutside = groupsIn(userinfo, settings.groups_claim) !== undefined
  return { person, tokens: { ...keep(calls, tokens, before), groups_in: isOutside ? 'userinfo' : 'token' } }
}

async function refresh(calls: Calls, refresh_token: string, before: KeptTokens): Promise<Asked> {
  const { settings, configured } = calls
  const { refreshTokenGrant } = await loadClient()
  const configuration = await configured()
  const answer = await refreshTokenGrant(configuration, refresh_token)
  const known = claimsOf(before.id_token)
  const claims = idClaims(answer, settings)
  if (claims !== undefined) {
    if (claims['sub'] !== known['sub']) throw new Error('The new id token names another person.')
    return await describe(calls, answer, newerClaims(withoutGroups(known, settings), claims), before)
  }
  const tokens = { ...keep(calls, answer, before), groups_in: before.groups_in }
  const userinfo = await userinfoOf(configuration, tokens.access_token, String(known['sub']))
  return { person: personOfUserinfo(settings, before, userinfo), tokens }
}

async function askUserinfo(
  { settings, configured, clock }: Calls,
  tokens: KeptTokens,
): Promise<Asked | undefined> {
  if (tokens.access_expires_at <= clock.now()) return undefined
  const configuration = await configured()
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined
  const sub = String(claimsOf(tokens.id_token)['sub'])
  const userinfo = await userinfoOf(configuration, tokens.access_token, sub)
  return { person: personOfUserinfo(settings, tokens, userinfo), tokens }
}

/** Asks again; the refusal of a token that the provider has withdrawn is `ended`. */
async function ask(calls: Calls, tokens: KeptTokens): Promise<Asked | undefined> {
  const { ResponseBodyError, WWWAuthenticateChallengeError } = await loadClient()
  try {
    if (tokens.refresh_token === undefined) return await askUserinfo(calls, tokens)
    return await refresh(calls, tokens.refresh_token, tokens)
  } catch (error) {
    const isEnded =
      (error instanceof ResponseBodyError && error.error === 'invalid_grant') ||
      (error instanceof WWWAuthenticateChallengeError && error.status === 401)
    if (isEnded) return 'ended'
    throw error
  }
}

export function createProvider(
  settings: ProviderSettings,
  { clock, logger }: { clock: Clock; logger: Logger },
): SignInProvider {
  const configured = createDiscovery(settings, { clock, logger })
  const calls = { settings, clock, configured }

  return {
    settings,
    isAvailable: () =>
      within(
        configured().then(
          () => true,
          () => false,
        ),
        ANSWER_MS,
        () => false,
      ),
    async signInUrl({ state, nonce, code_verifier }, redirect_uri) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadClient()
      const parameters = {
        response_type: 'code',
        redirect_uri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
      }
      return buildAuthorizationUrl(await configured(), parameters).href
    },
    async redeem(callback, { state, nonce, code_verifier }) {
      const { authorizationCodeGrant } = await loadClient()
      const tokens = await authorizationCodeGrant(await configured(), callback, {
        pkceCodeVerifier: code_verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      return await describe(calls, tokens, idClaims(tokens, settings) ?? {})
    },
    ask: (tokens) => ask(calls, tokens),
    async signOutUrl(id_token, back_to) {
      const configuration = await configured()
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
      const { buildEndSessionUrl } = await loadClient()
      const parameters = { post_logout_redirect_uri: back_to, id_token_hint: id_token }
      return buildEndSessionUrl(configuration, parameters).href
    },
  }
}
