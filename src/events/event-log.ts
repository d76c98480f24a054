/** Identifies a thread: thread ids are unique only within a deployment (D-40). */
export interface ThreadRef {
  workspace_id: string
  deployment_id: string
  thread_id: string
}

/** An event to store. `data` is JSON text. */
export interface EventDraft {
  run_id: string | null
  /** The event name of the run's stream, or `RUN_DONE` or `STATE_UPDATE` (views.ts). */
  event: string
  data: string
}

export interface StoredEvent extends EventDraft {
  /** `<ms>-<seq>`, unique and strictly increasing within the thread. */
  id: string
  /** Number of the thread's events before this one, including those that are no longer kept. */
  position: number
}

/** The right to write for a run (D-44). Tokens of a run's later attempts replace those of earlier ones. */
export interface RunLease {
  run_id: string
  token: string
  attempt: number
}

/** An item of a stream in place of requested events that are no longer kept (D-48). */
export interface Gap {
  gap: { requested: string; oldest: string | null }
}

/** Events that a reader receives together. */
export type Batch = readonly (StoredEvent | Gap)[]

/** The position at which a reader begins: after an id, or at the oldest kept event. */
export type ReadFrom = { after: string } | 'start'

/**
 * Append-only, one log per thread, totally ordered. A reader from X gets every event after X exactly once, in order,
 * until its signal aborts. Events are durable before any reader receives them (D-43).
 */
export interface EventLog {
  /**
   * Appends events; resolves with their ids when they are durable. `lease` is null for events that belong to no run.
   * Resolves with `lost` if the lease is lost; the events not yet stored are then never stored.
   */
  append(thread: ThreadRef, items: readonly EventDraft[], lease: RunLease | null): Promise<string[] | 'lost'>
  /**
   * Yields all available events as one batch, never empty and never large; every reader gets the same object for a new
   * event. If the next events are no longer stored, yields a gap as a separate batch. A reader is only a position in
   * the log, and uses no memory while it waits or is slow. It ends only when its signal aborts, so the caller must
   * always abort the signal.
   * @throws AppError invalid_request for an invalid id
   */
  read(thread: ThreadRef, from: ReadFrom, signal: AbortSignal): AsyncIterable<Batch>
  /**
   * Id of the newest appended event, even if it was deleted since; a position after which a reader can begin. Null if
   * none is known.
   */
  last(thread: ThreadRef): Promise<string | null>
  /** Number of all events that the thread ever had, which is the position of the next event. */
  total(thread: ThreadRef): Promise<number>
  /** @throws AppError store_unavailable while the store accepts no appends for this thread */
  check(thread: ThreadRef): Promise<void>
  /** Deletes a thread's events and ends its readers. */
  drop(thread: ThreadRef): Promise<void>
}
