import type { Logger } from '../base/log.ts'
import type { ThreadRef } from './event-log.ts'
import type { EventChunk, EventStore } from './event-store.ts'

/** Deletes the events of growing threads beyond the limits in the background. */
export interface LogTrimmer {
  /** Called after each append; checks the thread from time to time. */
  note(thread: ThreadRef, chunk: EventChunk): void
  stop(): Promise<void>
}

/** A thread is checked after this number of new events, or after `EVERY_CHARS` characters of new events. */
const EVERY_EVENTS = 2000
const EVERY_CHARS = 4 << 20

function crosses(from: number, by: number, step: number): boolean {
  return Math.floor(from / step) < Math.floor((from + by) / step)
}

export function trimLogs(store: Pick<EventStore, 'trim'>, logger: Logger): LogTrimmer {
  const due = new Map<string, ThreadRef>()
  let trimming: Promise<void> | undefined
  let stopped = false

  async function trimDue(): Promise<void> {
    for (const [key, thread] of due) {
      due.delete(key)
      if (stopped) return
      await store
        .trim(thread)
        .catch((error: unknown) => logger.warn({ err: error }, 'old events cannot be deleted now'))
    }
  }

  return {
    note(thread, { position, offset, items }) {
      const chars = items.reduce((sum, { data }) => sum + data.length, 0)
      if (!crosses(position, items.length, EVERY_EVENTS) && !crosses(offset, chars, EVERY_CHARS)) return
      due.set(`${thread.deployment_id}/${thread.thread_id}`, thread)
      trimming ??= trimDue().finally(() => {
        trimming = undefined
      })
    },
    async stop() {
      stopped = true
      await trimming
    },
  }
}
