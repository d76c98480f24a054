import type { Job, JobStore } from '../jobs.ts'

/** The TraceRuns that a job deletes. */
export type DeletionScope =
  /** The TraceRuns of a project that is being deleted. */
  | { kind: 'project'; project_id: string }
  /** The TraceRuns of one trace. */
  | { kind: 'trace'; trace_id: string }
  /** Records that reached the store after their TraceRuns or traces were deleted. */
  | { kind: 'late'; run_ids: string[]; trace_ids: string[] }
  /** The whole traces of all matching TraceRuns; times are epoch microseconds. */
  | {
      kind: 'runs'
      project_id: string
      filter?: string
      start_time?: number
      end_time?: number
      /** Traces that are being deleted. */
      pending?: string[]
    }

/** A deletion. After a restart it begins again, and no longer finds the TraceRuns that are already deleted. */
export interface DeletionJob extends Job {
  scope: DeletionScope
  /** TraceRuns deleted so far. */
  deleted: number
}

/** Recently deleted ids, for which new data is refused. */
export interface DeletedIds {
  /** Whether anything of the workspace was deleted recently; usually false. The result is cached for a second. */
  any(workspace_id: string): boolean | Promise<boolean>
  /** Returns those of `ids` that were deleted. */
  among(workspace_id: string, ids: readonly string[]): Promise<Set<string>>
}

/** Deletion jobs, the ids for which new data is refused, and attachments that may be unused. */
export interface DeletionStore extends DeletedIds, JobStore<DeletionJob> {
  /** Refuses the ids until `expires_at`: at once in this process, within a second in others. */
  refuse(workspace_id: string, ids: readonly string[], expires_at: number): Promise<void>
  /** Deletes the records that have expired at `now`: ids, and jobs that ended a week ago. */
  forget(now: number): Promise<void>

  /** Records attachments that may be unused, to be checked after the time. */
  noteBlobs(sha256s: readonly string[], time: number): Promise<void>
  /** Some of the attachments that were noted at or before the time. */
  notedBlobs(until: number): Promise<string[]>
  /** Forgets attachments, except those that were noted again after the time. */
  forgetBlobs(sha256s: readonly string[], until: number): Promise<void>

  /** Projects whose TraceRuns expire, and the number of days for which they are kept. */
  expiring(): Promise<{ workspace_id: string; project_id: string; days: number }[]>
}
