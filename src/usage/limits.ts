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

/** The fields of a limit that callers set. */
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
