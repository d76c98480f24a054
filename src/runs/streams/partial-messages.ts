import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { V2_ENTRIES } from '../../base/text/v2-entries.ts'
import type { StreamItem } from '../execute/graph-host.ts'
import { v1Item } from '../streams-v2/v1-entry.ts'

/** Maximum characters of message events kept for one run. */
const MAX_CHARS = 4 << 20
/** The id of a message is searched in this number of characters at the start of an event. */
const HEAD = 300
const ID = /"id":"((?:[^"\\]|\\.)*)"/

/** The streamed parts of a message: chunks to join, or its latest complete form. */
interface Streamed {
  chunks: string[]
  /** Whether the chunks are entries of protocol v2. */
  ofV2: boolean
  whole: string | undefined
  chars: number
}

/** Collects messages while they stream, unparsed, so that a cancel does not lose them (D-46). */
export interface PartialMessages {
  add(item: StreamItem): void
  /**
   * Returns the received parts of messages that are not in the thread's state (JSON text), each flat as in stream mode
   * `messages`; null if there are none.
   */
  unfinished(values_json: string | null | undefined): JsonValue
}

export function createPartialMessages(maxChars = MAX_CHARS): PartialMessages {
  const messages = new Map<string, Streamed>()
  let chars = 0

  function messageOf(data: string, ofV2: boolean): Streamed | undefined {
    const id = ID.exec(data.slice(0, HEAD))?.[1]
    if (id === undefined) return undefined
    const known = messages.get(id)
    if (known !== undefined) return known
    const made: Streamed = { chunks: [], ofV2, whole: undefined, chars: 0 }
    messages.set(id, made)
    return made
  }

  function forgetOldest(): void {
    for (const [id, message] of messages) {
      if (chars <= maxChars) return
      messages.delete(id)
      chars -= message.chars
    }
  }

  return {
    add({ event, data }) {
      const kind = kindOf(event)
      if (kind === undefined) return
      const message = messageOf(data, event.startsWith(V2_ENTRIES.messages))
      if (message === undefined) return
      const before = message.chars
      if (kind === 'chunk') {
        message.chunks.push(data)
        message.chars += data.length
      } else {
        message.whole = data
        message.chars = data.length
        message.chunks = []
      }
      chars += message.chars - before
      if (chars > maxChars) forgetOldest()
    },
    unfinished(values_json) {
      const found: JsonObject[] = []
      for (const [id, message] of messages) {
        if (values_json?.includes(`"id":"${id}"`) === true) continue
        const joined = joinMessage(message)
        if (joined !== undefined) found.push(joined)
      }
      return found.length === 0 ? null : found
    },
  }
}

function kindOf(event: string): 'chunk' | 'whole' | undefined {
  if (event.startsWith(V2_ENTRIES.messages)) return 'chunk'
  if (!event.startsWith('messages')) return undefined
  const bar = event.indexOf('|')
  const name = bar < 0 ? event : event.slice(0, bar)
  if (name === 'messages') return 'chunk'
  return name === 'messages/partial' || name === 'messages/complete' ? 'whole' : undefined
}

function joinMessage({ chunks, ofV2, whole }: Streamed): JsonObject | undefined {
  if (whole !== undefined) return firstOf(whole)
  let joined: JsonObject | undefined
  for (const data of chunks) {
    const shown = ofV2 ? v1Item({ event: V2_ENTRIES.messages, data })?.data : data
    const chunk = shown === undefined ? undefined : firstOf(shown)
    if (chunk !== undefined) joined = joined === undefined ? chunk : joinChunks(joined, chunk)
  }
  return joined
}

/** The message of an event: the first of a tuple or a list. */
function firstOf(data: string): JsonObject | undefined {
  const parsed = JSON.parse(data) as JsonValue
  const first = Array.isArray(parsed) ? parsed[0] : undefined
  return isObject(first) ? first : undefined
}

/** Joins two chunks of one message: streamed texts are concatenated; for other fields the later value counts. */
function joinChunks(before: JsonObject, next: JsonObject): JsonObject {
  const joined = { ...before }
  for (const [key, value] of Object.entries(next)) {
    if (value === undefined || value === null) continue
    if (key === 'content') joined[key] = joinContent(before[key], value)
    else if (key === 'tool_call_chunks') joined[key] = joinLists(listOf(before[key]), listOf(value))
    else if (!isEmpty(value)) joined[key] = value
  }
  return joined
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value
  return typeof value === 'string' && value !== '' ? [{ type: 'text', text: value }] : []
}

function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === '' || (isObject(value) && Object.keys(value).length === 0)
}

function joinContent(before: JsonValue | undefined, next: JsonValue): JsonValue {
  if (typeof before === 'string' && typeof next === 'string') return before + next
  return joinLists(listOf(before), listOf(next))
}

/** Blocks with the same `index` are pieces of one block. */
function joinLists(before: JsonValue[], next: JsonValue[]): JsonValue[] {
  const joined = [...before]
  for (const piece of next) {
    const index = isObject(piece) ? piece['index'] : undefined
    const at =
      index === undefined ? -1 : joined.findIndex((block) => isObject(block) && block['index'] === index)
    const block = joined[at]
    if (isObject(block) && isObject(piece)) joined[at] = joinBlocks(block, piece)
    else joined.push(piece)
  }
  return joined
}

/** The pieces of a block repeat the fields that identify it. The values of all other fields are concatenated. */
const NAMING = new Set(['type', 'index', 'id'])

function joinBlocks(block: JsonObject, piece: JsonObject): JsonObject {
  const joined = { ...block }
  for (const [key, value] of Object.entries(piece)) {
    const before = block[key]
    if (value === undefined || value === null) continue
    joined[key] =
      typeof before === 'string' && typeof value === 'string' && !NAMING.has(key) ? before + value : value
  }
  return joined
}
