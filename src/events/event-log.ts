/** Whose log: ids of threads are unique within a deployment only (D-40). */
export interface ThreadRef {
  workspace_id: string
  deployment_id: string
  thread_id: string
}

/** One event of a thread's log. `data` is JSON text, ready to be sent. */
export interface StoredEvent {
  /** `<ms>-<seq>`, unique and strictly rising within the thread. */
  id: string
  run_id: string | null
  /** As a run stream sends it, or one of `RUN_DONE` and `STATE_UPDATE` (views.ts). */
  event: string
  data: string
}

/** Something between what was asked for and what follows is no longer kept (D-48). */
export interface Gap {
  gap: { requested: string; oldest: string | null }
}

/** Where a reader begins: after an id, with the oldest kept, or with what comes next. */
export type ReadFrom = { after: string } | 'start' | 'now'

/**
 * Append-only, one log per thread, totally ordered. A reader from X gets every event after X exactly once, in order,
 * until its signal ends. Events are durable before any reader has them (D-43).
 */
export interface EventLog {
  /** Resolves with the ids when durable. Null for `lease`: not of a run. `lost`: the lease is gone, nothing was kept. */
  append(
    thread: ThreadRef,
    items: readonly { event: string; data: string; run_id: string | null }[],
    lease: { run_id: string; token: string } | null,
  ): Promise<string[] | 'lost'>
  /**
   * `gap` whenever what should follow is no longer kept. `now` is the moment of this call. A reader is given up by
   * ending its signal, in any case.
   * @throws AppError invalid_request for an id that is none
   */
  read(thread: ThreadRef, from: ReadFrom, signal: AbortSignal): AsyncIterable<StoredEvent | Gap>
  /** Forgets a thread's events and ends its readers. */
  drop(thread: ThreadRef): Promise<void>
}
