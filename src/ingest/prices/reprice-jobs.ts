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
export interface RepriceJob extends RepriceScope {
  workspace_id: string
  id: string
  status: 'queued' | 'running' | 'done' | 'failed'
  /** Null before the first page. */
  position: RepricePosition | null
  /** Completed share of the job, 0 to 1, estimated from projects and time. */
  progress: number
  /** Number of TraceRuns that were read, and of those whose costs have changed. */
  examined: number
  changed: number
  /** Why the job failed. */
  error: string | null
  /** Epoch milliseconds. */
  created_at: number
  finished_at: number | null
}

/** Jobs in the store, so that they survive a restart. */
export interface RepriceJobStore {
  add(job: RepriceJob): Promise<void>
  /** Stores the progress of a job. */
  save(job: RepriceJob): Promise<void>
  get(workspace_id: string, id: string): Promise<RepriceJob | undefined>
  /** Queued and running jobs of all workspaces, oldest first. */
  unfinished(): Promise<RepriceJob[]>
}
