import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../base/log.ts'
import type { Counter, Metrics } from '../base/metrics.ts'
import { type CommitQueue, createCommitQueue } from './commit-queue.ts'
import { LOG_START, formatEventId, parseEventId, type Stamp } from './id.ts'
import type { Batch, EventLog, ReadFrom, ThreadRef } from './event-log.ts'
import type { EventChunk, EventStore, LogChange, Page } from './event-store.ts'
import { readThread } from './read-thread.ts'
import { createSharedPages, type SharedPages } from './shared-pages.ts'
import { ThreadTail } from './thread-tail.ts'
import { type LogTrimmer, trimLogs } from './trim-logs.ts'

export interface EventLogParts {
  store: EventStore
  logger: Logger
  metrics: Metrics
}

export interface OpenEventLog extends EventLog {
  /**
   * Must be called with events that were stored outside of `append`, by the transaction that ended a run. Delivers them
   * to the readers.
   */
  committed(thread: ThreadRef, chunk: EventChunk): void
  /** Waits until all appends are committed, ends the readers, and closes the store. */
  close(): Promise<void>
}

/**
 * Maximum characters of all tails together. Above it, events for slow readers are removed, and slow readers read from
 * the store.
 */
const MAX_HELD_CHARS = 64 << 20
const STORE_RETRY_MS = 250
/** A position after every event. */
const LOG_END: Stamp = [Number.MAX_SAFE_INTEGER, 0]

/**
 * The event log on top of an event store. Appends of several runs share a commit. All readers of a thread share its
 * tail, so that readers that keep up never read from the store.
 */
export function createEventLog(parts: EventLogParts): OpenEventLog {
  return new TailedEventLog(parts)
}

interface Followed {
  thread: ThreadRef
  tail: ThreadTail
  /** Whether other processes have appended events that the tail lacks. */
  stale: boolean
  fetching: boolean
  /** The read of the thread's end while it is in progress. It begins after the tail was created. */
  meeting: Promise<void> | undefined
}

class TailedEventLog implements OpenEventLog {
  readonly #store: EventStore
  readonly #logger: Logger
  /** Threads that have readers in this process. */
  readonly #followed = new Map<string, Followed>()
  readonly #queue: CommitQueue
  readonly #pages: SharedPages
  readonly #trimmer: LogTrimmer
  readonly #appended: Counter
  #readers = 0
  #held = 0
  #closed = false

  constructor({ store, logger, metrics }: EventLogParts) {
    this.#store = store
    this.#logger = logger
    this.#pages = createSharedPages(store)
    this.#queue = createCommitQueue(store, (thread, chunk) => this.committed(thread, chunk))
    this.#trimmer = trimLogs(store, logger)
    this.#appended = metrics.counter('weir_events_total', 'Events appended to the logs of threads.')
    metrics.observedGauge('weir_event_readers', 'Readers of the logs of threads.', () => this.#readers)
    metrics.observedGauge(
      'weir_event_tail_chars',
      'Characters of events held for readers that are behind.',
      () => this.#held,
    )
    store.listen((change) => this.#applyChange(change))
  }

  async append(...[thread, items, lease]: Parameters<EventLog['append']>): Promise<string[] | 'lost'> {
    const chunks = await this.#queue.add(thread, items, lease)
    if (chunks === null) return 'lost'
    return chunks.flatMap(({ ms, seq, items: some }) =>
      some.map((_item, index) => formatEventId(ms, seq + index)),
    )
  }

  committed(thread: ThreadRef, chunk: EventChunk): void {
    this.#appended.inc({}, chunk.items.length)
    this.#trimmer.note(thread, chunk)
    const followed = this.#followed.get(keyOf(thread))
    if (followed === undefined) return
    if (!followed.tail.take(chunk)) this.#fetch(followed)
    if (this.#held > MAX_HELD_CHARS) followed.tail.clear()
  }

  read(thread: ThreadRef, from: ReadFrom, signal: AbortSignal): AsyncIterable<Batch> {
    const seen = typeof from === 'object' ? parseEventId(from.after) : LOG_START
    if (signal.aborted) return nothing()
    const followed = this.#follow(thread)
    const { tail } = followed
    this.#readers++
    tail.readers++
    signal.addEventListener('abort', () => this.#leave(followed), { once: true })
    const page = (after: Stamp): Promise<Page | undefined> => this.#page(followed, after)
    return readThread(tail, { seen, position: undefined, reportsGap: from !== 'start' }, page, signal)
  }

  async last(thread: ThreadRef): Promise<string | null> {
    const page = await this.#store.page(thread, LOG_END)
    return page === undefined || page.total === 0 ? null : formatEventId(...page.last)
  }

  async total(thread: ThreadRef): Promise<number> {
    return (await this.#store.page(thread, LOG_END))?.total ?? 0
  }

  check(thread: ThreadRef): Promise<void> {
    return this.#store.check(thread)
  }

  async drop(thread: ThreadRef): Promise<void> {
    await this.#queue.settled()
    await this.#store.drop(thread)
    this.#pages.forget(thread)
    this.#end(this.#followed.get(keyOf(thread)))
  }

  async close(): Promise<void> {
    await this.#queue.settled()
    this.#closed = true
    for (const followed of this.#followed.values()) this.#end(followed)
    await this.#trimmer.stop()
    await this.#store.close()
  }

  /** Registers a reader. From now on appended events are added to the tail. */
  #follow(thread: ThreadRef): Followed {
    const key = keyOf(thread)
    const known = this.#followed.get(key)
    if (known !== undefined) return known
    const tail = new ThreadTail((chars) => {
      this.#held += chars
    })
    const followed: Followed = { thread, tail, stale: false, fetching: false, meeting: undefined }
    if (this.#closed) tail.dropped = true
    else this.#followed.set(key, followed)
    return followed
  }

  #leave(followed: Followed): void {
    const { tail, thread } = followed
    this.#readers--
    tail.readers--
    tail.wake()
    if (tail.readers > 0) return
    tail.clear()
    const key = keyOf(thread)
    if (this.#followed.get(key) === followed) this.#followed.delete(key)
  }

  #end(followed: Followed | undefined): void {
    if (followed === undefined) return
    this.#pages.forget(followed.thread)
    followed.tail.dropped = true
    this.#followed.delete(keyOf(followed.thread))
    followed.tail.wake()
  }

  /** Reads a page from the store, and the end of the thread if the tail lacks it. */
  async #page(followed: Followed, after: Stamp): Promise<Page | undefined> {
    const [page] = await Promise.all([
      this.#pages.page(followed.thread, after),
      followed.tail.end === undefined && this.#meet(followed),
    ])
    return page
  }

  /**
   * Sets the end of the thread in the tail. The end is read separately: a page that other readers have read may be
   * older than the tail, and the tail would then lack the events appended in between.
   */
  #meet(followed: Followed): Promise<void> {
    const { thread, tail } = followed
    followed.meeting ??= this.#store
      .page(thread, LOG_END)
      .then((page) => {
        tail.meet(page?.total ?? 0, page?.last ?? LOG_START)
        if (followed.stale) this.#fetch(followed)
      })
      .finally(() => (followed.meeting = undefined))
    return followed.meeting
  }

  /** Adds to the tail the events that other processes have appended. They are read once for all readers. */
  #fetch(followed: Followed): void {
    followed.stale = true
    if (followed.fetching || followed.tail.end === undefined) return
    followed.fetching = true
    void this.#fetchAll(followed).finally(() => {
      followed.fetching = false
      if (followed.stale && !followed.tail.dropped) this.#fetch(followed)
    })
  }

  async #fetchAll(followed: Followed): Promise<void> {
    const { thread, tail } = followed
    while (followed.stale && !tail.dropped && tail.readers > 0) {
      followed.stale = false
      try {
        const page = await this.#store.page(thread, tail.last)
        if (page !== undefined && takePage(tail, page)) followed.stale = true
      } catch (error) {
        this.#logger.warn({ err: error }, 'events of other processes cannot be read now')
        followed.stale = true
        await delay(STORE_RETRY_MS)
      }
    }
    followed.stale &&= tail.readers > 0
  }

  #applyChange(change: LogChange): void {
    if (change.kind === 'missed') {
      for (const followed of this.#followed.values()) this.#fetch(followed)
      return
    }
    const followed = this.#followed.get(keyOf(change.thread))
    if (followed === undefined) return
    if (change.kind === 'dropped') this.#end(followed)
    else this.#fetch(followed)
  }
}

async function* nothing(): AsyncGenerator<Batch> {
  // The reader ends at once.
}

/** Adds a page to the tail; returns whether there are more events. */
function takePage(tail: ThreadTail, { chunks, total, last }: Page): boolean {
  for (const chunk of chunks) {
    if (!tail.take(chunk)) {
      tail.skipTo(chunk.position, [chunk.ms, chunk.seq - 1])
      tail.take(chunk)
    }
  }
  const isBehind = (tail.end ?? 0) < total
  if (isBehind && chunks.length === 0) tail.skipTo(total, last)
  return isBehind && chunks.length > 0
}

function keyOf({ deployment_id, thread_id }: ThreadRef): string {
  return `${deployment_id}/${thread_id}`
}
