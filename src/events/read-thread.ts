import { BEGINNING, formatEventId, isBefore, parseEventId, type Stamp } from './event-id.ts'
import type { Gap, StoredEvent } from './event-log.ts'
import type { Chunk, Page } from './event-store.ts'
import type { ThreadTail } from './thread-tail.ts'

/** Where a reader is. */
export interface Place {
  /** The last event that it has, or is taken to have. */
  seen: Stamp
  /** Of the next event; undefined: the store has to say. */
  position: number | undefined
  /** False while it takes what is kept as all there is. */
  tellsGap: boolean
}

/** What no event ever had as id. */
const NO_EVENT: Stamp = [0, 0]
const NO_LOG: Page = { chunks: [], total: 0, last: BEGINNING, forgotten: BEGINNING }

/**
 * Follows a thread's log from a place: what its tail has from there, what the tail no longer has from the store.
 * `page` reads the store and lets the tail know of it.
 */
export async function* readThread(
  tail: ThreadTail,
  place: Place,
  page: (after: Stamp) => Promise<Page | undefined>,
  signal: AbortSignal,
): AsyncGenerator<readonly (StoredEvent | Gap)[]> {
  while (!signal.aborted) {
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

/** Moves the place behind a page; answers what there is to tell. */
function turnPage(place: Place, found: Page | undefined): { gap: Gap | undefined; events: StoredEvent[] } {
  const { chunks, total, last, forgotten } = found ?? NO_LOG
  const { seen, tellsGap } = place
  const events = chunks.flatMap((chunk) => eventsAfter(chunk, seen))
  // Without a log it is unknown whether there were events; a reader that has seen one has missed the rest.
  const hasMissed = found === undefined ? isBefore(NO_EVENT, seen) : isBefore(seen, forgotten)
  const requested = formatEventId(seen[0], Math.max(seen[1], 0))
  const gap = hasMissed && tellsGap ? { gap: { requested, oldest: events[0]?.id ?? null } } : undefined
  const lastChunk = chunks.at(-1)
  place.tellsGap = true
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

/** The events of chunks, made once for all who read the same page. */
const EVENTS = new WeakMap<Chunk, StoredEvent[]>()

function eventsAfter(chunk: Chunk, seen: Stamp): StoredEvent[] {
  const { ms, seq } = chunk
  const known = seen[0] === ms ? Math.max(0, seen[1] - seq + 1) : 0
  const events = EVENTS.get(chunk) ?? eventsOf(chunk)
  EVENTS.set(chunk, events)
  return known === 0 ? events : events.slice(known)
}

function eventsOf({ ms, seq, items }: Chunk): StoredEvent[] {
  return items.map(({ run_id, event, data }, index) => ({
    id: formatEventId(ms, seq + index),
    run_id,
    event,
    data,
  }))
}
