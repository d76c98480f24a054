import type { Clock } from '../base/clock.ts'
import type { Actor } from '../identity/identity-store.ts'
import type { SchemaTypes } from '../schema/types.gen.ts'
import type { Registry } from '../schema/registry.ts'
import { parseSetup } from './parse-setup.ts'
import { applyFeedback } from './sections/feedback.ts'
import { applyMembers } from './sections/members.ts'
import { applyPrices } from './sections/prices.ts'
import { applyServiceKeys, readSecrets } from './sections/service-keys.ts'
import { applyWorkspaces } from './sections/workspaces.ts'
import type { InOneTransaction, ReadSecret, SetupStep, SetupStores } from './setup.ts'
import type { SetupRun } from './setup-run.ts'

export interface SetupDeps {
  inOneTransaction: InOneTransaction
  registry: Registry
  clock: Clock
}

/** A run of a set-up. */
export interface SetupCall {
  /** Text of YAML or JSON, or a parsed document. */
  document: unknown
  dry_run: boolean
  organization_id: string
  actor: Actor
  /** When the key of the caller expires, epoch milliseconds; absent or null for never. */
  expires_at?: number | null
  readSecret: ReadSecret
}

/** Applies set-ups. @throws AppError invalid_request, conflict: nothing was changed */
export type ApplySetup = (call: SetupCall) => Promise<SchemaTypes['setup-plan']>

/** Thrown to roll back the transaction of a dry run. */
class DryRun extends Error {}

/**
 * Brings the stores to the state of a document, in one transaction: each section compares and changes, so a second run
 * finds nothing to do. A dry run does the same and rolls back, so its plan is what would really happen.
 */
export function createApplySetup(deps: SetupDeps): ApplySetup {
  return async ({ document, dry_run, organization_id, actor, expires_at = null, readSecret }) => {
    const setup = parseSetup(document, deps.registry)
    const secrets = await readSecrets(setup.service_keys?.items ?? [], readSecret)
    let steps: SetupStep[] = []
    const work = async (stores: SetupStores): Promise<void> => {
      const run: SetupRun = { stores, organization_id, actor, expires_at }
      steps = []
      if (setup.workspaces) steps.push(...(await applyWorkspaces(run, setup.workspaces)))
      if (setup.members) steps.push(...(await applyMembers(run, setup.members)))
      if (setup.service_keys) steps.push(...(await applyServiceKeys(run, setup.service_keys, secrets)))
      if (setup.prices) steps.push(...(await applyPrices(run, setup.prices)))
      if (setup.feedback) steps.push(...(await applyFeedback(run, setup.feedback)))
      if (dry_run) throw new DryRun()
      const changed = steps.filter(({ action }) => action !== 'keep')
      if (changed.length === 0) return
      const counts = Object.fromEntries(Map.groupBy(changed, ({ action }) => action))
      const details = Object.fromEntries(Object.entries(counts).map(([action, all]) => [action, all?.length]))
      await stores.identity.recordChange(
        { organization_id, action: 'setup.apply', subject_id: organization_id, details },
        actor,
      )
    }
    try {
      await deps.inOneTransaction(organization_id, work)
    } catch (error) {
      if (!(error instanceof DryRun)) throw error
    }
    return { applied: !dry_run, steps }
  }
}
