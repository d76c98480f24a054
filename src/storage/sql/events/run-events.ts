import type { Clock } from '../../../base/clock.ts'
import type { EventDraft, ThreadRef } from '../../../events/event-log.ts'
import type { EventChunk } from '../../../events/event-store.ts'
import type { TxSession } from '../driver/database.ts'
import { appendEvents } from './rows.ts'
import type { EventWire } from './event-store.ts'
import { KEY, keyValues } from '../runs/rows.ts'

/**
 * Events that are stored in the same transaction as the change of runs that they report, so that a crash
 * keeps both or neither.
 */
export interface RunEvents {
  /**
   * Stores events in the transaction of the change; returns a function that must be called after the commit and never
   * throws.
   */
  write(session: TxSession, thread: ThreadRef, items: readonly EventDraft[]): Promise<() => void>
  /**
   * Must be called when the thread is deleted. Its log is deleted some minutes later, so that clients can read its end.
   */
  retire(session: TxSession, thread: ThreadRef): Promise<() => void>
}

export interface RunEventsParts {
  clock: Clock
  wire: EventWire | undefined
  /** Delivers the events to the readers in this process. */
  committed(thread: ThreadRef, chunk: EventChunk): void
}

/** Writes events directly to a log in the database of runs. */
export function createRunEvents({ clock, wire, committed }: RunEventsParts): RunEvents {
  return {
    async write(session, thread, items) {
      const chunks = await appendEvents(session, [{ thread, items }], clock.now())
      wire?.notify(session, 'appended', [thread])
      return () => {
        for (const chunk of chunks) committed(thread, chunk)
      }
    },
    async retire(session, thread) {
      session.send(`UPDATE event_logs SET retired_at = ? WHERE ${KEY}`, [clock.now(), ...keyValues(thread)])
      return () => undefined
    },
  }
}
