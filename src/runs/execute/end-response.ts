import type { Run, Tenant } from '../model.ts'
import type { RunStore } from '../run-store.ts'
import { isActive } from '../state.ts'
import type { RunOutcome } from './waiters.ts'

/** The response for a failed run, as JSON text. */
export function errorJson(error: { error: string; message: string }): string {
  return JSON.stringify({ __error__: { error: error.error, message: error.message } })
}

/** The response for a run that was rolled back and no longer exists. */
export function deletedJson(run_id: string): string {
  return errorJson({ error: 'UserRollback', message: `Run ${run_id} was rolled back and deleted.` })
}

export function errorOf(run: Pick<Run, 'status' | 'error'>): { error: string; message: string } {
  return run.error ?? { error: 'Error', message: `The run ended with status ${run.status}.` }
}

/** The outcome of a run that no longer exists: a stateless run that has ended, or a run that was rolled back. */
export async function goneOutcome(store: RunStore, tenant: Tenant, run_id: string): Promise<RunOutcome> {
  const end = await store.statelessEnd(tenant, run_id)
  return end === undefined
    ? { status: 'deleted', json: deletedJson(run_id) }
    : { status: end.status, json: end.answer }
}

/**
 * The stored outcome of a run; undefined while the run is active. The outcome of a successful or interrupted run is the
 * current values of its thread, `{}` if it has none yet, with `__interrupt__` while the thread waits for an answer to it
 * (RUN-17).
 */
export async function storedOutcome(
  store: RunStore,
  tenant: Tenant,
  run: Run,
): Promise<RunOutcome | undefined> {
  const { status } = run
  if (isActive(status)) return undefined
  if (status === 'error' || status === 'timeout') return { status, json: errorJson(errorOf(run)) }
  const thread = await store.getThread(tenant, run.thread_id)
  const values_json = thread?.values_json ?? '{}'
  const waiting = run.interrupted ? Object.values(thread?.interrupts ?? {}).flat() : []
  return { status, json: waiting.length === 0 ? values_json : withInterrupts(values_json, waiting) }
}

/** The values of a thread with the interrupts for which it waits. The text may be large, so it is not parsed. */
function withInterrupts(values_json: string, interrupts: readonly unknown[]): string {
  const field = `"__interrupt__":${JSON.stringify(interrupts)}}`
  const values = values_json.trimEnd()
  return /^\s*{\s*"/.test(values) ? `${values.slice(0, -1)},${field}` : `{${field}`
}
