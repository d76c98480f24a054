/** How many traces a workspace or a key may send in a calendar month (UTC). */
export interface UsageLimit {
  id: string
  organization_id: string
  /** What is limited: exactly one of the two is set. */
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

/** What may be set of a limit. */
export type UsageLimitFields = Omit<UsageLimit, 'id' | 'created_at' | 'updated_at'>

/** Monthly limits as set by their organization. */
export interface UsageLimitStore {
  /** Oldest first. */
  list(organization_id: string): Promise<UsageLimit[]>
  /** Sets the limit of that workspace or key: it has one at most. */
  put(fields: UsageLimitFields): Promise<UsageLimit>
  /** False when the organization has none of that id. */
  remove(organization_id: string, id: string): Promise<boolean>
  /** Every limit; what another process has set is seen within seconds. At once when nothing has to be read. */
  snapshot(): readonly UsageLimit[] | Promise<readonly UsageLimit[]>
}

/** What the store has counted. */
export interface TraceTally {
  /** Traces counted for the limited workspace or key in `[start, end)`, epoch milliseconds. */
  count(limit: UsageLimit, start: number, end: number): Promise<number>
  /** Those of the traces that are counted already. */
  known(workspace_id: string, trace_ids: readonly string[]): Promise<ReadonlySet<string>>
}
