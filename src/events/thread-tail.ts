import { LOG_START, formatEventId, isBefore, type Stamp } from './id.ts'
import type { StoredEvent } from './event-log.ts'
import { CHUNK_CHARS, CHUNK_EVENTS, type EventChunk } from './event-store.ts'

/**
 * Maximum number of events kept for slow readers; above the size of a commit, so that a fast reader never reads from
 * the store.
 */
const MAX_EVENTS = 5000
const MAX_CHARS = 4 << 20

/**
 * The latest events of a thread's log, shared by the readers of this process. It exists while there are readers, and is
 * empty while all of them wait. An event is kept until every reader has received it, or there are too many events.
 */
export class ThreadTail {
  readonly events: StoredEvent[] = []
  /** Position of `events[0]`; undefined until the position of the thread's end is known. */
  #base: number | undefined
  #last: Stamp = LOG_START
  #chars = 0
  /** Called when the number of characters in the tail changes, with the difference. */
  readonly #holds: (chars: number) => void
  readonly #waiting = new Set<() => void>()
  readers = 0
  /** True if no further events follow, because the log was deleted. */
  dropped = false
  /** Number of times that the log has lost its last events. After each loss, earlier positions are no longer valid. */
  losses = 0

  constructor(holds: (chars: number) => void) {
    this.#holds = holds
  }

  /** Position after the last event; undefined until it is known. */
  get end(): number | undefined {
    return this.#base === undefined ? undefined : this.#base + this.events.length
  }

  /** Id of the last known event. */
  get last(): Stamp {
    return this.#last
  }

  /** Sets the position of a new tail. The position is the end of the thread, read after the tail was created. */
  meet(total: number, last: Stamp): void {
    if (this.#base === undefined) this.#begin(total, last)
  }

  /** Continues at a later position, because the events in between are no longer kept. */
  skipTo(position: number, before: Stamp): void {
    this.clear()
    this.#base = position
    this.#last = before
    this.wake()
  }

  /** Adds committed events; returns false if earlier ones are missing. */
  take({ position, ms, seq, items }: EventChunk): boolean {
    if (this.#base === undefined) this.#begin(position, [ms, seq - 1])
    // New events have old positions, so the store has lost events. This happens when a Redis fails over or crashes.
    if (position < (this.end ?? 0) && isBefore(this.#last, [ms, seq])) {
      this.losses++
      this.skipTo(position, [ms, seq - 1])
    }
    const known = (this.end ?? 0) - position
    if (known < 0) return false
    if (known >= items.length) return true
    for (const [index, { run_id, event, data }] of items.entries()) {
      if (index < known) continue
      this.events.push({
        id: formatEventId(ms, seq + index),
        position: position + index,
        run_id,
        event,
        data,
      })
      this.#count(data.length)
    }
    this.#last = [ms, seq + items.length - 1]
    if (this.events.length > MAX_EVENTS || this.#chars > MAX_CHARS) this.#forget(this.events.length >> 1)
    this.wake()
    return true
  }

  /**
   * Position after the event with this id if it is the last event; undefined if the position must be read from the
   * store.
   */
  positionAfter([ms, seq]: Stamp): number | undefined {
    return ms === this.#last[0] && seq === this.#last[1] ? this.end : undefined
  }

  /** The events from `position` on that fit into a batch; undefined if they are no longer in the tail. */
  batchAt(position: number): readonly StoredEvent[] | undefined {
    if (this.#base === undefined || position < this.#base) return undefined
    const from = position - this.#base
    let to = from
    for (let chars = 0; to < this.events.length && to - from < CHUNK_EVENTS; to++) {
      chars += this.events[to]?.data.length ?? 0
      if (chars > CHUNK_CHARS && to > from) break
    }
    return this.events.slice(from, to)
  }

  more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    if (this.#waiting.size >= this.readers) this.#forget(this.events.length)
    return promise
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  /** Removes the events that are kept for slow readers. */
  clear(): void {
    this.#forget(this.events.length)
  }

  #begin(position: number, before: Stamp): void {
    this.#base = position
    this.#last = before
  }

  #forget(count: number): void {
    if (count === 0 || this.#base === undefined) return
    const gone = this.events.splice(0, count)
    this.#base += gone.length
    for (const { data } of gone) this.#count(-data.length)
  }

  #count(chars: number): void {
    this.#chars += chars
    this.#holds(chars)
  }
}
