import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { Serialized } from '@langchain/core/load/serializable'
import { START } from '@langchain/langgraph'

/** LangGraph's tag of the outermost runnable of a node; runnables inside of the node do not inherit it. */
const NODE_TAG = 'graph:step:'

/** A callback handler that counts the completed nodes of a graph and its subgraphs, without `__start__`. */
export class NodeCounter extends BaseCallbackHandler {
  readonly name = 'node_counter'
  /** Without it, LangChain calls the handler later, maybe after the end of the run. */
  override readonly awaitHandlers = true
  /** Events of models, of which there may be one for each token, are not sent to the handler. */
  override readonly ignoreLLM = true
  nodes = 0
  readonly #open = new Set<string>()

  override handleChainStart(
    _chain: Serialized,
    _inputs: unknown,
    runId: string,
    _parentRunId?: string,
    tags: readonly string[] = [],
    metadata: Readonly<Record<string, unknown>> = {},
  ): void {
    if (metadata['langgraph_node'] === START) return
    if (tags.some((tag) => tag.startsWith(NODE_TAG))) this.#open.add(runId)
  }

  override handleChainEnd(_outputs: unknown, runId: string): void {
    if (this.#open.delete(runId)) this.nodes += 1
  }

  /** A node that returns a command for the parent graph ends with this error, but it is completed. */
  override handleChainError(error: unknown, runId: string): void {
    const wasOpen = this.#open.delete(runId)
    if (wasOpen && error instanceof Error && error.name === 'ParentCommand') this.nodes += 1
  }
}
