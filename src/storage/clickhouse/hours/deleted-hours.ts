import { systemRows } from '../cluster/layout.ts'
import type { ClickHouse } from '../connect.ts'
import { noteRepaired } from '../repairs.ts'
import type { RunSet } from '../deleting/run-set.ts'
import { RUN_HOUR, TRACE_HOUR } from './trace-hour.ts'

interface ChangedHour {
  project_id: string
  hour: number
  run_hour: number
}

/** Condition that is always true. Deletions with it are those whose hours are marked in `hour_changes`. */
export const MARKED = "'hours' != ''"

/**
 * Deletes rows of `runs` with `remove`, and marks their hours before and after it: figures that are computed meanwhile
 * are not used afterwards. If the process ends in between, `deletions` stays above 0, and rollHours waits for an hour
 * before it computes these hours.
 */
export async function markingDeletedHours(
  clickhouse: ClickHouse,
  { sql, params }: RunSet,
  remove: () => Promise<void>,
): Promise<void> {
  const hours = await clickhouse.rows<ChangedHour>(
    `SELECT DISTINCT project_id, arrayJoin(arrayDistinct([${TRACE_HOUR}, ${RUN_HOUR}])) AS hour, ${RUN_HOUR} AS run_hour
     FROM runs WHERE ${sql}`,
    { params },
  )
  await mark(clickhouse, params.workspace_id, hours, 1)
  await remove()
  await mark(clickhouse, params.workspace_id, hours, -1)
}

async function mark(
  clickhouse: ClickHouse,
  workspace_id: string,
  hours: readonly ChangedHour[],
  deletions: 1 | -1,
): Promise<void> {
  if (hours.length === 0) return
  await clickhouse.command(
    `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes, deletions, changed_at)
     SELECT {workspace_id:UUID}, mark.1, mark.2, mark.3, 1, {deletions:Int8}, now64(6, 'UTC')
     FROM (SELECT arrayJoin(arrayZip({projects:Array(UUID)}, {hours:Array(Int32)}, {run_hours:Array(Int32)})) AS mark)`,
    {
      params: {
        workspace_id,
        deletions,
        projects: hours.map(({ project_id }) => project_id),
        hours: hours.map(({ hour }) => hour),
        run_hours: hours.map(({ run_hour }) => run_hour),
      },
    },
  )
}

/**
 * Marks all hours of workspaces in which a server of an earlier release deleted rows, since it does not mark them. Each
 * deletion is a mutation, and is noted in `repairs` once its hours are marked. A deletion whose workspace cannot be read
 * marks all workspaces.
 */
export async function markForeignDeletions(clickhouse: ClickHouse): Promise<void> {
  const found = await clickhouse.rows<{ id: string; workspace_id: string }>(
    `SELECT concat('deletion ', mutation_id, ' ', toString(create_time)) AS id, extract(command, 'workspace_id = [^0-9a-f]*([0-9a-f-]{36})') AS workspace_id
     FROM ${systemRows('mutations', 'runs', clickhouse)} AND is_done AND command LIKE '%_row_exists%'
       AND command NOT LIKE '%hours%' AND id NOT IN (SELECT name FROM repairs)`,
  )
  for (const { id, workspace_id } of found) {
    await clickhouse.command(
      `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes, changed_at)
       SELECT workspace_id, project_id, hour, run_hour, 1, now64(6, 'UTC') FROM hour_changes
       WHERE {workspace_id:String} IN ('', toString(workspace_id)) GROUP BY workspace_id, project_id, hour, run_hour`,
      { params: { workspace_id } },
    )
    await noteRepaired(clickhouse, id)
  }
}
