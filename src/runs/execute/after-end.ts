import type { EventLog } from '../../events/event-log.ts'
import { type Deployment, runKey } from '../deployment.ts'
import type { Run, Tenant } from '../model.ts'
import { refreshThread } from './refresh-thread.ts'
import type { JobEnd } from './job.ts'
import { deletedJson, storedOutcome } from './end-response.ts'
import type { Claim, RunStore } from '../run-store.ts'
import type { Waiters } from './waiters.ts'
import type { Wake } from './wake.ts'

export interface RunEndingsDeps {
  store: RunStore
  events: EventLog
  wake: Wake
  waiters: Waiters
  /**
   * Called for every run that has ended, unless it was rolled back, with its last values as JSON text if they are
   * available. `run` is undefined for a stateless run that this process did not execute. Never throws.
   */
  ended(tenant: Tenant, run: Run | undefined, values_json: string | null): void
}

/** A run that ended without being executed by this process. */
export interface QuietEnd {
  run_id: string
  thread_id: string
  status: Run['status'] | 'deleted'
}

/** Notifies waiters, webhooks and other servers that a run has ended. */
export interface RunEndings {
  /** Called for a run that this process executed. */
  executed(deployment: Deployment, claim: Claim, end: JobEnd, status: QuietEnd['status']): Promise<void>
  /** Called for a run that was cancelled while it waited, or recovered after its process ended unexpectedly. */
  quiet(tenant: Tenant, end: QuietEnd): Promise<void>
}

export function createRunEndings({ store, events, wake, waiters, ended }: RunEndingsDeps): RunEndings {
  function tellOthers({ deployment_id }: Tenant, run_id: string): void {
    if (wake.shared) wake.send({ kind: 'ended', deployment_id, run_id })
  }

  return {
    async executed(deployment, claim, end, status) {
      const { run_id, thread_id } = claim
      const key = runKey(claim, run_id)
      if (waiters.has(key)) {
        const json = end.json ?? (await store.getThread(claim, thread_id))?.values_json ?? '{}'
        waiters.resolve(key, { status, json })
      }
      tellOthers(claim, run_id)
      if (end.run !== undefined) ended(claim, end.run, end.values_json)
      const { temporary, on_completion } = claim.run.kwargs
      const isGone = temporary && on_completion === 'delete'
      if (!isGone && end.stateUnknown)
        await refreshThread({ store, events }, deployment.host, claim, claim.run)
    },

    async quiet(tenant, { run_id, thread_id, status }) {
      const key = runKey(tenant, run_id)
      tellOthers(tenant, run_id)
      if (status === 'deleted') return waiters.resolve(key, { status, json: deletedJson(run_id) })
      const run = await store.getRun(tenant, thread_id, run_id)
      const outcome = run === undefined ? undefined : await storedOutcome(store, tenant, run)
      waiters.resolve(key, outcome)
      ended(tenant, run, null)
    },
  }
}
