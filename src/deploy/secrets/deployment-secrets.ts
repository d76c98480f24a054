import { AppError } from '../../base/errors.ts'
import type { Sealer } from '../../base/node/sealer.ts'
import type { SealedSecret } from '../model.ts'
import { isVariable, type Secret } from './environment.ts'

/**
 * The secrets of a deployment after a client has sent a list. An empty list, which `langgraph deploy` sends without a
 * `.env`, keeps the stored secrets; any other list replaces all (P-17). The last of several secrets with the same name
 * counts. @throws AppError invalid_request for a secret that no process can have as a variable
 */
export function replacedSecrets(
  { id, secrets }: { id: string; secrets: readonly SealedSecret[] },
  sent: readonly Secret[] | undefined,
  { sealer, now }: { sealer: Sealer; now: number },
): readonly SealedSecret[] {
  if (sent === undefined || sent.length === 0) return secrets
  const wrong = sent.find((secret) => !isVariable(secret))
  if (wrong !== undefined) {
    const message = `secrets: ${JSON.stringify(wrong.name)} cannot be a variable: a name has no "=", and neither it nor its value has NUL.`
    throw new AppError('invalid_request', { message })
  }
  const byName = new Map(sent.map(({ name, value }) => [name, value]))
  return [...byName].map(([name, value]) => ({
    name,
    sealed: sealer.seal(secretPlace(id, name), value),
    updated_at: now,
  }))
}

/** The name by which the sealer distinguishes a deployment's secret from all others. */
export function secretPlace(deployment_id: string, name: string): string {
  return `${deployment_id}/${name}`
}

/** The values of stored secrets. @throws AppError secrets_unreadable */
export function openSecrets(
  { id, secrets }: { id: string; secrets: readonly SealedSecret[] },
  sealer: Sealer,
): Secret[] {
  return secrets.map(({ name, sealed }) => ({
    name,
    value: sealer.open(secretPlace(id, name), sealed),
  }))
}
