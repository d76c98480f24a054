import type { Stamp } from './event-id.ts'
import type { EventDraft, RunLease, ThreadRef } from './event-log.ts'

/**
 * Events that came together: their ids are `<ms>-<seq>`, `<ms>-<seq + 1>`, …; positions count a thread's events from 0
 * and are never used again.
 */
export interface Chunk {
  position: number
  /** Characters of data in all of the thread's events before. */
  offset: number
  ms: number
  /** Of the first event. */
  seq: number
  items: readonly EventDraft[]
}

/** Events to be appended to a thread's log, at most `CHUNK_EVENTS` and `CHUNK_CHARS` (one event may be larger). */
export interface Append {
  thread: ThreadRef
  items: readonly EventDraft[]
  lease: RunLease | null
}

/** A part of a thread's log, as it was at one moment. */
export interface Page {
  /** The first chunks that end after what was asked for, in order; none: there is nothing after it. */
  chunks: Chunk[]
  /** How many events the thread ever had. */
  total: number
  /** The youngest event that ever was. */
  last: Stamp
  /** The youngest event that is no longer kept; `[0, -1]` when all are. */
  forgotten: Stamp
}

/** How much is kept of each thread, and of all; what comes first applies. */
export interface EventBounds {
  events: number
  /** Characters of data. */
  chars: number
  /** Milliseconds. */
  age_ms: number
  /** Characters of data of all threads together: the oldest are forgotten first. */
  total_chars: number
}

/** What a chunk holds at most. */
export const CHUNK_EVENTS = 500
export const CHUNK_CHARS = 1 << 18

/**
 * Keeps the events of threads. Ids and positions of a thread rise in the order in which its appends become visible:
 * who has seen an event never meets an older one later (D-44).
 */
export interface EventStore {
  /**
   * Commits all together, in order; null for those whose lease is gone. Durable when it resolves.
   * @throws AppError store_unavailable; then nothing is kept, or nobody knows what; any other error: nothing is
   */
  append(appends: readonly Append[]): Promise<(Chunk | null)[]>
  /** The part after `after`, some hundred events or kB of it. Undefined for a thread that has no log. */
  page(thread: ThreadRef, after: Stamp): Promise<Page | undefined>
  /** @throws AppError store_unavailable while nothing can be appended for this thread */
  check(thread: ThreadRef): Promise<void>
  /** Deletes a thread's log. */
  drop(thread: ThreadRef): Promise<void>
  /** Forgets what is beyond the bounds, of this thread or else of all that may have something to forget, oldest first. */
  trim(thread: ThreadRef | null): Promise<void>
  /** Hears of threads whose log others have changed. */
  listen(hear: (change: LogChange) => void): void
  close(): Promise<void>
}

/** What happened to logs somewhere else. */
export type LogChange =
  | { kind: 'appended' | 'dropped'; thread: ThreadRef }
  /** Nobody knows: look at everything. */
  | { kind: 'missed' }
