import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { AnyGraph } from './load-graphs.ts'

/**
 * The graph with another checkpointer and store, the original untouched: runs share it. What was compiled without a
 * checkpointer on purpose (`false`) stays so.
 */
export function bindGraph(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  const bound = Object.create(graph) as AnyGraph
  const own = graph.checkpointer === false ? {} : { checkpointer }
  return Object.assign(bound, own, { store })
}
