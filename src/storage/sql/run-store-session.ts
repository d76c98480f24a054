import type { EventDraft } from '../../events/event-log.ts'
import type { Tenant } from '../../runs/model.ts'
import type { StateSummary, Visible } from '../../runs/run-store.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Database, SqlSession, SqlValue } from './database.ts'
import type { RunEvents } from './run-events.ts'
import { chunksOf, inList, KEY, keyValues, type ThreadKey } from './run-store-rows.ts'

/** What decisions about a thread's runs are made by. */
export interface LockedThread extends ThreadKey {
  status: 'idle' | 'busy' | 'interrupted' | 'error'
  rest_status: 'idle' | 'interrupted' | 'error'
  has_next: number
  last_seq: number
  last_run_at: number
  ttl_ms: number | null
  metadata: string
  config: string
}

const LOCKED =
  'thread_id, deployment_id, workspace_id, status, rest_status, has_next, last_seq, last_run_at, ttl_ms, metadata, config'
/** So many threads are worked on in one transaction: a few milliseconds. */
const CHUNK = 50
/** What a graph has reached on a thread, every row with the run that wrote it. */
export const CHECKPOINT_TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']
/** So many ids are named in one statement. */
export const MAX_IDS = 256

/** Rows of threads and their runs in one transaction. Whoever changes a run has locked its thread first. */
export interface RunSession extends SqlSession {
  /** The thread, locked to the end of the transaction. */
  lockThread(key: ThreadKey): Promise<LockedThread | undefined>
  /** Those that exist, by id, locked. */
  lockThreads(tenant: Tenant, thread_ids: readonly string[]): Promise<LockedThread[]>
  /** Writes `columns` to the thread, and its status and what can be claimed of it as its runs are now. */
  settle(
    key: ThreadKey,
    now: number,
    columns?: Readonly<Record<string, SqlValue>>,
  ): Promise<{ more: boolean }>
  /** Tells the thread's log of what this transaction does; readers hear of it when it has committed. */
  tell(key: ThreadKey, items: readonly EventDraft[]): Promise<void>
  /** The thread is deleted: its log is to go as well, when who still reads it has read. */
  retireLog(key: ThreadKey): Promise<void>
  /** Deletes runs with what they have written to the thread's state: nothing when they have not started. */
  deleteRuns(key: ThreadKey, runs: readonly { run_id: string; started_at: number | null }[]): Promise<void>
}

/** Transactions of the run store. */
export interface RunDatabase extends SqlSession {
  readonly dialect: Database['dialect']
  /** A transaction that begins with locking this thread. */
  txOfThread<T>(key: ThreadKey, work: (session: RunSession) => Promise<T>): Promise<T>
  /** A transaction over many threads of its own choice. */
  txOfMany<T>(work: (session: RunSession) => Promise<T>): Promise<T>
}

/** Whether who asks may see the thread; a selection that says nothing of it sees all. */
export function isVisible(
  { metadata }: Pick<LockedThread, 'metadata'>,
  { visible }: { visible?: Visible | undefined },
): boolean {
  return visible === undefined || visible(JSON.parse(metadata) as JsonObject)
}

const RUNS_OF = (status: 'running' | 'pending'): string =>
  `FROM runs r WHERE r.thread_id = threads.thread_id AND r.deployment_id = threads.deployment_id
    AND r.workspace_id = threads.workspace_id AND r.status = '${status}'`
const RUNNING = `EXISTS (SELECT 1 ${RUNS_OF('running')})`
const PENDING = `EXISTS (SELECT 1 ${RUNS_OF('pending')})`

/** The statement that writes `columns` and settles; `resting` when the status at rest is among them. */
function settleSql(columns: readonly string[], resting: boolean): string {
  return `UPDATE threads SET ${columns.map((column) => `${column} = ?, `).join('')}
    updated_at = ?, expires_at = CAST(? AS BIGINT) + ttl_ms,
    status = CASE WHEN ${RUNNING} OR ${PENDING} THEN 'busy' ELSE ${resting ? 'CAST(? AS TEXT)' : 'rest_status'} END,
    next_due = CASE WHEN ${RUNNING} THEN NULL ELSE (SELECT min(r.due_at) ${RUNS_OF('pending')}) END
    WHERE ${KEY} RETURNING next_due`
}

function createSettle() {
  const texts = new Map<string, string>()
  return async (
    session: SqlSession,
    key: ThreadKey,
    now: number,
    columns: Readonly<Record<string, SqlValue>>,
  ): Promise<{ more: boolean }> => {
    const names = Object.keys(columns)
    const resting = columns['rest_status']
    const text = texts.get(names.join()) ?? settleSql(names, resting !== undefined)
    texts.set(names.join(), text)
    const rest = resting === undefined ? [] : [resting]
    const rows = await session.query<{ next_due: number | null }>(text, [
      ...Object.values(columns),
      now,
      now,
      ...rest,
      ...keyValues(key),
    ])
    return { more: typeof rows[0]?.next_due === 'number' }
  }
}

async function deleteRuns(
  session: SqlSession,
  key: ThreadKey,
  runs: readonly { run_id: string; started_at: number | null }[],
): Promise<void> {
  // The runs first: then who is writing a checkpoint for one has finished, or is refused.
  for (const chunk of chunksOf(runs, MAX_IDS)) {
    const { places, values } = inList(chunk.map(({ run_id }) => run_id))
    await session.query(`DELETE FROM runs WHERE run_id IN ${places} AND ${KEY}`, [
      ...values,
      ...keyValues(key),
    ])
    await session.query(
      `DELETE FROM webhooks WHERE run_id IN ${places} AND deployment_id = ? AND workspace_id = ? AND due_at IS NULL`,
      [...values, key.deployment_id, key.workspace_id],
    )
  }
  for (const { run_id, started_at } of runs) {
    if (started_at === null) continue
    for (const table of CHECKPOINT_TABLES) {
      await session.query(`DELETE FROM ${table} WHERE run_id = ? AND ${KEY}`, [run_id, ...keyValues(key)])
    }
  }
}

/** The transactions of the run store on a database that has been migrated. */
export function openRunSessions(database: Database, events?: RunEvents): RunDatabase {
  const forUpdate = database.dialect === 'postgres' ? ' FOR UPDATE' : ''
  const lockOne = `SELECT ${LOCKED} FROM threads WHERE ${KEY}${forUpdate}`
  const settle = createSettle()
  const toRunSession = (session: SqlSession, told: (() => void)[]): RunSession => ({
    query: session.query,
    async lockThread(key) {
      return (await session.query<LockedThread>(lockOne, keyValues(key)))[0]
    },
    async lockThreads(tenant, thread_ids) {
      const { places, values } = inList(thread_ids)
      // In the same order for everyone, so that nobody waits for one who waits for them.
      return await session.query<LockedThread>(
        `SELECT ${LOCKED} FROM threads WHERE thread_id IN ${places} AND deployment_id = ? AND workspace_id = ?
          ORDER BY thread_id${forUpdate}`,
        [...values, tenant.deployment_id, tenant.workspace_id],
      )
    },
    settle: (key, now, columns = {}) => settle(session, key, now, columns),
    async tell(key, items) {
      if (events !== undefined) told.push(await events.write(session, key, items))
    },
    async retireLog(key) {
      if (events !== undefined) told.push(await events.retire(session, key))
    },
    deleteRuns: (key, runs) => deleteRuns(session, key, runs),
  })
  const tx = async <T>(lock: string, work: (session: RunSession) => Promise<T>): Promise<T> => {
    let told: (() => void)[] = []
    const result = await database.tx(lock, (session) => {
      told = []
      return work(toRunSession(session, told))
    })
    for (const tell of told) tell()
    return result
  }
  return {
    dialect: database.dialect,
    query: database.query,
    txOfThread: (key, work) => tx(`thread:${keyValues(key).join('/')}`, work),
    txOfMany: (work) => tx('threads', work),
  }
}

/** Works on many threads, some in each transaction; other work of this process runs in between. */
export async function inChunks<T, R>(
  items: readonly T[],
  work: (chunk: readonly T[]) => Promise<R[]>,
): Promise<R[]> {
  const results: R[] = []
  for (const [index, chunk] of chunksOf(items, CHUNK).entries()) {
    if (index > 0) await new Promise((resume) => setImmediate(resume))
    results.push(...(await work(chunk)))
  }
  return results
}

/** Stores a thread's values; the rest of its state is for `settle`. */
export async function writeState(
  session: SqlSession,
  key: ThreadKey,
  state: StateSummary,
  now: number,
): Promise<Record<string, SqlValue>> {
  await session.query(
    `INSERT INTO thread_states (thread_id, deployment_id, workspace_id, state_values) VALUES (?, ?, ?, ?)
      ON CONFLICT (thread_id, deployment_id, workspace_id) DO UPDATE SET state_values = excluded.state_values`,
    [...keyValues(key), state.values_json],
  )
  return {
    has_next: state.next.length > 0 ? 1 : 0,
    interrupts: JSON.stringify(state.interrupts),
    state_updated_at: now,
  }
}
