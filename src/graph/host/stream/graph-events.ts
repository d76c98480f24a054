import type { StreamItem } from '../../../runs/execute/graph-host.ts'
import type { AnyGraph } from '../load-graphs.ts'
import { createProtocolItems, type GraphEvent, STATES } from './protocol-items.ts'
import type { StreamItems } from './stream-items.ts'

/** Options of a stream. They contain no modes, because `streamEvents` has the events of all modes. */
type Options = Record<string, unknown>

/**
 * Executes a graph and reads LangGraph's events of protocol v2 (V-45). The graph must be a copy for this run. If its
 * LangGraph has no such events, executes the graph with `byModes`.
 */
export async function readGraphEvents(
  graph: AnyGraph,
  input: unknown,
  options: Options,
  items: StreamItems,
  emit: (made: StreamItem[]) => void,
  byModes: () => Promise<void>,
): Promise<void> {
  const { streamMode: _modes, subgraphs: _subgraphs, ...rest } = options
  const calls = new Map<string, object>()
  const itemsOf = createProtocolItems(items, calls)
  const take = (event: GraphEvent): void => emit(itemsOf(event))
  const hasOwn = hasTransformers(graph)
  const watch: Watch = {
    call: (id, metadata) =>
      void calls.set(id, { ...metadata, run_id: (options['metadata'] as Metadata | undefined)?.['run_id'] }),
    state: (namespace, data) => take({ method: STATES, params: { namespace, data } }),
    delta: hasOwn ? undefined : take,
  }
  const source = graph.stream.bind(graph) as (input: unknown, options: Options) => Promise<Chunks>
  const stream = async (given: unknown, asked: Options): Promise<Chunks> => {
    if (asked['version'] !== VERSION) return source(given, asked)
    const streamMode = [...(asked['streamMode'] as string[]), DEBUG]
    return watchChunks(await source(given, { ...asked, streamMode }), watch)
  }
  Object.assign(graph, { stream })
  const events = await begin(graph, input, { ...rest, transformers: hasOwn ? [] : [createReader(take)] })
  if (events === undefined) return byModes()
  for await (const event of events) take(event)
}

const VERSION = 'v3'
/** Stream mode whose events of type `checkpoint` contain the data of mode `checkpoints` of v1 (V-41). */
const DEBUG = 'debug'

/**
 * Whether the graph has transformers of its own. A transformer that is added later does not receive the events of their
 * channels.
 */
function hasTransformers(graph: AnyGraph): boolean {
  const { streamTransformers } = graph as { streamTransformers?: readonly unknown[] }
  return streamTransformers !== undefined && streamTransformers.length > 0
}

/**
 * A transformer that passes each event to `take` and removes it from the stream. Otherwise LangGraph would keep all
 * events until the end of the run.
 */
function createReader(take: (event: GraphEvent) => void): () => object {
  return () => ({
    init: () => ({}),
    process(event: GraphEvent) {
      take(event)
      return false
    },
  })
}

type Metadata = Record<string, unknown>
/** The chunks of a stream, from which LangGraph makes events: namespace, mode, data. */
type Chunks = AsyncIterable<[namespace: string[], mode: string, data: unknown]>

/** Receives values from the chunks of a graph's stream before LangGraph makes events from the chunks. */
interface Watch {
  call(id: string, metadata: Metadata): void
  /** Receives a checkpoint in the form of protocol v1. */
  state(namespace: string[], data: unknown): void
  /**
   * Receives each delta of a message that follows another delta. These deltas are not passed on to LangGraph, which
   * would keep all of them until the end of the run and copy each twice (V-48). The first delta is passed on, because
   * LangGraph reports the ends of earlier nodes when it receives it. If undefined, all deltas are passed on.
   */
  delta: ((event: GraphEvent) => void) | undefined
}

async function* watchChunks(chunks: Chunks, watch: Watch): Chunks {
  let isAfterDelta = false
  for await (const chunk of chunks) {
    const [namespace, mode, payload] = chunk
    if (mode === DEBUG) {
      const { type, payload: state } = payload as { type: string; payload: unknown }
      if (type === 'checkpoint') watch.state(namespace, state)
      continue
    }
    const [event, metadata] = mode === 'messages' ? (payload as [{ event: string }, Metadata]) : []
    if (event?.event === 'message-start' && metadata) watch.call(String(metadata['run_id']), metadata)
    const isDelta = event?.event === 'content-block-delta'
    if (isDelta && isAfterDelta && metadata !== undefined && watch.delta !== undefined) {
      const { langgraph_node: node, run_id } = metadata
      watch.delta({ method: mode, params: { namespace, node: String(node), data: { ...event, run_id } } })
    } else yield chunk
    isAfterDelta = isDelta
  }
}

/** Begins the execution and returns its events. Undefined if this copy of LangGraph has no `streamEvents` version 3. */
async function begin(
  graph: AnyGraph,
  input: unknown,
  options: Options,
): Promise<AsyncIterable<GraphEvent> | undefined> {
  const streamEvents = graph.streamEvents.bind(graph) as (input: unknown, options: Options) => unknown
  try {
    return (await streamEvents(input, { ...options, version: VERSION })) as AsyncIterable<GraphEvent>
  } catch (thrown) {
    if (thrown instanceof Error && /only versions? .*v2/i.test(thrown.message)) return undefined
    throw thrown
  }
}
