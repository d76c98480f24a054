import type { Clock } from '../../base/clock.ts'
import type { Run } from '../../runs/model.ts'
import { runDone } from '../../runs/run-done.ts'
import type { Closing, Lease, Recovered, RunEnd, RunStore, Settled } from '../../runs/run-store.ts'
import { isInterrupted, type RunEvent, restingStatus, TRANSITIONS } from '../../runs/state.ts'
import type { SqlValue } from './database.ts'
import { KEY, keyValues, optionalJson, type RunRow } from './run-store-rows.ts'
import {
  inChunks,
  type LockedThread,
  type RunDatabase,
  type RunSession,
  writeState,
} from './run-store-session.ts'
import { HAS_WEBHOOK, webhookDue } from './run-store-webhooks.ts'

/** What a run is worked on with, and what of it decides its end. */
type HeldRun = Lease &
  Pick<RunRow, 'cancel_action' | 'attempt' | 'started_at' | 'lease_owner' | 'lease_until'> & {
    has_webhook: number
  }

const HELD = `run_id, thread_id, deployment_id, workspace_id, lease_token AS token, cancel_action, attempt, started_at,
  lease_owner, lease_until, ${HAS_WEBHOOK}`

const FIND_HELD = `SELECT ${HELD} FROM runs WHERE run_id = ? AND ${KEY} AND lease_token = ? AND status = 'running'`

async function findHeld(session: RunSession, lease: Lease): Promise<HeldRun | undefined> {
  return (await session.query<HeldRun>(FIND_HELD, [lease.run_id, ...keyValues(lease), lease.token]))[0]
}

/** A run's fate: an accepted cancel comes before everything else. */
function eventOf(run: HeldRun, otherwise: RunEvent): RunEvent {
  return otherwise === 'rollback' ? otherwise : (run.cancel_action ?? otherwise)
}

const END_EVENTS: Record<RunEnd['status'], RunEvent> = {
  success: 'succeed',
  error: 'fail',
  timeout: 'time_out',
  interrupted: 'interrupt',
}

type EndedStatus = RunEnd['status']

const END_RUN = `UPDATE runs SET status = ?, updated_at = ?, ended_at = ?, error = ?, partial_messages = ?,
  interrupted = ?,  cancel_action = NULL, lease_owner = NULL, lease_token = NULL, lease_until = NULL WHERE run_id = ? AND ${KEY}`

async function writeEnd(
  session: RunSession,
  run: HeldRun,
  status: EndedStatus,
  end: Omit<RunEnd, 'status'>,
  now: number,
): Promise<void> {
  const failed = status === 'error' || status === 'timeout'
  await session.query(END_RUN, [
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

async function writeThreadEnd(
  session: RunSession,
  thread: LockedThread,
  status: EndedStatus,
  end: Omit<RunEnd, 'status'>,
  now: number,
): Promise<{ more: boolean }> {
  const columns: Record<string, SqlValue> =
    end.state === undefined ? {} : await writeState(session, thread, end.state, now)
  const hasNext = (columns['has_next'] ?? thread.has_next) === 1
  const rest = restingStatus(status, hasNext)
  return await session.settle(thread, now, {
    ...columns,
    rest_status: rest,
    error: rest === 'error' ? optionalJson(end.error) : null,
  })
}

/** Carries out what has become of a held run of a locked thread. */
async function settleRun(
  session: RunSession,
  thread: LockedThread,
  run: HeldRun,
  event: RunEvent,
  end: Omit<RunEnd, 'status'>,
  now: number,
  closing: Closing = (ended) => [runDone(run.run_id, ended)],
): Promise<Settled> {
  const status = TRANSITIONS.running[event]
  if (status === 'deleted') {
    await session.deleteRuns(thread, [run])
    await session.tell(thread, closing(status))
    return { kind: 'ended', status, ...(await session.settle(thread, now)) }
  }
  if (status === 'pending') {
    await session.query(
      `UPDATE runs SET status = 'pending', attempt = attempt + 1, updated_at = ?, lease_owner = NULL,
        lease_token = NULL, lease_until = NULL WHERE run_id = ? AND ${KEY}`,
      [now, run.run_id, ...keyValues(run)],
    )
    await session.settle(thread, now)
    return { kind: 'retried' }
  }
  if (status === 'running' || status === 'refused') throw new TypeError(`a running run cannot ${event}`)
  await writeEnd(session, run, status, end, now)
  await session.tell(thread, closing(status))
  return { kind: 'ended', status, ...(await writeThreadEnd(session, thread, status, end, now)) }
}

const NOTHING: Omit<RunEnd, 'status'> = { error: null, partial_messages: null, state: undefined }

function givenBack(run: HeldRun, why: NonNullable<Run['error']>, maxAttempts: number) {
  const event = eventOf(run, run.attempt >= maxAttempts ? 'fail' : 'retry')
  return { event, end: { ...NOTHING, error: why } }
}

const OWNER_GONE = { error: 'WorkerLost', message: 'The process that executed the run is gone.' }

type Verbs = 'finish' | 'rollback' | 'release' | 'recover'

/** The verbs that end a worker's run; see `RunStore`. */
export function createRunEnds(database: RunDatabase, clock: Clock): Pick<RunStore, Verbs> {
  const settleHeld = (
    lease: Lease,
    closing: Closing | undefined,
    fate: (run: HeldRun) => { event: RunEvent; end: Omit<RunEnd, 'status'> },
  ): Promise<Settled> =>
    database.txOfThread(lease, async (session) => {
      const thread = await session.lockThread(lease)
      const run = await findHeld(session, lease)
      if (thread === undefined || run === undefined) return { kind: 'lost' }
      const { event, end } = fate(run)
      return await settleRun(session, thread, run, event, end, clock.now(), closing)
    })

  const isGone = (run: HeldRun, owner: string, now: number): boolean =>
    run.lease_owner === owner || (run.lease_until ?? 0) <= now

  const recoverOf = (lost: readonly HeldRun[], owner: string, maxAttempts: number): Promise<Recovered[]> =>
    database.txOfMany(async (session) => {
      const recovered: Recovered[] = []
      for (const { run_id, thread_id, deployment_id, workspace_id, token } of lost) {
        const lease = { run_id, thread_id, deployment_id, workspace_id, token }
        const thread = await session.lockThread(lease)
        const run = await findHeld(session, lease)
        const now = clock.now()
        if (thread === undefined || run === undefined || !isGone(run, owner, now)) continue
        const { event, end } = givenBack(run, OWNER_GONE, maxAttempts)
        const settled = await settleRun(session, thread, run, event, end, now)
        const status = settled.kind === 'ended' ? settled.status : 'pending'
        if (status === 'success' || status === 'timeout') throw new TypeError('a lost run cannot have ended')
        recovered.push({ run_id, thread_id, deployment_id, workspace_id, status })
      }
      return recovered
    })

  return {
    finish: (lease, end, closing) =>
      settleHeld(lease, closing, (run) => ({ event: eventOf(run, END_EVENTS[end.status]), end })),
    rollback: (lease, closing) => settleHeld(lease, closing, () => ({ event: 'rollback', end: NOTHING })),
    release: (lease, why, maxAttempts, closing) =>
      settleHeld(lease, closing, (run) => givenBack(run, why, maxAttempts)),
    async recover(owner, maxAttempts) {
      const lost = await database.query<HeldRun>(
        `SELECT ${HELD} FROM runs WHERE status = 'running' AND (lease_owner = ? OR lease_until <= ?)
          ORDER BY thread_id`,
        [owner, clock.now()],
      )
      return await inChunks(lost, (chunk) => recoverOf(chunk, owner, maxAttempts))
    },
  }
}
