import { V2_ONLY } from '../base/text/v2-entries.ts'
import type { StoredEvent } from './event-log.ts'

/**
 * The event that ends a run in its thread's log: `{"status":"run_done","run_id","run_status"}`; on the wire it is
 * `metadata`.
 */
export const RUN_DONE = 'run_done'
/** Thread state after a run or an update by a client: `{"state","thread_id"}`. */
export const STATE_UPDATE = 'state_update'

/**
 * The start of an attempt of a run, for streams of protocol v2: `{"graph_name","attempt","answered"}`; `answered` are
 * the ids of the interrupts that the run answers.
 */
export const RUN_BEGUN = 'v2/begun'

/**
 * The end of a run outside of an attempt, for streams of protocol v2: `{"graph_name"}`. The run was cancelled before
 * an attempt, or the server of its last attempt has ended. The log may have no start of such a run.
 */
export const RUN_ENDING = 'v2/ending'

/**
 * The stop of a run, for streams of protocol v2: `{"interrupts":[{"id","value"}]}`, with the interrupts that wait for
 * an answer.
 */
export const RUN_STOPPED = 'v2/stopped'

export type View = (event: StoredEvent) => boolean

/** Modes of `GET /threads/{t}/stream`. */
export const THREAD_MODES = ['run_modes', 'lifecycle', 'state_update'] as const
export type ThreadMode = (typeof THREAD_MODES)[number]

/** Events that are sent in all modes. */
const ALWAYS = new Set(['metadata', 'error', 'feedback'])

/** Names of the events that a stream mode sends, without namespaces. */
function eventsOf(mode: string): string[] {
  if (mode === 'messages-tuple') return ['messages']
  if (mode === 'messages') return ['messages/metadata', 'messages/partial', 'messages/complete']
  return [mode]
}

/** The name of an event without its namespace: `updates|parent:uuid` is `updates`. */
function withoutNamespace(event: string): string {
  const bar = event.indexOf('|')
  return bar < 0 ? event : event.slice(0, bar)
}

export function wireName({ event }: StoredEvent): string {
  return event === RUN_DONE ? 'metadata' : event
}

/** Whether the event ends this run, and so its stream. */
export function endsRun(event: StoredEvent, run_id: string): boolean {
  return event.event === RUN_DONE && event.run_id === run_id
}

/**
 * The view of a stream of one run. If the client has requested `modes`, the stream shows only events of these modes.
 */
export function runView(run_id: string, modes: readonly string[] | null): View {
  const shown = modes === null ? null : new Set([...ALWAYS, ...modes.flatMap(eventsOf)])
  return (event) => {
    if (event.run_id !== run_id || event.event === RUN_DONE || event.event === STATE_UPDATE) return false
    if (event.event.startsWith(V2_ONLY)) return false
    return shown === null || shown.has(withoutNamespace(event.event))
  }
}

export function threadView(modes: readonly ThreadMode[]): View {
  const runs = modes.includes('run_modes')
  const lifecycle = runs || modes.includes('lifecycle')
  const states = modes.includes('state_update')
  return ({ event }) => {
    if (event === STATE_UPDATE) return states
    if (event.startsWith(V2_ONLY)) return false
    if (event === RUN_DONE || event === 'metadata') return lifecycle
    return runs
  }
}
