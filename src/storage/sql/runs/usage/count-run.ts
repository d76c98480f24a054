import { NIL_UUID } from '../../../../base/ids.ts'
import type { Caller, Tenant } from '../../../../runs/model.ts'
import type { ReportedNodes } from '../../../../runs/run-store.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { TxSession } from '../../driver/database.ts'
import { inList, KEY, keyValues, type RunRow, type ThreadKey } from '../rows.ts'

/** The columns of a run that its count needs. */
export interface CountedRun extends ThreadKey, Pick<RunRow, 'run_id' | 'attempt' | 'caller'> {
  /** Null if the run has never been claimed. It has then written no checkpoints. */
  started_at: number | null
}

export const COUNTED = 'run_id, thread_id, deployment_id, workspace_id, attempt, started_at, caller'

const INSERT = `INSERT INTO run_usage (workspace_id, started_at, run_id, deployment_id, api_key_id, user_id, nodes)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

/** Writes of completed tasks: errors and interrupts have negative indexes, and those of commands have no task. */
const OF_TASKS = `idx >= 0 AND task_id <> '${NIL_UUID}'`

const STORED_TASKS = `SELECT count(*) AS tasks FROM (SELECT DISTINCT checkpoint_ns, checkpoint_id, task_id
  FROM checkpoint_writes WHERE ${KEY} AND run_id = ? AND ${OF_TASKS}) AS completed`

/** Checkpoints of inputs in which a task has named the next nodes. An entrypoint of the functional API names none. */
const STARTS = `SELECT c.metadata FROM checkpoints c WHERE c.thread_id = ? AND c.deployment_id = ?
    AND c.workspace_id = ? AND c.run_id = ? AND c.metadata LIKE '%"input"%' AND EXISTS (SELECT 1
    FROM checkpoint_writes w WHERE w.thread_id = c.thread_id AND w.deployment_id = c.deployment_id
    AND w.workspace_id = c.workspace_id AND w.checkpoint_ns = c.checkpoint_ns AND w.checkpoint_id = c.checkpoint_id
    AND w.run_id = c.run_id AND (w.channel LIKE 'branch:%' OR w.channel = '__pregel_tasks') AND ${OF_TASKS})`

/**
 * Counts a run. The host of the last attempt reports the nodes of that attempt. Earlier attempts stored the tasks that
 * they had completed, and later ones do not execute these again. With durability `exit` nothing was stored, and the
 * last attempt executed everything.
 */
export async function countRun(session: TxSession, run: CountedRun, nodes: ReportedNodes): Promise<void> {
  const { workspace_id, deployment_id, run_id, started_at } = run
  if (started_at === null) return
  const { api_key_id, user_id } = JSON.parse(run.caller) as Caller
  const all =
    run.attempt === 1 && nodes !== undefined ? nodes : Math.max(nodes ?? 0, await stored(session, run))
  session.send(INSERT, [workspace_id, started_at, run_id, deployment_id, api_key_id, user_id, all])
}

/** Number of completed nodes that the attempts of a run have stored: its tasks without those of `__start__`. */
async function stored(session: TxSession, run: CountedRun): Promise<number> {
  const params = [...keyValues(run), run.run_id]
  const [[row], inputs] = await Promise.all([
    session.query<{ tasks: number }>(STORED_TASKS, params),
    session.query<{ metadata: string }>(STARTS, params),
  ])
  const starts = inputs.filter(({ metadata }) => (JSON.parse(metadata) as JsonObject)['source'] === 'input')
  return (row?.tasks ?? 0) - starts.length
}

/** The active runs of locked threads that an attempt has begun. */
export async function startedRuns(
  session: TxSession,
  { deployment_id, workspace_id }: Tenant,
  thread_ids: readonly string[],
): Promise<CountedRun[]> {
  const { places, values } = inList(thread_ids)
  return await session.query<CountedRun>(
    `SELECT ${COUNTED} FROM runs WHERE thread_id IN ${places} AND deployment_id = ? AND workspace_id = ?
      AND status IN ('running', 'pending') AND started_at IS NOT NULL`,
    [...values, deployment_id, workspace_id],
  )
}
