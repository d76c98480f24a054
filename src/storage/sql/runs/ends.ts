import type { Clock } from '../../../base/clock.ts'
import type { Run } from '../../../runs/model.ts'
import { type EndedStatus, endOutside } from '../../../runs/execute/end-event.ts'
import type {
  AttemptEnd,
  Closing,
  Lease,
  Recovered,
  ReportedNodes,
  RunEnd,
  RunStore,
} from '../../../runs/run-store.ts'
import { isInterrupted, type RunEvent, restingStatus, TRANSITIONS } from '../../../runs/state.ts'
import type { SqlValue } from '../driver/database.ts'
import { KEY, keyValues, optionalJson, type RunRow } from './rows.ts'
import { inChunks, type LockedThread, type RunDatabase, type RunSession, writeState } from './session.ts'
import { removeThreads } from './removal/remove-threads.ts'
import { goesWithRun, keepEnds } from './removal/stateless-ends.ts'
import type { CountedRun } from './usage/count-run.ts'
import { HAS_WEBHOOK, webhookDue } from './webhooks.ts'

/** A running run with its lease, and the columns that decide how it ends. */
type HeldRun = Lease &
  Pick<RunRow, 'graph_id' | 'cancel_action' | 'lease_owner' | 'lease_until'> &
  CountedRun & {
    has_webhook: number
    /** 1 if the thread has a pending run, else 0. */
    has_more: number
  }

const HAS_MORE = `CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = runs.thread_id
  AND r.deployment_id = runs.deployment_id AND r.workspace_id = runs.workspace_id AND r.status = 'pending')
  THEN 1 ELSE 0 END AS has_more`

const HELD = `run_id, graph_id, thread_id, deployment_id, workspace_id, lease_token AS token, cancel_action, attempt, started_at,
  caller, lease_owner, lease_until, ${HAS_WEBHOOK}, ${HAS_MORE}`

const FIND_HELD = `SELECT ${HELD} FROM runs WHERE run_id = ? AND ${KEY} AND lease_token = ? AND status = 'running'`

/** Locks the thread of a lease and then reads the run with `find`. Returns undefined if the lease is lost. */
async function lockHeld(
  session: RunSession,
  lease: Lease,
  find = FIND_HELD,
): Promise<{ thread: LockedThread; run: HeldRun } | undefined> {
  const [thread, [run]] = await Promise.all([
    session.lockThread(lease),
    session.query<HeldRun>(find, [lease.run_id, ...keyValues(lease), lease.token]),
  ])
  return thread && run && { thread, run }
}

/** The event that ends a run: an accepted cancel takes precedence over everything else. */
function eventOf(run: HeldRun, otherwise: RunEvent): RunEvent {
  return otherwise === 'rollback' ? otherwise : (run.cancel_action ?? otherwise)
}

const END_EVENTS: Record<RunEnd['status'], RunEvent> = {
  success: 'succeed',
  error: 'fail',
  timeout: 'time_out',
  interrupted: 'interrupt',
}

const END_RUN = `UPDATE runs SET status = ?, updated_at = ?, ended_at = ?, error = ?, partial_messages = ?,
  interrupted = ?,  cancel_action = NULL, lease_owner = NULL, lease_token = NULL, lease_until = NULL WHERE run_id = ? AND ${KEY}`

async function writeEnd(
  session: RunSession,
  run: HeldRun,
  status: RunEnd['status'],
  end: Omit<RunEnd, 'status'>,
  now: number,
): Promise<void> {
  const failed = status === 'error' || status === 'timeout'
  session.send(END_RUN, [
    status,
    now,
    now,
    failed ? optionalJson(end.error) : null,
    optionalJson(end.partial_messages),
    isInterrupted(status, end.state?.next) ? 1 : 0,
    run.run_id,
    ...keyValues(run),
  ])
  if (run.has_webhook === 1) {
    await webhookDue(session, run, run.run_id, end.state?.values_json ?? null, now)
  }
}

function writeThreadEnd(
  session: RunSession,
  thread: LockedThread,
  status: RunEnd['status'],
  end: Omit<RunEnd, 'status'>,
  now: number,
): void {
  const columns: Record<string, SqlValue> =
    end.state === undefined ? {} : writeState(session, thread, end.state, now)
  const hasNext = (columns['has_next'] ?? thread.has_next) === 1
  const rest = restingStatus(status, hasNext)
  session.settle(thread, now, {
    ...columns,
    rest_status: rest,
    error: rest === 'error' ? optionalJson(end.error) : null,
  })
}

/** Applies the end of a held run of a locked thread. */
async function endHeldRun(
  session: RunSession,
  thread: LockedThread,
  run: HeldRun,
  event: RunEvent,
  end: Omit<RunEnd, 'status'>,
  now: number,
  closing: Closing = (ended) => endOutside(run, ended, end.error),
): Promise<AttemptEnd> {
  const status = TRANSITIONS.running[event]
  const more = run.has_more === 1
  const isGone = !more && goesWithRun(thread)
  const values_json = end.state?.values_json ?? null
  if (status !== 'pending') await session.countRun(run, end.nodes)
  const keep = (ended: EndedStatus): void =>
    keepEnds(session, thread, [{ run_id: run.run_id, status: ended, error: end.error, values_json }], now)
  if (status === 'deleted') {
    if (isGone) keep(status)
    await session.deleteRuns(thread, [run])
    await session.publish(thread, closing(status))
    if (isGone) await removeThreads(session, thread, [thread.thread_id])
    else session.settle(thread, now)
    return { kind: 'ended', status, more }
  }
  if (status === 'pending') {
    session.send(
      `UPDATE runs SET status = 'pending', attempt = attempt + 1, updated_at = ?, lease_owner = NULL,
        lease_token = NULL, lease_until = NULL WHERE run_id = ? AND ${KEY}`,
      [now, run.run_id, ...keyValues(run)],
    )
    session.settle(thread, now)
    return { kind: 'retried' }
  }
  if (status === 'running' || status === 'refused') throw new TypeError(`a running run cannot ${event}`)
  // A run that is deleted here needs an end only for its webhook, which is told the stored run.
  if (!isGone || run.has_webhook === 1) await writeEnd(session, run, status, end, now)
  await session.publish(thread, closing(status))
  if (isGone) {
    keep(status)
    await removeThreads(session, thread, [thread.thread_id])
  } else writeThreadEnd(session, thread, status, end, now)
  return { kind: 'ended', status, more }
}

const NOTHING: Omit<RunEnd, 'status'> = { error: null, partial_messages: null, state: undefined }

function givenBack(run: HeldRun, why: NonNullable<Run['error']>, maxAttempts: number, nodes?: ReportedNodes) {
  const event = eventOf(run, run.attempt >= maxAttempts ? 'fail' : 'retry')
  return { event, end: { ...NOTHING, error: why, nodes } }
}

/** A time that no clock reaches. */
const MAX_TIME = Number.MAX_SAFE_INTEGER
const OWNER_GONE = { error: 'WorkerLost', message: 'The process that executed the run is gone.' }

type Verbs = 'finish' | 'rollback' | 'release' | 'recover'

type EndLeased = (
  lease: Lease,
  closing: Closing | undefined,
  fate: (run: HeldRun) => { event: RunEvent; end: Omit<RunEnd, 'status'> },
  /** Approximate bytes of the thread's new values. */
  bytes?: number,
) => Promise<AttemptEnd>

function createEndLeased(database: RunDatabase, clock: Clock): EndLeased {
  return (lease, closing, fate, bytes) => {
    const end = async (session: RunSession): Promise<AttemptEnd> => {
      const held = await lockHeld(session, lease)
      if (held === undefined) return { kind: 'lost' }
      const { thread, run } = held
      const fated = fate(run)
      return await endHeldRun(session, thread, run, fated.event, fated.end, clock.now(), closing)
    }
    return database.txOfThread(lease, end, bytes)
  }
}

/** The part of the run store that ends a worker's run; see `RunStore`. */
export function createRunEnds(database: RunDatabase, clock: Clock): Pick<RunStore, Verbs> {
  const endLeased = createEndLeased(database, clock)
  // Rows that a renewal has locked are skipped, because their leases are not lost. A renewal does not lock the thread.
  const findLost = database.dialect === 'postgres' ? `${FIND_HELD} FOR UPDATE SKIP LOCKED` : FIND_HELD
  const recoverOf = (
    lost: readonly HeldRun[],
    isGone: (run: HeldRun) => boolean,
    maxAttempts: number,
  ): Promise<Recovered[]> =>
    database.txOfMany(async (session) => {
      const recovered: Recovered[] = []
      for (const { run_id, thread_id, deployment_id, workspace_id, token } of lost) {
        const lease = { run_id, thread_id, deployment_id, workspace_id, token }
        const held = await lockHeld(session, lease, findLost)
        if (held === undefined || !isGone(held.run)) continue
        const { thread, run } = held
        const { event, end } = givenBack(run, OWNER_GONE, maxAttempts)
        const attemptEnd = await endHeldRun(session, thread, run, event, end, clock.now())
        const status = attemptEnd.kind === 'ended' ? attemptEnd.status : 'pending'
        if (status === 'success' || status === 'timeout') throw new TypeError('a lost run cannot have ended')
        recovered.push({ run_id, thread_id, deployment_id, workspace_id, status })
      }
      return recovered
    })

  return {
    finish: (lease, end, closing) =>
      endLeased(
        lease,
        closing,
        (run) => ({ event: eventOf(run, END_EVENTS[end.status]), end }),
        end.state?.values_json?.length,
      ),
    rollback: (lease, closing, nodes) =>
      endLeased(lease, closing, () => ({ event: 'rollback', end: { ...NOTHING, nodes } })),
    release: (lease, why, maxAttempts, closing, nodes) =>
      endLeased(lease, closing, (run) => givenBack(run, why, maxAttempts, nodes)),
    async recover(owner, maxAttempts, watch) {
      const now = clock.now()
      const found = await database.query<HeldRun>(
        `SELECT ${HELD} FROM runs WHERE status = 'running' AND (lease_owner = ? OR lease_until <= ?) ORDER BY thread_id`,
        [owner, watch === undefined ? now : MAX_TIME],
      )
      const dead = watch?.look(found)
      const held = new Map(found.map(({ token, lease_until }) => [token, lease_until]))
      const isGone = (run: HeldRun): boolean => {
        if (run.lease_owner === owner) return true
        if (dead === undefined) return (run.lease_until ?? 0) <= now
        return dead.has(run.token) && held.get(run.token) === run.lease_until
      }
      return await inChunks(found.filter(isGone), (chunk) => recoverOf(chunk, isGone, maxAttempts))
    },
  }
}
