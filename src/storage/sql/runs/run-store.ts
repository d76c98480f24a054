import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Run, Tenant } from '../../../runs/model.ts'
import { type Quotas, UNLIMITED } from '../../../base/quotas.ts'
import type { RunStore, TaskHead } from '../../../runs/run-store.ts'
import { TRANSITIONS } from '../../../runs/state.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { readSized } from '../driver/large-values.ts'
import { fitting, portionsOf } from '../../../base/portions.ts'
import { createAdmits } from './admit.ts'
import { createRequestCancel } from './cancel.ts'
import type { RunEvents } from '../events/run-events.ts'
import { createRunClaims } from './claims.ts'
import { createRunEnds } from './ends.ts'
import { textBytes } from '../pieces/large-text.ts'
import { sweepPieces } from '../pieces/sweep-pieces.ts'
import { FIND_RUN, inList, KEY, keyValues, RUN_FIELDS, type RunRow, type ThreadKey, toRun } from './rows.ts'
import { CHECKPOINT_TABLES } from './rollback.ts'
import { openRunSessions, type RunDatabase } from './session.ts'
import { createThreadSearch } from './search.ts'
import { createStatelessEnds } from './removal/stateless-ends.ts'
import { createThreadStore } from './threads.ts'

type Reads = Pick<RunStore, 'getRun' | 'listRuns' | 'activeRunIds' | 'deleteRun'>

function createRunReads(database: RunDatabase): Reads {
  return {
    async getRun({ deployment_id, workspace_id }, thread_id, run_id) {
      const rows = await readSized<RunRow>(database, RUN_SIZE, FIND_RUN, [
        run_id,
        deployment_id,
        workspace_id,
      ])
      return rows.filter((row) => thread_id === null || row.thread_id === thread_id).map(toRun)[0]
    },
    async listRuns(tenant, thread_id, { limit, offset, status, max_bytes }) {
      const { where, order, key } = placeOf(tenant, thread_id)
      const byStatus = status === undefined ? '' : 'AND status = ?'
      const found = await database.query<{ run_id: string; bytes: number }>(
        `SELECT run_id, ${RUN_BYTES} AS bytes FROM runs WHERE ${where} ${byStatus} ORDER BY ${order} LIMIT ? OFFSET ?`,
        [...key, ...(status === undefined ? [] : [status]), limit + 1, offset],
      )
      if (found.length === 0) {
        if (thread_id === null) return { runs: [], more: false }
        const threads = await database.query(`SELECT thread_id FROM threads WHERE ${KEY}`, key)
        return threads.length > 0 ? { runs: [], more: false } : undefined
      }
      const shown = fitting(found.slice(0, limit), max_bytes)
      return { runs: await readRuns(database, tenant, shown), more: shown.length < found.length }
    },
    async activeRunIds(tenant, thread_id) {
      const rows = await database.query<{ run_id: string }>(
        `SELECT run_id FROM runs WHERE ${KEY} AND status IN ('pending', 'running')`,
        keyValues({ ...tenant, thread_id }),
      )
      return rows.map(({ run_id }) => run_id)
    },
    deleteRun(tenant, thread_id, run_id) {
      const key = { ...tenant, thread_id }
      return database.txOfThread(key, async (session) => {
        await session.lockThread(key)
        const where = `run_id = ? AND ${KEY}`
        const params = [run_id, ...keyValues(key)]
        const [run] = await session.query<RunRow>(`SELECT status FROM runs WHERE ${where}`, params)
        if (run === undefined) return 'not_found'
        if (TRANSITIONS[run.status].delete === 'refused') return 'active'
        await session.query(`DELETE FROM runs WHERE ${where}`, params)
        await keepCheckpoints(session, key, run_id)
        await sweepPieces(session, session.dialect, key)
        return 'deleted'
      })
    },
  }
}

/** Tasks that one list reads. */
const MAX_TASKS = 10_000

/** SQL of the place of the newest run of the thread of run `r`. */
const LAST_SEQ = `(SELECT max(l.seq) FROM runs l WHERE l.thread_id = r.thread_id AND l.deployment_id = r.deployment_id
  AND l.workspace_id = r.workspace_id) AS last_seq`

const THREAD_STATUS = `(SELECT t.status FROM threads t WHERE t.thread_id = r.thread_id
  AND t.deployment_id = r.deployment_id AND t.workspace_id = r.workspace_id) AS thread_status`

interface HeadRow extends Omit<TaskHead, 'interrupted' | 'is_last'> {
  interrupted: number
  seq: number
  last_seq: number
  metadata: string | null
}

/** Reads of A2A tasks, whose state is that of their newest run. */
function createTaskReads(database: RunDatabase): Pick<RunStore, 'taskRun' | 'tasks'> {
  return {
    async taskRun(tenant, thread_id, task_id) {
      const params = [...keyValues({ ...tenant, thread_id }), task_id]
      const [[row], active] = await Promise.all([
        database.query<RunRow & Pick<HeadRow, 'last_seq' | 'thread_status'>>(
          `SELECT ${RUN_FIELDS}, ${LAST_SEQ}, ${THREAD_STATUS} FROM runs r WHERE ${KEY} AND a2a_task = ?
            ORDER BY seq DESC LIMIT 1`,
          params,
        ),
        database.query<Pick<RunRow, 'run_id'>>(
          `SELECT run_id FROM runs WHERE ${KEY} AND a2a_task = ? AND status IN ('pending', 'running') ORDER BY seq`,
          params,
        ),
      ])
      if (row === undefined) return undefined
      const { seq, last_seq, thread_status } = row
      const active_run_ids = active.map(({ run_id }) => run_id)
      return { run: toRun(row), is_last: seq === last_seq, thread_status, active_run_ids }
    },
    async tasks({ deployment_id, workspace_id }, { assistant_id, thread_id, visible }) {
      const ofThread = thread_id === undefined ? '' : 'AND r.thread_id = ?'
      const rows = await database.query<HeadRow>(
        `SELECT r.a2a_task AS task_id, r.thread_id, r.run_id, r.status, r.interrupted, r.updated_at, r.seq,
            ${LAST_SEQ}, t.status AS thread_status, ${visible === undefined ? 'NULL' : 't.metadata'} AS metadata
          FROM runs r JOIN threads t ON t.thread_id = r.thread_id AND t.deployment_id = r.deployment_id
            AND t.workspace_id = r.workspace_id
          WHERE r.deployment_id = ? AND r.workspace_id = ? AND r.a2a_task IS NOT NULL AND r.assistant_id = ? ${ofThread}
            AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.deployment_id = r.deployment_id
              AND n.workspace_id = r.workspace_id AND n.a2a_task = r.a2a_task AND n.seq > r.seq)
          ORDER BY r.updated_at DESC, r.run_id DESC LIMIT ${MAX_TASKS}`,
        [deployment_id, workspace_id, assistant_id, ...(thread_id === undefined ? [] : [thread_id])],
      )
      return rows
        .filter(
          ({ metadata }) => visible === undefined || visible(parseExact(metadata ?? '{}') as JsonObject),
        )
        .map(({ seq, last_seq, metadata: _metadata, interrupted, ...head }) => ({
          ...head,
          interrupted: interrupted === 1,
          is_last: seq === last_seq,
        }))
    },
  }
}

/** SQL of the runs of a thread or of all threads, newest first; an index exists for both. */
function placeOf(tenant: Tenant, thread_id: string | null) {
  if (thread_id !== null) return { where: KEY, order: 'seq DESC', key: keyValues({ ...tenant, thread_id }) }
  const { deployment_id, workspace_id } = tenant
  const where = 'deployment_id = ? AND workspace_id = ?'
  return { where, order: 'created_at DESC, run_id DESC', key: [deployment_id, workspace_id] }
}

/** SQL of the bytes of a run in a response. */
const RUN_BYTES = `octet_length(metadata) + octet_length(kwargs) + octet_length(caller)
  + coalesce(${textBytes('input')}, 0) + coalesce(octet_length(command), 0)
  + coalesce(octet_length(error), 0) + coalesce(octet_length(partial_messages), 0)`

const RUN_SIZE = `SELECT ${RUN_BYTES} AS bytes FROM runs WHERE run_id = ? AND deployment_id = ? AND workspace_id = ?`

/** Complete runs in the order of `found`; deleted ones are left out. */
async function readRuns(
  database: RunDatabase,
  { deployment_id, workspace_id }: Tenant,
  found: readonly { run_id: string; bytes: number }[],
): Promise<Run[]> {
  const runs = new Map<string, Run>()
  for await (const portion of portionsOf(found)) {
    const { places, values } = inList(portion.map(({ run_id }) => run_id))
    const rows = await database.query<RunRow>(
      `SELECT ${RUN_FIELDS} FROM runs WHERE run_id IN ${places} AND deployment_id = ? AND workspace_id = ?`,
      [...values, deployment_id, workspace_id],
    )
    for (const row of rows) runs.set(row.run_id, toRun(row))
  }
  return found.flatMap(({ run_id }) => runs.get(run_id) ?? [])
}

/**
 * Clears the run id of a deleted run's checkpoints. They stay in the thread; without this, a rollback of a later run
 * with the same id would delete them.
 */
async function keepCheckpoints(session: SqlSession, key: ThreadKey, run_id: string): Promise<void> {
  const nobody = `deleted:${newUuid()}`
  for (const table of CHECKPOINT_TABLES) {
    const sql = `UPDATE ${table} SET run_id = ? WHERE run_id = ? AND ${KEY}`
    await session.query(sql, [nobody, run_id, ...keyValues(key)])
  }
}

/**
 * Threads and runs in a database that `openRunDatabase` has opened. With `events`, the transaction that ends a run also
 * writes the end to the event log; with `countsUsage` it counts the run.
 */
export function createRunStore(
  database: Database,
  clock: Clock,
  events?: RunEvents,
  quotas: Quotas = UNLIMITED,
  countsUsage = false,
): RunStore {
  const sessions = openRunSessions(database, events, countsUsage)
  return {
    ...createThreadStore(sessions, clock, quotas),
    searchThreads: createThreadSearch(sessions),
    ...createAdmits(sessions, clock, quotas),
    ...createRunClaims(sessions, clock),
    ...createRunEnds(sessions, clock),
    requestCancel: createRequestCancel(sessions, clock),
    ...createRunReads(sessions),
    ...createTaskReads(sessions),
    ...createStatelessEnds(sessions, clock),
  }
}
