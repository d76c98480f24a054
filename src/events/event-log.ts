/** Whose log: ids of threads are unique within a deployment only (D-40). */
export interface ThreadRef {
  workspace_id: string
  deployment_id: string
  thread_id: string
}

/** An event to be kept. `data` is JSON text, ready to be sent. */
export interface EventDraft {
  run_id: string | null
  /** As a run stream sends it, or one of `RUN_DONE` and `STATE_UPDATE` (views.ts). */
  event: string
  data: string
}

/** One event of a thread's log. */
export interface StoredEvent extends EventDraft {
  /** `<ms>-<seq>`, unique and strictly rising within the thread. */
  id: string
}

/** The right to write for a run (D-44). Tokens of a run's later attempts win over those of earlier ones. */
export interface RunLease {
  run_id: string
  token: string
  attempt: number
}

/** Something between what was asked for and what follows is no longer kept (D-48). */
export interface Gap {
  gap: { requested: string; oldest: string | null }
}

/** What a reader gets at a time. */
export type Batch = readonly (StoredEvent | Gap)[]

/** Where a reader begins: after an id, with the oldest kept, or with what comes next. */
export type ReadFrom = { after: string } | 'start' | 'now'

/**
 * Append-only, one log per thread, totally ordered. A reader from X gets every event after X exactly once, in order,
 * until its signal ends. Events are durable before any reader has them (D-43).
 */
export interface EventLog {
  /** Resolves with the ids when durable. Null for `lease`: not of a run. `lost`: the lease is gone, what was not kept never will be. */
  append(thread: ThreadRef, items: readonly EventDraft[], lease: RunLease | null): Promise<string[] | 'lost'>
  /**
   * Everything that is there at once, as one batch, which is never empty and never large; every reader gets the same
   * object for an event that is new. A gap is a batch of its own, whenever what should follow is no longer kept. `now`
   * is the moment of this call. A reader is a place in the log: it holds nothing while it waits, nor when it is slow,
   * and is given up by ending its signal, in any case.
   * @throws AppError invalid_request for an id that is none
   */
  read(thread: ThreadRef, from: ReadFrom, signal: AbortSignal): AsyncIterable<Batch>
  /** Id of the youngest event that was appended, kept or forgotten: a place to begin after. Null when none is known. */
  last(thread: ThreadRef): Promise<string | null>
  /** @throws AppError store_unavailable while nothing can be appended for this thread */
  check(thread: ThreadRef): Promise<void>
  /** Forgets a thread's events and ends its readers. */
  drop(thread: ThreadRef): Promise<void>
}
