import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'
import { hashApiKey } from './api-keys.ts'
import type { IdentityStore } from './identity-store.ts'
import type { KeyGrant, Principal } from './principal.ts'

/** What a request shows of its caller. */
export interface Credentials {
  /** From `x-api-key` or `Authorization: Bearer`. */
  key: string | undefined
  /** `X-Tenant-Id` as sent. */
  workspace: string | undefined
}

/** Tells who a request acts for. */
export interface Authenticator {
  /**
   * At once when the key was looked up in the last 30 s, else after a look-up.
   * @throws AppError unauthorized, forbidden, workspace_required (also as the rejection of the promise)
   */
  authenticate(credentials: Credentials): Principal | Promise<Principal>
  /** Forgets a key at once, e.g. when it has been deleted. */
  forget(api_key_id: string): void
}

/** How long a look-up is good for (platform-api §1: at most 30 s). */
const CACHE_MS = 30_000
const MAX_CACHED = 10_000

function toPrincipal(grant: KeyGrant, workspace: string | undefined, now: number): Principal {
  if (grant.expires_at !== null && grant.expires_at <= now) throw new AppError('unauthorized')
  const named = workspace === undefined ? grant.default_workspace_id : parseUuid(workspace)
  if (named === null) throw new AppError('workspace_required')
  if (named === undefined || !grant.workspace_ids.includes(named)) throw new AppError('forbidden')
  const { organization_id, user_id, api_key_id, short_key, workspace_ids } = grant
  return { organization_id, workspace_id: named, user_id, api_key_id, short_key, workspace_ids }
}

function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/**
 * An authenticator over the stored keys. With `openGrant` (AUTH=off) every request has that grant, whatever key
 * it shows. Unknown keys are never cached, so a new key works at once.
 */
export function createAuthenticator(options: {
  store: IdentityStore
  clock: Clock
  openGrant?: KeyGrant
}): Authenticator {
  const { store, clock, openGrant } = options
  const cache = new Map<string, { grant: KeyGrant; until: number }>()

  const lookUp = async (key_hash: string, workspace: string | undefined): Promise<Principal> => {
    const found = await store.findKey(key_hash)
    if (found === undefined || !sameHash(found.key_hash, key_hash)) throw new AppError('unauthorized')
    const now = clock.now()
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(key_hash, { grant: found.grant, until: now + CACHE_MS })
    const principal = toPrincipal(found.grant, workspace, now)
    await store.touchKey(found.grant.api_key_id, now)
    return principal
  }

  return {
    authenticate({ key, workspace }) {
      if (openGrant !== undefined) return toPrincipal(openGrant, workspace, clock.now())
      if (key === undefined || key === '') throw new AppError('unauthorized')
      const key_hash = hashApiKey(key)
      const known = cache.get(key_hash)
      if (known !== undefined && known.until > clock.now())
        return toPrincipal(known.grant, workspace, clock.now())
      return lookUp(key_hash, workspace)
    },
    forget(api_key_id) {
      for (const [key_hash, { grant }] of cache) if (grant.api_key_id === api_key_id) cache.delete(key_hash)
    },
  }
}
