import type { EventDraft } from '../../events/event-log.ts'
import type { Run } from '../model.ts'
import { isInterrupted } from '../state.ts'
import { stateEvent } from '../streams/state-event.ts'
import { runStopped } from '../streams-v2/run-entries.ts'
import { type EndedStatus, runDone } from './end-event.ts'
import type { GraphEnd, StreamItem } from './graph-host.ts'
import type { RunTape } from './tape.ts'

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
