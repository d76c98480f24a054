import { isAfter } from '../../../events/id.ts'
import type { Thread } from '../../model.ts'
import { type EventFilter, isLifecycleOnly } from '../filter.ts'
import { positionOf } from '../protocol-event.ts'
import type { IndexedLog, RunInLog } from './run-index.ts'

/** Minimum time between sending a run's begin and its end: clients need it to open their streams (V-31). */
export const END_AFTER_MS = 250

/** The place at which a stream begins. */
export interface StreamBegin {
  /** Position of the first entry that it reads. */
  position: number
  /** The first entry is the one after this id. */
  before: string
}

/**
 * Finds the place at which a stream without a position begins (V-29): with the oldest run that is active, or whose end
 * the caller has not been sent, else with the last run; one that waits for new runs begins now.
 */
export function streamBegin(
  log: IndexedLog,
  thread: Thread | undefined,
  filter: EventFilter,
  unseen: ReadonlySet<string>,
): StreamBegin {
  // A run counts as active for a moment, so that clients see fast ones from their begin.
  const since = Date.now() - END_AFTER_MS
  const oldest = log.runs.find(
    ({ run_id, end, begun_at }) => end === undefined || unseen.has(run_id) || begun_at > since,
  )
  if (oldest !== undefined) return oldest
  const last = lastEnded(log.runs)
  // A run that is pending has no entries yet.
  if (last === undefined || thread?.status === 'busy') return logEnd(log)
  return isLifecycleOnly(filter) ? logEnd(log) : last
}

/**
 * Finds where reading begins for a stream of the events after `after`, a `seq` or an entry: with the oldest run that
 * had not ended there, because its later entries cannot be converted without the earlier ones.
 */
export function resumedBegin(log: IndexedLog, after: number | { id: string }): StreamBegin {
  const isOpen = ({ end }: RunInLog): boolean =>
    end === undefined ||
    (typeof after === 'number' ? end.position >= positionOf(after) : !isAfter(after.id, end.id))
  return log.runs.find(isOpen) ?? logEnd(log)
}

/** The run that ended last: one that was cancelled before it began may end while an older one is active. */
function lastEnded(runs: readonly RunInLog[]): RunInLog | undefined {
  let last = runs.at(-1)
  for (const run of runs) if ((run.end?.position ?? 0) > (last?.end?.position ?? 0)) last = run
  return last
}

function logEnd({ total, last }: IndexedLog): StreamBegin {
  return { position: total, before: last }
}
