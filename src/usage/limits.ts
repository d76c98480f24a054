/** The number of traces that a workspace or a key may send in a calendar month (UTC). */
export interface UsageLimit {
  id: string
  organization_id: string
  /** Exactly one of `workspace_id` and `api_key_id` is set. */
  workspace_id: string | null
  api_key_id: string | null
  limit_type: 'monthly_traces'
  limit_value: number
  /** `soft` warns, `hard` refuses. */
  mode: 'soft' | 'hard'
  /** Epoch milliseconds. */
  created_at: number
  updated_at: number
}

export type UsageLimitFields = Omit<UsageLimit, 'id' | 'created_at' | 'updated_at'>

/** Monthly limits as set by their organization. */
export interface UsageLimitStore {
  /** Oldest first. */
  list(organization_id: string): Promise<UsageLimit[]>
  /** Sets the only limit of that workspace or key. */
  put(fields: UsageLimitFields): Promise<UsageLimit>
  /** Returns false if the organization has no limit with that id. */
  remove(organization_id: string, id: string): Promise<boolean>
  /** All limits; changes of other processes are included within seconds. Synchronous if nothing must be read. */
  snapshot(): readonly UsageLimit[] | Promise<readonly UsageLimit[]>
}

/** Counts in the store. */
export interface TraceTally {
  /** Traces counted for the limited workspace or key in `[start, end)`, epoch milliseconds. */
  count(limit: UsageLimit, start: number, end: number): Promise<number>
  /** Returns those of the traces that are already counted. */
  known(workspace_id: string, trace_ids: readonly string[]): Promise<ReadonlySet<string>>
}

/** What a workspace, or one of its keys, may send in a minute. */
export interface IngestLimit {
  workspace_id: string
  /** Null for the workspace as a whole. */
  api_key_id: string | null
  /** Null = any number. */
  runs_per_minute: number | null
  bytes_per_minute: number | null
}

/** The limits of the workspaces that have any. */
export interface IngestLimitStore {
  /** The limit of the workspace first, then those of its keys. */
  list(workspace_id: string): Promise<IngestLimit[]>
  /** Sets the only limit of that workspace or key; one without numbers is removed. */
  put(limit: IngestLimit): Promise<void>
  /** The limits of each workspace; see `UsageLimitStore.snapshot`. */
  snapshot(): IngestLimits | Promise<IngestLimits>
}

export type IngestLimits = ReadonlyMap<string, readonly IngestLimit[]>
