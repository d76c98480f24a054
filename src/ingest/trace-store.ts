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

/** Run count and newest start of a project. */
export interface ProjectStats {
  run_count: number
  /** Epoch microseconds. */
  last_start: number | null
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
   * All fragments of the given TraceRuns, duplicates possible, without those whose content hash (32 hex digits) is
   * among `at_hand`.
   */
  fragments(
    workspace_id: string,
    run_ids: readonly string[],
    at_hand?: readonly string[],
  ): Promise<Uint8Array>
  /** False when no TraceRun waits for a parent, the common case. */
  hasWaitingChildren(): Promise<boolean>
  /** TraceRuns that wait for one of the given parents. */
  waitingChildren(workspace_id: string, parent_run_ids: readonly string[]): Promise<string[]>
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
  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>>
  /** Resolves when the store answers. */
  ping(): Promise<void>
}
