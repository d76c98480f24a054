import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/** An event of the channel `messages` (V-20). */
export interface BlockEvent {
  namespace: string[]
  node: string | undefined
  data: JsonObject
}

/** A message that is being streamed. */
interface Growing {
  namespace: string[]
  node: string | undefined
  run_id: string
  /** By index, as far as they are known. */
  blocks: Map<number, JsonObject>
  usage: JsonValue
  metadata: JsonObject
}

/** Converts the chunks of mode `messages-tuple` to blocks. */
export interface MessageBlocks {
  /** The events of a chunk, `[chunk, metadata]` as JSON text. */
  ofTuple(text: string): BlockEvent[]
  /** The ends of the messages of a node; null: of all. */
  finish(node: string | null): BlockEvent[]
}

/**
 * Messages of Python graphs are in the namespace of the graph and name every role; those of JavaScript are in the namespace
 * of their node (V-20, V-21).
 */
export function createMessageBlocks(ofPython: boolean): MessageBlocks {
  const growing = new Map<string, Growing>()
  const finished = new Set<string>()

  function begin(id: string, chunk: JsonObject, metadata: JsonObject, events: BlockEvent[]): Growing {
    const isPython = ofPython || chunk['type'] === 'AIMessageChunk'
    const place = String(metadata['langgraph_checkpoint_ns'] ?? '').split('|')
    const node = metadata['langgraph_node']
    const message: Growing = {
      namespace: (isPython ? place.slice(0, -1) : place).filter((segment) => segment !== ''),
      node: typeof node === 'string' ? node : undefined,
      run_id: String(metadata['run_id'] ?? id),
      blocks: new Map(),
      usage: null,
      metadata: {},
    }
    growing.set(id, message)
    const role = ROLES[String(chunk['type'])]
    const named = role !== undefined && (isPython || role !== 'ai')
    add(events, message, { event: 'message-start', id, ...(named && { role }) })
    return message
  }

  return {
    ofTuple(text) {
      const [chunk, metadata] = JSON.parse(text) as JsonValue[]
      if (!isObject(chunk) || !isObject(metadata) || typeof chunk['id'] !== 'string') return []
      const id = chunk['id']
      if (!(String(chunk['type']) in ROLES) || finished.has(id)) return []
      const events: BlockEvent[] = []
      const message = growing.get(id) ?? begin(id, chunk, metadata, events)
      for (const [index, piece] of piecesOf(chunk)) addPiece(events, message, index, piece)
      if (isObject(chunk['usage_metadata'])) message.usage = chunk['usage_metadata']
      if (isObject(chunk['response_metadata'])) Object.assign(message.metadata, chunk['response_metadata'])
      return events
    },
    finish(node) {
      const events: BlockEvent[] = []
      for (const [id, message] of growing) {
        if (node !== null && message.node !== node) continue
        growing.delete(id)
        finished.add(id)
        for (const [index, block] of message.blocks)
          add(events, message, { event: 'content-block-finish', index, content: finalBlock(block) })
        add(events, message, {
          event: 'message-finish',
          reason: 'stop',
          ...(message.usage !== null && { usage: message.usage }),
          ...(Object.keys(message.metadata).length > 0 && { responseMetadata: message.metadata }),
        })
      }
      return events
    },
  }
}

/** Roles of the channel `messages` by type of message; tool results are not in it. */
const ROLES: Readonly<Record<string, string | undefined>> = {
  ai: 'ai',
  AIMessageChunk: 'ai',
  human: 'human',
  system: 'system',
}

function add(events: BlockEvent[], { namespace, node, run_id }: Growing, data: JsonObject): void {
  events.push({ namespace, node, data: { ...data, run_id } })
}

/** The pieces of blocks in a chunk: text, blocks of content, and parts of tool calls. */
function piecesOf(chunk: JsonObject): [index: number | undefined, piece: JsonObject][] {
  const { content, tool_call_chunks, tool_calls } = chunk
  const pieces: JsonObject[] =
    typeof content === 'string'
      ? content === ''
        ? []
        : [{ type: 'text', text: content, index: 0 }]
      : Array.isArray(content)
        ? content.filter(isObject)
        : []
  const chunks = Array.isArray(tool_call_chunks) ? tool_call_chunks : []
  // A message that was not streamed has whole calls only.
  const calls = chunks.length > 0 || !Array.isArray(tool_calls) || isStreamed(chunk) ? chunks : tool_calls
  for (const call of calls.filter(isObject)) {
    const args = typeof call['args'] === 'string' ? call['args'] : JSON.stringify(call['args'] ?? {})
    pieces.push({
      ...call,
      type: 'tool_call_chunk',
      args: call['args'] === undefined || call['args'] === null ? '' : args,
    })
  }
  return pieces.map((piece) => [typeof piece['index'] === 'number' ? piece['index'] : undefined, piece])
}

function isStreamed(chunk: JsonObject): boolean {
  return Array.isArray(chunk['tool_call_chunks'])
}

function addPiece(
  events: BlockEvent[],
  message: Growing,
  asked: number | undefined,
  piece: JsonObject,
): void {
  const { blocks } = message
  const kind = String(piece['type'])
  // A tool call may have the number of a block of another kind: it gets the next free one.
  const [known] = [...blocks].find(([at, block]) => at === asked && block['type'] === kind) ?? []
  const last =
    asked === undefined
      ? [...blocks].findLast(([, block]) => block['type'] === kind && kind !== 'tool_call_chunk')
      : undefined
  const index = known ?? last?.[0] ?? (asked !== undefined && !blocks.has(asked) ? asked : blocks.size)
  const before = blocks.get(index)
  const field = FIELDS[kind]
  if (before === undefined) {
    const start = field === undefined ? piece : { ...piece, index, [field]: '' }
    blocks.set(index, start)
    add(events, message, { event: 'content-block-start', index, content: start })
    if (field === undefined) return
  }
  const block = blocks.get(index) ?? {}
  if (field === undefined) blocks.set(index, { ...block, ...piece })
  else {
    const grown = { ...block, [field]: String(block[field] ?? '') + String(piece[field] ?? '') }
    blocks.set(index, grown)
    if (piece[field] === '' || piece[field] === undefined) return
  }
  add(events, message, {
    event: 'content-block-delta',
    index,
    delta: deltaOf(kind, piece, blocks.get(index) ?? {}),
  })
}

/** The field of a block that grows, by kind. */
const FIELDS: Readonly<Record<string, string>> = {
  text: 'text',
  reasoning: 'reasoning',
  tool_call_chunk: 'args',
}

function deltaOf(kind: string, piece: JsonObject, block: JsonObject): JsonObject {
  if (kind === 'text') return { type: 'text-delta', text: piece['text'] }
  if (kind === 'reasoning') return { type: 'reasoning-delta', reasoning: piece['reasoning'] }
  return { type: 'block-delta', fields: { ...block, type: kind } }
}

/** A block that is complete: the arguments of a tool call are parsed. */
function finalBlock(block: JsonObject): JsonObject {
  if (block['type'] !== 'tool_call_chunk') return block
  const { id, name, args } = block
  try {
    return { type: 'tool_call', id, name, args: JSON.parse(String(args ?? '') || '{}') as JsonValue }
  } catch {
    return { type: 'invalid_tool_call', id, name, args, error: 'The arguments are not JSON.' }
  }
}
