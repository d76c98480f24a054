import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { Thread, ThreadTtl } from '../../runs/model.ts'
import type { NewThread, RunStore, ThreadChange } from '../../runs/run-store.ts'
import type { JsonObject } from '../../schema/json.ts'
import { copyCheckpoints, pruneCheckpoints } from './checkpoint-threads.ts'
import type { SqlSession, SqlValue } from './database.ts'
import { activeRuns } from './run-store-cancel.ts'
import {
  KEY,
  keyValues,
  SELECT_THREADS,
  SELECTED_KEY,
  type ThreadKey,
  type ThreadRow,
  toThread,
} from './run-store-rows.ts'
import { inChunks, type RunDatabase, type RunSession, writeState } from './run-store-session.ts'

/** Runs first: then who is writing a checkpoint for one has finished, or is refused. */
const TABLES_OF_THREAD = [
  'runs',
  'checkpoints',
  'checkpoint_blobs',
  'checkpoint_writes',
  'thread_states',
  'threads',
]

function ttlColumns(ttl: ThreadTtl | null, now: number) {
  const ttl_ms = ttl === null ? null : Math.round(ttl.ttl_minutes * 60_000)
  return {
    ttl_strategy: ttl?.strategy ?? null,
    ttl_ms,
    expires_at: ttl_ms === null ? null : now + ttl_ms,
  }
}

/** Stores a new idle thread. @throws AppError conflict when the id is taken */
export async function insertThread(
  session: SqlSession,
  key: ThreadKey,
  thread: NewThread,
  now: number,
): Promise<void> {
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
  }
  const places = Object.keys(columns).map(() => '?')
  await session.query(
    `INSERT INTO threads (${Object.keys(columns).join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(columns),
  )
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
    const before = JSON.parse(thread.metadata) as JsonObject
    columns['metadata'] = JSON.stringify({ ...before, ...change.metadata })
  }
  if (change.ttl !== undefined) {
    // What settling counts from is the new time to live.
    const { ttl_strategy, ttl_ms } = ttlColumns(change.ttl, now)
    await session.query(`UPDATE threads SET ttl_strategy = ?, ttl_ms = ? WHERE ${KEY}`, [
      ttl_strategy,
      ttl_ms,
      ...keyValues(key),
    ])
  }
  if (change.state !== undefined && (await activeRuns(session, key, ['running'])).length === 0) {
    Object.assign(columns, await writeState(session, key, change.state, now))
    const rest = columns['has_next'] === 1 ? 'interrupted' : 'idle'
    columns['rest_status'] = thread.rest_status === 'error' ? 'error' : rest
  }
  await session.settle(key, now, columns)
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
  await insertThread(session, to, fresh, now)
  await copyCheckpoints(session, from, from.thread_id, to.thread_id)
  const next = source.has_next === 1 ? [''] : []
  const columns =
    values_json === null ? {} : await writeState(session, to, { values_json, next, interrupts }, now)
  await session.settle(to, now, { ...columns, rest_status: source.has_next === 1 ? 'interrupted' : 'idle' })
  return await findThread(session, to)
}

type Verbs = 'createThread' | 'getThread' | 'updateThread' | 'copyThread' | 'deleteThreads' | 'expiredThreads'

/** The verbs of threads; see `RunStore`. */
export function createThreadStore(database: RunDatabase, clock: Clock): Pick<RunStore, Verbs> {
  const remove = async (session: RunSession, key: ThreadKey): Promise<void> => {
    for (const table of TABLES_OF_THREAD) {
      await session.query(`DELETE FROM ${table} WHERE ${KEY}`, keyValues(key))
    }
    await session.retireLog(key)
  }
  const prune = async (session: RunSession, key: ThreadKey): Promise<void> => {
    if ((await activeRuns(session, key, ['running'])).length === 0)
      await pruneCheckpoints(session, key, key.thread_id)
    await session.query(`UPDATE threads SET expires_at = NULL WHERE ${KEY}`, keyValues(key))
  }

  return {
    async createThread(tenant, thread) {
      const key = { ...tenant, thread_id: thread.thread_id }
      const now = clock.now()
      try {
        await insertThread(database, key, thread, now)
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error
        const known = await findThread(database, key)
        if (known !== undefined) return { kind: 'exists', thread: known }
        throw error
      }
      const { metadata, config, thread_id, ttl } = thread
      return { kind: 'created', thread: freshThread({ metadata, config, thread_id, ttl }, now) }
    },
    getThread: (tenant, thread_id) => findThread(database, { ...tenant, thread_id }),
    updateThread(tenant, thread_id, change) {
      const key = { ...tenant, thread_id }
      return database.txOfThread(key, (session) => changeThread(session, key, change, clock.now()))
    },
    copyThread(tenant, thread_id, new_id) {
      const from = { ...tenant, thread_id }
      return database.txOfThread(from, (session) =>
        copyInto(session, from, { ...tenant, thread_id: new_id }, clock.now()),
      )
    },
    async deleteThreads(tenant, thread_ids, keep) {
      const work = keep === 'nothing' ? remove : prune
      const done = await inChunks([...new Set(thread_ids)], (chunk) =>
        database.txOfMany(async (session) => {
          const threads = await session.lockThreads(tenant, chunk)
          for (const thread of threads) await work(session, thread)
          return threads
        }),
      )
      return done.length
    },
    async expiredThreads(limit) {
      return await database.query(
        `SELECT thread_id, deployment_id, workspace_id, ttl_strategy AS strategy FROM threads
          WHERE expires_at <= ? AND status <> 'busy' ORDER BY expires_at, thread_id LIMIT ?`,
        [clock.now(), limit],
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
