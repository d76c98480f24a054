import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { AnyGraph } from './load-graphs.ts'

/**
 * The graph with another checkpointer and store; the original, which runs share, is not changed. A graph that was
 * compiled without a checkpointer on purpose (`false`) keeps none.
 */
export function bindGraph(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  const bound = Object.create(graph) as AnyGraph
  const own = graph.checkpointer === false ? {} : { checkpointer }
  return Object.assign(bound, own, { store })
}
