import { timingSafeEqual } from 'node:crypto'
import { RecentMap } from '../base/recent-map.ts'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'
import { hashApiKey, isApiKey } from './api-keys.ts'
import { type BrowserSessionStore, sessionEnd, hashSecret } from './browser-sessions.ts'
import type { IdentityStore } from './identity-store.ts'
import { type Permission, permissionsOf } from './permissions.ts'
import { hashToken, isAccessToken, type OauthStore, permissionsFor } from './oauth.ts'
import type { KeyGrant, Principal, PrincipalSession } from './principal.ts'

export interface Credentials {
  /** From `x-api-key` or `Authorization: Bearer`. */
  key: string | undefined
  /** Secret of the browser session, if the request has no key. */
  session?: string | undefined
  /** `X-Tenant-Id` as sent. */
  workspace: string | undefined
  /** The resource of OAuth that the request is for, such as `/mcp`; undefined where access tokens are not accepted. */
  resource?: string | undefined
}

/**
 * Whether a request uses data of one workspace, or of the organization. A request for the organization need not name
 * a workspace.
 */
export type ActsIn = 'workspace' | 'organization'

/** Determines the principal of a request. */
export interface Authenticator {
  /**
   * Returns the principal: synchronously if the key was looked up in the last 30 s, otherwise after a look-up.
   * `acts_in` defaults to a workspace. `fresh`: the key is always looked up.
   * @throws AppError unauthorized, forbidden, workspace_required (also as the rejection of the promise)
   */
  authenticate(credentials: Credentials, acts_in?: ActsIn, fresh?: boolean): Principal | Promise<Principal>
  /** Removes a key from the cache at once, e.g. after it was deleted. */
  forget(api_key_id: string): void
  /** Removes a browser session from the cache at once, after it was ended. */
  forgetSession(id: string): void
  /** Clears the cache at once, after a change of a member, a role or a workspace. */
  forgetAll(): void
  /** Calls the listener after each change that one of the methods above was told about. */
  onChange(listener: () => void): void
}

/** Time for which a look-up of a key is valid (at most 30 s). */
const CACHE_MS = 30_000
/** Time for which a look-up of a session is valid: what the provider answers about its member must work within a minute. */
const SESSION_CACHE_MS = 10_000
/** Interval at which the look-up of a key is repeated while the store is not reachable. */
const OUTAGE_RETRY_MS = 5_000
const MAX_CACHED = 10_000

/** A key's grant, and facts that follow from it for every request. */
interface KnownKey {
  grant: KeyGrant
  permissions: ReadonlySet<Permission>
  session?: PrincipalSession
  /** Of an access token: where it is valid. */
  resource?: string
}

function toKnownKey(grant: KeyGrant, session?: PrincipalSession): KnownKey {
  return { grant, permissions: permissionsOf(grant), ...(session && { session }) }
}

interface Choice {
  workspace: string | undefined
  acts_in: ActsIn
  resource: string | undefined
}

/**
 * The error for a key that never existed, was revoked or has expired. It is the same for all of these, so that it does
 * not reveal whether a key existed.
 */
function unknownKey(): AppError {
  const message =
    'Invalid token: this server has no such key. It may have been revoked, have expired, or belong to another server. weir keys create creates one; the first is in DATA_DIR/api-key.'
  return new AppError('unauthorized', { message })
}

/**
 * The error for a session that does not exist or has ended, and for one whose key was revoked or has expired.
 */
function unknownSession(): AppError {
  return new AppError('unauthorized', { message: 'Your session in this browser has ended: sign in again.' })
}

/** @throws AppError unauthorized for text that cannot be a key */
function assertKey(text: string): void {
  if (isApiKey(text)) return
  const message =
    text === ''
      ? 'Invalid token: no API key was sent. Send one in the header x-api-key, or as Authorization: Bearer KEY.'
      : 'Invalid token: what was sent is not an API key. A key has 16 to 128 letters, digits, _ and -. Look for quotes, spaces or a placeholder.'
  throw new AppError('unauthorized', { message })
}

function toPrincipal(
  { grant, permissions, session, resource }: KnownKey,
  { workspace, acts_in, resource: asked }: Choice,
  now: number,
): Principal {
  const { workspace_ids, expires_at } = grant
  if (resource !== undefined && resource !== asked) throw unknownKey()
  if (session !== undefined && session.expires_at <= now) throw unknownSession()
  if (expires_at !== null && expires_at <= now) throw unknownKey()
  const [first] = workspace_ids
  if (first === undefined) throw new AppError('forbidden')
  const chosen = workspace === undefined ? grant.default_workspace_id : parseUuid(workspace)
  if (chosen === null && acts_in === 'workspace') throw new AppError('workspace_required')
  const workspace_id = chosen === null ? first : chosen
  if (workspace_id === undefined || !workspace_ids.includes(workspace_id)) throw new AppError('forbidden')
  const { organization_id, user_id, api_key_id, short_key, all_workspaces, role, read_only } = grant
  return {
    organization_id,
    workspace_id,
    workspace_chosen: chosen !== null,
    user_id,
    api_key_id,
    short_key,
    holder: api_key_id,
    workspace_ids,
    all_workspaces,
    permissions,
    role,
    read_only,
    expires_at,
    ...(session && { session }),
  }
}

function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** The parts of the identity store that an authenticator uses. */
type Keys = Pick<IdentityStore, 'findKey' | 'touchKey' | 'adminGrant'>
type Sessions = Pick<BrowserSessionStore, 'find' | 'touch'>
type Tokens = Pick<OauthStore, 'access'>

/** Grants by the hash of a key or of a session's secret, cached for a while. */
interface KeySource {
  known(hash: string): KnownKey | undefined
  /** @throws AppError unauthorized */
  find(hash: string): Promise<KnownKey>
  forget(isGone: (known: KnownKey) => boolean): void
}

/** Finds a key by its hash, and records that the key was used. @throws AppError unauthorized */
async function findKey(store: Keys, key_hash: string, now: number): Promise<KnownKey> {
  const found = await store.findKey(key_hash)
  if (found === undefined || !sameHash(found.key_hash, key_hash)) throw unknownKey()
  // If recording the last use fails, the request must not fail.
  store.touchKey(found.grant.api_key_id, now).catch(() => undefined)
  return toKnownKey(found.grant)
}

/** Finds a session by the hash of its secret, and records that the session was used. @throws AppError unauthorized */
async function findSession(store: Sessions, secret_hash: string, now: number): Promise<KnownKey> {
  const found = await store.find(secret_hash, now)
  if (found === undefined) throw unknownSession()
  const { session, grant } = found
  store.touch(session.id, now).catch(() => undefined)
  const expires_at = sessionEnd({ ...session, last_used_at: now }, grant.expires_at)
  return toKnownKey(grant, { id: session.id, expires_at })
}

/** Finds an access token by its hash, and records that its key was used. @throws AppError unauthorized */
async function findToken(
  { tokens, store }: { tokens: Tokens; store: Keys },
  token_hash: string,
  now: number,
): Promise<KnownKey> {
  const found = await tokens.access(token_hash, now)
  if (found === undefined) throw unknownKey()
  store.touchKey(found.grant.api_key_id, now).catch(() => undefined)
  const { grant, resource } = found
  const { permissions } = toKnownKey(grant)
  return { grant, permissions: permissionsFor(resource, permissions), resource }
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_unavailable'
}

/**
 * Caches the results of `read`. Concurrent requests with the same hash share one look-up. While the store cannot be
 * reached, a result stays valid for `outageMs` after its look-up expired.
 */
function createKeyCache(
  read: (hash: string, now: number) => Promise<KnownKey>,
  { clock, outageMs, cacheMs }: { clock: Clock; outageMs: number; cacheMs: number },
): KeySource {
  const cache = new RecentMap<string, KnownKey & { until: number; outage_until: number }>(MAX_CACHED)
  const underWay = new Map<string, Promise<KnownKey>>()
  let changes = 0

  const lookUp = async (key_hash: string): Promise<KnownKey> => {
    const before = changes
    const known = await read(key_hash, clock.now())
    const until = clock.steady() + cacheMs
    // A result that was read before a change must not be cached after it.
    if (before === changes) cache.set(key_hash, { ...known, until, outage_until: until + outageMs })
    return known
  }
  const lookUpOrKeep = async (key_hash: string): Promise<KnownKey> => {
    try {
      return await lookUp(key_hash)
    } catch (error) {
      const last = cache.get(key_hash)
      const now = clock.steady()
      if (!isAway(error) || last === undefined || now >= last.outage_until) throw error
      last.until = Math.min(now + OUTAGE_RETRY_MS, last.outage_until)
      return last
    }
  }

  return {
    known(key_hash) {
      const known = cache.get(key_hash)
      return known !== undefined && known.until > clock.steady() ? known : undefined
    },
    async find(key_hash) {
      const waiting = underWay.get(key_hash)
      if (waiting !== undefined) return await waiting
      const mine = lookUpOrKeep(key_hash)
      underWay.set(key_hash, mine)
      try {
        return await mine
      } finally {
        if (underWay.get(key_hash) === mine) underWay.delete(key_hash)
      }
    },
    forget(isGone) {
      changes++
      underWay.clear()
      for (const [key_hash, known] of cache) if (isGone(known)) cache.delete(key_hash)
    },
  }
}

/**
 * The grant of all requests with AUTH=off, looked up again from time to time, since workspaces are created and deleted.
 */
function createOpenKey(store: Keys, clock: Clock, first: KeyGrant): KeySource {
  // With AUTH=off, no key can expire.
  const toOpen = (grant: KeyGrant): KnownKey => toKnownKey({ ...grant, expires_at: null })
  let held = { ...toOpen(first), until: clock.steady() + CACHE_MS }
  let underWay: Promise<KnownKey> | undefined
  const lookUp = async (): Promise<KnownKey> => {
    const before = held
    const read = store.adminGrant(first.organization_id).catch((error: unknown) => {
      if (!isAway(error)) throw error
      return undefined
    })
    const grant = (await read) ?? held.grant
    const found = { ...toOpen(grant), until: clock.steady() + CACHE_MS }
    if (held === before) held = found
    return found
  }
  return {
    known: () => (held.until > clock.steady() ? held : undefined),
    async find() {
      const mine = (underWay ??= lookUp())
      try {
        return await mine
      } finally {
        if (underWay === mine) underWay = undefined
      }
    },
    forget() {
      held = { ...held, until: 0 }
      underWay = undefined
    },
  }
}

/**
 * An authenticator over the stored keys and browser sessions. With `openGrant` (AUTH=off) every request acts for the
 * admin of that grant's organization, whatever key it has. Unknown keys are never cached, so a new key works at once.
 * While the store cannot be reached, keys and sessions that were looked up before are accepted for `outageMs`
 * (default 0).
 */
export function createAuthenticator(options: {
  store: Keys
  sessions: Sessions
  tokens: Tokens
  clock: Clock
  openGrant?: KeyGrant
  outageMs?: number
}): Authenticator {
  const { store, tokens, clock, openGrant, outageMs = 0 } = options
  const cached = { clock, outageMs, cacheMs: CACHE_MS }
  const keys = openGrant
    ? createOpenKey(store, clock, openGrant)
    : createKeyCache((key_hash, now) => findKey(store, key_hash, now), cached)
  const sessions = createKeyCache((hash, now) => findSession(options.sessions, hash, now), {
    ...cached,
    cacheMs: SESSION_CACHE_MS,
  })
  const accessTokens = createKeyCache((hash, now) => findToken({ tokens, store }, hash, now), cached)

  /** Returns the source in which to look up the credentials, and their hash. @throws AppError unauthorized */
  const placeOf = ({ key = '', session }: Credentials): { source: KeySource; hash: string } => {
    if (openGrant !== undefined) return { source: keys, hash: '' }
    if (session !== undefined) return { source: sessions, hash: hashSecret(session) }
    assertKey(key)
    if (isAccessToken(key)) return { source: accessTokens, hash: hashToken(key) }
    return { source: keys, hash: hashApiKey(key) }
  }
  const listeners: (() => void)[] = []
  const forget = (isGone: (known: KnownKey) => boolean): void => {
    keys.forget(isGone)
    sessions.forget(isGone)
    accessTokens.forget(isGone)
    for (const listener of listeners) listener()
  }

  return {
    authenticate(credentials, acts_in = 'workspace', fresh = false) {
      const { source, hash } = placeOf(credentials)
      const known = fresh ? undefined : source.known(hash)
      const choice = { workspace: credentials.workspace, acts_in, resource: credentials.resource }
      if (known !== undefined) return toPrincipal(known, choice, clock.now())
      return source.find(hash).then((found) => toPrincipal(found, choice, clock.now()))
    },
    forget: (api_key_id) => forget(({ grant }) => grant.api_key_id === api_key_id),
    forgetSession: (id) => forget(({ session }) => session?.id === id),
    forgetAll: () => forget(() => true),
    onChange: (listener) => void listeners.push(listener),
  }
}
