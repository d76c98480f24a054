import type { EventDraft } from '../../events/event-log.ts'
import { RUN_DONE, RUN_ENDING } from '../../events/views.ts'
import type { Run, RunStatus } from '../model.ts'
import { isInterrupted } from '../state.ts'
import { stateEvent } from '../streams/state-event.ts'
import { runStopped } from '../streams-v2/run-entries.ts'
import type { GraphEnd, StreamItem } from './graph-host.ts'
import type { RunTape } from './tape.ts'

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

/** The events of a run that ends outside of an attempt; `error` is the reason for `error` and `timeout`. */
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

/** What an attempt has left: the end of its graph, its stream, and the entry of its begin. */
export interface AttemptOutcome {
  end: GraphEnd
  tape: RunTape
  begun: StreamItem
}

/** The events that end a run in its thread's log: its failure, its end, and the thread's new state. */
export function closingEvents(
  { run_id, thread_id, attempt, status, error }: Omit<Run, 'status'> & { status: EndedStatus },
  { end, tape, begun }: AttemptOutcome,
): EventDraft[] {
  const items: StreamItem[] = []
  if (!tape.opened) items.push({ event: 'metadata', data: JSON.stringify({ run_id, attempt }) }, begun)
  if (isInterrupted(status, end.state?.next)) items.push(runStopped(end.state?.interrupts ?? {}))
  if (error !== null) items.push(tape.error ?? { event: 'error', data: JSON.stringify(error) })
  items.push(runDone(run_id, status))
  if (end.state !== undefined && status !== 'deleted') items.push(stateEvent(thread_id, end.state))
  return items.map((item) => ({ ...item, run_id }))
}
