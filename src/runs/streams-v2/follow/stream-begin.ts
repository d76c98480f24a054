import { isAfter } from '../../../events/id.ts'
import type { Thread } from '../../model.ts'
import { type EventFilter, isLifecycleOnly } from '../filter.ts'
import { positionOf } from '../protocol-event.ts'
import type { IndexedLog, RunInLog } from './run-index.ts'

/** Minimum time between sending the start and the end of a run. Clients open their streams in this time (V-31). */
export const END_AFTER_MS = 250

/**
 * Whether a run that began at this time counts as active even if it has ended, so that clients see fast runs from their
 * start. A time far in the future does not count: it comes from a clock that has since been set back.
 */
export function beganJustNow(begun_at: number, now: number): boolean {
  return Math.abs(now - begun_at) < END_AFTER_MS
}

export interface StreamBegin {
  /** Position of the first entry that the stream reads. */
  position: number
  /** The stream reads the entries after this id. */
  before: string
}

/**
 * Finds the place at which a stream without a position begins (V-29): at the oldest run that is active or whose end was
 * not sent to the caller, else at the last run. A stream that waits for new runs begins at the end of the log.
 */
export function streamBegin(
  log: IndexedLog,
  thread: Thread | undefined,
  filter: EventFilter,
  unseen: ReadonlySet<string>,
  now: number,
): StreamBegin {
  const oldest = log.runs.find(
    ({ run_id, end, begun_at }) => end === undefined || unseen.has(run_id) || beganJustNow(begun_at, now),
  )
  if (oldest !== undefined) return oldest
  const last = lastEnded(log.runs)
  // If a busy thread has no active run in its log, its run is pending and has no entries yet.
  if (last === undefined || thread?.status === 'busy') return logEnd(log)
  return isLifecycleOnly(filter) ? logEnd(log) : last
}

/**
 * Finds the place at which a stream of the events after `after` (a `seq` or an entry) begins to read. This is the
 * oldest run that was active at `after`: its later entries cannot be converted without its earlier ones.
 */
export function resumedBegin(log: IndexedLog, after: number | { id: string }): StreamBegin {
  const isOpen = ({ end }: RunInLog): boolean =>
    end === undefined ||
    (typeof after === 'number' ? end.position >= positionOf(after) : !isAfter(after.id, end.id))
  return log.runs.find(isOpen) ?? logEnd(log)
}

/**
 * The run that ended last. This need not be the newest run: a newer one may have been cancelled before it started,
 * while an older run was active.
 */
function lastEnded(runs: readonly RunInLog[]): RunInLog | undefined {
  let last = runs.at(-1)
  for (const run of runs) if ((run.end?.position ?? 0) > (last?.end?.position ?? 0)) last = run
  return last
}

function logEnd({ total, last }: IndexedLog): StreamBegin {
  return { position: total, before: last }
}
