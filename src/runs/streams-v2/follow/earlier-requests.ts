import type { EventLog, ThreadRef } from '../../../events/event-log.ts'
import { createConverter, requestDraft } from '../convert-entry.ts'
import { type EventFilter, passes } from '../filter.ts'
import type { PendingInterrupt } from '../interrupts.ts'
import { lastSeqOf, type ProtocolEvent } from '../protocol-event.ts'
import { BEFORE_ALL, readEntries } from './read-entries.ts'
import type { IndexedLog } from './run-index.ts'
import type { StreamBegin } from './stream-begin.ts'

/**
 * The events of pending interrupts that a stream from `begin` does not contain (V-32). An event that is no longer kept
 * is made again, with the `seq` of the entry before position `forgotten_at`.
 */
export async function earlierRequests(
  events: Pick<EventLog, 'read'>,
  ref: ThreadRef,
  pending: readonly PendingInterrupt[],
  filter: EventFilter,
  log: IndexedLog,
  { begin, forgotten_at }: { begin: StreamBegin; forgotten_at: number },
): Promise<ProtocolEvent[]> {
  if (pending.length === 0) return []
  const told = await toldRequests(events, ref, pending, log)
  return pending.flatMap((interrupt) => {
    const known = told.get(interrupt.id)
    if (known !== undefined && known.position >= begin.position) return []
    const event = known?.event ?? forgotten(interrupt, forgotten_at)
    return passes(filter, event) ? [event] : []
  })
}

interface Told {
  event: ProtocolEvent
  position: number
}

/**
 * Finds the event of each interrupt. The last run is read first, because it usually has these events, then all kept
 * entries.
 */
async function toldRequests(
  events: Pick<EventLog, 'read'>,
  ref: ThreadRef,
  pending: readonly PendingInterrupt[],
  { runs, last }: IndexedLog,
): Promise<Map<string, Told>> {
  const told = new Map<string, Told>()
  for (const after of [runs.at(-1)?.before, BEFORE_ALL.after]) {
    if (after === undefined || pending.every(({ id }) => told.has(id))) continue
    const convert = createConverter()
    await readEntries(events, ref, { after, last }, (entry) => {
      for (const event of convert(entry)) {
        if (event.method !== 'input.requested') continue
        const { interrupt_id } = JSON.parse(event.data) as { interrupt_id: string }
        told.set(interrupt_id, { event, position: entry.position })
      }
    })
  }
  return told
}

/** A new event for an interrupt whose own event is no longer in the log. */
function forgotten(interrupt: PendingInterrupt, position: number): ProtocolEvent {
  const draft = requestDraft('forgotten', [], interrupt)
  return { ...draft, id: '0-0', run_id: null, seq: lastSeqOf(position), timestamp: Date.now() }
}
