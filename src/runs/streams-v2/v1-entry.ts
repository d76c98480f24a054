import { V2_ENTRIES } from '../../base/text/v2-entries.ts'
import type { StoredEvent } from '../../events/event-log.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { StreamItem } from '../execute/graph-host.ts'

const converted = new WeakMap<StoredEvent, StoredEvent>()

/** Returns an entry of the log as streams of v1 show it; the same object for every reader (V-41). */
export function v1Entry(entry: StoredEvent): StoredEvent {
  if (!isConverted(entry.event)) return entry
  const known = converted.get(entry)
  if (known !== undefined) return known
  const item = v1Item(entry)
  // Most events that begin or end a block have no chunk in v1. Their entries keep their name, which streams of v1 do
  // not show.
  const made = item === undefined ? entry : { ...entry, ...item }
  converted.set(entry, made)
  return made
}

/**
 * Converts an item of a run to v1: an event of a message becomes a chunk `[message, metadata]`, and a state becomes an
 * event of mode `checkpoints`. Returns undefined for an item that v1 does not have.
 */
export function v1Item(item: StreamItem): StreamItem | undefined {
  const { event, data } = item
  if (!isConverted(event)) return item
  if (event.startsWith(V2_ENTRIES.states))
    return { event: `checkpoints${event.slice(V2_ENTRIES.states.length)}`, data }
  const entry = JSON.parse(data) as Entry
  const chunk = chunkOf(entry)
  if (chunk === undefined) return undefined
  const namespace = event.slice(V2_ENTRIES.messages.length)
  const metadata = entry.metadata ?? {
    langgraph_node: entry.node,
    langgraph_checkpoint_ns: namespace.slice(1),
    checkpoint_ns: namespace.slice(1),
  }
  return { event: `messages${graphOf(namespace)}`, data: JSON.stringify([chunk, metadata]) }
}

function isConverted(event: string): boolean {
  return event.startsWith(V2_ENTRIES.messages) || event.startsWith(V2_ENTRIES.states)
}

interface Entry {
  data: JsonObject
  node?: string
  id?: string
  role?: string
  metadata?: JsonObject
  tail?: string
}

/** The namespace of the node's graph. v1 shows this namespace instead of the node's. */
function graphOf(namespace: string): string {
  return namespace.slice(0, Math.max(0, namespace.lastIndexOf('|')))
}

function chunkOf({ data, id, role, tail }: Entry): JsonObject | undefined {
  // Human and system messages are not streamed in v1; its `values` contain them.
  if (role !== undefined && role !== 'ai') return undefined
  const chunk = (fields: JsonObject): JsonObject => ({
    id: id ?? null,
    type: 'AIMessageChunk',
    content: '',
    additional_kwargs: {},
    response_metadata: {},
    tool_call_chunks: [],
    ...fields,
  })
  const { index = 0 } = data
  switch (data['event']) {
    case 'message-start':
      return chunk({})
    case 'content-block-start':
      return startOf(data['content'], index, chunk)
    case 'content-block-delta':
      return tail === undefined
        ? deltaOf(data['delta'], index, chunk)
        : chunk({ tool_call_chunks: [{ type: 'tool_call_chunk', args: tail, index }] })
    case 'message-finish': {
      const { usage, responseMetadata } = data
      return chunk({
        ...(isObject(usage) && { usage_metadata: usage }),
        ...(isObject(responseMetadata) && { response_metadata: responseMetadata }),
      })
    }
    default:
      return undefined
  }
}

type MakeChunk = (fields: JsonObject) => JsonObject

function startOf(content: JsonValue | undefined, index: JsonValue, chunk: MakeChunk): JsonObject | undefined {
  if (!isObject(content)) return undefined
  const { type, text, reasoning } = content
  if (type === 'tool_call_chunk') return chunk({ tool_call_chunks: [{ ...content, args: '', index }] })
  if (text === '' || reasoning === '') return undefined
  return type === 'text'
    ? chunk({ content: textOf(text, index) })
    : chunk({ content: [{ ...content, index }] })
}

function deltaOf(delta: JsonValue | undefined, index: JsonValue, chunk: MakeChunk): JsonObject | undefined {
  if (!isObject(delta)) return undefined
  const { type, text, reasoning, data, fields } = delta
  if (type === 'text-delta') return chunk({ content: textOf(text, index) })
  if (type === 'reasoning-delta') return chunk({ content: [{ type: 'reasoning', reasoning, index }] })
  if (type === 'data-delta') return chunk({ content: [{ data, index }] })
  return isObject(fields) ? chunk({ content: [{ ...fields, index }] }) : undefined
}

/** The content of a message with a single text block is a plain string in v1. */
function textOf(text: JsonValue | undefined, index: JsonValue): JsonValue {
  return index === 0 ? (text ?? '') : [{ type: 'text', text, index }]
}
