import type { Job, JobStore } from '../jobs.ts'

/** The TraceRuns whose costs a job computes: those that start in `[start_time, end_time)`, epoch microseconds. */
export interface RepriceScope {
  start_time: number
  end_time: number
  /** Null for all projects of the workspace. */
  project_ids: string[] | null
}

/** The position of a job: directly after this TraceRun of this project. Projects are in order of their ids. */
export interface RepricePosition {
  project_id: string
  after: { sort_time: number; run_id: string } | null
}

/** A job that computes stored costs again. */
export interface RepriceJob extends RepriceScope, Job {
  /** Null before the first page. */
  position: RepricePosition | null
  /** Completed share of the job, 0 to 1, estimated from projects and time. */
  progress: number
  /** Number of TraceRuns that were read, and of those whose costs have changed. */
  examined: number
  changed: number
}

export type RepriceJobStore = JobStore<RepriceJob>
