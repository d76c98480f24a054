/** The groupings of traces. */
export const GROUPINGS = ['workspace', 'project', 'user', 'api_key'] as const

export type Grouping = (typeof GROUPINGS)[number]

/** A bucket's size; exactly one of the two is not 0. */
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
  /** Start of the first bucket, epoch milliseconds: on a UTC hour or a UTC day. */
  origin: number
  stride: Stride
  group_by: Grouping
}

/** The traces of one bucket and group; groups without any are left out. */
export interface UsageCount {
  /** Start of the bucket, epoch milliseconds. */
  bucket: number
  /** For `project` too, since a project's id is unique only within its workspace. NIL_UUID for other groupings. */
  workspace_id: string
  /** Id of the project, user or key; the workspace's for `workspace`; NIL_UUID for a trace without a user. */
  dimension_id: string
  traces: number
}

/** Exact counts of traces (D-12, D-30, D-31); acknowledged traces are counted within 1 s. */
export interface UsageCounts {
  count(query: UsageQuery): Promise<UsageCount[]>
}
