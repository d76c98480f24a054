import { NIL_UUID } from '../../base/ids.ts'
import type { Actor, AuditEntry } from '../../identity/identity-store.ts'
import type { Principal } from '../../identity/principal.ts'
import type { Clock } from '../../base/clock.ts'
import type { AppDeps } from './app-deps.ts'

/** The caller and the current time, in the form of the audit. */
export function actorOf({ api_key_id, short_key, user_id }: Principal, clock: Clock): Actor {
  return { api_key_id, short_key, user_id, at: clock.now() }
}

/** Writes what somebody without a key did to the audit (TEAM-14), once there is an organization. */
export async function recordOfNobody(
  { identity, clock }: Pick<AppDeps, 'identity' | 'clock'>,
  change: Pick<AuditEntry, 'action' | 'subject_id' | 'details'>,
): Promise<void> {
  const organization_id = (await identity.firstOrganization())?.id
  if (organization_id === undefined) return
  const nobody = { api_key_id: NIL_UUID, short_key: '', user_id: null, at: clock.now() }
  await identity.recordChange({ organization_id, ...change }, nobody)
}
