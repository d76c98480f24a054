import { expect } from 'vitest'
import type { PassedEvent } from '../../../../../support/runs/streams/recording-proxy.ts'
import { DIFFERENCES, EVENTS_DEPEND_ON_TIME } from './differences.ts'
import type { Session } from './sessions.ts'
import { lacks, scrubbed, shapesOf } from './shapes.ts'

/** What the client of a session reports, and the events that the server sent. */
export interface Outcome {
  seen: Record<string, unknown>[]
  events: readonly PassedEvent[]
}

export function recordedEvents({ wire }: Session): PassedEvent[] {
  return wire.flatMap(({ connection, data }) =>
    data?.type === 'event' ? [{ connection, event: data as PassedEvent['event'] }] : [],
  )
}

/**
 * Whether the recorded server sends events of this kind. The server of `golden/` does not send that an interrupt was
 * answered, and LangGraph's Python server has few channels.
 */
function isRecorded(name: string, { event }: PassedEvent, told: readonly PassedEvent[]): boolean {
  if (name.startsWith('python-')) return told.some((one) => one.event.method === event.method)
  return event.method !== 'input.answered' || !name.startsWith('golden/')
}

/** The differences between what the client reports and the recording, without the intended ones. */
export function deviationsInSeen(name: string, recorded: Session, seen: Outcome['seen']): string[] {
  const { of_seen, of_found } = DIFFERENCES[name] ?? {}
  const [wanted, found] = [scrubbed(recorded.seen_by_client), scrubbed(seen)]
  return lacks(of_seen?.(wanted) ?? wanted, of_found?.(found) ?? found)
}

/** The differences between the outcome of a session and its recording, without the intended ones. */
export function deviations(name: string, recorded: Session, { seen, events }: Outcome): string[] {
  const inSeen = deviationsInSeen(name, recorded, seen)
  if (EVENTS_DEPEND_ON_TIME.has(name)) return inSeen
  const recordedThere = recordedEvents(recorded)
  const told = shapesOf(recordedThere)
  const passed = shapesOf(events.filter((one) => isRecorded(name, one, recordedThere)))
  return [...inSeen, ...lacks(DIFFERENCES[name]?.of_events?.(told) ?? told, passed)]
}

/** On one connection, each event arrives once, and events arrive in order (V-14, V-15). */
export function assertInOrder(events: readonly PassedEvent[]): void {
  for (const connection of new Set(events.map((one) => one.connection))) {
    const own = events.filter((one) => one.connection === connection).map(({ event }) => event)
    expect(new Set(own.map(({ event_id }) => event_id)).size).toBe(own.length)
    const seqs = own.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  }
}
