import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft } from '../src/trace/messages/messages.ts'
import type { Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'

/** OpenInference: `messages[].message` with `content` or `contents[].message_content`, and wrapped tool calls. */
export const openinference: Processor = { name: 'openinference', match, normalize }

const MOST_MESSAGES = 20

function match(_side: Side, value: JsonValue): 0 | 1 | 2 {
  const list = listOf(value)
  if (list === undefined || list.length === 0) return 0
  return list.slice(0, MOST_MESSAGES).every((item) => isObject(item) && isObject(item.message)) ? 2 : 0
}

function listOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value
  return isObject(value) && Array.isArray(value.messages) ? value.messages : undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const base = Array.isArray(value) ? '' : 'messages'
  const absent = side === 'inputs' ? 'user' : 'assistant'
  for (const [i, item] of (listOf(value) ?? []).entries()) {
    const said = isObject(item) && isObject(item.message) ? toMessage(item.message) : item
    putOpenaiMessage(draft, `${base}[${i}].message`, said, absent)
  }
  return finish(draft)
}

function toMessage(said: JsonObject): JsonObject {
  const { contents, tool_calls, function_call_name, function_call_arguments_json, ...rest } = said
  const message: JsonObject = { ...rest, content: rest.content ?? null }
  const calls = Array.isArray(tool_calls) ? tool_calls.map(unwrapCall) : []
  if (Array.isArray(contents) && contents.length > 0) {
    const known = new Set(calls.map((call) => (isObject(call) ? call.id : undefined)))
    // The contents have Anthropic's tool calls too, which are repeated beside them.
    message.content = contents
      .map(partOf)
      .filter((part) => !isRepeated(part, known))
      .map(toPart)
  }
  if (Array.isArray(tool_calls)) message.tool_calls = calls
  if (function_call_name !== undefined)
    message.function_call = { name: function_call_name, arguments: function_call_arguments_json }
  return message
}

/** The part of a content entry; a tool call has a separate prefix. */
function partOf(item: JsonValue): JsonValue {
  if (!isObject(item) || !isObject(item.message_content)) return item
  return isObject(item.tool_call)
    ? { ...item.message_content, tool_call: item.tool_call }
    : item.message_content
}

function isRepeated(part: JsonValue, known: ReadonlySet<JsonValue | undefined>): boolean {
  const call = isObject(part) && isObject(part.tool_call) ? part.tool_call : undefined
  return call?.id !== undefined && known.has(call.id)
}

function unwrapCall(call: JsonValue): JsonValue {
  return isObject(call) && isObject(call.tool_call) ? call.tool_call : call
}

/** Converts `message_content`, whose value is under the name of its type. */
function toPart(part: JsonValue): JsonValue {
  if (!isObject(part)) return part
  const { type } = part
  if (type === 'image' || type === 'audio') {
    const media = unwrapMedia(part[type], type)
    return media === undefined ? part : { type, ...media }
  }
  if (isObject(part.tool_call)) return toCall(part.tool_call)
  if (type === 'tool_call' || type === 'tool_use') return toCall(part)
  if (typeof part.text === 'string' && (type === undefined || !KNOWN_TYPES.has(type)))
    return { type: 'text', text: part.text }
  return part
}

const KNOWN_TYPES: ReadonlySet<JsonValue> = new Set([
  'text',
  'input_text',
  'output_text',
  'reasoning',
  'summary_text',
  'thinking',
])

/** Unwraps media, whose attribute names contain the kind twice: `image.image.url`, `audio.audio.url`. */
function unwrapMedia(value: JsonValue | undefined, kind: string): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const inner = value[kind]
  const { url, mime_type } = isObject(inner) ? inner : value
  return { url, mime_type }
}

function toCall(call: JsonObject): JsonObject {
  const of = isObject(call.function) ? call.function : call
  return { type: 'tool_call', id: call.id, name: of.name, args: of.arguments ?? of.input }
}
