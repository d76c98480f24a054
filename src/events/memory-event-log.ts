import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { EventLog, Gap, ReadFrom, StoredEvent, ThreadRef } from './event-log.ts'

/** How much a log keeps; what comes first applies. */
export interface EventWindow {
  /** Events of one thread. */
  events: number
  /** Characters of data of one thread. */
  chars: number
  /** Characters of data of all threads. */
  total_chars: number
  /** Milliseconds since a thread's last event. */
  age_ms: number
}

/** What a deployment keeps in memory unless told otherwise. */
const EVENT_WINDOW: EventWindow = {
  events: 20_000,
  chars: 8 << 20,
  total_chars: 64 << 20,
  age_ms: 120_000,
}

/** What an event costs besides its data. */
const OVERHEAD = 120

/** Milliseconds and sequence number of an id. */
type Stamp = readonly [ms: number, seq: number]

interface Entry extends StoredEvent {
  stamp: Stamp
}

/** The events of one thread: `entries[0]` has position `base`. */
interface ThreadLog {
  entries: Entry[]
  base: number
  chars: number
  touched: number
  /** Of the youngest event that is no longer kept. */
  forgotten: Stamp | undefined
  readers: number
  waiting: Set<() => void>
  dropped: boolean
}

/** Where a reader begins: position of its first entry, the id before it, and what it has missed. */
interface Start {
  position: number
  seen: string
  gap: Gap | undefined
}

const BEGINNING = '0-0'
const ID = /^(\d{1,15})-(\d{1,15})$/

/**
 * An event log in memory: for tests, and for deployments whose events need not survive a restart. Nothing is fenced:
 * one process writes. Ids rise over all threads; a thread whose events have been forgotten gives a `gap` for any id.
 */
export function createMemoryEventLog(clock: Clock, window: EventWindow = EVENT_WINDOW): EventLog {
  return new MemoryEventLog(clock, window)
}

class MemoryEventLog implements EventLog {
  readonly #clock: Clock
  readonly #window: EventWindow
  /** In order of the last append, so that the first one is the next to be forgotten. */
  readonly #threads = new Map<string, ThreadLog>()
  #total = 0
  #last: Stamp = [0, -1]

  constructor(clock: Clock, window: EventWindow) {
    this.#clock = clock
    this.#window = window
  }

  async append(thread: ThreadRef, items: readonly Omit<StoredEvent, 'id'>[]): Promise<string[]> {
    const key = keyOf(thread)
    const log = this.#open(key)
    const ids = items.map((item) => this.#add(log, item))
    log.touched = this.#clock.now()
    this.#threads.delete(key)
    this.#threads.set(key, log)
    this.#trim(log)
    this.#forgetOld(log)
    tellReaders(log)
    return ids
  }

  read(thread: ThreadRef, from: ReadFrom, signal: AbortSignal): AsyncIterable<StoredEvent | Gap> {
    const log = this.#open(keyOf(thread))
    const start = beginAt(log, from)
    log.readers++
    signal.addEventListener('abort', () => log.readers--, { once: true })
    return follow(log, start, signal)
  }

  async drop(thread: ThreadRef): Promise<void> {
    const key = keyOf(thread)
    const log = this.#threads.get(key)
    if (log === undefined) return
    this.#forget(log, log.entries.length)
    log.dropped = true
    this.#threads.delete(key)
    tellReaders(log)
  }

  #open(key: string): ThreadLog {
    const known = this.#threads.get(key)
    if (known !== undefined) return known
    const log: ThreadLog = {
      entries: [],
      base: 0,
      chars: 0,
      touched: this.#clock.now(),
      forgotten: undefined,
      readers: 0,
      waiting: new Set(),
      dropped: false,
    }
    this.#threads.set(key, log)
    return log
  }

  #add(log: ThreadLog, { event, data, run_id }: Omit<StoredEvent, 'id'>): string {
    const ms = Math.max(this.#clock.now(), this.#last[0])
    const stamp: Stamp = [ms, ms === this.#last[0] ? this.#last[1] + 1 : 0]
    this.#last = stamp
    const id = `${stamp[0]}-${stamp[1]}`
    log.entries.push({ id, run_id, event, data, stamp })
    log.chars += data.length + OVERHEAD
    this.#total += data.length + OVERHEAD
    return id
  }

  #forget(log: ThreadLog, count: number): void {
    const gone = log.entries.splice(0, count)
    log.base += gone.length
    log.forgotten = gone.at(-1)?.stamp ?? log.forgotten
    const chars = gone.reduce((sum, entry) => sum + entry.data.length + OVERHEAD, 0)
    log.chars -= chars
    this.#total -= chars
  }

  /** Takes a quarter at a time, so that a full thread does not shift its entries at every append. */
  #trim(log: ThreadLog): void {
    const { events, chars } = this.#window
    while (log.entries.length > events || (log.chars > chars && log.entries.length > 1)) {
      this.#forget(log, Math.ceil(log.entries.length / 4))
    }
  }

  /** Makes room, and forgets what is old; never what has just come to `current`. */
  #forgetOld(current: ThreadLog): void {
    const now = this.#clock.now()
    const { total_chars, age_ms } = this.#window
    for (const [key, log] of this.#threads) {
      if (log === current || (this.#total <= total_chars && now - log.touched <= age_ms)) return
      this.#forget(log, log.entries.length)
      this.#threads.delete(key)
      if (log.readers === 0) continue
      log.touched = now
      this.#threads.set(key, log)
    }
  }
}

async function* follow(log: ThreadLog, start: Start, signal: AbortSignal): AsyncGenerator<StoredEvent | Gap> {
  let { position, seen } = start
  if (start.gap !== undefined) yield start.gap
  while (!signal.aborted && !log.dropped) {
    if (position < log.base) {
      yield { gap: { requested: seen, oldest: log.entries[0]?.id ?? null } }
      position = log.base
    }
    const entry = log.entries[position - log.base]
    if (entry === undefined) await more(log, signal)
    else {
      position++
      seen = entry.id
      yield { id: entry.id, run_id: entry.run_id, event: entry.event, data: entry.data }
    }
  }
}

/** @throws AppError invalid_request for an id that is none */
function beginAt(log: ThreadLog, from: ReadFrom): Start {
  if (from === 'start') return { position: log.base, seen: BEGINNING, gap: undefined }
  if (from === 'now') return { position: log.base + log.entries.length, seen: BEGINNING, gap: undefined }
  const { after } = from
  const stamp = parseId(after)
  const first = log.entries[0]
  // Where nothing is known of what was forgotten, an id older than all that is kept may have had successors.
  const hasMissed =
    log.forgotten === undefined
      ? first === undefined || isBefore(stamp, first.stamp)
      : isBefore(stamp, log.forgotten)
  const gap = hasMissed ? { gap: { requested: after, oldest: first?.id ?? null } } : undefined
  return { position: positionAfter(log, stamp), seen: after, gap }
}

/** @throws AppError invalid_request */
function parseId(id: string): Stamp {
  const match = ID.exec(id)
  if (match === null) throw new AppError('invalid_request', { message: `"${id}" is not an event id.` })
  return [Number(match[1]), Number(match[2])]
}

function isBefore(a: Stamp, b: Stamp): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])
}

/** Position of the first entry after `stamp`, by bisection. */
function positionAfter(log: ThreadLog, stamp: Stamp): number {
  let low = 0
  let high = log.entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    const entry = log.entries[middle]
    if (entry !== undefined && isBefore(stamp, entry.stamp)) high = middle
    else low = middle + 1
  }
  return log.base + low
}

/** Resolves when the thread has more, is dropped, or `signal` ends. */
function more(log: ThreadLog, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      log.waiting.delete(done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    log.waiting.add(done)
    signal.addEventListener('abort', done)
  })
}

function keyOf({ deployment_id, thread_id }: ThreadRef): string {
  return `${deployment_id}/${thread_id}`
}

function tellReaders(log: ThreadLog): void {
  for (const wake of [...log.waiting]) wake()
}
