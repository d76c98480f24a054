import type { RunFigures } from '../../ingest/store/stats-store.ts'
import type { ThreadSummary } from '../../ingest/store/thread-store.ts'
import type { TraceTurnSelect } from '../../schema/types.gen.ts'
import type { FeedbackStats } from '../../trace/json/feedback-stats.ts'
import type { Asker } from '../trace-reads.ts'

/** Filters as clients write them. */
export interface TurnExpressions {
  filter?: string
  trace_filter?: string
  tree_filter?: string
}

/** The threads of a project with a trace in the window. Times are epoch microseconds; by default the last 24 h. */
export interface ThreadChoice extends TurnExpressions {
  project_id: string
  from?: number
  to?: number
  thread_filter?: string
}

/** A thread with its figures and the feedback on the roots of its traces. */
export type ThreadItem = ThreadSummary & { feedback: FeedbackStats }

/** A page of threads, latest activity first. */
export interface ThreadPage {
  items: ThreadItem[]
  next_cursor: string | null
}

export interface TurnsWanted extends TurnExpressions {
  /** The client's query without cursor and page size. */
  request: unknown
  project_id: string
  thread_id: string
  selects: readonly TraceTurnSelect[]
  page_size: number
  cursor?: string
}

export interface ThreadReads {
  /** @throws AppError invalid_request for an invalid filter or cursor, rate_limited */
  page(
    workspace_id: string,
    wanted: { choice: ThreadChoice; request: unknown; page_size: number; cursor?: string },
    asker: Asker,
  ): Promise<ThreadPage>
  /** Threads from `offset` on, and the total number. */
  groups(
    workspace_id: string,
    wanted: { choice: ThreadChoice; offset: number; limit: number },
    asker: Asker,
  ): Promise<{ items: ThreadItem[]; total: number }>
  /** JSON bytes of a page of traces; undefined for an unknown thread. */
  turns(workspace_id: string, wanted: TurnsWanted, asker: Asker): Promise<Uint8Array | undefined>
  /** Figures over the whole thread; undefined for an unknown thread. */
  stats(
    workspace_id: string,
    thread: { project_id: string; thread_id: string; filter?: string },
    asker: Asker,
  ): Promise<ThreadItem | undefined>
  /** Figures over all traces of the threads in the window. */
  figures(
    workspace_id: string,
    choice: ThreadChoice,
    asker: Asker,
  ): Promise<{ threads: number; traces: number; figures: RunFigures; feedback: FeedbackStats }>
}
