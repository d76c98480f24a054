import type { EventDraft } from '../../events/event-log.ts'
import { RUN_DONE, RUN_ENDING } from '../../events/views.ts'
import type { Run, RunStatus } from '../model.ts'

/** The final status of a run; a rolled-back run is deleted. */
export type EndedStatus = Exclude<RunStatus, 'pending' | 'running'> | 'deleted'

/** True when a run with this status has a reason for its end. */
export function isFailure(status: EndedStatus): boolean {
  return status === 'error' || status === 'timeout'
}

/** The event that ends a run in its thread's log. */
export function runDone(run_id: string, run_status: EndedStatus): EventDraft {
  return { run_id, event: RUN_DONE, data: JSON.stringify({ status: RUN_DONE, run_id, run_status }) }
}

/** The events of a run that ends outside of an attempt; `error` is the reason if the status is `error` or `timeout`. */
export function endOutside(
  { run_id, graph_id }: Pick<Run, 'run_id' | 'graph_id'>,
  status: EndedStatus,
  error: Run['error'],
): EventDraft[] {
  return [
    { run_id, event: RUN_ENDING, data: JSON.stringify({ graph_name: graph_id }) },
    ...(isFailure(status) && error !== null ? [{ run_id, event: 'error', data: JSON.stringify(error) }] : []),
    runDone(run_id, status),
  ]
}
