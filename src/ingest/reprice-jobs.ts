/** Which TraceRuns a job computes the costs of: those that start in `[start_time, end_time)`, epoch microseconds. */
export interface RepriceScope {
  start_time: number
  end_time: number
  /** Null = all projects of the workspace. */
  project_ids: string[] | null
}

/** Where a job goes on: after this TraceRun of this project; projects go by their ids. */
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
  /** Done so far, 0 to 1, by projects and time. */
  progress: number
  /** TraceRuns looked at, and those whose costs became others. */
  examined: number
  changed: number
  /** Why it failed. */
  error: string | null
  /** Epoch milliseconds. */
  created_at: number
  finished_at: number | null
}

/** Jobs survive a restart. */
export interface RepriceJobStore {
  add(job: RepriceJob): Promise<void>
  /** Keeps what a job has done. */
  save(job: RepriceJob): Promise<void>
  get(workspace_id: string, id: string): Promise<RepriceJob | undefined>
  /** Queued and running ones of all workspaces, oldest first. */
  unfinished(): Promise<RepriceJob[]>
}
