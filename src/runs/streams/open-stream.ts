import { AppError } from '../../base/errors.ts'
import { isAfter } from '../../events/id.ts'
import type { Batch, EventLog, Gap, ReadFrom, StoredEvent, ThreadRef } from '../../events/event-log.ts'
import type { View } from '../../events/views.ts'
import { v1Entry } from '../streams-v2/v1-entry.ts'
import type { EventStream, StreamStart } from './streams.ts'

/** The position and filter of a stream. */
export interface StreamPlan {
  thread: ThreadRef
  from: ReadFrom
  view: View
  /** Leaves out a gap before the first event. */
  hides_first_gap?: boolean
  /** True for the last item; null for streams without an end. */
  isLast: ((item: StoredEvent | Gap) => boolean) | null
  /**
   * Called after a gap, because the last item may be in the gap. Resolves with the id after which no events follow, if
   * known.
   */
  bound?: () => Promise<string | undefined>
  /** Milliseconds after which the stream always ends. */
  ends_after?: number
  gone: AbortSignal
}

/** All open streams, so that a stop can end them together. */
export interface OpenStreams {
  open(plan: StreamPlan): EventStream
  /**
   * Adds a stream that is not read through `open`. `close` of the result removes the stream. @throws AppError
   * shutting_down
   */
  enter(gone: AbortSignal): { signal: AbortSignal; isClosed(): boolean; close(): void }
  /** @throws AppError shutting_down when `close` was called */
  assertOpen(): void
  /** Aborts when `close` is called. */
  readonly closing: AbortSignal
  close(): void
}

/** Before every event. Unlike `start`, it reports a gap when events were deleted. */
export const BEFORE_ALL: ReadFrom = { after: '0-1' }

export function createOpenStreams(events: EventLog): OpenStreams {
  const open = new Set<AbortController>()
  const closing = new AbortController()

  function assertOpen(): void {
    if (closing.signal.aborted) throw new AppError('shutting_down')
  }

  function enter(gone: AbortSignal): { signal: AbortSignal; isClosed(): boolean; close(): void } {
    assertOpen()
    const reading = new AbortController()
    const end = (): void => reading.abort()
    open.add(reading)
    if (gone.aborted) end()
    else gone.addEventListener('abort', end, { once: true })
    const close = (): void => {
      open.delete(reading)
      gone.removeEventListener('abort', end)
      end()
    }
    return { signal: reading.signal, isClosed: () => closing.signal.aborted, close }
  }

  return {
    assertOpen,
    enter,
    open(plan) {
      const { thread, from, ends_after, gone } = plan
      const { signal, isClosed, close } = enter(gone)
      const reader = events.read(thread, from, signal)
      const timer = ends_after === undefined ? undefined : setTimeout(close, ends_after)
      return {
        batches: shown(reader, plan, isClosed),
        close() {
          clearTimeout(timer)
          close()
        },
      }
    },
    closing: closing.signal,
    close() {
      closing.abort()
      for (const reading of open) reading.abort()
    },
  }
}

async function* shown(
  reader: AsyncIterable<Batch>,
  { view, hides_first_gap = false, isLast, bound }: StreamPlan,
  isClosed: () => boolean,
): AsyncGenerator<Batch> {
  let end: string | undefined
  let hidesGap = hides_first_gap
  for await (const batch of reader) {
    const visible = batch
      .map((item) => ('gap' in item ? item : v1Entry(item)))
      .filter((item) => ('gap' in item ? !hidesGap : view(item)))
    hidesGap = false
    if (visible.length > 0) yield visible
    if (isLast !== null && batch.some(isLast)) return
    if (batch.some((item) => 'gap' in item)) end = await bound?.()
    if (end !== undefined && batch.some(reachesTo(end))) return
  }
  if (isClosed()) throw new AppError('shutting_down')
}

/**
 * Converts a start to a fixed position in the log. `now` becomes the id of the newest event, so that a client can
 * resume from it. An id in the future also becomes the id of the newest event; otherwise the client would miss events
 * up to that id.
 */
export async function resolveStart(
  events: EventLog,
  thread: ThreadRef,
  start: StreamStart,
): Promise<ReadFrom> {
  if (start === 'start') return 'start'
  const last = await events.last(thread)
  if (start === 'now') return last === null ? 'start' : { after: last }
  return last !== null && isAfter(start.after, last) ? { after: last } : start
}

function reachesTo(bound: string): (item: StoredEvent | Gap) => boolean {
  return (item) => reaches(item, bound)
}

/** True for an item at or after `bound`: all events up to `bound` have been read. */
export function reaches(item: StoredEvent | Gap, bound: string): boolean {
  if (!('gap' in item)) return !isAfter(bound, item.id)
  const { oldest } = item.gap
  return oldest === null || isAfter(oldest, bound)
}
