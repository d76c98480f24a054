import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { AnyGraph } from './load-graphs.ts'

/**
 * The graph with another checkpointer and store; the original, which runs share, is not changed. A graph that was
 * compiled without a checkpointer on purpose (`false`) keeps none.
 */
export function bindGraph(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(Object.create(graph), checkpointer, store)
}

/**
 * As `bindGraph`, with a copy of the graph: private methods of `streamEvents` version 3 need an instance of their own.
 */
export function bindCopy(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(graph.withConfig({}), checkpointer, store)
}

function bind(bound: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  const own = bound.checkpointer === false ? {} : { checkpointer }
  return Object.assign(bound, own, { store })
}
