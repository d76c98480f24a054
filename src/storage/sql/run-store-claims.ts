import type { Clock } from '../../base/clock.ts'
import { newUuid } from '../../base/ids.ts'
import type { CancelOrder, Claim, Claimer, Lease, RunStore } from '../../runs/run-store.ts'
import {
  inList,
  KEY,
  keyValues,
  leaseOf,
  RUN_FIELDS,
  type RunRow,
  type ThreadKey,
  toRun,
} from './run-store-rows.ts'
import { inChunks, type RunDatabase, type RunSession } from './run-store-session.ts'

/** What a run's lease and trace are from the moment it is taken up. */
export function takenUp(claimer: Claimer, run: { run_id: string; attempt: number }, now: number) {
  const traceOfAttempt = run.attempt === 1 ? run.run_id : newUuid()
  return {
    lease_owner: claimer.owner,
    lease_token: newUuid(),
    lease_until: now + claimer.lease_ms,
    trace_id: claimer.traced ? traceOfAttempt : null,
  }
}

/** The thread's next run that is due: it becomes the claimer's. */
async function claimNext(
  session: RunSession,
  key: ThreadKey,
  claimer: Claimer,
  now: number,
): Promise<Claim | undefined> {
  const [next] = await session.query<{ run_id: string; attempt: number }>(
    `SELECT run_id, attempt FROM runs WHERE ${KEY} AND status = 'pending' AND due_at <= ?
      ORDER BY due_at, seq LIMIT 1`,
    [...keyValues(key), now],
  )
  if (next === undefined) return undefined
  const { lease_owner, lease_token, lease_until, trace_id } = takenUp(claimer, next, now)
  const [row] = await session.query<RunRow>(
    `UPDATE runs SET status = 'running', started_at = COALESCE(started_at, ?), updated_at = ?, lease_owner = ?,
      lease_token = ?, lease_until = ?, trace_id = ? WHERE run_id = ? AND ${KEY} RETURNING ${RUN_FIELDS}`,
    [now, now, lease_owner, lease_token, lease_until, trace_id, next.run_id, ...keyValues(key)],
  )
  await session.query(`UPDATE threads SET next_due = NULL WHERE ${KEY}`, keyValues(key))
  return row && { ...leaseOf({ ...row, lease_token }), run: toRun(row) }
}

type RenewedRun = Pick<RunRow, 'run_id' | 'thread_id' | 'cancel_action'> & { token: string }

async function renewed(
  database: RunDatabase,
  leases: readonly Lease[],
  until: number,
): Promise<RenewedRun[]> {
  const ids = inList(leases.map(({ run_id }) => run_id))
  const tokens = inList(leases.map(({ token }) => token))
  return await database.query<RenewedRun>(
    `UPDATE runs SET lease_until = ? WHERE run_id IN ${ids.places} AND lease_token IN ${tokens.places}
      AND status = 'running' RETURNING run_id, thread_id, cancel_action, lease_token AS token`,
    [until, ...ids.values, ...tokens.values],
  )
}

/** Counting goes on no further: it runs beside the requests of a server on SQLite. */
const MAX_COUNTED = 100_000

type Verbs = 'claim' | 'nextDue' | 'waiting' | 'renew'

/** The verbs of who takes up runs; see `RunStore`. */
export function createRunClaims(database: RunDatabase, clock: Clock): Pick<RunStore, Verbs> {
  // Waits for what another transaction has locked: to skip it could leave a run that nobody is woken for again.
  const forUpdate = database.dialect === 'postgres' ? 'FOR UPDATE' : ''

  const claimFree = (claimer: Claimer, deployments: readonly string[], limit: number): Promise<Claim[]> =>
    database.txOfMany(async (session) => {
      const now = clock.now()
      const { places, values } = inList(deployments)
      // `|| ''`: by the index of what is due, which is little, not by that of a deployment's threads.
      const free = await session.query<ThreadKey>(
        `SELECT thread_id, deployment_id, workspace_id FROM threads WHERE next_due <= ? AND deployment_id || '' IN ${places}
          ORDER BY next_due, thread_id LIMIT ? ${forUpdate}`,
        [now, ...values, limit],
      )
      const claims: Claim[] = []
      for (const key of free) {
        const claim = await claimNext(session, key, claimer, now)
        if (claim !== undefined) claims.push(claim)
      }
      return claims
    })

  return {
    async claim(claimer, deployments, limit) {
      if (limit <= 0 || deployments.length === 0) return []
      return await claimFree(claimer, deployments, limit)
    },
    async nextDue() {
      const [row] = await database.query<{ due: number | null }>(
        'SELECT min(next_due) AS due FROM threads WHERE next_due > ?',
        [clock.now()],
      )
      return row?.due ?? undefined
    },
    async waiting(deployments) {
      const { places, values } = inList(deployments)
      const [row] = await database.query<{ count: number; oldest: number | null }>(
        `SELECT count(*) AS count, min(due_at) AS oldest FROM (SELECT due_at FROM runs
          WHERE status = 'pending' AND due_at <= ? AND deployment_id IN ${places} LIMIT ${MAX_COUNTED}) AS due`,
        [clock.now(), ...values],
      )
      return { count: row?.count ?? 0, oldest_due_at: row?.oldest ?? undefined }
    },
    async renew(leases, lease_ms) {
      const until = clock.now() + lease_ms
      const held = await inChunks(leases, (chunk) => renewed(database, chunk, until))
      const kept = new Set(held.map(({ token }) => token))
      const cancel = held.flatMap(({ run_id, thread_id, cancel_action }): CancelOrder[] =>
        cancel_action === null ? [] : [{ run_id, thread_id, action: cancel_action }],
      )
      return { lost: leases.filter(({ token }) => !kept.has(token)).map(({ run_id }) => run_id), cancel }
    },
  }
}
