import { BEGINNING, formatEventId, type Stamp } from './event-id.ts'
import type { StoredEvent } from './event-log.ts'
import { CHUNK_CHARS, CHUNK_EVENTS, type Chunk } from './event-store.ts'

/** What is kept for readers that are behind: more than one commit brings, so that who keeps up never needs the store. */
const MAX_EVENTS = 5000
const MAX_CHARS = 4 << 20

/**
 * The end of a thread's log as the readers of this process share it. It is there while there are readers, and empty
 * while all of them wait: an event stays until everybody has it, or until it is one of too many.
 */
export class ThreadTail {
  readonly events: StoredEvent[] = []
  /** Position of `events[0]`; undefined until the place of the thread's end is known. */
  #base: number | undefined
  #last: Stamp = BEGINNING
  /** Where it began to listen. */
  #first: { position: number; before: Stamp } = { position: 0, before: BEGINNING }
  #chars = 0
  /** Tells what it holds, in characters, by difference. */
  readonly #holds: (chars: number) => void
  readonly #waiting = new Set<() => void>()
  readers = 0
  /** Nothing more comes: who has read what is here has read everything. */
  dropped = false

  constructor(holds: (chars: number) => void) {
    this.#holds = holds
  }

  /** Position after the last event; undefined until it is known. */
  get end(): number | undefined {
    return this.#base === undefined ? undefined : this.#base + this.events.length
  }

  /** Id of the last event that is known. */
  get last(): Stamp {
    return this.#last
  }

  /** Where it began to listen: the position after the event `before`. */
  get first(): { position: number; before: Stamp } {
    return this.#first
  }

  /** Learns where the thread's end was at some moment since it listens. */
  meet(total: number, last: Stamp): void {
    if (this.#base === undefined) this.#begin(total, last)
  }

  /** Goes on after a place that it has not reached: what is between is no longer kept. */
  skipTo(position: number, before: Stamp): void {
    this.clear()
    this.#base = position
    this.#last = before
    this.wake()
  }

  /** Takes events that have been committed; false when some before them are missing. */
  take({ position, ms, seq, items }: Chunk): boolean {
    if (this.#base === undefined) this.#begin(position, [ms, seq - 1])
    const known = (this.end ?? 0) - position
    if (known < 0) return false
    if (known >= items.length) return true
    for (const [index, { run_id, event, data }] of items.entries()) {
      if (index < known) continue
      this.events.push({ id: formatEventId(ms, seq + index), run_id, event, data })
      this.#count(data.length)
    }
    this.#last = [ms, seq + items.length - 1]
    if (this.events.length > MAX_EVENTS || this.#chars > MAX_CHARS) this.#forget(this.events.length >> 1)
    this.wake()
    return true
  }

  /** Position after event `stamp` if that is the last one; undefined: the store has to say. */
  positionAfter([ms, seq]: Stamp): number | undefined {
    return ms === this.#last[0] && seq === this.#last[1] ? this.end : undefined
  }

  /** What there is from `position` on, as far as it fits into a batch; undefined: it is no longer here. */
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

  /** Resolves when there may be more. */
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

  /** Lets go of what it holds for readers that are behind. */
  clear(): void {
    this.#forget(this.events.length)
  }

  #begin(position: number, before: Stamp): void {
    this.#base = position
    this.#last = before
    this.#first = { position, before }
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
