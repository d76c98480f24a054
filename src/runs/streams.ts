import type { Batch } from '../events/event-log.ts'
import type { ThreadMode } from '../events/views.ts'
import type { Run } from './model.ts'
import type { Call, RunRequest } from './runs.ts'

/** Where a client wants a stream to begin: after the last event that it has, with the oldest kept, or now. */
export type StreamStart = { after: string } | 'start' | 'now'

/** Events of a run or a thread on their way to one client. */
export interface EventStream {
  /**
   * What the client is to see, in order and once, as it comes; ends when nothing can follow any more. Rejects when the
   * server stops: the connection is to be cut then, so that the client comes back.
   */
  batches: AsyncIterable<Batch>
  /** Must be called when nobody reads any more, whether anything was read or not. */
  close(): void
}

/** How a client joins a run. */
export interface Joining {
  from: StreamStart
  /** Only events of these stream modes; null for all. */
  modes: readonly string[] | null
  /** Ends when the client has left. */
  gone: AbortSignal
  /** Its leaving before the end cancels the run (interrupt). */
  cancel_on_disconnect: boolean
}

/**
 * Streams of events as clients of the deployment API read them (run-api 1.8 to 1.10). What is refused is an AppError, before
 * anything streams: as `Runs` and `Threads` refuse, and `shutting_down`.
 */
export interface Streams {
  /**
   * Makes a run and streams it from its first event. `gone` tells that the client has left: with
   * `on_disconnect: 'cancel'` the run is cancelled (interrupt) if it has not ended.
   */
  create(
    call: Call,
    thread_id: string | null,
    request: RunRequest,
    gone: AbortSignal,
  ): Promise<{ run: Run; stream: EventStream }>
  /**
   * Joins a run; of one that has ended, what is kept after the client's last event. Whoever made it and lost that stream
   * before anything was sent has no id to go on from: the next joining without one begins where that stream began.
   */
  joinRun(call: Call, thread_id: string | null, run_id: string, joining: Joining): Promise<EventStream>
  /** All runs of a thread, those there are and those to come, until the thread is deleted. */
  joinThread(
    call: Call,
    thread_id: string,
    joining: { from: StreamStart; modes: readonly ThreadMode[]; gone: AbortSignal },
  ): Promise<EventStream>
  /** Ends all streams, and those to come, with `shutting_down`. */
  close(): void
}
