import type { RunKwargs } from '../../../runs/model.ts'
import type { SqlSession, TxSession } from '../driver/database.ts'
import { KEY, keyValues, RUN_FIELDS, type RunRow, type ThreadKey, toRun } from './rows.ts'

/** SQL condition on the webhook of a run. `keyOf` returns the parameters. */
const OF_RUN = 'run_id = ? AND deployment_id = ? AND workspace_id = ?'

function keyOf({ deployment_id, workspace_id }: ThreadKey, run_id: string): string[] {
  return [run_id, deployment_id, workspace_id]
}

/** SQL of the column `has_webhook` for rows of `runs`: 1 for a run that has a webhook, else 0. */
export const HAS_WEBHOOK = `CASE WHEN EXISTS (SELECT 1 FROM webhooks w WHERE w.run_id = runs.run_id
  AND w.deployment_id = runs.deployment_id AND w.workspace_id = runs.workspace_id) THEN 1 ELSE 0 END AS has_webhook`

/** Stores the webhook of a new run, if it has one. It replaces the webhook of a deleted run with the same id. */
export function insertWebhook(
  session: TxSession,
  key: ThreadKey,
  run_id: string,
  { webhook }: Pick<RunKwargs, 'webhook'>,
): void {
  if (webhook === null) return
  session.send(
    `INSERT INTO webhooks (run_id, deployment_id, workspace_id, tries, url) VALUES (?, ?, ?, 0, ?)
      ON CONFLICT (run_id, deployment_id, workspace_id) DO UPDATE SET due_at = NULL, taken_by = NULL, tries = 0, url = excluded.url`,
    [...keyOf(key, run_id), webhook],
  )
}

/** Makes the webhook of a run due, and stores the run and its values for the body. Must be called when the run ends. */
export async function webhookDue(
  session: SqlSession,
  key: ThreadKey,
  run_id: string,
  values_json: string | null,
  now: number,
): Promise<void> {
  const [row] = await session.query<RunRow>(`SELECT ${RUN_FIELDS} FROM runs WHERE run_id = ? AND ${KEY}`, [
    run_id,
    ...keyValues(key),
  ])
  if (row === undefined) return
  await session.query(`UPDATE webhooks SET due_at = ?, run = ?, run_values = ? WHERE ${OF_RUN}`, [
    now,
    JSON.stringify(toRun(row)),
    values_json,
    ...keyOf(key, run_id),
  ])
}
