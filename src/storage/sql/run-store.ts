import type { Clock } from '../../base/clock.ts'
import { newUuid } from '../../base/ids.ts'
import type { RunStore } from '../../runs/run-store.ts'
import { TRANSITIONS } from '../../runs/state.ts'
import type { Database, SqlSession, SqlValue } from './database.ts'
import { createAdmit } from './run-store-admit.ts'
import { createRequestCancel } from './run-store-cancel.ts'
import type { RunEvents } from './run-events.ts'
import { createRunClaims } from './run-store-claims.ts'
import { createRunEnds } from './run-store-ends.ts'
import { FIND_RUN, KEY, keyValues, RUN_FIELDS, type RunRow, type ThreadKey, toRun } from './run-store-rows.ts'
import { CHECKPOINT_TABLES, openRunSessions, type RunDatabase } from './run-store-session.ts'
import { createThreadSearch } from './run-store-search.ts'
import { createThreadStore } from './run-store-threads.ts'

type Reads = Pick<RunStore, 'getRun' | 'listRuns' | 'deleteRun'>

function createRunReads(database: RunDatabase): Reads {
  return {
    async getRun({ deployment_id, workspace_id }, thread_id, run_id) {
      const rows = await database.query<RunRow>(FIND_RUN, [run_id, deployment_id, workspace_id])
      return rows.filter((row) => thread_id === null || row.thread_id === thread_id).map(toRun)[0]
    },
    async listRuns(tenant, thread_id, { limit, offset, status }) {
      const key = keyValues({ ...tenant, thread_id })
      const byStatus = status === undefined ? '' : 'AND status = ?'
      const params: SqlValue[] = [...key, ...(status === undefined ? [] : [status]), limit, offset]
      const rows = await database.query<RunRow>(
        `SELECT ${RUN_FIELDS} FROM runs WHERE ${KEY} ${byStatus} ORDER BY seq DESC LIMIT ? OFFSET ?`,
        params,
      )
      if (rows.length > 0) return rows.map(toRun)
      const threads = await database.query(`SELECT thread_id FROM threads WHERE ${KEY}`, key)
      return threads.length > 0 ? [] : undefined
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
        return 'deleted'
      })
    },
  }
}

/** What a deleted run has written stays the thread's: a later run with the same id must not take it back. */
async function keepCheckpoints(session: SqlSession, key: ThreadKey, run_id: string): Promise<void> {
  const nobody = `deleted:${newUuid()}`
  for (const table of CHECKPOINT_TABLES) {
    const sql = `UPDATE ${table} SET run_id = ? WHERE run_id = ? AND ${KEY}`
    await session.query(sql, [nobody, run_id, ...keyValues(key)])
  }
}

/**
 * Threads and runs in a database that `openRunDatabase` has opened. The ends of runs go into the log of events with the
 * transactions that end them; without `events` nobody is told.
 */
export function createRunStore(database: Database, clock: Clock, events?: RunEvents): RunStore {
  const sessions = openRunSessions(database, events)
  return {
    ...createThreadStore(sessions, clock),
    searchThreads: createThreadSearch(sessions),
    admit: createAdmit(sessions, clock),
    ...createRunClaims(sessions, clock),
    ...createRunEnds(sessions, clock),
    requestCancel: createRequestCancel(sessions, clock),
    ...createRunReads(sessions),
  }
}
