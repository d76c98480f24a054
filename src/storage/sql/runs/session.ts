import { chunksOf } from '../../../base/chunks.ts'
import type { EventDraft } from '../../../events/event-log.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { ReportedNodes, StateSummary, Visible } from '../../../runs/run-store.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database, SqlValue, TxSession } from '../driver/database.ts'
import type { RunEvents } from '../events/run-events.ts'
import { textParam } from '../pieces/large-text.ts'
import { deleteRuns } from './rollback.ts'
import { inList, KEY, keyValues, type ThreadKey } from './rows.ts'
import { type CountedRun, countRun } from './usage/count-run.ts'

/** The columns of a thread that decisions about its runs need. */
export interface LockedThread extends ThreadKey {
  status: 'idle' | 'busy' | 'interrupted' | 'error'
  rest_status: 'idle' | 'interrupted' | 'error'
  has_next: number
  last_seq: number
  last_run_at: number
  metadata: string
  config: string
}

const LOCKED =
  'thread_id, deployment_id, workspace_id, status, rest_status, has_next, last_seq, last_run_at, metadata, config'
/** Maximum number of threads that one transaction changes. Such a transaction takes a few milliseconds. */
const CHUNK = 50

/**
 * Rows of threads and their runs in one transaction. A transaction locks the thread before it changes one of its runs.
 */
export interface RunSession extends TxSession {
  readonly dialect: Database['dialect']
  /** Locks the thread until the end of the transaction, and returns it. */
  lockThread(key: ThreadKey): Promise<LockedThread | undefined>
  /** Locks the threads that exist, in the order of their ids, until the end of the transaction. */
  lockThreads(tenant: Tenant, thread_ids: readonly string[]): Promise<LockedThread[]>
  /**
   * Writes `columns` to the thread, and computes its status and next due time from its runs, including the changes of
   * all earlier statements.
   */
  settle(key: ThreadKey, now: number, columns?: Readonly<Record<string, SqlValue>>): void
  /** Appends events about this transaction to the thread's log; readers receive them after the commit. */
  publish(key: ThreadKey, items: readonly EventDraft[]): Promise<void>
  /**
   * Must be called when the thread is deleted. Its log is deleted some minutes later, so that clients can read its end.
   */
  retireLog(key: ThreadKey): Promise<void>
  /**
   * Counts a run that was executed. Must be called in the transaction that ends the run or deletes its thread, before
   * its checkpoints are deleted.
   */
  countRun(run: CountedRun, nodes: ReportedNodes): Promise<void>
  /** Deletes runs and the checkpoints that they have written; a run that never started has none. */
  deleteRuns(key: ThreadKey, runs: readonly { run_id: string; started_at: number | null }[]): Promise<void>
}

export interface RunDatabase extends Pick<Database, 'query' | 'dialect'> {
  /** A transaction that first locks this thread. `bytes` is the argument of `Database.tx`. */
  txOfThread<T>(key: ThreadKey, work: (session: RunSession) => Promise<T>, bytes?: number): Promise<T>
  /** A transaction over many threads, which `work` locks itself. */
  txOfMany<T>(work: (session: RunSession) => Promise<T>, bytes?: number): Promise<T>
}

/** Whether the caller may see the thread: there is no condition, or the thread's metadata satisfy it. */
export function isVisible(
  { metadata }: Pick<LockedThread, 'metadata'>,
  { visible }: { visible?: Visible | undefined },
): boolean {
  return visible === undefined || visible(parseExact(metadata) as JsonObject)
}

const RUNS_OF = (status: 'running' | 'pending'): string =>
  `FROM runs r WHERE r.thread_id = threads.thread_id AND r.deployment_id = threads.deployment_id
    AND r.workspace_id = threads.workspace_id AND r.status = '${status}'`
const RUNNING = `EXISTS (SELECT 1 ${RUNS_OF('running')})`
const PENDING = `EXISTS (SELECT 1 ${RUNS_OF('pending')})`

/**
 * SQL of the due time of a run `r`. A run without a delay is due now, even if the clock that set its time was ahead.
 * Both parameters are the current time.
 */
const DUE = `CASE WHEN r.due_at <= r.created_at AND r.due_at > CAST(? AS BIGINT) THEN CAST(? AS BIGINT) ELSE r.due_at END`

/**
 * The statement that writes `columns` to a thread and updates its status. `resting`: `rest_status`, the status of a
 * thread without active runs, is one of the columns.
 */
function writeThreadSql(columns: readonly string[], resting: boolean): string {
  return `UPDATE threads SET ${columns.map((column) => `${column} = ?, `).join('')}
    updated_at = ?, expires_at = CAST(? AS BIGINT) + ttl_ms,
    status = CASE WHEN ${RUNNING} OR ${PENDING} THEN 'busy' ELSE ${resting ? 'CAST(? AS TEXT)' : 'rest_status'} END,
    next_due = CASE WHEN ${RUNNING} THEN NULL ELSE (SELECT min(${DUE}) ${RUNS_OF('pending')}) END
    WHERE ${KEY}`
}

function createThreadWrite() {
  const texts = new Map<string, string>()
  return (
    session: TxSession,
    key: ThreadKey,
    now: number,
    columns: Readonly<Record<string, SqlValue>>,
  ): void => {
    const names = Object.keys(columns)
    const resting = columns['rest_status']
    const text = texts.get(names.join()) ?? writeThreadSql(names, resting !== undefined)
    texts.set(names.join(), text)
    const rest = resting === undefined ? [] : [resting]
    const values = [...Object.values(columns), now, now, ...rest, now, now, ...keyValues(key)]
    session.send(text, values)
  }
}

/** The transactions of the run store on a database that has been migrated. Runs are counted if `countsUsage`. */
export function openRunSessions(
  database: Database,
  events: RunEvents | undefined,
  countsUsage: boolean,
): RunDatabase {
  const forUpdate = database.dialect === 'postgres' ? ' FOR UPDATE' : ''
  const lockOne = `SELECT ${LOCKED} FROM threads WHERE ${KEY}${forUpdate}`
  const writeThread = createThreadWrite()
  const toRunSession = (session: TxSession, afterCommit: (() => void)[]): RunSession => ({
    ...session,
    dialect: database.dialect,
    async lockThread(key) {
      return (await session.query<LockedThread>(lockOne, keyValues(key)))[0]
    },
    async lockThreads(tenant, thread_ids) {
      const { places, values } = inList(thread_ids)
      // The rows are always locked in the same order, which prevents deadlocks.
      return await session.query<LockedThread>(
        `SELECT ${LOCKED} FROM threads WHERE thread_id IN ${places} AND deployment_id = ? AND workspace_id = ?
          ORDER BY thread_id${forUpdate}`,
        [...values, tenant.deployment_id, tenant.workspace_id],
      )
    },
    settle: (key, now, columns = {}) => writeThread(session, key, now, columns),
    async publish(key, items) {
      if (events !== undefined) afterCommit.push(await events.write(session, key, items))
    },
    async retireLog(key) {
      if (events !== undefined) afterCommit.push(await events.retire(session, key))
    },
    countRun: async (run, nodes) => {
      if (countsUsage) await countRun(session, run, nodes)
    },
    deleteRuns: (key, runs) => deleteRuns(session, database.dialect, key, runs),
  })
  const tx = async <T>(
    lock: string,
    work: (session: RunSession) => Promise<T>,
    bytes?: number,
  ): Promise<T> => {
    let afterCommit: (() => void)[] = []
    const begin = (session: TxSession): Promise<T> => {
      afterCommit = []
      return work(toRunSession(session, afterCommit))
    }
    const result = await database.tx(lock, begin, bytes)
    for (const deliver of afterCommit) deliver()
    return result
  }
  return {
    dialect: database.dialect,
    query: database.query,
    txOfThread: (key, work, bytes) => tx(`thread:${keyValues(key).join('/')}`, work, bytes),
    txOfMany: (work, bytes) => tx('threads', work, bytes),
  }
}

/**
 * Splits a list of threads into chunks and runs `work` for each chunk in a transaction of its own. Other work of this
 * process runs in between.
 */
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

/** Stores a thread's values; `writeThread` stores the rest of its state. */
export function writeState(
  session: TxSession,
  key: ThreadKey,
  state: StateSummary,
  now: number,
): Record<string, SqlValue> {
  session.send(
    `INSERT INTO thread_states (thread_id, deployment_id, workspace_id, state_values) VALUES (?, ?, ?, ?)
      ON CONFLICT (thread_id, deployment_id, workspace_id) DO UPDATE SET state_values = excluded.state_values`,
    [...keyValues(key), textParam(state.values_json, key)],
  )
  return {
    has_next: state.next.length > 0 ? 1 : 0,
    interrupts: JSON.stringify(state.interrupts),
    state_updated_at: now,
  }
}
