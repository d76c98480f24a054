import { LOG_START, formatEventId, isBefore, parseEventId, type Stamp } from './id.ts'
import type { Gap, StoredEvent } from './event-log.ts'
import type { EventChunk, Page } from './event-store.ts'
import type { ThreadTail } from './thread-tail.ts'

export interface ReadPosition {
  /** The last event that the reader has received or skipped. */
  seen: Stamp
  /** Position of the next event; undefined if the event must be read from the store. */
  position: number | undefined
  /** Whether events that are no longer kept are reported as a gap. */
  reportsGap: boolean
}

/** An id that no event ever had. */
const NO_EVENT: Stamp = [0, 0]
const NO_LOG: Page = { chunks: [], total: 0, last: LOG_START, forgotten: LOG_START }

/**
 * Reads a thread's log from a position: from the tail if possible, otherwise from the store. `page` reads the store and
 * updates the tail.
 */
export async function* readThread(
  tail: ThreadTail,
  place: ReadPosition,
  page: (after: Stamp) => Promise<Page | undefined>,
  signal: AbortSignal,
): AsyncGenerator<readonly (StoredEvent | Gap)[]> {
  let { losses } = tail
  while (!signal.aborted) {
    if (losses !== tail.losses) place.position = undefined
    losses = tail.losses
    place.position ??= tail.positionAfter(place.seen)
    const batch = place.position === undefined ? undefined : tail.batchAt(place.position)
    if (batch === undefined) {
      if (tail.dropped) return
      const { gap, events } = turnPage(place, await page(place.seen))
      if (gap !== undefined) yield [gap]
      if (events.length > 0) yield events
    } else if (batch.length > 0) {
      place.position = (place.position ?? 0) + batch.length
      place.seen = stampOf(batch)
      yield batch
    } else if (tail.dropped) return
    else await tail.more()
  }
}

/** Moves the position after a page; returns the events, or a gap. */
function turnPage(
  place: ReadPosition,
  found: Page | undefined,
): { gap: Gap | undefined; events: StoredEvent[] } {
  const { chunks, total, last, forgotten } = found ?? NO_LOG
  const { seen, reportsGap } = place
  const events = chunks.flatMap((chunk) => eventsAfter(chunk, seen))
  // Without a log, events are missing only for a reader that has already received some.
  const hasMissed = found === undefined ? isBefore(NO_EVENT, seen) : isBefore(seen, forgotten)
  const requested = formatEventId(seen[0], Math.max(seen[1], 0))
  const gap = hasMissed && reportsGap ? { gap: { requested, oldest: events[0]?.id ?? null } } : undefined
  const lastChunk = chunks.at(-1)
  place.reportsGap = true
  if (lastChunk !== undefined) {
    place.position = lastChunk.position + lastChunk.items.length
    place.seen = [lastChunk.ms, lastChunk.seq + lastChunk.items.length - 1]
  } else {
    place.position = total
    place.seen = last
  }
  return { gap, events }
}

function stampOf(batch: readonly StoredEvent[]): Stamp {
  return parseEventId(batch.at(-1)?.id ?? '')
}

/** Decoded events by chunk, shared by all readers of the same page. */
const EVENTS = new WeakMap<EventChunk, StoredEvent[]>()

function eventsAfter(chunk: EventChunk, seen: Stamp): StoredEvent[] {
  const { ms, seq } = chunk
  const known = seen[0] === ms ? Math.max(0, seen[1] - seq + 1) : 0
  const events = EVENTS.get(chunk) ?? eventsOf(chunk)
  EVENTS.set(chunk, events)
  return known === 0 ? events : events.slice(known)
}

function eventsOf({ ms, seq, position, items }: EventChunk): StoredEvent[] {
  return items.map(({ run_id, event, data }, index) => ({
    id: formatEventId(ms, seq + index),
    position: position + index,
    run_id,
    event,
    data,
  }))
}
