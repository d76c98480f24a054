import { STATE_UPDATE } from '../../events/views.ts'
import type { GraphState, StreamItem } from '../execute/graph-host.ts'

/** The event about a thread's state in streams of mode `state_update`. */
export function stateEvent(thread_id: string, { values_json, rest_json }: GraphState): StreamItem {
  return stateTextEvent(thread_id, `{"values":${values_json},${rest_json.slice(1)}`)
}

/** As `stateEvent`, from a whole ThreadState as JSON text. */
export function stateTextEvent(thread_id: string, state: string): StreamItem {
  return { event: STATE_UPDATE, data: `{"state":${state},"thread_id":${JSON.stringify(thread_id)}}` }
}
