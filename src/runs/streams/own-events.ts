import { isAfter, parseEventId } from '../../events/id.ts'
import type { EventLog, ReadFrom, ThreadRef } from '../../events/event-log.ts'
import { endsRun } from '../../events/views.ts'
import { BEFORE_ALL, reaches } from './open-stream.ts'

export interface RunThere {
  run_id: string
  /** Epoch milliseconds. */
  created_at: number
  /** Null while the run is active. */
  ended_at: number | null
}

/**
 * The position of the run's first own event at or after `from`. The thread's log may still contain events of a deleted
 * run with the same id. The last of them is the end event of that run, and is older than this run.
 */
export async function ownEvents(
  events: Pick<EventLog, 'read' | 'last'>,
  thread: ThreadRef,
  { run_id, created_at, ended_at }: RunThere,
  from: ReadFrom,
): Promise<ReadFrom> {
  const wasSetBack = ended_at !== null && ended_at < created_at
  if (wasSetBack || isMadeFor(run_id, created_at)) return from
  if (from !== 'start' && timeOf(from.after) >= created_at) return from
  const last = await events.last(thread)
  if (last === null || (from !== 'start' && !isAfter(last, from.after))) return from
  return (await lastEnd(events, thread, { run_id, created_at }, { from, last })) ?? from
}

/** The last end event of a run with this id before `created_at`. */
async function lastEnd(
  events: Pick<EventLog, 'read'>,
  thread: ThreadRef,
  { run_id, created_at }: Pick<RunThere, 'run_id' | 'created_at'>,
  { from, last }: { from: ReadFrom; last: string },
): Promise<ReadFrom | undefined> {
  let end: ReadFrom | undefined
  const reading = new AbortController()
  try {
    const begin = from === 'start' ? BEFORE_ALL : from
    for await (const batch of events.read(thread, begin, reading.signal)) {
      for (const item of batch) {
        if (!('gap' in item)) {
          if (timeOf(item.id) >= created_at) return end
          if (endsRun(item, run_id)) end = { after: item.id }
        }
        if (reaches(item, last)) return end
      }
    }
    return end
  } finally {
    reading.abort()
  }
}

/**
 * True if the server made the id for this run: such an id is a UUID version 7, which begins with the time of its
 * creation.
 */
function isMadeFor(run_id: string, created_at: number): boolean {
  if (run_id[14] !== '7') return false
  const made = Number.parseInt(run_id.replaceAll('-', '').slice(0, 12), 16)
  return Math.abs(made - created_at) <= NEAR_MS
}

/** Maximum time between creating an id and storing its run. */
const NEAR_MS = 5

function timeOf(id: string): number {
  return parseEventId(id)[0]
}
