import type { EventDraft } from '../../events/event-log.ts'
import { RUN_DONE } from '../../events/views.ts'
import type { RunStatus } from '../model.ts'

/** The final status of a run; a rolled-back run is deleted. */
export type EndedStatus = Exclude<RunStatus, 'pending' | 'running'> | 'deleted'

/** The event that ends a run in its thread's log. */
export function runDone(run_id: string, run_status: EndedStatus): EventDraft {
  return { run_id, event: RUN_DONE, data: JSON.stringify({ status: RUN_DONE, run_id, run_status }) }
}
