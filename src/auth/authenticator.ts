import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'
import { hashApiKey } from './api-keys.ts'
import type { IdentityStore } from './identity-store.ts'
import { type Permission, permissionsOf } from './permissions.ts'
import type { KeyGrant, Principal } from './principal.ts'

/** What a request shows of its caller. */
export interface Credentials {
  /** From `x-api-key` or `Authorization: Bearer`. */
  key: string | undefined
  /** `X-Tenant-Id` as sent. */
  workspace: string | undefined
}

/**
 * What a request reads and changes: things of one workspace, or of the organization, for which no workspace need be
 * chosen.
 */
export type ActsIn = 'workspace' | 'organization'

/** Tells who a request acts for. */
export interface Authenticator {
  /**
   * At once when the key was looked up in the last 30 s, else after a look-up. A request acts in a workspace unless
   * said.
   * @throws AppError unauthorized, forbidden, workspace_required (also as the rejection of the promise)
   */
  authenticate(credentials: Credentials, acts_in?: ActsIn): Principal | Promise<Principal>
  /** Forgets a key at once, e.g. when it has been deleted. */
  forget(api_key_id: string): void
  /** Forgets all keys at once: when a member, a role or a workspace has changed. */
  forgetAll(): void
}

/** How long a look-up is good for (platform-api §1: at most 30 s). */
const CACHE_MS = 30_000
const MAX_CACHED = 10_000

/** A key's grant, and what follows from it for every request. */
interface KnownKey {
  grant: KeyGrant
  permissions: ReadonlySet<Permission>
}

function toKnownKey(grant: KeyGrant): KnownKey {
  return { grant, permissions: permissionsOf(grant) }
}

/** What a request chooses itself. */
interface Choice {
  workspace: string | undefined
  acts_in: ActsIn
}

function toPrincipal(
  { grant, permissions }: KnownKey,
  { workspace, acts_in }: Choice,
  now: number,
): Principal {
  const { workspace_ids, expires_at } = grant
  if (expires_at !== null && expires_at <= now) throw new AppError('unauthorized')
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
  }
}

function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** What an authenticator asks of the identity store. */
type Keys = Pick<IdentityStore, 'findKey' | 'touchKey' | 'adminGrant'>

/** Grants by the hash of a key, as far as they were looked up lately. */
interface KeySource {
  known(key_hash: string): KnownKey | undefined
  /** @throws AppError unauthorized */
  find(key_hash: string): Promise<KnownKey>
  forget(isGone: (grant: KeyGrant) => boolean): void
}

/** The stored keys. One look-up serves all requests that wait for the same key. */
function createKeyCache(store: Keys, clock: Clock): KeySource {
  const cache = new Map<string, KnownKey & { until: number }>()
  const underWay = new Map<string, Promise<KnownKey>>()
  let changes = 0

  const lookUp = async (key_hash: string): Promise<KnownKey> => {
    const before = changes
    const found = await store.findKey(key_hash)
    if (found === undefined || !sameHash(found.key_hash, key_hash)) throw new AppError('unauthorized')
    const now = clock.now()
    const known = toKnownKey(found.grant)
    if (cache.size >= MAX_CACHED) cache.clear()
    // What was read before a change must not outlive it.
    if (before === changes) cache.set(key_hash, { ...known, until: now + CACHE_MS })
    // When a key was last used is worth no failed request.
    store.touchKey(found.grant.api_key_id, now).catch(() => undefined)
    return known
  }

  return {
    known(key_hash) {
      const known = cache.get(key_hash)
      return known !== undefined && known.until > clock.now() ? known : undefined
    },
    async find(key_hash) {
      const waiting = underWay.get(key_hash)
      if (waiting !== undefined) return await waiting
      const mine = lookUp(key_hash)
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
      for (const [key_hash, { grant }] of cache) if (isGone(grant)) cache.delete(key_hash)
    },
  }
}

/** The grant that all requests share, looked up again from time to time: workspaces come and go. */
function createOpenKey(store: Keys, clock: Clock, first: KeyGrant): KeySource {
  // AUTH=off has no key that could expire.
  const toOpen = (grant: KeyGrant): KnownKey => toKnownKey({ ...grant, expires_at: null })
  let held = { ...toOpen(first), until: clock.now() + CACHE_MS }
  return {
    known: () => (held.until > clock.now() ? held : undefined),
    async find() {
      const before = held
      const grant = (await store.adminGrant(first.organization_id)) ?? held.grant
      const found = { ...toOpen(grant), until: clock.now() + CACHE_MS }
      if (held === before) held = found
      return found
    },
    forget: () => void (held = { ...held, until: 0 }),
  }
}

/**
 * An authenticator over the stored keys. With `openGrant` (AUTH=off) every request acts for the admin of that
 * grant's organization, whatever key it shows. Unknown keys are never cached, so a new key works at once.
 */
export function createAuthenticator(options: {
  store: Keys
  clock: Clock
  openGrant?: KeyGrant
}): Authenticator {
  const { store, clock } = options
  const isOpen = options.openGrant !== undefined
  const keys = options.openGrant
    ? createOpenKey(store, clock, options.openGrant)
    : createKeyCache(store, clock)

  const lookUp = async (key_hash: string, choice: Choice): Promise<Principal> =>
    toPrincipal(await keys.find(key_hash), choice, clock.now())

  return {
    authenticate({ key = '', workspace }, acts_in = 'workspace') {
      if (key === '' && !isOpen) throw new AppError('unauthorized')
      const key_hash = isOpen ? '' : hashApiKey(key)
      const known = keys.known(key_hash)
      const choice = { workspace, acts_in }
      return known === undefined ? lookUp(key_hash, choice) : toPrincipal(known, choice, clock.now())
    },
    forget: (api_key_id) => keys.forget((grant) => grant.api_key_id === api_key_id),
    forgetAll: () => keys.forget(() => true),
  }
}
