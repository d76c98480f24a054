import type { StreamItem } from '../../../runs/execute/graph-host.ts'
import { graphJsonText } from '../json-text.ts'
import { toCheckpoint } from '../state/thread-state.ts'

/** A chunk of LangGraph's stream: namespace, mode, data. */
export type StreamChunk = readonly [namespace: readonly string[], mode: string, data: unknown]

/** Turns the chunks of a graph into the items that its run requested. */
export interface StreamItems {
  /** Returns the items of a chunk: usually one; none for modes that were not requested. */
  ofChunk(chunk: StreamChunk): StreamItem[]
  ofEvent(event: object): StreamItem
  /** Returns the last items of a run that did not fail: its interrupts as a `values` event. */
  atEnd(): StreamItem[]
  /** Data of the last `values` event as JSON text; null when there was none. */
  lastValues(): string | null
}

const INTERRUPT = '__interrupt__'

/**
 * Creates the converter of one run for the requested `modes`. With `subgraphs`, the names of events include the
 * namespace.
 */
export function createStreamItems(modes: ReadonlySet<string>, subgraphs: boolean): StreamItems {
  const named = (mode: string, namespace: readonly string[]) =>
    subgraphs && namespace.length > 0 ? `${mode}|${namespace.join('|')}` : mode
  const tuples = createTupleText()
  const trio = modes.has('messages') ? createMessageTrio() : undefined
  let interrupts: unknown[] | undefined
  let last: { data: unknown; text: string | undefined } | undefined

  function ofValues(namespace: readonly string[], data: unknown): StreamItem[] {
    const isRoot = namespace.length === 0
    const found = isRoot ? interruptsOf(data) : undefined
    if (found !== undefined) {
      interrupts = [...(interrupts ?? []), ...found]
      return []
    }
    const text = modes.has('values') ? graphJsonText(data) : undefined
    if (isRoot) last = { data, text }
    const values = text === undefined ? [] : [{ event: named('values', namespace), data: text }]
    return isRoot && trio !== undefined ? [...values, ...trio.ofValues(data)] : values
  }

  return {
    ofChunk([namespace, mode, data]) {
      if (mode === 'values') return ofValues(namespace, data)
      if (mode === 'messages') {
        const items = trio === undefined ? [] : trio.ofTuple(data as MessageTuple)
        if (modes.has('messages-tuple')) {
          items.push({ event: named('messages', namespace), data: tuples(data as MessageTuple) })
        }
        return items
      }
      if (!modes.has(mode)) return []
      return [{ event: named(mode, namespace), data: graphJsonText(shown(mode, data)) }]
    },
    ofEvent: (event) => ({ event: 'events', data: graphJsonText(event) }),
    atEnd() {
      if (interrupts === undefined) return []
      last = { data: undefined, text: graphJsonText({ [INTERRUPT]: interrupts }) }
      return modes.has('values') ? [{ event: 'values', data: last.text ?? '' }] : []
    },
    lastValues: () => (last === undefined ? null : (last.text ?? graphJsonText(last.data))),
  }
}

function interruptsOf(data: unknown): unknown[] | undefined {
  if (typeof data !== 'object' || data === null || !(INTERRUPT in data)) return undefined
  return Array.isArray(data[INTERRUPT]) ? data[INTERRUPT] : undefined
}

type MessageTuple = readonly [message: object, metadata: object]

/**
 * Returns a function that converts `[message, metadata]` to text. All tokens of a message share one metadata object,
 * whose text is made only once.
 */
function createTupleText(): (tuple: MessageTuple) => string {
  const texts = new WeakMap<object, string>()
  return ([message, metadata]) => {
    let text = texts.get(metadata)
    if (text === undefined) {
      text = graphJsonText(withGraphNode(metadata))
      texts.set(metadata, text)
    }
    return `[${graphJsonText(message)},${text}]`
  }
}

/** Adds `graph_node` to the metadata: the name of the node under the key of Weir's specification. */
export function withGraphNode(metadata: object): object {
  return 'langgraph_node' in metadata ? { ...metadata, graph_node: metadata.langgraph_node } : metadata
}

interface Concatenable {
  id?: string
  concat?: (next: object) => Concatenable
}

/**
 * Makes the events of mode `messages`: `messages/metadata` once for each message, `messages/partial` while it grows,
 * and `messages/complete` at its end.
 */
function createMessageTrio(): {
  ofTuple(tuple: MessageTuple): StreamItem[]
  ofValues(values: unknown): StreamItem[]
} {
  const growing = new Map<string, Concatenable>()
  const complete = new Set<string>()
  return {
    ofTuple([message, metadata]) {
      const chunk = message as Concatenable
      if (chunk.id === undefined || typeof chunk.concat !== 'function') return []
      const before = growing.get(chunk.id)
      const grown = before?.concat === undefined ? chunk : before.concat(chunk)
      growing.set(chunk.id, grown)
      const partial = { event: 'messages/partial', data: `[${graphJsonText(grown)}]` }
      if (before !== undefined) return [partial]
      const head = { [chunk.id]: { metadata: withGraphNode(metadata) } }
      return [{ event: 'messages/metadata', data: graphJsonText(head) }, partial]
    },
    ofValues(values) {
      const fresh = messagesOf(values).filter(({ id }) => id !== undefined && !complete.has(id))
      for (const { id } of fresh) {
        complete.add(id ?? '')
        growing.delete(id ?? '')
      }
      return fresh.length === 0 ? [] : [{ event: 'messages/complete', data: graphJsonText(fresh) }]
    },
  }
}

function messagesOf(values: unknown): Concatenable[] {
  if (typeof values !== 'object' || values === null || !('messages' in values)) return []
  const list = Array.isArray(values.messages) ? values.messages : [values.messages]
  return list.filter((item): item is Concatenable => typeof item === 'object' && item !== null)
}

/** Converts a payload that contains configs of LangGraph to the form for clients. */
function shown(mode: string, data: unknown): unknown {
  if (mode === 'checkpoints') return shownCheckpoint(data as CheckpointPayload)
  if (mode === 'tasks') return shownTask(data as object)
  if (mode !== 'debug') return data
  const event = data as { type: string; payload: object }
  if (event.type !== 'checkpoint') return { ...event, payload: shownTask(event.payload) }
  return { ...event, payload: shownCheckpoint(event.payload) }
}

type ShownConfig = { configurable?: Record<string, unknown> } | undefined

interface CheckpointPayload {
  config?: ShownConfig
  parentConfig?: ShownConfig
  tasks?: object[]
}

function shownCheckpoint(payload: CheckpointPayload): object {
  const { parentConfig, ...rest } = payload
  return {
    ...rest,
    config: shownConfig(payload.config),
    parent_config: shownConfig(parentConfig) ?? null,
    checkpoint: toCheckpoint(payload.config),
    parent_checkpoint: toCheckpoint(parentConfig),
    tasks: (payload.tasks ?? []).map(shownTask),
  }
}

/** The config without handlers and LangGraph's own keys. */
function shownConfig(config: ShownConfig): object | undefined {
  if (config === undefined) return undefined
  const configurable = Object.entries(config.configurable ?? {}).filter(([key]) => !key.startsWith('__'))
  return { ...config, callbacks: undefined, configurable: Object.fromEntries(configurable) }
}

function shownTask(task: object): object {
  if (!('state' in task)) return task
  const { state, ...rest } = task
  const checkpoint = toCheckpoint(state as ShownConfig)
  return checkpoint === null ? task : { ...rest, checkpoint }
}
