import type { RunStore, TaskHead } from '../../../runs/run-store.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { KEY, keyValues, RUN_FIELDS, type RunRow, toRun } from './rows.ts'
import type { RunDatabase } from './session.ts'

/** Tasks that one list reads. */
const MAX_TASKS = 10_000

/** SQL of the place of the newest run of the thread of run `r`. */
const LAST_SEQ = `(SELECT max(l.seq) FROM runs l WHERE l.thread_id = r.thread_id AND l.deployment_id = r.deployment_id
  AND l.workspace_id = r.workspace_id) AS last_seq`

interface HeadRow extends Omit<TaskHead, 'interrupted' | 'is_last'> {
  interrupted: number
  seq: number
  last_seq: number
  metadata: string | null
}

/** Reads of A2A tasks, whose state is that of their newest run. */
export function createTaskReads(database: RunDatabase): Pick<RunStore, 'taskRun' | 'tasks'> {
  return {
    async taskRun(tenant, thread_id, task_id) {
      const key = keyValues({ ...tenant, thread_id })
      const [row] = await database.query<RunRow & { last_seq: number }>(
        `SELECT ${RUN_FIELDS}, ${LAST_SEQ} FROM runs r WHERE ${KEY} AND a2a_task = ? ORDER BY seq DESC LIMIT 1`,
        [...key, task_id],
      )
      return row && { run: toRun(row), is_last: row.seq === row.last_seq }
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
          ({ metadata }) => visible === undefined || visible(JSON.parse(metadata ?? '{}') as JsonObject),
        )
        .map(({ seq, last_seq, metadata: _metadata, interrupted, ...head }) => ({
          ...head,
          interrupted: interrupted === 1,
          is_last: seq === last_seq,
        }))
    },
  }
}
