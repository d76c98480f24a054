export interface ThreadRun {
  run_id: string
  thread_id: string
  assistant_id: string
  status: string
  created_at: string
  updated_at: string
  multitask_strategy?: string
  kwargs?: Record<string, unknown>
  weir?: { trace_id?: string | null; error?: { error: string; message: string } | null }
}
