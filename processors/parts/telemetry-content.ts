import { isObject, type JsonObject, type JsonValue } from '../../src/schema/json.ts'
import { jsonValueOf } from '../../src/trace/messages/messages.ts'

/**
 * Reads content that instrumentations write into one string attribute. JSON text of parts is parsed; any other value,
 * including other JSON text, is returned unchanged.
 */
export function readContent(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string' || !/^\s{0,20}[[{]/.test(value)) return value
  const parsed = jsonValueOf(value)
  if (Array.isArray(parsed)) return parsed.length > 0 && parsed.every(isPart) ? parsed.map(toPart) : value
  if (!isObject(parsed)) return value
  if (isPart(parsed)) return [toPart(parsed)]
  return value
}

/** Keys of parts that have no type: Bedrock's and Gemini's. */
const UNTYPED = ['text', 'toolUse', 'toolResult', 'functionCall', 'functionResponse', 'inlineData', 'image']

function isPart(value: JsonValue): value is JsonObject {
  if (!isObject(value)) return false
  if (typeof value.type === 'string') return value.role === undefined
  const keys = Object.keys(value)
  return keys.length <= 2 && UNTYPED.some((key) => keys.includes(key))
}

/** Converts a part of the GenAI conventions to the form for part readers; parts of vendors are returned unchanged. */
export function toPart(part: JsonValue): JsonValue {
  if (!isObject(part)) return part
  const { type, content } = part
  switch (type) {
    case 'text':
      return content === undefined ? part : { type: 'text', text: typeof content === 'string' ? content : '' }
    case 'reasoning':
    case 'thinking':
      return typeof content === 'string' ? { type: 'reasoning', text: content } : part
    case 'tool_call':
      return toCall(part)
    case 'tool_call_response':
      return { type: 'tool_result', tool_use_id: part.id, content: part.response ?? part.result ?? content }
    case 'server_tool_call':
      return toServerCall(part)
    case 'server_tool_call_response':
      return { type: 'server_tool_result', tool_call_id: part.id, output: serverAnswer(part) }
    case 'blob':
    case 'binary':
      return media(part, { base64: content ?? part.data ?? part.blob ?? part.base64 })
    case 'uri':
    case 'image-url':
    case 'audio-url':
    case 'video-url':
    case 'document-url':
      return media(part, { url: part.uri ?? part.url ?? content })
    case 'file':
      return part.file_id === undefined ? part : media(part, { id: part.file_id })
    default:
      return type === undefined ? toGenkitPart(part) : part
  }
}

/** Converts a call of a vendor's tool, whose arguments are beside the type in `server_tool_call`. */
function toServerCall(part: JsonObject): JsonObject {
  if (!isObject(part.server_tool_call)) return part
  const { type, ...args } = part.server_tool_call
  return { type: 'server_tool_call', id: part.id, name: part.name ?? type, args }
}

/** Converts a part of Genkit, which has no type, like Gemini's, but other names. */
function toGenkitPart(part: JsonObject): JsonObject {
  const { toolRequest: call, toolResponse: answer, media: file } = part
  if (isObject(call)) return { type: 'tool_call', id: call.ref, name: call.name, args: call.input }
  if (isObject(answer)) return { type: 'tool_result', tool_use_id: answer.ref, content: answer.output }
  return isObject(file) ? media({ mime_type: file.contentType }, { url: file.url }) : part
}

function toCall(part: JsonObject): JsonObject {
  const { id, name } = part
  const args = part.arguments ?? part.args
  const server = part.builtin === true && typeof id === 'string' && typeof name === 'string'
  return { type: server ? 'server_tool_call' : 'tool_call', id, name, args }
}

function serverAnswer(part: JsonObject): JsonValue {
  return part.server_tool_call_response ?? part.response ?? part.result ?? null
}

function media(part: JsonObject, source: JsonObject): JsonObject {
  const mimeType = part.mime_type ?? part.media_type
  return { type: kindOf(part, mimeType), ...source, mime_type: mimeType }
}

function kindOf(part: JsonObject, mimeType: JsonValue | undefined): string {
  const named = typeof part.modality === 'string' ? part.modality : undefined
  const found = /^(image|audio|video)/.exec(
    named ?? (typeof mimeType === 'string' ? mimeType : String(part.type)),
  )
  return found?.[1] ?? 'file'
}
