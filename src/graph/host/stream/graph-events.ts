import type { StreamItem } from '../../../runs/execute/graph-host.ts'
import type { AnyGraph } from '../load-graphs.ts'
import { createProtocolItems, type GraphEvent } from './protocol-items.ts'
import type { StreamItems } from './stream-items.ts'

/** LangGraph's own modes do not go into `streamEvents`, which has all of them. */
type Options = Record<string, unknown>

/**
 * Executes a graph through its own events of protocol v2 (V-45); a LangGraph that does not have them executes it
 * `byModes`.
 */
export async function readGraphEvents(
  graph: AnyGraph,
  input: unknown,
  options: Options,
  items: StreamItems,
  emit: (made: StreamItem[]) => void,
  byModes: () => Promise<void>,
): Promise<void> {
  const { streamMode: _modes, subgraphs: _subgraphs, callbacks, ...rest } = options
  const calls = createCallListener()
  const handlers = [...(Array.isArray(callbacks) ? (callbacks as object[]) : []), calls.handler]
  const itemsOf = createProtocolItems(items, calls.metadata)
  const take = (event: GraphEvent): void => emit(itemsOf(event))
  const transformers = hasTransformers(graph) ? [] : [createReader(take)]
  const events = await begin(graph, input, { ...rest, callbacks: handlers, transformers })
  if (events === undefined) return byModes()
  for await (const event of events) take(event)
}

/** Whether the graph has transformers of its own, whose channels are in no event that a later transformer sees. */
function hasTransformers(graph: AnyGraph): boolean {
  const { streamTransformers } = graph as { streamTransformers?: readonly unknown[] }
  return streamTransformers !== undefined && streamTransformers.length > 0
}

/** A transformer that takes each event from LangGraph, which otherwise keeps all events until the end of the run. */
function createReader(take: (event: GraphEvent) => void): () => object {
  return () => ({
    init: () => ({}),
    process(event: GraphEvent) {
      take(event)
      return false
    },
  })
}

/** The events; undefined when this LangGraph has no version 3 of them. */
async function begin(
  graph: AnyGraph,
  input: unknown,
  options: Options,
): Promise<AsyncIterable<GraphEvent> | undefined> {
  const streamEvents = graph.streamEvents.bind(graph) as (input: unknown, options: Options) => unknown
  try {
    return (await streamEvents(input, { ...options, version: 'v3' })) as AsyncIterable<GraphEvent>
  } catch (thrown) {
    if (thrown instanceof Error && /only versions? .*v2/i.test(thrown.message)) return undefined
    throw thrown
  }
}

/** Keeps the metadata of calls of models until their messages begin. */
function createCallListener(): { handler: object; metadata: Map<string, object> } {
  const metadata = new Map<string, object>()
  const forget = (runId: string): void => void metadata.delete(runId)
  return {
    metadata,
    handler: {
      name: 'CallListener',
      awaitHandlers: true,
      handleChatModelStart(...given: unknown[]) {
        const [, , runId, , , tags, own] = given
        if (typeof own === 'object' && own !== null) metadata.set(String(runId), { tags, ...own })
      },
      handleLLMError: (_error: unknown, runId: string) => forget(runId),
    },
  }
}
