import { uuidOfName } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/** An event of the channel `messages` (V-20). */
export interface BlockEvent {
  namespace: string[]
  node: string | undefined
  data: JsonObject
}

interface Growing {
  id: string
  /** Id of the model's call. */
  run_id: string
  namespace: string[]
  /** The namespace of the graph that its node is in, as text. */
  graph: string
  /** Whether the message is from a task made by `Send`; several such tasks of a node may execute at the same time. */
  isSent: boolean
  node: string | undefined
  /** The blocks so far, by index. */
  blocks: Map<number, JsonObject>
  usage: JsonValue
  metadata: JsonObject
}

/** Converts the chunks of mode `messages-tuple` to blocks. */
export interface MessageBlocks {
  /** Returns the events of a chunk, which is `[chunk, metadata]` as JSON text. */
  ofTuple(text: string): BlockEvent[]
  /** Must be called when a task begins. `task` is the data of its event in mode `tasks`, as JSON text. */
  started(namespace: readonly string[], task: string): void
  /** Returns the ends of the messages that are complete after a task of the node has returned `update`, a JSON text. */
  updated(namespace: readonly string[], node: string, update: string): BlockEvent[]
  /** Returns the ends of the messages of a graph and its subgraphs, after all nodes of a step have returned. */
  stepped(namespace: readonly string[]): BlockEvent[]
  finish(): BlockEvent[]
}

/**
 * Creates a converter for one run. The events of Python graphs have the namespace of the graph, and their
 * `message-start` names every role. The events of JavaScript graphs have the namespace of the node (V-20, V-21).
 */
export function createMessageBlocks(ofPython: boolean): MessageBlocks {
  /** Messages being streamed, by id and task, since models of parallel tasks may give messages the same id. */
  const growing = new Map<string, Growing>()
  const finished = new Set<string>()
  const known = new Set<string>()
  /** For each graph: names of the nodes for which `Send` made a task in the current step. */
  const sent = new Map<string, Set<string>>()

  const finish = (isComplete: (message: Growing) => boolean): BlockEvent[] =>
    [...growing].flatMap(([key, message]) => {
      if (!isComplete(message)) return []
      growing.delete(key)
      finished.add(key)
      return endOf(message)
    })

  return {
    ofTuple(text) {
      const [chunk, metadata] = JSON.parse(text) as JsonValue[]
      if (!isObject(chunk) || !isObject(metadata) || typeof chunk['id'] !== 'string') return []
      const id = chunk['id']
      const key = keyOf(id, placeOf(metadata))
      if (!(String(chunk['type']) in ROLES) || finished.has(key)) return []
      // LangGraph's server streams no messages that a Python node returns without a model. `values` has them. Only the
      // metadata of models have this field.
      if (ofPython && !isStreamed(chunk) && metadata['ls_model_type'] === undefined) return []
      // A graph repeats the messages of its subgraph as whole messages. They are left out.
      if (known.has(id) && !growing.has(key) && !isStreamed(chunk)) return []
      if (isBareEnd(chunk) && goesOnBeside(growing, key, placeOf(metadata))) return []
      const events: BlockEvent[] = []
      const message = growing.get(key) ?? begin(id, chunk, metadata, ofPython, events)
      growing.set(key, message)
      if (message.isSent) noteSent(sent, message.graph, message.node)
      known.add(id)
      for (const [index, piece] of piecesOf(chunk)) addPiece(events, message, index, piece)
      addFacts(message, chunk)
      return events
    },
    started(namespace, task) {
      const node = sentNode(task)
      if (node !== undefined) noteSent(sent, namespace.join('|'), node)
    },
    updated(namespace, node, update) {
      const graph = namespace.join('|')
      const isShared = sent.get(graph)?.has(node) === true
      // The update does not name its task. Of several tasks, it belongs to the one whose message it contains.
      return finish(
        (message) =>
          message.node === node &&
          message.graph === graph &&
          (!(message.isSent || isShared) || update.includes(JSON.stringify(message.id))),
      )
    },
    stepped(namespace) {
      const graph = namespace.join('|')
      const isIn = (other: string): boolean =>
        graph === '' || other === graph || other.startsWith(`${graph}|`)
      for (const other of [...sent.keys()].filter(isIn)) sent.delete(other)
      return finish((message) => isIn(message.graph))
    },
    finish: () => finish(() => true),
  }
}

function noteSent(sent: Map<string, Set<string>>, graph: string, node: string | undefined): void {
  if (node !== undefined) sent.set(graph, (sent.get(graph) ?? new Set()).add(node))
}

/** The node of a task that `Send` made; undefined for other tasks. `task` is data of mode `tasks` as JSON text. */
function sentNode(task: string): string | undefined {
  if (!task.includes(PUSH)) return undefined
  const { name, triggers } = JSON.parse(task) as JsonObject
  return Array.isArray(triggers) && triggers.includes(PUSH) ? String(name) : undefined
}

/** Begins a message with its first chunk, and adds its first event to `events`. */
function begin(
  id: string,
  chunk: JsonObject,
  metadata: JsonObject,
  ofPython: boolean,
  events: BlockEvent[],
): Growing {
  const isPython = ofPython || chunk['type'] === 'AIMessageChunk'
  const place = placeOf(metadata)
  const node = metadata['langgraph_node']
  const path = metadata['langgraph_path']
  const message: Growing = {
    id,
    run_id: callOf(id, place),
    namespace: isPython ? place.slice(0, -1) : place,
    graph: place.slice(0, -1).join('|'),
    isSent: Array.isArray(path) && path[0] === PUSH,
    node: typeof node === 'string' ? node : undefined,
    blocks: new Map(),
    usage: null,
    metadata: {},
  }
  const role = ROLES[String(chunk['type'])]
  const named = role !== undefined && (isPython || role !== 'ai')
  add(events, message, { event: 'message-start', id, ...(named && { role }) })
  return message
}

/** Adds the usage and the response metadata of a chunk to its message. */
function addFacts(message: Growing, { usage_metadata, response_metadata }: JsonObject): void {
  if (isObject(usage_metadata)) message.usage = usage_metadata
  if (isObject(response_metadata)) Object.assign(message.metadata, response_metadata)
}

function endOf(message: Growing): BlockEvent[] {
  const events: BlockEvent[] = []
  for (const [index, block] of message.blocks)
    add(events, message, { event: 'content-block-finish', index, content: finalBlock(block) })
  add(events, message, {
    event: 'message-finish',
    reason: 'stop',
    ...(message.usage !== null && { usage: message.usage }),
    ...(Object.keys(message.metadata).length > 0 && { responseMetadata: message.metadata }),
  })
  return events
}

/** LangGraph's mark of tasks made by `Send`: the first part of their `langgraph_path`. */
const PUSH = '__pregel_push'

/** Returns the namespace of the task that made a message. */
function placeOf(metadata: JsonObject): string[] {
  const place = String(metadata['langgraph_checkpoint_ns'] ?? '').split('|')
  return place.filter((segment) => segment !== '')
}

const CALL_ID = /^(?:lc_)?run-+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/
/** Namespace of the derived ids. Its value is arbitrary: ids need to be unique only within a run. */
const CALLS = '6d7f0a5e-1f0b-4c39-9a55-0c1d2f1f8f6b'

/**
 * The id of the model call that made a message. If the model gives no message id, LangChain makes one from the id of
 * the call. Otherwise the id is derived, because the metadata of v1 contain only the id of the whole run.
 */
function callOf(id: string, place: readonly string[]): string {
  return CALL_ID.exec(id)?.[1] ?? uuidOfName(keyOf(id, place), CALLS)
}

function keyOf(id: string, place: readonly string[]): string {
  return `${place.join('|')} ${id}`
}

/**
 * Roles of the channel `messages` by type of message. Tool messages are absent, because the channel has no tool
 * results.
 */
const ROLES: Readonly<Record<string, string | undefined>> = {
  ai: 'ai',
  AIMessageChunk: 'ai',
  human: 'human',
  system: 'system',
}

/** Adds an event. Clients distinguish parallel messages of a node by `run_id` (JavaScript) or `message_id` (Python). */
function add(events: BlockEvent[], { id, run_id, namespace, node }: Growing, data: JsonObject): void {
  const isStart = data['event'] === 'message-start'
  events.push({ namespace, node, data: { ...data, ...(!isStart && { message_id: id }), run_id } })
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
  // A message that was not streamed has only whole calls.
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

/** Whether this message is not being streamed, but another message of the same task is. */
function goesOnBeside(growing: ReadonlyMap<string, Growing>, key: string, place: readonly string[]): boolean {
  return !growing.has(key) && [...growing.keys()].some((other) => other.startsWith(keyOf('', place)))
}

/**
 * Whether the chunk only reports the end of a model call. LangChain for Python sends such a chunk after the message of
 * a model that gives its own ids. The chunk has the id of the call, not of the message.
 */
function isBareEnd({ chunk_position, content, tool_call_chunks, usage_metadata }: JsonObject): boolean {
  const isEmpty = content === '' || (Array.isArray(content) && content.length === 0)
  const hasCalls = Array.isArray(tool_call_chunks) && tool_call_chunks.length > 0
  return chunk_position === 'last' && isEmpty && !hasCalls && !isObject(usage_metadata)
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
  // A tool call with the number of a block of another kind gets the next free number.
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

/** For each kind of block, the field that grows while the block is streamed. */
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

/** Returns the complete block; the arguments of a tool call are parsed. */
function finalBlock(block: JsonObject): JsonObject {
  if (block['type'] !== 'tool_call_chunk') return block
  const { id, name, args } = block
  try {
    return { type: 'tool_call', id, name, args: JSON.parse(String(args ?? '') || '{}') as JsonValue }
  } catch {
    return { type: 'invalid_tool_call', id, name, args, error: 'The arguments are not JSON.' }
  }
}
