import type { SealedSecret } from '../model.ts'
import type { Secret } from './environment.ts'
import type { Sealer } from './seal.ts'

/**
 * The secrets of a deployment after a client has sent a list: an empty one keeps what is there, since `langgraph deploy`
 * sends it where there is no `.env`; any other replaces all (P-17). The last of several with one name counts.
 */
export function replacedSecrets(
  { id, secrets }: { id: string; secrets: readonly SealedSecret[] },
  sent: readonly Secret[] | undefined,
  { sealer, now }: { sealer: Sealer; now: number },
): readonly SealedSecret[] {
  if (sent === undefined || sent.length === 0) return secrets
  const byName = new Map(sent.map(({ name, value }) => [name, value]))
  return [...byName].map(([name, value]) => ({
    name,
    sealed: sealer.seal({ deployment_id: id, name }, value),
    updated_at: now,
  }))
}

/** The values of stored secrets. @throws AppError secrets_unreadable */
export function openSecrets(
  { id, secrets }: { id: string; secrets: readonly SealedSecret[] },
  sealer: Sealer,
): Secret[] {
  return secrets.map(({ name, sealed }) => ({
    name,
    value: sealer.open({ deployment_id: id, name }, sealed),
  }))
}
