import type { Stamp } from './id.ts'
import type { EventDraft, RunLease, ThreadRef } from './event-log.ts'

/**
 * Events that were appended together. Their ids are `<ms>-<seq>`, `<ms>-<seq + 1>`, …. Positions count the
 * events of a thread from 0 and are never reused.
 */
export interface EventChunk {
  position: number
  /** Characters of data in all earlier events of the thread. */
  offset: number
  ms: number
  /** Sequence number of the first event. */
  seq: number
  items: readonly EventDraft[]
}

/**
 * Events to append to a thread's log: at most `CHUNK_EVENTS` events, and at most `CHUNK_CHARS` characters unless a
 * single event is larger.
 */
export interface Append {
  thread: ThreadRef
  items: readonly EventDraft[]
  lease: RunLease | null
}

/** A part of a thread's log at one moment. */
export interface Page {
  /**
   * Chunks in order, beginning with the one that contains the event after the requested one; empty if there is no such
   * event.
   */
  chunks: EventChunk[]
  /** Number of all events that the thread ever had. */
  total: number
  /** The newest event that the thread ever had. */
  last: Stamp
  /** The newest deleted event; `[0, -1]` if none was deleted. */
  forgotten: Stamp
}

/** Limits of stored events, per thread and in total. */
export interface EventBounds {
  events: number
  /** Characters of data. */
  chars: number
  /** Maximum age in milliseconds. */
  age_ms: number
  /** Characters of data of all threads together; the oldest events are deleted first. */
  total_chars: number
}

/** Maximum number of events in a chunk. */
export const CHUNK_EVENTS = 500
export const CHUNK_CHARS = 1 << 18

/**
 * Stores the events of threads. Ids and positions of a thread increase in the order in which its appends become
 * visible, so that a reader never finds an event that is older than one it has read (D-44).
 */
export interface EventStore {
  /**
   * Commits all appends together, in order; the result has null for those whose lease is lost. The events are
   * durable when it resolves. @throws AppError store_unavailable, after which the result is unknown. After
   * any other error nothing was stored.
   */
  append(appends: readonly Append[]): Promise<(EventChunk | null)[]>
  /** The events after `after`: some hundred events, or some hundred kB. Undefined for a thread without a log. */
  page(thread: ThreadRef, after: Stamp): Promise<Page | undefined>
  /** @throws AppError store_unavailable while the store accepts no appends for this thread */
  check(thread: ThreadRef): Promise<void>
  drop(thread: ThreadRef): Promise<void>
  /** Deletes events beyond the limits, oldest first, of one thread or of all (null). */
  trim(thread: ThreadRef | null): Promise<void>
  /** Calls the listener for threads whose log another process has changed. */
  listen(listener: (change: LogChange) => void): void
  close(): Promise<void>
}

/** A change of logs by another process. */
export type LogChange =
  | { kind: 'appended' | 'dropped'; thread: ThreadRef }
  /** Changes may have been missed, so any log may have changed. */
  | { kind: 'missed' }
