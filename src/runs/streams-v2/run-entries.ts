import type { StoredEvent } from '../../events/event-log.ts'
import { RUN_BEGUN, RUN_DONE, RUN_ENDING, RUN_STOPPED, STATE_UPDATE } from '../../events/views.ts'
import type { GraphInfo, StreamItem } from '../execute/graph-host.ts'
import type { Run } from '../model.ts'
import type { PendingInterrupt } from './interrupts.ts'

/** Facts about the beginning of an attempt. */
export interface AttemptBegin {
  answered: readonly string[]
  /** Undefined while the graph is not loaded. */
  language: GraphInfo['language'] | undefined
}

/** The log entry from which streams of protocol v2 make the events at the beginning of an attempt (V-13, V-18). */
export function runBegun(
  { graph_id, attempt }: Pick<Run, 'graph_id' | 'attempt'>,
  { answered, language }: AttemptBegin,
): StreamItem {
  const data = { graph_name: graph_id, attempt, answered, language }
  return { event: RUN_BEGUN, data: JSON.stringify(data) }
}

/** The entry about the interrupts that wait for an answer when a run ends (V-18, V-23). */
export function runStopped(interrupts: readonly PendingInterrupt[]): StreamItem {
  return { event: RUN_STOPPED, data: JSON.stringify({ interrupts }) }
}

const NO_WORK = new Set(['metadata', 'feedback', RUN_DONE, RUN_ENDING, STATE_UPDATE])

/** Whether only runs that have begun write entries of this kind. */
export function isWork({ event }: Pick<StoredEvent, 'event'>): boolean {
  return !NO_WORK.has(event)
}
