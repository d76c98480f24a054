import type { Logger } from '../base/log.ts'
import { runKey } from './deployment.ts'
import type { Run, Tenant } from './model.ts'
import { goneOutcome, storedOutcome } from './execute/end-response.ts'
import type { RunStore } from './run-store.ts'
import { isActive } from './state.ts'
import type { RunOutcome, Waiter, Waiters } from './execute/waiters.ts'
import type { Worker } from './execute/worker.ts'

export interface AwaitDeps {
  store: RunStore
  worker: Worker
  waiters: Waiters
  logger: Logger
}

/** The disconnect of a waiting client, and its effect on the run. */
export interface Leaving {
  gone: AbortSignal
  /** Whether the disconnect cancels the run. */
  cancels: boolean
}

/** Registers a waiter for a run, before the run can end. */
export function expectRun({ waiters }: Pick<AwaitDeps, 'waiters'>, tenant: Tenant, run_id: string): Waiter {
  return waiters.wait(runKey(tenant, run_id))
}

/**
 * Resolves with the outcome of a run when the run has ended. Any server may execute the run. Removes the waiter. Never
 * resolves once the client has disconnected.
 */
export async function outcomeOf(
  deps: AwaitDeps,
  waiter: Waiter,
  tenant: Tenant,
  run: Run,
  leaving?: Leaving,
): Promise<RunOutcome> {
  const stay = leaving?.cancels === true ? cancelWhenGone(deps, tenant, run, leaving.gone) : undefined
  try {
    for (;;) {
      const outcome = (await nextWord(waiter, leaving?.gone)) ?? (await lookAt(deps, tenant, run))
      if (outcome !== undefined) return outcome
    }
  } finally {
    stay?.()
    waiter.end()
  }
}

/** Waits until a cancelled run has ended; returns its outcome. */
export async function endOf(deps: AwaitDeps, tenant: Tenant, thread_id: string, run_id: string) {
  const waiter = expectRun(deps, tenant, run_id)
  const run = await deps.store.getRun(tenant, thread_id, run_id)
  if (run !== undefined && isActive(run.status)) return (await outcomeOf(deps, waiter, tenant, run)).status
  waiter.end()
  return run?.status ?? 'deleted'
}

async function lookAt(
  { store }: AwaitDeps,
  tenant: Tenant,
  { thread_id, run_id }: Run,
): Promise<RunOutcome | undefined> {
  const run = await store.getRun(tenant, thread_id, run_id)
  return run === undefined ? goneOutcome(store, tenant, run_id) : storedOutcome(store, tenant, run)
}

/** The next notification about a run; never resolves when the client has disconnected. */
function nextWord(waiter: Waiter, gone: AbortSignal | undefined): Promise<RunOutcome | undefined> {
  if (gone === undefined) return waiter.next()
  return new Promise((resolve, reject) => {
    const leave = (): void => waiter.end()
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
    waiter
      .next()
      .finally(() => gone.removeEventListener('abort', leave))
      .then(resolve, reject)
  })
}

/** Cancels the run when the client disconnects. Returns a function that removes this listener. */
function cancelWhenGone(
  { worker, logger }: AwaitDeps,
  tenant: Tenant,
  { thread_id, run_id }: Run,
  gone: AbortSignal,
): () => void {
  const cancel = (): void => {
    worker
      .cancel(tenant, { thread_id, run_ids: [run_id] }, 'interrupt')
      .catch((error: unknown) => logger.error({ err: error, run_id }, 'a run continues without its client'))
  }
  if (gone.aborted) cancel()
  else gone.addEventListener('abort', cancel, { once: true })
  return () => gone.removeEventListener('abort', cancel)
}
