import { isObject, type JsonObject } from '../schema/json.ts'
import type { GraphInfo } from './execute/graph-host.ts'
import type { AssistantFacts } from './plan-run.ts'

/** Whether a graph reads its context and `configurable` as the same values, as Python graphs do (RUN-37). */
export function sharesContext(graphs: readonly GraphInfo[], graph_id: string): boolean {
  return graphs.some((graph) => graph.graph_id === graph_id && graph.language === 'python')
}

/** The config of an assistant as a factory reads it. A graph that shares its context has it in `configurable` too. */
export function readableConfig(
  { graph_id, config, context }: Pick<AssistantFacts, 'graph_id' | 'config' | 'context'>,
  graphs: readonly GraphInfo[],
): JsonObject {
  if (!sharesContext(graphs, graph_id)) return config
  const { configurable } = config
  return { ...config, configurable: { ...(isObject(configurable) && configurable), ...context } }
}
