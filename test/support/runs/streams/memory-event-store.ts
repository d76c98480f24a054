import type { Clock } from '../../../../src/base/clock.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { createMetrics } from '../../../../src/base/metrics.ts'
import { createEventLog, type OpenEventLog } from '../../../../src/events/create-event-log.ts'
import { LOG_START, isBefore, type Stamp } from '../../../../src/events/id.ts'
import type { EventDraft, ThreadRef } from '../../../../src/events/event-log.ts'
import {
  CHUNK_CHARS,
  CHUNK_EVENTS,
  type EventChunk,
  type EventBounds,
  type EventStore,
} from '../../../../src/events/event-store.ts'

interface MemoryLog {
  chunks: EventChunk[]
  total: number
  chars: number
  last: Stamp
  forgotten: Stamp
}

/**
 * Stores events in memory, for tests and as the fastest possible store in measurements. Leases are not checked, because
 * only one process writes.
 */
export function createMemoryEventStore(clock: Clock, bounds: EventBounds): EventStore {
  const logs = new Map<string, MemoryLog>()

  function append(thread: ThreadRef, items: readonly EventDraft[]): EventChunk {
    const key = keyOf(thread)
    const log = logs.get(key) ?? { chunks: [], total: 0, chars: 0, last: LOG_START, forgotten: LOG_START }
    logs.set(key, log)
    const now = clock.now()
    const [lastMs, lastSeq] = log.last
    const [ms, seq] = now > lastMs ? [now, 0] : [lastMs, lastSeq + 1]
    const chunk = { position: log.total, offset: log.chars, ms, seq, items }
    log.chunks.push(chunk)
    log.total += items.length
    log.chars += charsOf(chunk)
    log.last = lastOf(chunk)
    return chunk
  }

  function trim(log: MemoryLog): void {
    const oldest = { position: log.total - bounds.events, offset: log.chars - bounds.chars }
    const since = clock.now() - bounds.age_ms
    const kept = log.chunks.findIndex(
      ({ position, offset, ms }) => position >= oldest.position && offset >= oldest.offset && ms >= since,
    )
    const gone = log.chunks.splice(0, kept < 0 ? log.chunks.length : kept)
    const last = gone.at(-1)
    if (last !== undefined) log.forgotten = lastOf(last)
  }

  return {
    append: async (appends) => appends.map(({ thread, items }) => append(thread, items)),
    async page(thread, after) {
      const log = logs.get(keyOf(thread))
      if (log === undefined) return undefined
      const { chunks, total, last, forgotten } = log
      return { chunks: pageOf(chunks, after), total, last, forgotten }
    },
    check: async () => undefined,
    async drop(thread) {
      logs.delete(keyOf(thread))
    },
    async trim(thread) {
      if (thread === null) {
        for (const log of logs.values()) trim(log)
        trimTotal(logs, bounds.total_chars)
      }
      const log = thread && logs.get(keyOf(thread))
      if (log) trim(log)
    },
    listen: () => undefined,
    close: async () => undefined,
  }
}

/** Deletes the oldest events of all threads until the rest is at most `max_chars` long. */
function trimTotal(logs: ReadonlyMap<string, MemoryLog>, max_chars: number): void {
  const all = [...logs.values()].flatMap((log) => log.chunks.map((chunk) => ({ log, chunk })))
  let excess = all.reduce((sum, { chunk }) => sum + charsOf(chunk), 0) - max_chars
  for (const { log, chunk } of all.toSorted((a, b) => a.chunk.ms - b.chunk.ms)) {
    if (excess <= 0) return
    excess -= charsOf(chunk)
    log.chunks.splice(log.chunks.indexOf(chunk), 1)
    log.forgotten = lastOf(chunk)
  }
}

function keyOf({ deployment_id, thread_id }: ThreadRef): string {
  return `${deployment_id}/${thread_id}`
}

function charsOf({ items }: EventChunk): number {
  return items.reduce((sum, { data }) => sum + data.length, 0)
}

function lastOf({ ms, seq, items }: EventChunk): Stamp {
  return [ms, seq + items.length - 1]
}

function pageOf(chunks: readonly EventChunk[], after: Stamp): EventChunk[] {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >> 1
    const chunk = chunks[middle]
    if (chunk !== undefined && isBefore(after, lastOf(chunk))) high = middle
    else low = middle + 1
  }
  const page: EventChunk[] = []
  let events = 0
  let chars = 0
  for (let index = low; index < chunks.length && events < CHUNK_EVENTS && chars < CHUNK_CHARS; index++) {
    const chunk = chunks[index]
    if (chunk === undefined) break
    page.push(chunk)
    events += chunk.items.length
    chars += charsOf(chunk)
  }
  return page
}

const BOUNDS: EventBounds = { events: 20_000, chars: 8 << 20, age_ms: 120_000, total_chars: 1e12 }

/** An event log in memory, for tests: nothing survives, leases are not checked. */
export function createMemoryEventLog(clock: Clock, bounds: EventBounds = BOUNDS): OpenEventLog {
  const store = createMemoryEventStore(clock, bounds)
  return createEventLog({ store, logger: createLogger({ level: 'silent' }), metrics: createMetrics() })
}
