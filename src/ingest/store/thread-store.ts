import type { Filter } from '../../trace/filter/filter.ts'

/** The threads of one project with a trace that started within the times. Times are epoch microseconds. */
export interface ThreadWindow {
  project_id: string
  from: number
  to: number
}

/** Threads of a window. For each of the conditions, at least one trace of the thread satisfies it. */
export interface ThreadSelection extends ThreadWindow {
  /** Conditions on a root. */
  filter?: Filter
  trace_filter?: Filter
  /** A condition that some TraceRun of the trace satisfies. */
  tree_filter?: Filter
}

export interface ThreadQuery extends ThreadSelection {
  /**
   * Result of `threadMark`. Rows that were written later are left out, so that pages stay consistent while rows are
   * written.
   */
  written: number
  /** The place of the last thread of the previous page. */
  after?: Pick<ThreadPlace, 'last_start' | 'last_trace_id'>
  limit: number
}

export interface ThreadPlace {
  thread_id: string
  /** Start of the latest trace, in epoch microseconds. */
  last_start: number
  last_trace_id: string
}

/**
 * Figures of a thread over its traces in a window. Each call counts once. Costs are dollars as decimal text, null if
 * unknown; details are by category. Times are epoch microseconds.
 */
export interface ThreadSummary {
  thread_id: string
  turns: number
  errored_turns: number
  first_trace_id: string
  last_trace_id: string
  first_start: number
  last_start: number
  /** Latest end of a root; null while none has ended. */
  last_end: number | null
  first_inputs: string
  last_outputs: string
  /** The error of the latest failed trace; empty if none failed. */
  last_error: string
  /** Median, 95th and 99th percentile in seconds; null while no trace has ended. */
  latency: [number | null, number | null, number | null]
  prompt_tokens: number
  completion_tokens: number
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  /** Number of calls without a known cost, which the costs leave out. */
  unpriced_runs: number
  prompt_token_details: Record<string, number>
  completion_token_details: Record<string, number>
  prompt_cost_details: Record<string, string>
  completion_cost_details: Record<string, string>
}

/** The place of a trace in its thread. */
export interface ThreadTurn {
  trace_id: string
  /** The root's id. */
  run_id: string
  /** The position of the root in lists, in epoch microseconds. */
  sort_time: number
  /** Number of the trace among all traces of the thread, from 1. */
  turn: number
}

/** Conditions on a trace: two on its root, and one that at least one of its TraceRuns satisfies. */
export interface TurnFilters {
  filter?: Filter
  trace_filter?: Filter
  tree_filter?: Filter
}

/** The traces of one thread to list, oldest first. */
export interface TurnQuery extends TurnFilters {
  project_id: string
  thread_id: string
  /** The place of the last trace of the previous page. */
  after?: Pick<ThreadTurn, 'sort_time' | 'trace_id'>
  limit: number
}

/**
 * Reads of threads. A trace belongs to the thread that its root names, otherwise to the thread that its earliest
 * TraceRun names.
 */
export interface ThreadStore {
  /** The time in epoch microseconds at which the newest row of the project's threads was written. */
  threadMark(workspace_id: string, project_id: string): Promise<number>
  /** Latest activity first. */
  threads(workspace_id: string, query: ThreadQuery): Promise<ThreadPlace[]>
  countThreads(workspace_id: string, query: ThreadSelection): Promise<{ threads: number; traces: number }>
  /** Ids of up to `limit` traces, including all traces of these threads in the window. */
  tracesOfThreads(
    workspace_id: string,
    window: ThreadWindow,
    thread_ids: readonly string[],
    limit: number,
  ): Promise<string[]>
  /** Columns of up to `limit` TraceRuns of these traces of the project; at most 1,000 traces. */
  rowsOfTraces(
    workspace_id: string,
    project_id: string,
    trace_ids: readonly string[],
    read: { columns: readonly string[]; limit: number },
  ): Promise<Uint8Array>
  /** Columns of the rows at these places, at most 1,000; places without a row are left out. */
  rowsAt(
    workspace_id: string,
    project_id: string,
    places: readonly Pick<ThreadTurn, 'run_id' | 'sort_time'>[],
    columns: readonly string[],
  ): Promise<Uint8Array>
  /**
   * Figures of those threads (at most 1,000) that have a matching trace in the window, in any order. Latencies may have an
   * error of 1 %.
   */
  threadSummaries(
    workspace_id: string,
    window: ThreadWindow & TurnFilters,
    thread_ids: readonly string[],
  ): Promise<ThreadSummary[]>
  turns(workspace_id: string, query: TurnQuery): Promise<ThreadTurn[]>
}
