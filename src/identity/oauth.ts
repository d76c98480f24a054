import { hash, randomBytes } from 'node:crypto'
import { isLoopback } from '../base/loopback.ts'
import type { Actor, ApiKey } from './identity-store.ts'
import { isReading, type Permission } from './permissions.ts'
import type { KeyGrant } from './principal.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Lifetimes of what a client gets, and of a client that nobody uses. */
export const CODE_MS = MINUTE_MS
export const ACCESS_MS = 60 * MINUTE_MS
export const REFRESH_MS = 30 * DAY_MS
export const CLIENT_MS = 30 * DAY_MS
export const MAX_CLIENTS = 10_000
/** Maximum number of tokens of one consent that have not expired; one that refreshes each hour has 750. */
export const MAX_CONSENT_TOKENS = 10_000

/** Lifetime of a token of `weir login`. */
export const LOGIN_MS = 90 * DAY_MS
/** The resource of a consent to `weir login`, whose code gives a personal access token. */
export const LOGIN_RESOURCE = '/personal-access-tokens'

/**
 * What a consent is for: reading over MCP, calling the graphs of one deployment as tools, or the personal access token
 * of `weir login`.
 */
export type Scope = 'read' | 'agents' | 'login'

/** The resource of tokens that read. Any other resource is the MCP address of a deployment. */
export const MCP_RESOURCE = '/mcp'

export function scopeOf(resource: string): Scope {
  return resource === MCP_RESOURCE ? 'read' : 'agents'
}

const OF_AGENTS: ReadonlySet<Permission> = new Set([
  'assistants:read',
  'threads:read',
  'threads:create',
  'threads:update',
  'threads:delete',
])

/** The permissions of a key that its token for a resource has. */
export function permissionsFor(
  resource: string,
  permissions: ReadonlySet<Permission>,
): ReadonlySet<Permission> {
  const isOwn = scopeOf(resource) === 'read' ? isReading : (one: Permission) => OF_AGENTS.has(one)
  return new Set([...permissions].filter(isOwn))
}

const PREFIX = { code: 'weir_ac_', access: 'weir_at_', refresh: 'weir_rt_' } as const

/** A new secret: 256 random bits behind a prefix that says what it is. */
export function newToken(kind: keyof typeof PREFIX): string {
  return PREFIX[kind] + randomBytes(32).toString('base64url')
}

/** Whether a text that was sent as a key is an access token. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(PREFIX.access)
}

/** A client that registered itself. Times are epoch milliseconds. */
export interface OauthClient {
  id: string
  name: string
  redirect_uris: string[]
  created_at: number
}

/** `weir login`, which every server knows. */
export const LOGIN_CLIENT: OauthClient = {
  id: 'weir-cli',
  name: 'weir login',
  redirect_uris: ['http://127.0.0.1/callback'],
  created_at: 0,
}

/** What a member has allowed a client, until the client exchanges its code. */
export interface Consent {
  client_id: string
  redirect_uri: string
  /** S256 of the verifier. */
  challenge: string
  /** Path of the resource that tokens are for, such as `/mcp`. */
  resource: string
  /** The key that stands for the consent: it is listed and revoked as other keys, and nobody has its secret. */
  key: ApiKey
  /** Who gave the consent, for the audit. */
  actor: Omit<Actor, 'at'>
  /** When the consent ends at the latest, epoch milliseconds; null for never. */
  ends_at: number | null
}

export interface TokenPair {
  access: string
  refresh: string
}

/** Clients, codes and tokens. All methods take the time in epoch milliseconds. */
export interface OauthStore {
  /**
   * Clients that are unused for 30 days are deleted, and the oldest that nobody has allowed when there are too many.
   * Returns false if there is no room.
   */
  addClient(client: OauthClient): Promise<boolean>
  /** Undefined for one that is unused for 30 days, too. */
  client(id: string, now: number): Promise<OauthClient | undefined>
  addCode(code_hash: string, consent: Consent, now: number): Promise<void>
  /** The consent of a code, which can be taken once; `reused`: it was taken before, and its key must end. */
  takeCode(code_hash: string, now: number): Promise<Consent | { reused: KeyRef | undefined } | undefined>
  /** Stores the first tokens of a consent, whose key exists; false if the service key that gave it was deleted since. */
  start(consent: Consent, tokens: TokenPair, now: number): Promise<boolean>
  /** Replaces a refresh token of a resource; `reused`: it was replaced before, and its key must end. */
  rotate(
    refresh_hash: string,
    asked: { client_id: string; resource: string | undefined },
    tokens: TokenPair,
    now: number,
  ): Promise<{ resource: string } | { reused: KeyRef } | undefined>
  /** The grant of an access token, limited by the token's expiry. */
  access(token_hash: string, now: number): Promise<{ grant: KeyGrant; resource: string } | undefined>
  keyOf(token_hash: string): Promise<KeyRef | undefined>
}

/** A key with what deleting it needs. */
export interface KeyRef {
  id: string
  organization_id: string
  short_key: string
  user_id: string | null
}

/** SHA-256 of a code or token in hex; only this is stored. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Whether the verifier belongs to the challenge (RFC 7636, S256). */
export function fitsChallenge(verifier: string, challenge: string): boolean {
  return /^[\w.~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge
}

/** Whether a client may register the address: https, or http at a loopback address. */
export function isRedirect(uri: string): boolean {
  const url = URL.parse(uri)
  if (url === null || url.hash !== '' || uri.includes('#') || url.username !== '' || url.password !== '')
    return false
  return url.protocol === 'https:' || isLoopbackUrl(url)
}

function isLoopbackUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopback(hostname)
}

/** Whether the address is one of the client's: exactly, or at a loopback address with any port (RFC 8252). */
export function isRedirectOf({ redirect_uris }: OauthClient, uri: string): boolean {
  if (redirect_uris.includes(uri)) return true
  const url = URL.parse(uri)
  if (url === null || !isRedirect(uri) || !isLoopbackUrl(url)) return false
  const withoutPort = (one: URL): string => `${one.hostname}${one.pathname}${one.search}`
  return redirect_uris.some((known) => {
    const registered = URL.parse(known)
    return registered !== null && isLoopbackUrl(registered) && withoutPort(registered) === withoutPort(url)
  })
}
