import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { decideMultitask } from '../../runs/multitask.ts'
import type { Run, RunKwargs } from '../../runs/model.ts'
import type { Admission, Admitted, Claim } from '../../runs/run-store.ts'
import { withoutOwnKeys } from '../../schema/config-keys.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import type { SqlValue } from './database.ts'
import { activeRuns, cancelRuns } from './run-store-cancel.ts'
import { takenUp } from './run-store-claims.ts'
import {
  FIND_RUN,
  INSERT_RUN,
  leaseOf,
  type RunRow,
  runValues,
  type ThreadKey,
  toRun,
} from './run-store-rows.ts'
import { isVisible, type LockedThread, type RunDatabase, type RunSession } from './run-store-session.ts'
import { insertThread } from './run-store-threads.ts'
import { insertWebhook } from './run-store-webhooks.ts'

/** Later keys win; `configurable` is merged key by key. */
function mergeConfig(under: JsonObject, over: JsonObject): JsonObject {
  const merged = { ...under, ...over }
  if (isObject(under['configurable']) && isObject(over['configurable'])) {
    merged['configurable'] = { ...under['configurable'], ...over['configurable'] }
  }
  return merged
}

async function findRun(session: RunSession, key: ThreadKey, run_id: string): Promise<RunRow | undefined> {
  return (await session.query<RunRow>(FIND_RUN, [run_id, key.deployment_id, key.workspace_id]))[0]
}

interface Composed {
  metadata: JsonObject
  kwargs: RunKwargs
  /** What changes on the thread. */
  columns: Record<string, SqlValue>
}

function compose(admission: Admission, thread: LockedThread): Composed {
  const { run, thread_metadata, thread_config } = admission
  const metadata = JSON.parse(thread.metadata) as JsonObject
  const config = withoutOwnKeys(JSON.parse(thread.config) as JsonObject)
  const columns = {
    metadata: JSON.stringify({ ...metadata, ...thread_metadata }),
    config: JSON.stringify(mergeConfig(config, thread_config)),
  }
  return { ...(admission.compose?.({ metadata, config }) ?? run), columns }
}

function rowOf(admission: Admission, thread: LockedThread, composed: Composed, now: number): RunRow {
  const { run, multitask_strategy, delay_ms } = admission
  return {
    run_id: run.run_id,
    thread_id: thread.thread_id,
    deployment_id: thread.deployment_id,
    workspace_id: thread.workspace_id,
    seq: thread.last_seq + 1,
    status: 'pending',
    assistant_id: run.assistant_id,
    graph_id: run.graph_id,
    multitask_strategy,
    attempt: 1,
    created_at: now,
    updated_at: now,
    due_at: now + delay_ms,
    started_at: null,
    ended_at: null,
    trace_id: null,
    cancel_action: null,
    lease_owner: null,
    lease_token: null,
    lease_until: null,
    caller: JSON.stringify(run.caller),
    error: null,
    metadata: JSON.stringify(composed.metadata),
    kwargs: JSON.stringify(composed.kwargs),
    partial_messages: null,
    interrupted: 0,
  }
}

/** The stored row as a run, without parsing what has just been written. */
function admittedRun(row: RunRow, admission: Admission, composed: Composed): Run {
  const { metadata, kwargs } = composed
  const plain = { ...row, metadata: 'null', kwargs: 'null', caller: 'null' }
  return { ...toRun(plain), metadata, kwargs, caller: admission.run.caller }
}

async function insert(
  session: RunSession,
  thread: LockedThread,
  admission: Admission,
  clock: Clock,
): Promise<Admitted> {
  // Never before the thread's last run, also when it was made by a process whose clock is ahead.
  const now = Math.max(clock.now(), thread.last_run_at)
  const active = thread.status === 'busy' ? await activeRuns(session, thread) : []
  const decision = decideMultitask(admission.multitask_strategy, active, now)
  if (decision.kind === 'refused') return { kind: 'refused', reason: 'thread_busy' }

  const { action } = decision
  const cancelled = action === null ? undefined : await cancelRuns(session, thread, active, action, now)
  const composed = compose(admission, thread)
  const pending = rowOf(admission, thread, composed, now)
  const claimer = admission.delay_ms === 0 && decision.free ? admission.claim : null
  const row: RunRow =
    claimer === null
      ? pending
      : { ...pending, status: 'running', started_at: now, ...takenUp(claimer, pending, clock.now()) }
  await session.query(INSERT_RUN, runValues(row))
  await insertWebhook(session, thread, row.run_id, composed.kwargs)
  await session.settle(thread, now, {
    ...composed.columns,
    ...cancelled?.columns,
    last_seq: row.seq,
    last_run_at: now,
  })

  const run = admittedRun(row, admission, composed)
  const { lease_token } = row
  const claim: Claim | null = lease_token === null ? null : { ...leaseOf({ ...row, lease_token }), run }
  return { kind: 'created', run, claim, cancelling: cancelled?.orders ?? [], ended: cancelled?.ended ?? [] }
}

/** The transaction that decides about a new run and stores it; see `RunStore.admit`. */
export function createAdmit(database: RunDatabase, clock: Clock) {
  const attempt = (key: ThreadKey, admission: Admission): Promise<Admitted> =>
    database.txOfThread(key, async (session) => {
      let thread = await session.lockThread(key)
      if (thread !== undefined && !isVisible(thread, admission)) {
        return { kind: 'refused', reason: 'thread_not_found' }
      }
      const known = await findRun(session, key, admission.run.run_id)
      if (known?.thread_id === key.thread_id) return { kind: 'known', run: toRun(known) }
      if (known !== undefined) return { kind: 'refused', reason: 'run_id_taken' }
      if (thread === undefined) {
        if (admission.if_not_exists === 'reject') return { kind: 'refused', reason: 'thread_not_found' }
        const metadata = admission.new_thread_metadata ?? {}
        const fresh = {
          thread_id: key.thread_id,
          metadata,
          config: {},
          ttl: admission.new_thread_ttl ?? null,
        }
        await insertThread(session, key, fresh, clock.now())
        thread = await session.lockThread(key)
      }
      if (thread === undefined) throw new AppError('internal', { message: 'A new thread is not there.' })
      return await insert(session, thread, admission, clock)
    })

  return async (tenant: Omit<ThreadKey, 'thread_id'>, admission: Admission): Promise<Admitted> => {
    const key = { ...tenant, thread_id: admission.run.thread_id }
    try {
      return await attempt(key, admission)
    } catch (error) {
      // Someone made the same thread, or on another thread the same run, meanwhile: now it is seen.
      if (!(error instanceof AppError) || error.code !== 'conflict') throw error
      return await attempt(key, admission)
    }
  }
}
