import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { decideMultitask } from '../../../runs/multitask.ts'
import type { Run, RunKwargs, Tenant } from '../../../runs/model.ts'
import type { Quotas } from '../../../base/quotas.ts'
import {
  type Admitted,
  type Claim,
  type NewThread,
  type RefusalReason,
  type RunAdmission,
  type RunStore,
} from '../../../runs/run-store.ts'
import { RUN_VERSION } from '../../../runs/state.ts'
import { readTaskId } from '../../../runs/task-id.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import { withoutOwnKeys } from '../../../schema/config-keys.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import { bounded } from '../../../schema/merge-bounded.ts'
import { rawLength } from '../../../schema/raw-json.ts'
import type { SqlValue } from '../driver/database.ts'
import { activeRuns, cancelRuns } from './cancel.ts'
import { mayClaim, takenUp } from './claims.ts'
import {
  FIND_RUN,
  INSERT_RUN,
  KEY,
  keyValues,
  leaseOf,
  type RunRow,
  runValues,
  type ThreadKey,
  toRun,
  optionalText,
} from './rows.ts'
import { isVisible, type LockedThread, type RunDatabase, type RunSession } from './session.ts'
import { insertThread } from './threads.ts'
import { insertWebhook } from './webhooks.ts'
import { takeDate } from './cron-dates.ts'
import { countUse } from '../workspace-use.ts'

/** Merges configs: later keys replace earlier ones; `configurable` is merged key by key. */
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

/** Whether the run must not be created, because another run was created after this one was planned. */
async function isOvertaken(
  session: RunSession,
  key: ThreadKey,
  { newest_run_id }: RunAdmission,
): Promise<boolean> {
  if (newest_run_id === undefined) return false
  const [newest] = await session.query<{ run_id: string }>(
    `SELECT run_id FROM runs WHERE ${KEY} ORDER BY seq DESC LIMIT 1`,
    keyValues(key),
  )
  return (newest?.run_id ?? null) !== newest_run_id
}

interface Composed {
  metadata: JsonObject
  kwargs: RunKwargs
  /** Columns of the thread that change. */
  columns: Record<string, SqlValue>
}

function compose(admission: RunAdmission, thread: LockedThread): Composed {
  const { run, thread_metadata, thread_config } = admission
  const metadata = parseExact(thread.metadata) as JsonObject
  const config = withoutOwnKeys(parseExact(thread.config) as JsonObject)
  const columns = {
    metadata: JSON.stringify({ ...metadata, ...thread_metadata }),
    config: JSON.stringify(bounded(config, mergeConfig(config, thread_config), 'config of the thread')),
  }
  return { ...(admission.compose?.({ metadata, config }) ?? run), columns }
}

/** The A2A task of a run: that of its metadata if it is one of the thread, or that of the waiting run which it answers. */
async function taskOf(
  session: RunSession,
  thread: LockedThread,
  { metadata, kwargs: { command } }: Composed,
): Promise<string | null> {
  const own = isObject(metadata['a2a']) ? metadata['a2a']['task_id'] : undefined
  if (typeof own === 'string' && readTaskId(own)?.thread_id === thread.thread_id) return own
  if (!isObject(command) || !('resume' in command)) return null
  const [newest] = await session.query<{ a2a_task: string | null }>(
    `SELECT a2a_task FROM runs WHERE ${KEY} ORDER BY seq DESC LIMIT 1`,
    keyValues(thread),
  )
  return newest?.a2a_task ?? null
}

function rowOf(
  admission: RunAdmission,
  thread: LockedThread,
  composed: Composed,
  { now, a2a_task }: { now: number; a2a_task: string | null },
): RunRow {
  const { input, command, ...kwargs } = composed.kwargs
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
    revision_id: admission.revision_id ?? null,
    cancel_action: null,
    lease_owner: null,
    lease_token: null,
    lease_until: null,
    caller: JSON.stringify(run.caller),
    error: null,
    metadata: JSON.stringify(composed.metadata),
    kwargs: JSON.stringify(kwargs),
    input: optionalText(input),
    command: optionalText(command),
    partial_messages: null,
    interrupted: 0,
    needs_version: RUN_VERSION,
    a2a_task,
  }
}

/** Converts the stored row to a run. Its JSON texts were just written, so they are not parsed again. */
function admittedRun(row: RunRow, admission: RunAdmission, composed: Composed): Run {
  const { metadata, kwargs } = composed
  const plain = { ...row, metadata: 'null', kwargs: 'null', caller: 'null', input: null, command: null }
  return { ...toRun(plain), metadata, kwargs, caller: admission.run.caller }
}

function newThread({ thread_id }: ThreadKey, admission: RunAdmission): NewThread {
  const { new_thread_metadata: metadata = {}, new_thread_ttl: ttl = null } = admission
  return { thread_id, metadata, config: {}, ttl }
}

/** A LockedThread for a thread that does not exist yet. */
function asLocked(key: ThreadKey, { metadata, config }: NewThread): LockedThread {
  const texts = { metadata: JSON.stringify(metadata), config: JSON.stringify(config) }
  return { ...key, status: 'idle', rest_status: 'idle', has_next: 0, last_seq: 0, last_run_at: 0, ...texts }
}

/**
 * Inserts a run, unless its multitask strategy refuses it. `fresh`: the thread to create with the run, if it does not
 * exist yet.
 */
async function insert(
  session: RunSession,
  thread: LockedThread,
  admission: RunAdmission,
  clock: Clock,
  fresh: NewThread | undefined,
): Promise<Admitted> {
  // The clock of the process that created the thread's last run may have been ahead. The new run must not be older than
  // that run.
  const now = Math.max(clock.now(), thread.last_run_at)
  const active = thread.status === 'busy' ? await activeRuns(session, thread) : []
  const decision = decideMultitask(admission.multitask_strategy, active, now)
  if (decision.kind === 'refused') return { kind: 'refused', reason: 'thread_busy' }

  const { action } = decision
  const cancelled = action === null ? undefined : await cancelRuns(session, thread, active, action, now)
  const composed = compose(admission, thread)
  const a2a_task = await taskOf(session, thread, composed)
  const pending = rowOf(admission, thread, composed, { now, a2a_task })
  const isFree = admission.delay_ms === 0 && decision.free
  const claimer =
    isFree && admission.claim && mayClaim(admission.claim, pending, now) ? admission.claim : null
  const row: RunRow =
    claimer === null
      ? pending
      : { ...pending, status: 'running', started_at: now, ...takenUp(claimer, pending, clock.now()) }
  const columns = { ...composed.columns, ...cancelled?.columns, last_seq: row.seq, last_run_at: now }
  if (fresh !== undefined) {
    const next_due = row.status === 'pending' ? row.due_at : null
    insertThread(session, thread, fresh, now, { ...columns, status: 'busy', next_due })
  }
  session.send(INSERT_RUN, runValues(row))
  insertWebhook(session, thread, row.run_id, composed.kwargs)
  if (fresh === undefined) session.settle(thread, clock.now(), columns)

  const run = admittedRun(row, admission, composed)
  const { lease_token } = row
  const claim: Claim | null =
    lease_token === null
      ? null
      : { ...leaseOf({ ...row, lease_token }), run, ...(fresh !== undefined && { fresh: true }) }
  return { kind: 'created', run, claim, cancelling: cancelled?.orders ?? [], ended: cancelled?.ended ?? [] }
}

/** Decides whether a run is admitted and stores it. If `madeThread` is true, the caller must count the new thread. */
async function admitInto(
  session: RunSession,
  key: ThreadKey,
  admission: RunAdmission,
  clock: Clock,
): Promise<{ admitted: Admitted; madeThread: boolean }> {
  const { run_id } = admission.run
  const [locked, known] =
    admission.has_new_ids === true
      ? []
      : await Promise.all([session.lockThread(key), findRun(session, key, run_id)])
  const refused = (reason: RefusalReason): { admitted: Admitted; madeThread: false } => ({
    admitted: { kind: 'refused', reason },
    madeThread: false,
  })
  if (locked !== undefined && !isVisible(locked, admission)) return refused('thread_not_found')
  if (known?.thread_id === key.thread_id)
    return { admitted: { kind: 'known', run: toRun(known) }, madeThread: false }
  if (known !== undefined) return refused('run_id_taken')
  if (locked === undefined && admission.if_not_exists === 'reject') return refused('thread_not_found')
  if (await isOvertaken(session, key, admission)) return refused('overtaken')
  const fresh = newThread(key, admission)
  const thread = locked ?? asLocked(key, fresh)
  const admitted = await insert(session, thread, admission, clock, locked === undefined ? fresh : undefined)
  if (admission.cron !== undefined && admitted.kind === 'created') {
    if (!(await takeDate(session, key, admission.cron))) throw new Refused(0, 'date_taken')
  }
  return { admitted, madeThread: locked === undefined }
}

/** Approximate bytes of the values that may be large. */
function largeBytes({ run: { kwargs } }: RunAdmission): number {
  return rawLength(kwargs.input) + rawLength(kwargs.command)
}

/** Thrown to roll back the transaction: a run was refused after a write, or one run of a batch was refused. */
class Refused extends Error {
  readonly index: number
  readonly reason: RefusalReason
  constructor(index: number, reason: RefusalReason) {
    super(reason)
    this.index = index
    this.reason = reason
  }
}

/** Number of runs of a batch that are stored in one turn of the event loop. A turn then takes some milliseconds. */
const BATCH_STEP = 16

/** Runs `attempt` once more if another transaction has created the same thread or run; the second attempt reads it. */
async function twice<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
    return await attempt()
  }
}

interface AdmitDeps {
  database: RunDatabase
  clock: Clock
  quotas: Quotas
}

function keyOf(tenant: Tenant, { run }: RunAdmission): ThreadKey {
  return { ...tenant, thread_id: run.thread_id }
}

function admitOne(
  { database, clock, quotas }: AdmitDeps,
  tenant: Tenant,
  admission: RunAdmission,
): Promise<Admitted> {
  const key = keyOf(tenant, admission)
  const work = async (session: RunSession): Promise<Admitted> => {
    const { admitted, madeThread } = await admitInto(session, key, admission, clock)
    if (madeThread) await countUse(session, key, 'threads', 1, quotas)
    return admitted
  }
  return database.txOfThread(key, work, largeBytes(admission))
}

function admitSeveral(
  { database, clock, quotas }: AdmitDeps,
  tenant: Tenant,
  admissions: readonly RunAdmission[],
): Promise<Run[]> {
  const work = async (session: RunSession): Promise<Run[]> => {
    const runs: Run[] = []
    let threads = 0
    for (const [index, admission] of admissions.entries()) {
      if (index % BATCH_STEP === BATCH_STEP - 1) await new Promise((resume) => setImmediate(resume))
      const { admitted, madeThread } = await admitInto(session, keyOf(tenant, admission), admission, clock)
      if (admitted.kind === 'refused') throw new Refused(index, admitted.reason)
      runs.push(admitted.run)
      if (madeThread) threads++
    }
    await countUse(session, tenant, 'threads', threads, quotas)
    return runs
  }
  const bytes = admissions.reduce((sum, admission) => sum + largeBytes(admission), 0)
  return database.txOfMany(work, bytes)
}

/** Returns the result of `attempt`. If a refusal has rolled back its transaction, returns the refusal. */
async function orRefused<T>(
  attempt: () => Promise<T>,
): Promise<T | { kind: 'refused'; index: number; reason: RefusalReason }> {
  try {
    return await twice(attempt)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { kind: 'refused', index: error.index, reason: error.reason }
  }
}

/** The part of the run store that admits runs; see `RunStore`. */
export function createAdmits(
  database: RunDatabase,
  clock: Clock,
  quotas: Quotas,
): Pick<RunStore, 'admit' | 'admitAll'> {
  const deps = { database, clock, quotas }
  return {
    async admit(tenant, admission) {
      const admitted = await orRefused(() => admitOne(deps, tenant, admission))
      return admitted.kind === 'refused' ? { kind: 'refused', reason: admitted.reason } : admitted
    },
    admitAll(tenant, admissions) {
      const unclaimed = admissions.map((admission) => ({ ...admission, claim: null }))
      return orRefused(async () => ({
        kind: 'created',
        runs: await admitSeveral(deps, tenant, unclaimed),
      }))
    },
  }
}
