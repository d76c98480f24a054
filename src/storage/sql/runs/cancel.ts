import { chunksOf } from '../../../base/chunks.ts'
import type { Clock } from '../../../base/clock.ts'
import type { CancelAction, RunStatus, Tenant } from '../../../runs/model.ts'
import type { CancelOrder, CancelResult, CancelSelector } from '../../../runs/run-store.ts'
import { endOutside } from '../../../runs/execute/end-event.ts'
import { isActive, restingStatus, TRANSITIONS } from '../../../runs/state.ts'
import type { SqlSession, SqlValue } from '../driver/database.ts'
import { inList, KEY, keyValues, type ThreadKey } from './rows.ts'
import { inChunks, isVisible, type LockedThread, type RunDatabase, type RunSession } from './session.ts'
import { MAX_IDS } from './rollback.ts'
import { removeThreads } from './removal/remove-threads.ts'
import { goesWithRun, keepEnds } from './removal/stateless-ends.ts'
import { COUNTED, type CountedRun } from './usage/count-run.ts'
import { HAS_WEBHOOK, webhookDue } from './webhooks.ts'

export interface RunToCancel extends CountedRun {
  graph_id: string
  status: 'pending' | 'running'
  due_at: number
  has_webhook: number
}

const FOUND = `${COUNTED}, graph_id, status, due_at, ${HAS_WEBHOOK}`

/** A thread's active runs of the wanted statuses, in order of creation. */
export async function activeRuns(
  session: SqlSession,
  key: ThreadKey,
  wanted: readonly RunToCancel['status'][] = ['running', 'pending'],
): Promise<RunToCancel[]> {
  const selects = wanted.map(
    (status) => `SELECT ${FOUND}, seq FROM runs WHERE ${KEY} AND status = '${status}'`,
  )
  const rows = await session.query<RunToCancel & { seq: number }>(
    selects.join(' UNION ALL '),
    wanted.flatMap(() => keyValues(key)),
  )
  return rows.sort((a, b) => a.seq - b.seq)
}

async function endPending(
  session: RunSession,
  thread: LockedThread,
  runs: readonly RunToCancel[],
  action: CancelAction,
  now: number,
): Promise<void> {
  if (TRANSITIONS.pending[action] === 'deleted') {
    await session.deleteRuns(thread, runs)
    return
  }
  for (const chunk of chunksOf(runs, MAX_IDS)) {
    const { places, values } = inList(chunk.map(({ run_id }) => run_id))
    await session.query(
      `UPDATE runs SET status = 'interrupted', ended_at = ?, updated_at = ? WHERE run_id IN ${places} AND ${KEY}`,
      [now, now, ...values, ...keyValues(thread)],
    )
  }
  for (const { run_id, has_webhook } of runs) {
    if (has_webhook === 1) await webhookDue(session, thread, run_id, null, now)
  }
}

/**
 * Cancels active runs of a locked thread: ends the pending ones, and sets `cancel_action` of the running one. The
 * caller must then call `settle` for the thread, with the returned `columns`.
 */
export async function cancelRuns(
  session: RunSession,
  thread: LockedThread,
  runs: readonly RunToCancel[],
  action: CancelAction,
  now: number,
): Promise<{
  orders: CancelOrder[]
  ended: { run_id: string; status: 'interrupted' | 'deleted' }[]
  columns: Record<string, SqlValue>
}> {
  const pending = runs.filter(({ status }) => status === 'pending')
  const orders: CancelOrder[] = []
  for (const run of pending) await session.countRun(run, undefined)
  if (pending.length > 0) await endPending(session, thread, pending, action, now)
  for (const { run_id } of runs.filter(({ status }) => status === 'running')) {
    const [flagged] = await session.query<{ cancel_action: CancelAction }>(
      `UPDATE runs SET cancel_action = CASE WHEN cancel_action = 'rollback' THEN 'rollback' ELSE CAST(? AS TEXT) END,
        updated_at = ? WHERE run_id = ? AND ${KEY} RETURNING cancel_action`,
      [action, now, run_id, ...keyValues(thread)],
    )
    orders.push({ run_id, thread_id: thread.thread_id, action: flagged?.cancel_action ?? action })
  }
  const status = action === 'rollback' ? ('deleted' as const) : ('interrupted' as const)
  const ended = pending.map(({ run_id }) => ({ run_id, status }))
  if (ended.length > 0) {
    await session.publish(
      thread,
      pending.flatMap((run) => endOutside(run, status, null)),
    )
  }
  // An interrupted run counts as the thread's last run and determines its status. A rolled-back run does not.
  const rests = pending.length > 0 && action === 'interrupt'
  return {
    orders,
    ended,
    columns: rests ? { rest_status: restingStatus('interrupted', thread.has_next === 1), error: null } : {},
  }
}

interface FoundRun extends Omit<RunToCancel, 'status'> {
  status: RunStatus
}

function resultOf(run: FoundRun, action: CancelAction): CancelResult {
  const { run_id, thread_id, status } = run
  if (status === 'running') return { run_id, thread_id, outcome: 'requested', status }
  if (status !== 'pending') return { run_id, thread_id, outcome: 'not_active', status }
  return { run_id, thread_id, outcome: 'ended', status: action === 'rollback' ? 'deleted' : 'interrupted' }
}

function isCancelled(run: FoundRun): run is FoundRun & RunToCancel {
  return isActive(run.status)
}

/** Whether the thread is deleted when `runs` are cancelled: it is temporary, and they are its last, all pending. */
async function goWithThread(
  session: RunSession,
  thread: LockedThread,
  runs: readonly RunToCancel[],
): Promise<boolean> {
  if (!goesWithRun(thread) || runs.some(({ status }) => status === 'running')) return false
  return (await activeRuns(session, thread)).length === runs.length
}

async function cancelFound(
  session: RunSession,
  thread: LockedThread,
  found: readonly FoundRun[],
  action: CancelAction,
  now: number,
): Promise<CancelResult[]> {
  const active = found.filter(isCancelled)
  if (active.length > 0) {
    const isGone = await goWithThread(session, thread, active)
    if (isGone) {
      const status = action === 'rollback' ? ('deleted' as const) : ('interrupted' as const)
      const ended = active.map(({ run_id }) => ({ run_id, status, error: null, values_json: null }))
      keepEnds(session, thread, ended, now)
    }
    const { columns } = await cancelRuns(session, thread, active, action, now)
    if (isGone) await removeThreads(session, thread, [thread.thread_id])
    else session.settle(thread, now, columns)
  }
  return found.map((run) => resultOf(run, action))
}

async function findRuns(session: RunSession, key: ThreadKey, ids: readonly string[]): Promise<FoundRun[]> {
  const found: FoundRun[] = []
  for (const chunk of chunksOf(ids, MAX_IDS)) {
    const { places, values } = inList(chunk)
    const rows = await session.query<FoundRun>(
      `SELECT ${FOUND} FROM runs WHERE run_id IN ${places} AND ${KEY}`,
      [...values, ...keyValues(key)],
    )
    found.push(...rows)
  }
  return found
}

/** Cancels runs by selector; see `RunStore.requestCancel`. */
export function createRequestCancel(database: RunDatabase, clock: Clock) {
  const byIds = (
    tenant: Tenant,
    selector: Extract<CancelSelector, { thread_id: string }>,
    action: CancelAction,
  ) => {
    const { thread_id } = selector
    const ids = [...new Set(selector.run_ids)]
    const key = { ...tenant, thread_id }
    return database.txOfThread(key, async (session) => {
      const locked = await session.lockThread(key)
      const thread = locked !== undefined && isVisible(locked, selector) ? locked : undefined
      const found = thread === undefined ? [] : await findRuns(session, key, ids)
      const results =
        thread === undefined ? [] : await cancelFound(session, thread, found, action, clock.now())
      const known = new Map(results.map((result) => [result.run_id, result]))
      return ids.map(
        (run_id): CancelResult =>
          known.get(run_id) ?? { run_id, thread_id, outcome: 'not_found', status: null },
      )
    })
  }

  const byStatus = async (
    tenant: Tenant,
    selector: Extract<CancelSelector, { status: string }>,
    action: CancelAction,
  ): Promise<CancelResult[]> => {
    const { status: asked } = selector
    const wanted = asked === 'all' ? (['running', 'pending'] as const) : [asked]
    const selects = wanted.map(
      (status) =>
        `SELECT thread_id FROM runs WHERE status = '${status}' AND deployment_id = ? AND workspace_id = ?`,
    )
    const busy = await database.query<{ thread_id: string }>(
      selects.join(' UNION '),
      wanted.flatMap(() => [tenant.deployment_id, tenant.workspace_id]),
    )
    const ids = busy.map(({ thread_id }) => thread_id)
    return await inChunks(ids, (chunk) =>
      database.txOfMany(async (session) => {
        const results: CancelResult[] = []
        for (const thread of await session.lockThreads(tenant, chunk)) {
          if (!isVisible(thread, selector)) continue
          const rows = await activeRuns(session, thread, wanted)
          results.push(...(await cancelFound(session, thread, rows, action, clock.now())))
        }
        return results
      }),
    )
  }

  return (tenant: Tenant, selector: CancelSelector, action: CancelAction): Promise<CancelResult[]> =>
    'run_ids' in selector ? byIds(tenant, selector, action) : byStatus(tenant, selector, action)
}
