import type { UsageSums } from '../../usage/report/details-source.ts'
import type { TraceGlimpse } from '../../trace/json/row-fields.ts'
import type { Filter } from '../../trace/filter/filter.ts'
import type { TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import type { ThreadSelection } from './thread-store.ts'

export type StoredTable = 'fragments' | 'runs' | 'feedback' | 'waiting_children'

/** The sort key of a row of table `runs` within its workspace. */
export type RowPlace = Pick<TraceRunRow, 'project_id' | 'sort_time' | 'run_id'>

/** Values by which a list can be ordered. Tokens and costs include those of the TraceRuns below, as in responses. */
export type OrderedBy = 'latency' | 'total_tokens' | 'total_cost'

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
  /** A further condition, as returned by `parseFilter`. */
  filter?: Filter
  /** A condition on the root of the trace. */
  trace_filter?: Filter
  /** A condition that some TraceRun of the trace satisfies. */
  tree_filter?: Filter
  /**
   * Selects only roots of traces in these threads, or in the threads of a selection. The query must name one project.
   */
  of_threads?: readonly string[] | ThreadSelection
  /** Range of the modification time of the feedback that conditions compare; the end is exclusive. */
  feedback_from?: number
  feedback_to?: number
  after?: { sort_time: number; run_id: string }
  /**
   * The value by which the list is ordered; pages then begin at `offset` instead of `after`. Absent: order by start
   * time.
   */
  order_by?: OrderedBy
  offset?: number
  order: 'asc' | 'desc'
  limit: number
}

/** The number of TraceRuns of a project, and the start of the newest. */
export interface ProjectCounts {
  run_count: number
  /** Epoch microseconds. */
  last_start: number
}

/**
 * Statistics over all TraceRuns of a project, null without data. For tokens and costs each call counts once (rule N6,
 * D-17). Times are in seconds: latency of ended traces (roots), first token of llm TraceRuns.
 */
export interface ProjectStats extends ProjectCounts, UsageSums {
  /** Number of roots. */
  trace_count: number
  llm_runs: number
  /** Number of calls without a known cost, which the costs leave out. */
  unpriced_runs: number
  latency_p50: number | null
  latency_p95: number | null
  latency_p99: number | null
  first_token_p50: number | null
  first_token_p99: number | null
  /** Share of the ended traces whose root failed, 0 to 1. */
  error_rate: number | null
  /** Share of the ended llm TraceRuns with a first token, 0 to 1. */
  streaming_rate: number | null
}

/** The payloads to read: fragments of these TraceRuns with these content hashes, and their columns. */
export interface PayloadQuery {
  run_ids: readonly string[]
  /** 32 hex digits each. */
  hashes: readonly string[]
  columns: readonly string[]
}

/** The conditions of a list of feedback; an empty list of values is no condition. */
export interface FeedbackQuery {
  run_ids: readonly string[]
  /** Projects of the TraceRuns, or of feedback on a whole project. */
  project_ids: readonly string[]
  keys: readonly string[]
  sources: readonly string[]
  /** Whether the feedback is on a TraceRun or on a whole project; undefined for both. */
  level?: 'run' | 'session' | undefined
  has_score?: boolean | undefined
  has_comment?: boolean | undefined
  limit: number
  offset: number
}

/** A feedback record without its body. */
export interface FeedbackPlace {
  run_id: string
  feedback_id: string
  /** Bytes of the body. */
  bytes: number
  key: string
  /** `feedback_source.type`; empty if absent. */
  source: string
  /** As sent; empty if absent. */
  created_at: string
  /** Epoch milliseconds; for a changed record the time of the change. */
  received_at: number
  /** The requested fields that the body has. */
  sent: string[]
}

/**
 * Stores fragments and derived rows. Rows are RowBinary in the column order given at creation. Writing the same rows
 * twice does not change what a reader reads. Failures are AppErrors, `store_unavailable` if trying again can help.
 */
export interface TraceStore {
  /** Resolves only when the rows are durable. */
  insert(table: StoredTable, rows: readonly Uint8Array[], signal?: AbortSignal): Promise<void>
  /**
   * All fragments of the given TraceRuns without their payloads (OUTLINE_COLUMNS). Duplicates are possible. Heads
   * larger than 1 MB are left out, like payloads.
   */
  outlines(workspace_id: string, run_ids: readonly string[]): Promise<Uint8Array>
  /** Columns of stored fragments (PAYLOAD_COLUMNS); possibly more than were requested. */
  payloads(workspace_id: string, query: PayloadQuery): Promise<Uint8Array>
  /** Payloads of the small fragments of a TraceRun (PAYLOAD_COLUMNS), some MB at most: usually all of its fragments. */
  smallPayloads(workspace_id: string, run_id: string): Promise<Uint8Array>
  /** Whether any TraceRun waits for a parent; usually false. */
  hasWaitingChildren(): Promise<boolean>
  waitingChildren(
    workspace_id: string,
    parent_run_ids: readonly string[],
  ): Promise<{ parent_run_id: string; run_id: string }[]>
  /** Ids of up to 200,000 TraceRuns below the roots that have the ids of these traces. */
  belowRoots(workspace_id: string, trace_ids: readonly string[]): Promise<string[]>
  /** The lean row of one TraceRun, or no bytes. */
  row(workspace_id: string, run_id: string): Promise<Uint8Array>
  /** Lean rows of one trace in dotted order from `after` (a dotted_order) on. */
  traceRows(workspace_id: string, trace_id: string, after: string, limit: number): Promise<Uint8Array>
  /**
   * Columns for a roll-up of every TraceRun of the given traces (ROLL_UP_COLUMNS), also of rows that were read a moment
   * ago, whose `known` places may not be stored yet.
   */
  rollUpRows(
    workspace_id: string,
    trace_ids: readonly string[],
    known: readonly RowPlace[],
  ): Promise<Uint8Array>
  /** What lists show of these traces that their roots do not say, by root. */
  traceGlimpses(workspace_id: string, trace_ids: readonly string[]): Promise<Map<string, TraceGlimpse>>
  /**
   * Returns the traces in which several TraceRuns with one of `call_ids` show the same call, and the traces with a
   * request whose answer is a separate span.
   */
  tracesWithDoubles(
    workspace_id: string,
    trace_ids: readonly string[],
    call_ids: readonly number[],
  ): Promise<string[]>
  /** Lean rows of one page, with these columns of table `runs`, or all. */
  list(workspace_id: string, query: ListQuery, columns?: readonly string[]): Promise<Uint8Array>
  /**
   * Feedback records of TraceRuns without their bodies, newest first: up to `limit` records, after skipping `offset`.
   */
  feedbackPlaces(
    workspace_id: string,
    wanted: FeedbackQuery,
    fields: readonly string[],
  ): Promise<FeedbackPlace[]>
  /**
   * RowBinary rows with two columns: `{run_id}/{feedback_id}`, and the body as JSON text. Missing records are left out.
   */
  feedbackBodies(workspace_id: string, places: readonly FeedbackPlace[]): Promise<Buffer>
  /** The record with that id as a row of table `feedback`, or no bytes. */
  feedbackRecord(workspace_id: string, feedback_id: string): Promise<Uint8Array>
  /** Resolves when no read returns the record any more. */
  deleteFeedback(workspace_id: string, feedback_id: string): Promise<void>
  /** Values by project; projects without TraceRuns are left out. */
  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>>
  /** As projectCounts; reads many more columns of every TraceRun. */
  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>>
}
