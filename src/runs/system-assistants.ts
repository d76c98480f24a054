import { uuidOfName } from '../base/ids.ts'
import type { NewAssistant } from './assistant-store.ts'
import type { GraphInfo } from './graph-host.ts'

/** The namespace that LangGraph's servers use, so that their ids are ours (run-api 1.1). */
const NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8'

/** Id of the assistant that stands for a graph as it is. */
export function systemAssistantId(graph_id: string): string {
  return uuidOfName(graph_id, NAMESPACE)
}

/** The assistants that stand for graphs as they are. */
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
