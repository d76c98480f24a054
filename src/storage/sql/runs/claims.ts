import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import {
  type CancelOrder,
  type Claim,
  type Claimer,
  type Lease,
  type RunStore,
} from '../../../runs/run-store.ts'
import { RUN_VERSION } from '../../../runs/state.ts'
import type { SqlValue } from '../driver/database.ts'
import { LARGE_BYTES, storedBytes } from '../driver/large-values.ts'
import { textBytes } from '../pieces/large-text.ts'
import { GRAPHS_KEPT_MS } from '../server-registry.ts'
import { inList, KEY, keyValues, leaseOf, RUN_FIELDS, type RunRow, type ThreadKey, toRun } from './rows.ts'
import { inChunks, type RunDatabase, type RunSession } from './session.ts'

/** The fields that determine whether a server may claim a run. A later revision has a greater id (`newTimeUuid`). */
type Claimable = Pick<RunRow, 'graph_id' | 'needs_version' | 'revision_id' | 'due_at'>

/**
 * Whether the claimer may execute the run: it executes runs of the run's version, has the run's graph, and serves the
 * run's revision or a later one. A run whose version is above `abandoned_above` may be claimed too, but only ten
 * minutes after it was due: until then, a server of a later release may still start.
 */
export function mayClaim(claimer: Claimer, run: Claimable, now: number): boolean {
  const { graphs, version = RUN_VERSION, abandoned_above = NONE_ABANDONED, revision_id = null } = claimer
  if (run.needs_version > abandoned_above && run.due_at <= now - GRAPHS_KEPT_MS) return true
  if (run.needs_version > version || graphs?.includes(run.graph_id) === false) return false
  return revision_id === null || run.revision_id === null || run.revision_id <= revision_id
}

/** A number above every version. */
const NONE_ABANDONED = 2 ** 31 - 1

const DUE_RUN = `status = 'pending' AND (due_at <= ? OR due_at <= created_at)`

/** SQL condition on `threads`, with the same rules as `mayClaim`: the claimer may execute the thread's next due run. */
function mayClaimSql(
  { graphs, version = RUN_VERSION, abandoned_above = NONE_ABANDONED, revision_id = null }: Claimer,
  now: number,
): { sql: string; values: SqlValue[] } {
  const conditions = [{ sql: 'r.needs_version <= ?', values: [version] as SqlValue[] }]
  if (graphs !== undefined) {
    const { places, values } = inList(graphs)
    conditions.push({ sql: `r.graph_id IN ${places}`, values })
  }
  if (revision_id !== null)
    conditions.push({ sql: '(r.revision_id IS NULL OR r.revision_id <= ?)', values: [revision_id] })
  const may = conditions.map((one) => one.sql).join(' AND ')
  const sql = `AND (SELECT CASE WHEN (r.needs_version > ? AND r.due_at <= ?) OR ${may} THEN 1 END FROM runs r
      WHERE r.thread_id = threads.thread_id AND r.deployment_id = threads.deployment_id
      AND r.workspace_id = threads.workspace_id AND ${DUE_RUN} ORDER BY r.due_at, r.seq LIMIT 1) = 1`
  const givenUp = [abandoned_above, now - GRAPHS_KEPT_MS]
  return { sql, values: [...givenUp, ...conditions.flatMap(({ values }) => values), now] }
}

/** The lease and trace of a run that is being claimed. */
export function takenUp(
  claimer: Claimer,
  run: { run_id: string; attempt: number; needs_version: number },
  now: number,
) {
  const traceOfAttempt = run.attempt === 1 ? run.run_id : newUuid()
  return {
    lease_owner: claimer.owner,
    lease_token: newUuid(),
    lease_until: now + claimer.lease_ms,
    trace_id: claimer.traced ? traceOfAttempt : null,
    revision_id: claimer.revision_id ?? null,
    needs_version: Math.max(run.needs_version, claimer.version ?? RUN_VERSION),
  }
}

type NextRun = Claimable & Pick<RunRow, 'run_id' | 'attempt'>

/** Claims the thread's next due run for the claimer. */
async function claimNext(
  session: RunSession,
  key: ThreadKey,
  claimer: Claimer,
  now: number,
): Promise<Claim | undefined> {
  const [next] = await session.query<NextRun>(
    `SELECT run_id, attempt, graph_id, needs_version, revision_id, due_at FROM runs WHERE ${KEY} AND ${DUE_RUN} ORDER BY due_at, seq LIMIT 1`,
    [...keyValues(key), now],
  )
  if (next === undefined || !mayClaim(claimer, next, now)) return undefined
  const { lease_owner, lease_token, lease_until, trace_id, revision_id, needs_version } = takenUp(
    claimer,
    next,
    now,
  )
  const [row] = await session.query<RunRow>(
    `UPDATE runs SET status = 'running', started_at = COALESCE(started_at, ?), updated_at = ?, lease_owner = ?,
      lease_token = ?, lease_until = ?, trace_id = ?, revision_id = ?, needs_version = ? WHERE run_id = ? AND ${KEY} RETURNING ${RUN_FIELDS}`,
    [
      ...[now, now, lease_owner, lease_token, lease_until, trace_id, revision_id, needs_version],
      ...[next.run_id, ...keyValues(key)],
    ],
  )
  session.send(`UPDATE threads SET next_due = NULL WHERE ${KEY}`, keyValues(key))
  const abandoned = next.needs_version > (claimer.version ?? RUN_VERSION)
  return row && { ...leaseOf({ ...row, lease_token }), run: toRun(row), ...(abandoned && { abandoned }) }
}

/**
 * SELECT of the size of one large value among the due runs of the deployments; no row if there is none. `places` are
 * the placeholders of the deployments. The first two parameters are both the current time.
 */
function largeDueSql(places: string): string {
  const bytes = `coalesce(${textBytes('r.input')}, 0) + coalesce(octet_length(r.command), 0)`
  return `SELECT ${bytes} AS bytes FROM threads t JOIN runs r ON r.thread_id = t.thread_id
      AND r.deployment_id = t.deployment_id AND r.workspace_id = t.workspace_id AND r.status = 'pending'
    WHERE t.next_due <= ? AND r.due_at <= ? AND t.deployment_id || '' IN ${places} AND ${bytes} > ${LARGE_BYTES} LIMIT 1`
}

/** Corrects runs without a delay that would be due in the future, because a clock was set back: makes them due now. */
async function makeDue(database: RunDatabase, now: number): Promise<void> {
  await database.query(
    `UPDATE threads SET next_due = ? WHERE next_due > ? AND EXISTS (SELECT 1 FROM runs r
      WHERE r.thread_id = threads.thread_id AND r.deployment_id = threads.deployment_id
      AND r.workspace_id = threads.workspace_id AND r.status = 'pending' AND r.due_at <= r.created_at)`,
    [now, now],
  )
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

/** Claims the next run of each free thread that has a due one. */
async function claimFree(
  { database, clock }: { database: RunDatabase; clock: Clock },
  claimer: Claimer,
  deployments: readonly string[],
  limit: number,
): Promise<Claim[]> {
  // Waits for locked rows instead of skipping them. For a skipped run, no worker might be notified again.
  const forUpdate = database.dialect === 'postgres' ? 'FOR UPDATE' : ''
  const { places, values } = inList(deployments)
  const at = clock.now()
  const bytes = await storedBytes(database, largeDueSql(places), [at, at, ...values])
  return await database.txOfMany(async (session) => {
    const now = clock.now()
    const may = mayClaimSql(claimer, now)
    // `|| ''` makes the engine use the index of due threads, of which there are few, instead of the index of a
    // deployment's threads.
    const free = await session.query<ThreadKey>(
      `SELECT thread_id, deployment_id, workspace_id FROM threads WHERE next_due <= ? AND deployment_id || '' IN ${places}
        ${may.sql} ORDER BY next_due, thread_id LIMIT ? ${forUpdate}`,
      [now, ...values, ...may.values, limit],
    )
    const claims = await Promise.all(free.map((key) => claimNext(session, key, claimer, now)))
    return claims.filter((claim) => claim !== undefined)
  }, bytes)
}

/** Counting stops at this number, because on SQLite it blocks the server's requests. */
const MAX_COUNTED = 100_000

type Verbs = 'claim' | 'nextDue' | 'waiting' | 'waitingGraphs' | 'waitingVersions' | 'renew'

/** The part of the run store for workers that claim runs; see `RunStore`. */
export function createRunClaims(database: RunDatabase, clock: Clock): Pick<RunStore, Verbs> {
  // Time of the last claim. Infinity at first: an earlier process may have stored times from a clock that was ahead.
  let last = Number.POSITIVE_INFINITY

  return {
    async claim(claimer, deployments, limit) {
      if (limit <= 0 || deployments.length === 0) return []
      const now = clock.now()
      if (now < last) await makeDue(database, now)
      last = now
      return await claimFree({ database, clock }, claimer, deployments, limit)
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
    async waitingGraphs(deployment_id, before) {
      const rows = await database.query<{ graph_id: string }>(
        `SELECT DISTINCT graph_id FROM runs WHERE status = 'pending' AND due_at < ? AND deployment_id = ?`,
        [before, deployment_id],
      )
      return rows.map(({ graph_id }) => graph_id)
    },
    async waitingVersions(version) {
      const rows = await database.query<{ needs_version: number }>(
        `SELECT DISTINCT needs_version FROM (SELECT needs_version FROM runs WHERE status = 'pending'
          LIMIT ${MAX_COUNTED}) AS pending WHERE needs_version > ?`,
        [version],
      )
      return rows.map(({ needs_version }) => needs_version)
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
