import { RecentMap } from '../../../base/recent-map.ts'
import type { EventLog, StoredEvent, ThreadRef } from '../../../events/event-log.ts'
import { isAfter, parseEventId } from '../../../events/id.ts'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING } from '../../../events/views.ts'
import { isWork } from '../run-entries.ts'
import { BEFORE_ALL, readEntries } from './read-entries.ts'

/** The place of a run's entries in the log of its thread. */
export interface RunInLog {
  run_id: string
  /** Position of the run's first kept entry. */
  position: number
  /** A reader that begins after the entry with this id reads the run from its first entry. */
  before: string
  /** Epoch milliseconds; 0 for a run that ended without an attempt. */
  begun_at: number
  /** The run's last entry; undefined while the run is active. */
  end: Pick<StoredEvent, 'id' | 'position'> | undefined
}

/** The part of a thread's log that was read, without its events. */
export interface IndexedLog {
  /** In the order in which they began. */
  runs: readonly RunInLog[]
  /** The oldest entry from which all entries up to the last one were read. Undefined for an empty log. */
  oldest: Pick<StoredEvent, 'id' | 'position'> | undefined
  /** Number of entries the thread ever had. */
  total: number
  /** Id of the last of these `total` entries. A reader that begins after it reads only later entries. */
  last: string
}

/**
 * The places at which runs start and end in the logs of threads. A stream uses them to read only the part of a log that
 * it shows.
 */
export interface RunIndex {
  of(thread: ThreadRef): Promise<IndexedLog>
}

interface Known extends IndexedLog {
  runs: RunInLog[]
}

/** Maximum number of runs, of all threads, in the index; about 300 bytes each. */
const MAX_RUNS = 20_000

/** Creates an index. It reads the log of a thread once, and after that only the entries that were added. */
export function createRunIndex(events: Pick<EventLog, 'read' | 'last' | 'total'>, max = MAX_RUNS): RunIndex {
  const threads = new RecentMap<string, Known>(max, ({ runs }) => runs.length + 1)
  /** The read in progress of each thread. */
  const reading = new Map<string, Promise<Known>>()

  async function read(thread: ThreadRef, known: Known): Promise<Known> {
    const last = await events.last(thread)
    if (last === null || last === known.last) return last === null ? NOTHING : known
    // The thread was deleted, and a new thread has the same id.
    if (isAfter(known.last, last)) return read(thread, NOTHING)
    const next = { ...known, runs: known.runs.map((run) => ({ ...run })) }
    let isOther = false
    await readEntries(events, thread, { after: known.last, last }, (entry) => {
      isOther ||= entry.position < known.total
      if (!isOther) addEntry(next, entry)
    })
    if (isOther) return read(thread, NOTHING)
    if (next.last !== known.last) return next
    // All added events, and all before them, have been deleted, so the index has no runs of the thread any more.
    const total = await events.total(thread)
    const isSame = (await events.last(thread)) === last
    return isSame ? { ...NOTHING, last, total } : read(thread, known)
  }

  return {
    async of(thread) {
      const key = `${thread.deployment_id}/${thread.thread_id}`
      const turn = (reading.get(key) ?? Promise.resolve(threads.touch(key) ?? NOTHING))
        .catch(() => NOTHING)
        .then((known) => read(thread, known))
      reading.set(key, turn)
      try {
        const known = await turn
        if (known.total > 0) threads.set(key, known)
        else threads.delete(key)
        return known
      } finally {
        if (reading.get(key) === turn) reading.delete(key)
      }
    },
  }
}

const NOTHING: Known = { runs: [], oldest: undefined, total: 0, last: BEFORE_ALL.after }

function addEntry(log: Known, { id, position, run_id, event }: StoredEvent): void {
  // Entries were deleted before they were read, and with them all earlier ones. Known runs may have ended there.
  const isCut = position > log.total
  if (isCut) log.runs = []
  if (isCut || log.oldest === undefined) log.oldest = { id, position }
  // The start of the first run may no longer be in the log. Then its first kept entry counts as its start.
  const isFirst = log.runs.every(({ begun_at }) => begun_at === 0)
  const begins = event === RUN_BEGUN || event === RUN_ENDING || (isFirst && isWork({ event }))
  if (run_id !== null && (begins || event === RUN_DONE)) {
    const active = log.runs.findLast((run) => run.run_id === run_id && run.end === undefined)
    if (event === RUN_DONE) {
      if (active !== undefined) active.end = { id, position }
    } else if (active === undefined) {
      const begun_at = event === RUN_ENDING ? 0 : parseEventId(id)[0]
      const before = isCut ? BEFORE_ALL.after : log.last
      log.runs.push({ run_id, position, before, begun_at, end: undefined })
    }
  }
  log.total = position + 1
  log.last = id
}
