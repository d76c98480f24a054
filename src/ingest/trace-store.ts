import type { JsonObject } from '../schema/json.ts'
import type { Filter } from '../trace/filter.ts'

/** Tables that ingest writes. */
export type StoredTable = 'run_fragments' | 'runs' | 'feedback' | 'waiting_children'

/** One page of a list, newest or oldest first by (sort_time, run_id). Times are epoch microseconds. */
export interface ListQuery {
  project_ids?: readonly string[]
  trace_ids?: readonly string[]
  run_ids?: readonly string[]
  parent_run_id?: string
  is_root?: boolean
  run_type?: string
  start_time?: number
  end_time?: number
  error?: boolean
  /** A further condition, as `parseFilter` gives it. */
  filter?: Filter
  after?: { sort_time: number; run_id: string }
  order: 'asc' | 'desc'
  limit: number
}

/** How many TraceRuns a project has, and when the newest started. */
export interface ProjectCounts {
  run_count: number
  /** Epoch microseconds. */
  last_start: number
}

/**
 * Figures over all TraceRuns of a project, null where there is nothing to tell. Tokens and costs are without double
 * counts (rule N6, D-17). Times are seconds: latency of ended traces (roots), first token of llm TraceRuns.
 */
export interface ProjectStats extends ProjectCounts {
  /** Roots. */
  trace_count: number
  llm_runs: number
  latency_p50: number | null
  latency_p99: number | null
  first_token_p50: number | null
  first_token_p99: number | null
  prompt_tokens: number
  completion_tokens: number
  /** Dollars as decimal text. */
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  /** Share of the ended traces whose root failed, 0 to 1. */
  error_rate: number | null
  /** Share of the ended llm TraceRuns with a first token, 0 to 1. */
  streaming_rate: number | null
}

/** Which payloads to read back: fragments of these TraceRuns with these content hashes, and which of their columns. */
export interface PayloadQuery {
  run_ids: readonly string[]
  /** 32 hex digits each. */
  hashes: readonly string[]
  columns: readonly string[]
}

/**
 * Where fragments and derived rows are kept. Rows travel as RowBinary in the column order given at creation.
 * Writing the same rows twice changes nothing that a reader sees. Failures are AppErrors: `store_unavailable` when
 * trying again can help.
 */
export interface TraceStore {
  /** Resolves only when the rows are durable. */
  insert(table: StoredTable, rows: readonly Uint8Array[], signal?: AbortSignal): Promise<void>
  /**
   * All fragments of the given TraceRuns without their payloads (OUTLINE_COLUMNS), duplicates possible. A head beyond
   * 1 MB is left out, too.
   */
  outlines(workspace_id: string, run_ids: readonly string[]): Promise<Uint8Array>
  /** Columns of stored fragments (PAYLOAD_COLUMNS); possibly of others than were asked for. */
  payloads(workspace_id: string, query: PayloadQuery): Promise<Uint8Array>
  /** Payloads of the small fragments of a TraceRun (PAYLOAD_COLUMNS), some MB at most: mostly all that there are. */
  smallPayloads(workspace_id: string, run_id: string): Promise<Uint8Array>
  /** False when no TraceRun waits for a parent, the common case. */
  hasWaitingChildren(): Promise<boolean>
  /** TraceRuns that wait for one of the given parents. */
  waitingChildren(
    workspace_id: string,
    parent_run_ids: readonly string[],
  ): Promise<{ parent_run_id: string; run_id: string }[]>
  /** Ids of the TraceRuns, 200,000 at most, that stand under those which have the ids of these traces. */
  belowRoots(workspace_id: string, trace_ids: readonly string[]): Promise<string[]>
  /** The lean row of one TraceRun, or no bytes. */
  row(workspace_id: string, run_id: string): Promise<Uint8Array>
  /** Lean rows of one trace in dotted order from `after` (a dotted_order) on. */
  traceRows(workspace_id: string, trace_id: string, after: string, limit: number): Promise<Uint8Array>
  /** What a roll-up needs of every TraceRun of the given traces (ROLL_UP_COLUMNS). */
  rollUpRows(workspace_id: string, trace_ids: readonly string[]): Promise<Uint8Array>
  /** Lean rows of one page. */
  list(workspace_id: string, query: ListQuery): Promise<Uint8Array>
  /** Feedback records of TraceRuns, newest first. */
  feedback(workspace_id: string, run_ids: readonly string[]): Promise<JsonObject[]>
  /** By project; without those that have no TraceRuns. */
  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>>
  /** As projectCounts; reads much more of every TraceRun. */
  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>>
  /** Resolves when the store answers. */
  ping(): Promise<void>
}
