import type { ListQuery } from '../store/trace-store.ts'

export interface RunOfTrace {
  run_id: string
  trace_id: string
}

/** The reads and changes of deletions in the trace store. Repeating a deletion changes nothing. */
export interface TraceDeletion {
  /** Ids of TraceRuns of the project that were received before the time (epoch milliseconds). */
  runsOfProject(workspace_id: string, project_id: string, before: number, limit: number): Promise<string[]>
  runsOfTraces(workspace_id: string, trace_ids: readonly string[], limit: number): Promise<RunOfTrace[]>
  /** Ids of the traces to which the TraceRuns of the page belong. */
  tracesOf(workspace_id: string, query: ListQuery): Promise<string[]>
  /** SHA-256 in hex of the attachments of these TraceRuns. */
  attachmentsOf(workspace_id: string, run_ids: readonly string[]): Promise<string[]>
  /**
   * Deletes the TraceRuns with their fragments and feedback. The list of a trace's TraceRuns is deleted last, so that
   * an interrupted deletion finds the rest. Resolves when no read returns them.
   */
  deleteRuns(workspace_id: string, run_ids: readonly string[]): Promise<void>
  /** Frees the disk space of deleted TraceRuns where they are a large part of what is stored. */
  freeSpace(signal: AbortSignal): Promise<void>
  /** Deletes the feedback on the project as a whole. */
  deleteProjectFeedback(workspace_id: string, project_id: string): Promise<void>
  /** The attachments to which at least one TraceRun refers. */
  usedBlobs(sha256s: readonly string[]): Promise<Set<string>>
}
