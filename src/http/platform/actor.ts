import type { Actor } from '../../identity/identity-store.ts'
import type { Principal } from '../../identity/principal.ts'
import type { Clock } from '../../base/clock.ts'

/** The caller and the current time, in the form of the audit. */
export function actorOf({ api_key_id, short_key, user_id }: Principal, clock: Clock): Actor {
  return { api_key_id, short_key, user_id, at: clock.now() }
}
