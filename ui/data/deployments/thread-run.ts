export interface ThreadRun {
  run_id: string
  thread_id: string
  assistant_id: string
  status: string
  created_at: string
  updated_at: string
  multitask_strategy?: string
  kwargs?: Record<string, unknown>
  weir?: {
    trace_id?: string | null
    error?: { error: string; message: string } | null
    /** The run stopped at a question; its thread may have been answered since. */
    interrupted?: boolean
  }
}

/** The end or state of a run; `isWaiting` for the last run of a thread that waits for an answer. */
export function runWord(status: string, isWaiting: boolean): string {
  if (status === 'success' && isWaiting) return 'waits for an answer'
  return status === 'interrupted' ? 'cancelled' : status
}

const THREAD_WORDS: Readonly<Record<string, string>> = {
  idle: 'idle',
  busy: 'runs',
  interrupted: 'waits for an answer',
  error: 'failed',
}

/** The state of a thread. */
export function threadWord(status: string): string {
  return THREAD_WORDS[status] ?? status
}
