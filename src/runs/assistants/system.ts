import { uuidOfName } from '../../base/ids.ts'
import type { NewAssistant } from './store.ts'
import type { GraphInfo } from '../execute/graph-host.ts'

/** The namespace of LangGraph's servers, so that the ids are the same as theirs. */
const NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8'

/** Id of the default assistant of a graph. */
export function systemAssistantId(graph_id: string): string {
  return uuidOfName(graph_id, NAMESPACE)
}

/** The default assistants of graphs. */
export function systemAssistants(graphs: readonly GraphInfo[]): NewAssistant[] {
  return graphs.map(({ graph_id, description, config, context }) => ({
    assistant_id: systemAssistantId(graph_id),
    graph_id,
    name: graph_id,
    description,
    config,
    context,
    metadata: { created_by: 'system' },
  }))
}
