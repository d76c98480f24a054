import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { AnyGraph } from './load-graphs.ts'

/**
 * Returns the graph with another checkpointer and store. The original is not changed, because runs share it. A graph
 * that was compiled with `checkpointer: false` still has none.
 */
export function bindGraph(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(Object.create(graph), checkpointer, store)
}

/**
 * As `bindGraph`, but returns a real copy of the graph: `streamEvents` version 3 uses private methods, which exist only
 * on an instance of the class.
 */
export function bindCopy(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(graph.withConfig({}), checkpointer, store)
}

function bind(bound: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  const own = bound.checkpointer === false ? {} : { checkpointer }
  return Object.assign(bound, own, { store })
}
