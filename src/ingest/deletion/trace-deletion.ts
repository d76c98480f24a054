import type { ListQuery } from '../store/trace-store.ts'

export interface RunOfTrace {
  run_id: string
  trace_id: string
}

export interface HowToDelete {
  /** The attachments of these TraceRuns, as `attachmentsOf` returned them. */
  attachments?: readonly string[]
  /**
   * The time at which the TraceRuns were found to be expired, in epoch milliseconds: fragments that are freed with their
   * whole day soon after it are only hidden. Undefined: all are deleted.
   */
  expired_at?: number | undefined
}

/** The reads and changes of deletions in the trace store. Repeating a deletion changes nothing. */
export interface TraceDeletion {
  /** Maximum number of TraceRuns that are deleted together. */
  readonly page: number
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
  deleteRuns(workspace_id: string, run_ids: readonly string[], how?: HowToDelete): Promise<void>
  /** Frees the days of fragments whose retention has ended at `now` (epoch milliseconds). */
  freeExpired(now: number, signal: AbortSignal): Promise<void>
  /** Frees the disk space of deleted TraceRuns where they are a large part of what is stored. */
  freeSpace(signal: AbortSignal): Promise<void>
  /** Deletes the feedback on the project as a whole. */
  deleteProjectFeedback(workspace_id: string, project_id: string): Promise<void>
  /** The attachments to which at least one TraceRun refers. */
  usedBlobs(sha256s: readonly string[]): Promise<Set<string>>
}
