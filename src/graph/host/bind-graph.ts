import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph'
import type { AnyGraph } from './load-graphs.ts'

/**
 * Returns the graph with another checkpointer and store; the original, which runs share, is unchanged. A graph that was
 * compiled with `checkpointer: false` still has none.
 */
export function bindGraph(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(Object.create(graph), checkpointer, store)
}

/**
 * As `bindGraph`, but returns a copy of the graph, because `streamEvents` version 3 needs an instance of its own for
 * its private methods.
 */
export function bindCopy(graph: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  return bind(graph.withConfig({}), checkpointer, store)
}

function bind(bound: AnyGraph, checkpointer: BaseCheckpointSaver, store: BaseStore): AnyGraph {
  const own = bound.checkpointer === false ? {} : { checkpointer }
  return Object.assign(bound, own, { store })
}
