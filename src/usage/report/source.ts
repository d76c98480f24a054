export const GROUPINGS = ['workspace', 'project', 'user', 'api_key'] as const

export type Grouping = (typeof GROUPINGS)[number]

/** The size of a bucket; either days or hours is not 0. */
export interface Stride {
  days: number
  hours: number
}

/** The traces that count in `[start, end)` in these workspaces, as numbers by bucket and group. */
export interface UsageQuery {
  workspace_ids: readonly string[]
  /** Epoch milliseconds. */
  start: number
  end: number
  /** Start of the first bucket, a full UTC hour or UTC day, in epoch milliseconds. */
  origin: number
  stride: Stride
  group_by: Grouping
}

/** One bucket and group of a report. */
export interface Group {
  /** Start of the bucket, epoch milliseconds. */
  bucket: number
  /**
   * Set for `workspace` and `project`, since a project's id is unique only within its workspace; NIL_UUID for other
   * groupings.
   */
  workspace_id: string
  /** Id of the project, user or key, or of the workspace for `workspace`; NIL_UUID for no user. */
  dimension_id: string
}

/** The number of traces of a group; groups without traces are left out. */
export interface UsageCount extends Group {
  traces: number
}

/** The runs of deployments in a group, where a project is a deployment; groups without runs are left out. */
export interface DeploymentCount extends Group {
  agent_runs: number
  nodes_executed: number
}

/** Exact counts of traces (D-12, D-30, D-31); acknowledged traces are counted within 1 s. */
export interface UsageCounts {
  count(query: UsageQuery): Promise<UsageCount[]>
}

/** Exact counts of the runs of deployments, by the time when they were started. */
export interface DeploymentCounts {
  count(query: UsageQuery): Promise<DeploymentCount[]>
  /** Names of deployments by `workspace_id/deployment_id`, also of deleted ones. */
  names(workspace_ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}
