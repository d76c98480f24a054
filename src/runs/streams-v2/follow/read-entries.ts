import type { EventLog, StoredEvent, ThreadRef } from '../../../events/event-log.ts'
import { isAfter } from '../../../events/id.ts'

/** The position before every entry. A reader that begins there gets a gap if some entries are no longer kept. */
export const BEFORE_ALL = { after: '0-1' }

/** Calls `each` for the kept entries after the id `after`, up to the id `last` of an existing entry. */
export async function readEntries(
  events: Pick<EventLog, 'read'>,
  thread: ThreadRef,
  { after, last }: { after: string; last: string },
  each: (entry: StoredEvent) => void,
): Promise<void> {
  if (!isAfter(last, after)) return
  const reading = new AbortController()
  try {
    for await (const batch of events.read(thread, { after }, reading.signal)) {
      for (const entry of batch) {
        if ('gap' in entry) {
          if (entry.gap.oldest === null) return
          continue
        }
        if (isAfter(entry.id, last)) return
        each(entry)
        if (entry.id === last) return
      }
    }
  } finally {
    reading.abort()
  }
}
