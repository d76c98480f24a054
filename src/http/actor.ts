import type { Actor } from '../auth/identity-store.ts'
import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../base/clock.ts'

/** The caller as the audit names him, now. */
export function actorOf({ api_key_id, short_key, user_id }: Principal, clock: Clock): Actor {
  return { api_key_id, short_key, user_id, at: clock.now() }
}
