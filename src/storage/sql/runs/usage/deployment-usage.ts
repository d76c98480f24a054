import { NIL_UUID } from '../../../../base/ids.ts'
import type { Tenant } from '../../../../runs/model.ts'
import type { DeploymentCount, DeploymentCounts, Grouping } from '../../../../usage/report/source.ts'
import { type Database, WHOLE_TABLE } from '../../driver/database.ts'
import { inList } from '../rows.ts'

/** The usage of deployments, and the names under which reports show them. */
export interface DeploymentUsage extends DeploymentCounts {
  /** Must be called when a deployment is served. */
  keepName(deployment: Tenant & { name: string }): Promise<void>
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const DIMENSIONS: Record<Grouping, string> = {
  workspace: 'workspace_id',
  project: 'deployment_id',
  user: `coalesce(user_id, '${NIL_UUID}')`,
  api_key: 'api_key_id',
}

function countSql(group_by: Grouping, places: string): string {
  const hasWorkspace = group_by === 'workspace' || group_by === 'project'
  // The start of a bucket, from the whole number of buckets between the origin and the start of the run.
  const bucket =
    'CAST(? AS BIGINT) + (started_at - CAST(? AS BIGINT)) / CAST(? AS BIGINT) * CAST(? AS BIGINT)'
  return `SELECT ${bucket} AS bucket, ${hasWorkspace ? 'workspace_id' : `'${NIL_UUID}'`} AS workspace_id,
      ${DIMENSIONS[group_by]} AS dimension_id, count(*) AS agent_runs, CAST(sum(nodes) AS BIGINT) AS nodes_executed
    FROM run_usage WHERE workspace_id IN ${places} AND started_at >= ? AND started_at < ? GROUP BY 1, 2, 3`
}

export function createDeploymentUsage(database: Database): DeploymentUsage {
  return {
    async count({ workspace_ids, start, end, origin, stride, group_by }) {
      const { places, values } = inList(workspace_ids)
      const size = stride.days * DAY_MS + stride.hours * HOUR_MS
      const params = [origin, origin, size, size, ...values, start, end]
      return await database.query<DeploymentCount>(countSql(group_by, places), params, WHOLE_TABLE)
    },
    async names(workspace_ids) {
      const { places, values } = inList(workspace_ids)
      const rows = await database.query<Tenant & { name: string }>(
        `SELECT workspace_id, deployment_id, name FROM deployment_names WHERE workspace_id IN ${places}`,
        values,
      )
      return new Map(rows.map((row) => [`${row.workspace_id}/${row.deployment_id}`, row.name]))
    },
    async keepName({ workspace_id, deployment_id, name }) {
      await database.query(
        `INSERT INTO deployment_names (deployment_id, workspace_id, name) VALUES (?, ?, ?)
          ON CONFLICT (deployment_id, workspace_id) DO UPDATE SET name = excluded.name`,
        [deployment_id, workspace_id, name],
      )
    },
  }
}
