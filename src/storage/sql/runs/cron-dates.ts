import type { Tenant } from '../../../runs/model.ts'
import type { CronDate } from '../../../runs/run-store.ts'
import type { SqlSession } from '../driver/database.ts'

/**
 * Moves a cron from a date to its next date. Returns false, without a change, if another process has done so, or if the
 * cron was changed or deleted.
 */
export async function takeDate(
  session: SqlSession,
  { deployment_id, workspace_id }: Tenant,
  { cron_id, due_at, next }: CronDate,
): Promise<boolean> {
  const rows = await session.query(
    `UPDATE crons SET next_run_date = ? WHERE cron_id = ? AND deployment_id = ? AND workspace_id = ?
      AND next_run_date = ? RETURNING cron_id`,
    [next, cron_id, deployment_id, workspace_id, due_at],
  )
  return rows.length > 0
}
