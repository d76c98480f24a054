import { type Clock, createExpiryTime } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { Tenant, Thread, ThreadTtl } from '../../../runs/model.ts'
import type { Quotas } from '../../../base/quotas.ts'
import type { NewThread, RunStore, ThreadChange } from '../../../runs/run-store.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { bounded } from '../../../schema/merge-bounded.ts'
import { checkpointBytes, copyCheckpoints, pruneCheckpoints } from '../checkpoints/threads.ts'
import type { SqlSession, SqlValue, TxSession } from '../driver/database.ts'
import { readSized, storedBytes } from '../driver/large-values.ts'
import { textBytes } from '../pieces/large-text.ts'
import { keepPieces, sweepPieces } from '../pieces/sweep-pieces.ts'
import { activeRuns } from './cancel.ts'
import { removeThreads } from './removal/remove-threads.ts'
import {
  inList,
  KEY,
  keyValues,
  SELECT_THREADS,
  SELECTED_KEY,
  type ThreadKey,
  type ThreadRow,
  toThread,
} from './rows.ts'
import { inChunks, type LockedThread, type RunDatabase, type RunSession, writeState } from './session.ts'
import { startedRuns } from './usage/count-run.ts'
import { countUse } from '../workspace-use.ts'

function ttlColumns(ttl: ThreadTtl | null, now: number) {
  const ttl_ms = ttl === null ? null : Math.round(ttl.ttl_minutes * 60_000)
  return {
    ttl_strategy: ttl?.strategy ?? null,
    ttl_ms,
    expires_at: ttl_ms === null ? null : now + ttl_ms,
  }
}

/**
 * Stores a new thread. It is idle, unless the columns in `busy` make it busy. The transaction fails with AppError
 * conflict if the id is taken.
 */
export function insertThread(
  session: TxSession,
  key: ThreadKey,
  thread: NewThread,
  now: number,
  busy: Readonly<Record<string, SqlValue>> = {},
): void {
  const columns: Record<string, SqlValue> = {
    thread_id: key.thread_id,
    deployment_id: key.deployment_id,
    workspace_id: key.workspace_id,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    status: 'idle',
    rest_status: 'idle',
    has_next: 0,
    last_seq: 0,
    last_run_at: 0,
    ...ttlColumns(thread.ttl, now),
    metadata: JSON.stringify(thread.metadata),
    config: JSON.stringify(thread.config),
    interrupts: '{}',
    ...busy,
  }
  const places = Object.keys(columns).map(() => '?')
  session.send(
    `INSERT INTO threads (${Object.keys(columns).join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(columns),
  )
}

const STATE_SIZE = `SELECT ${textBytes('state_values')} AS bytes FROM thread_states WHERE ${KEY}`

async function readThread(database: RunDatabase, key: ThreadKey): Promise<Thread | undefined> {
  const sql = `${SELECT_THREADS} WHERE ${SELECTED_KEY}`
  return (await readSized<ThreadRow>(database, STATE_SIZE, sql, keyValues(key))).map(toThread)[0]
}

async function findThread(session: SqlSession, key: ThreadKey): Promise<Thread | undefined> {
  const rows = await session.query<ThreadRow>(`${SELECT_THREADS} WHERE ${SELECTED_KEY}`, keyValues(key))
  return rows.map(toThread)[0]
}

async function changeThread(
  session: RunSession,
  key: ThreadKey,
  change: ThreadChange,
  now: number,
): Promise<Thread | undefined> {
  const thread = await session.lockThread(key)
  if (thread === undefined) return undefined
  const columns: Record<string, SqlValue> = {}
  if (change.metadata !== undefined) {
    const before = parseExact(thread.metadata) as JsonObject
    const merged = bounded(before, { ...before, ...change.metadata }, 'metadata of the thread')
    columns['metadata'] = JSON.stringify(merged)
  }
  if (change.ttl !== undefined) {
    // `writeThread` computes the expiry from the new time to live.
    const { ttl_strategy, ttl_ms } = ttlColumns(change.ttl, now)
    await session.query(`UPDATE threads SET ttl_strategy = ?, ttl_ms = ? WHERE ${KEY}`, [
      ttl_strategy,
      ttl_ms,
      ...keyValues(key),
    ])
  }
  if (change.state !== undefined && (await activeRuns(session, key, ['running'])).length === 0) {
    Object.assign(columns, writeState(session, key, change.state, now))
    const rest = columns['has_next'] === 1 ? 'interrupted' : 'idle'
    columns['rest_status'] = thread.rest_status === 'error' ? 'error' : rest
  }
  session.settle(key, now, columns)
  return await findThread(session, key)
}

async function copyInto(
  session: RunSession,
  from: ThreadKey,
  to: ThreadKey,
  now: number,
): Promise<Thread | undefined> {
  const source = await session.lockThread(from)
  const thread = await findThread(session, from)
  if (source === undefined || thread === undefined) return undefined
  const { config, ttl, metadata, values_json, interrupts } = thread
  const fresh = { thread_id: to.thread_id, metadata: { ...metadata, thread_id: to.thread_id }, config, ttl }
  insertThread(session, to, fresh, now)
  await keepPieces(session, session.dialect, from)
  await copyCheckpoints(session, from, from.thread_id, to.thread_id)
  const next = source.has_next === 1 ? [''] : []
  const columns = values_json === null ? {} : writeState(session, to, { values_json, next, interrupts }, now)
  session.settle(to, now, { ...columns, rest_status: source.has_next === 1 ? 'interrupted' : 'idle' })
  await sweepPieces(session, session.dialect, to)
  return await findThread(session, to)
}

async function createThread(
  database: RunDatabase,
  key: ThreadKey,
  thread: NewThread,
  now: number,
  quotas: Quotas,
): ReturnType<RunStore['createThread']> {
  try {
    await database.txOfThread(key, async (session) => {
      insertThread(session, key, thread, now)
      await countUse(session, key, 'threads', 1, quotas)
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
    const known = await readThread(database, key)
    if (known !== undefined) return { kind: 'exists', thread: known }
    throw error
  }
  return { kind: 'created', thread: freshThread(thread, now) }
}

async function pruneThread(session: RunSession, key: ThreadKey): Promise<void> {
  if ((await activeRuns(session, key, ['running'])).length === 0) {
    await pruneCheckpoints(session, key, key.thread_id)
    await sweepPieces(session, session.dialect, key)
  }
  session.send(`UPDATE threads SET expires_at = NULL WHERE ${KEY}`, keyValues(key))
}

/** Those of the locked threads that have expired and are not in use, with this strategy. */
async function stillExpired(
  session: RunSession,
  { deployment_id, workspace_id }: Tenant,
  thread_ids: readonly string[],
  { strategy, now }: { strategy: ThreadTtl['strategy']; now: number },
): Promise<ReadonlySet<string>> {
  const { places, values } = inList(thread_ids)
  const rows = await session.query<{ thread_id: string }>(
    `SELECT thread_id FROM threads WHERE thread_id IN ${places} AND deployment_id = ? AND workspace_id = ?
      AND expires_at <= ? AND status <> 'busy' AND ttl_strategy = ?`,
    [...values, deployment_id, workspace_id, now, strategy],
  )
  return new Set(rows.map(({ thread_id }) => thread_id))
}

async function deleteLocked(
  session: RunSession,
  tenant: Tenant,
  threads: readonly LockedThread[],
  keep: 'nothing' | 'latest_checkpoint',
): Promise<void> {
  if (keep !== 'nothing') for (const thread of threads) await pruneThread(session, thread)
  else if (threads.length > 0) {
    const ids = threads.map(({ thread_id }) => thread_id)
    for (const run of await startedRuns(session, tenant, ids)) await session.countRun(run, undefined)
    await removeThreads(session, tenant, ids)
  }
}

type Verbs =
  | 'createThread'
  | 'getThread'
  | 'updateThread'
  | 'copyThread'
  | 'deleteThreads'
  | 'deleteExpired'
  | 'threadStorage'
  | 'expiredThreads'

/** The part of the run store for threads; see `RunStore`. */
export function createThreadStore(
  database: RunDatabase,
  clock: Clock,
  quotas: Quotas,
): Pick<RunStore, Verbs> {
  const expiryTime = createExpiryTime(clock)
  return {
    createThread: (tenant, thread) =>
      createThread(database, { ...tenant, thread_id: thread.thread_id }, thread, clock.now(), quotas),
    getThread: (tenant, thread_id) => readThread(database, { ...tenant, thread_id }),
    async updateThread(tenant, thread_id, change) {
      const key = { ...tenant, thread_id }
      const before = await storedBytes(database, STATE_SIZE, keyValues(key))
      const bytes = Math.max(before, change.state?.values_json?.length ?? 0)
      return await database.txOfThread(
        key,
        (session) => changeThread(session, key, change, clock.now()),
        bytes,
      )
    },
    async copyThread(tenant, thread_id, new_id) {
      const from = { ...tenant, thread_id }
      const copyIt = async (session: RunSession): Promise<Thread | undefined> => {
        const copy = await copyInto(session, from, { ...tenant, thread_id: new_id }, clock.now())
        if (copy !== undefined) await countUse(session, tenant, 'threads', 1, quotas)
        return copy
      }
      return await database.txOfThread(from, copyIt, await storedBytes(database, STATE_SIZE, keyValues(from)))
    },
    async deleteThreads(tenant, thread_ids, keep) {
      const done = await inChunks([...new Set(thread_ids)], (chunk) =>
        database.txOfMany(async (session) => {
          const threads = await session.lockThreads(tenant, chunk)
          await deleteLocked(session, tenant, threads, keep)
          return threads
        }),
      )
      return done.length
    },
    deleteExpired: (tenant, thread_ids, strategy) =>
      inChunks(thread_ids, (chunk) =>
        database.txOfMany(async (session) => {
          const threads = await session.lockThreads(tenant, chunk)
          const expired = await stillExpired(session, tenant, chunk, { strategy, now: expiryTime() })
          const gone = threads.filter(({ thread_id }) => expired.has(thread_id))
          await deleteLocked(session, tenant, gone, strategy === 'delete' ? 'nothing' : 'latest_checkpoint')
          return gone.map(({ thread_id }) => thread_id)
        }),
      ),
    threadStorage: (tenant, thread_id) => checkpointBytes(database, tenant, thread_id),
    async expiredThreads(limit) {
      return await database.query(
        `SELECT thread_id, deployment_id, workspace_id, ttl_strategy AS strategy FROM threads
          WHERE expires_at <= ? AND status <> 'busy' ORDER BY expires_at, thread_id LIMIT ?`,
        [expiryTime(), limit],
      )
    },
  }
}

function freshThread({ thread_id, metadata, config, ttl }: NewThread, now: number): Thread {
  return {
    thread_id,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata,
    status: 'idle',
    config,
    values_json: null,
    interrupts: {},
    error: null,
    ttl: ttl && { ...ttl, expires_at: now + Math.round(ttl.ttl_minutes * 60_000) },
  }
}
