import type { Batch } from '../../events/event-log.ts'
import type { ThreadMode } from '../../events/views.ts'
import type { Run } from '../model.ts'
import type { Call, RunRequest } from '../runs.ts'
import type { Following, ProtocolItem } from '../streams-v2/follow/follow-thread.ts'

/**
 * The place at which a stream must begin: after the last event that the client has, at the oldest event kept, or now.
 */
export type StreamStart = { after: string } | 'start' | 'now'

/** Events of a run or a thread for one client. */
export interface EventStream {
  /**
   * The events for the client, in order and once each, as they arrive; ends when no further event can follow. Rejects
   * when the server stops: the connection must be cut then, so that the client reconnects.
   */
  batches: AsyncIterable<Batch>
  /** Must be called when the stream is no longer read, whether anything was read or not. */
  close(): void
}

/** Events of a thread in protocol v2 for one client; as EventStream. */
export interface ProtocolStream {
  batches: AsyncIterable<readonly ProtocolItem[]>
  close(): void
}

export interface Joining {
  from: StreamStart
  /** Only events of these stream modes; null for all. */
  modes: readonly string[] | null
  /** Aborts when the client disconnects. */
  gone: AbortSignal
  /** A disconnect before the end cancels the run (interrupt). */
  cancel_on_disconnect: boolean
}

/**
 * Streams of events for clients of the deployment API. Refusals are an AppError, thrown before
 * anything is streamed: those of `Runs` and `Threads`, and `shutting_down`.
 */
export interface Streams {
  /**
   * Creates a run and streams it from its first event. `gone` aborts when the client disconnects: with `on_disconnect:
   * 'cancel'` the run is then cancelled (interrupt) if it has not ended.
   */
  create(
    call: Call,
    thread_id: string | null,
    request: RunRequest,
    gone: AbortSignal,
  ): Promise<{ run: Run; stream: EventStream }>
  /**
   * Joins a run. For a run that has ended, streams the kept events after the last one that the client has. If the
   * stream with which a client created the run broke off before anything was sent, the client has no event id from
   * which to resume. Its next join without an id then begins where the first stream began.
   */
  joinRun(call: Call, thread_id: string | null, run_id: string, joining: Joining): Promise<EventStream>
  /** Streams all runs of a thread, present and future, until the thread is deleted. */
  joinThread(
    call: Call,
    thread_id: string,
    joining: { from: StreamStart; modes: readonly ThreadMode[]; gone: AbortSignal },
  ): Promise<EventStream>
  /**
   * Events of protocol v2 of all runs of a thread, until the thread is deleted; none while it does not exist, but for
   * those of a stateless run of this caller that ended less than ten minutes ago. Before the first event is sent,
   * `mayRead` is called, for such a run with its id; if it rejects, the stream ends without events.
   */
  followThread(
    call: Call,
    thread_id: string,
    following: Following & { gone: AbortSignal; mayRead?: (ended?: string) => Promise<unknown> },
  ): Promise<ProtocolStream>
  /** The highest `seq` that an event of the thread has; 0 when it has none. */
  lastSeq(call: Call, thread_id: string): Promise<number>
  /** Aborts when `close` is called. */
  readonly closing: AbortSignal
  /** Ends all present and future streams with `shutting_down`. */
  close(): void
}
