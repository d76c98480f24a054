import type { Clock } from '../../base/clock.ts'
import type { EventDraft, ThreadRef } from '../../events/event-log.ts'
import type { Chunk } from '../../events/event-store.ts'
import type { SqlSession } from './database.ts'
import { appendEvents } from './event-rows.ts'
import type { EventWire } from './event-store.ts'
import { KEY, keyValues } from './run-store-rows.ts'

/** Events that belong to a change of runs: they are there when it is, whenever the process dies. */
export interface RunEvents {
  /** Stores events in the transaction of the change; answers what is to be done when it has committed. Never throws later. */
  write(session: SqlSession, thread: ThreadRef, items: readonly EventDraft[]): Promise<() => void>
  /** The thread is deleted: its log is kept for a while only, for those who are still to read its end. */
  retire(session: SqlSession, thread: ThreadRef): Promise<() => void>
}

export interface RunEventsParts {
  clock: Clock
  wire: EventWire | undefined
  /** Hands the events to the readers here. */
  committed(thread: ThreadRef, chunk: Chunk): void
}

/** For a log in the database of runs: the events go straight into it. */
export function createRunEvents({ clock, wire, committed }: RunEventsParts): RunEvents {
  return {
    async write(session, thread, items) {
      const chunks = await appendEvents(session, [{ thread, items }], clock.now())
      await wire?.tell(session, 'appended', [thread])
      return () => {
        for (const chunk of chunks) committed(thread, chunk)
      }
    },
    async retire(session, thread) {
      await session.query(`UPDATE event_logs SET retired_at = ? WHERE ${KEY}`, [
        clock.now(),
        ...keyValues(thread),
      ])
      return () => undefined
    },
  }
}
