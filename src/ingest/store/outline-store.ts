/** Values that change whenever a TraceRun of the trace changes. */
export interface TraceState {
  /** Time of the last write of a row, in epoch milliseconds; 0 for rows of an earlier release. */
  written_at: number
  /** Number of rows, including old rows of TraceRuns whose trace_id has changed since. */
  runs: number
  /** The sum of the versions of these rows. */
  versions: number
}

/** Tokens and costs of a whole trace. Costs are decimal text, null if unknown. */
export interface TraceSums {
  prompt_tokens: number
  completion_tokens: number
  estimated_prompt_tokens: number
  estimated_completion_tokens: number
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  estimated_cost: string | null
  /** The thread of the earliest TraceRun that names one; empty for none. */
  thread_id: string
}

export interface OutlineStore {
  traceState(workspace_id: string, trace_id: string): Promise<TraceState>
  /** Ids of the TraceRuns whose rows were written at `since` (epoch milliseconds) or later, as RowBinary. */
  changedRuns(workspace_id: string, trace_id: string, since: number): Promise<Uint8Array>
  /**
   * Sums of a large trace; undefined for a smaller trace, and for a trace whose sums must be computed from its rows
   * (rollUpRows).
   */
  largeTraceSums(workspace_id: string, trace_id: string): Promise<TraceSums | undefined>
  /** TRACE_OUTLINE_COLUMNS of up to `limit` TraceRuns of the trace. */
  outlineRows(workspace_id: string, trace_id: string, limit: number): Promise<Uint8Array>
}
