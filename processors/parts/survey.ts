import { isObject, type JsonObject, type JsonValue } from '../../src/schema/json.ts'

/** The origin of a list of messages, as shown by a few keys of its first messages. */
export interface Survey {
  /** Whether every examined message is an object with a role (or a LangChain type or constructor). */
  messages: boolean
  /** Distinctive keys of vendors as bits, see the constants below. */
  marks: number
  /** Whether the content of every message is a list. */
  lists: boolean
  /** Whether the content of any message is a string. */
  strings: boolean
}

/** Bit for keys that only OpenAI's chat API sends. */
export const OPENAI = 1
/** Only OpenAI's Responses API. */
export const RESPONSES = 2
export const ANTHROPIC = 4
/** LangChain's serialised messages. */
export const LANGCHAIN = 8
/** The interface's own LangChain-style content types. */
export const CANONICAL = 16
export const VERCEL = 32
export const GEMINI = 64
export const BEDROCK = 128
/** `{type: 'reasoning', text}` of the interface and of Vercel. */
export const REASONING = 256
/** A part with text but without a type: Bedrock's, or a mistake. */
export const UNTYPED = 512
/** `tool_calls` in the form of OpenAI's chat API, which clients put beside the content of any format. */
export const TOOL_CALLS = 1024
/** All that messages of OpenAI's chat API show. */
export const OPENAI_CHAT = OPENAI | TOOL_CALLS
/** The marks of messages that can stand in one list, since a part of any of them is read by its type. */
export const MIXABLE =
  OPENAI | RESPONSES | ANTHROPIC | LANGCHAIN | CANONICAL | VERCEL | REASONING | TOOL_CALLS

const MOST_MESSAGES = 40
const MOST_PARTS = 20

const TYPE_MARKS: ReadonlyMap<string, number> = new Map([
  ['image_url', OPENAI],
  ['input_audio', OPENAI],
  ['refusal', OPENAI],
  ['input_text', RESPONSES],
  ['output_text', RESPONSES],
  ['input_image', RESPONSES],
  ['input_file', RESPONSES],
  ['tool_use', ANTHROPIC],
  ['tool_result', ANTHROPIC],
  ['thinking', ANTHROPIC],
  ['redacted_thinking', ANTHROPIC],
  ['document', ANTHROPIC],
  ['server_tool_use', ANTHROPIC],
  ['search_result', ANTHROPIC],
  ['web_search_tool_result', ANTHROPIC],
  ['mcp_tool_use', ANTHROPIC],
  ['tool_call', CANONICAL],
  ['server_tool_call', CANONICAL],
  ['server_tool_result', CANONICAL],
  ['tool-call', VERCEL],
  ['tool-result', VERCEL],
  ['tool-error', VERCEL],
  ['function_response', GEMINI],
  ['executable_code', GEMINI],
  ['file_data', GEMINI],
  ['text-plain', LANGCHAIN],
  ['non_standard', LANGCHAIN],
])

/** Reserved words of LangChain's `type`, which stands for the role. */
const LANGCHAIN_TYPES: ReadonlySet<unknown> = new Set([
  'human',
  'ai',
  'system',
  'tool',
  'function',
  'chat',
  'HumanMessageChunk',
  'AIMessageChunk',
  'SystemMessageChunk',
  'ToolMessageChunk',
  'FunctionMessageChunk',
  'ChatMessageChunk',
])

/** Whether the value is a LangChain message in any serialised form. */
export function isLangchainMessage(value: JsonValue | undefined): value is JsonObject {
  if (!isObject(value)) return false
  if (value.lc === 1) return Array.isArray(value.id)
  if (!LANGCHAIN_TYPES.has(value.type) || value.role !== undefined) return false
  return value.content !== undefined || (isObject(value.data) && value.data.content !== undefined)
}

/** Examines the first messages of a list, each once, without nested values. */
export function surveyMessages(list: readonly JsonValue[]): Survey {
  const survey: Survey = { messages: true, marks: 0, lists: true, strings: false }
  const count = Math.min(list.length, MOST_MESSAGES)
  for (let i = 0; i < count; i++) {
    const message = list[i]
    if (isLangchainMessage(message)) survey.marks |= LANGCHAIN
    else if (!isObject(message) || typeof message.role !== 'string') {
      survey.messages = false
      return survey
    } else markMessage(message, survey)
  }
  return survey
}

function markMessage(message: JsonObject, survey: Survey): void {
  const { role, content } = message
  if (role === 'developer' || role === 'function') survey.marks |= OPENAI
  else if (role === 'model') survey.marks |= GEMINI
  else if (role === 'reasoning') survey.marks |= CANONICAL
  if (Array.isArray(message.parts) && content === undefined) {
    const first = message.parts[0]
    // Parts with a type belong to formats that are not read here.
    if (isObject(first) && first.type !== undefined) survey.messages = false
    else survey.marks |= GEMINI
  }
  if (isObject(message.function_call)) survey.marks |= OPENAI
  if (Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
    const call = message.tool_calls[0]
    if (isObject(call) && isObject(call.function)) survey.marks |= TOOL_CALLS
  }
  if (typeof content === 'string') survey.strings = true
  if (!Array.isArray(content)) {
    survey.lists = false
    return
  }
  const count = Math.min(content.length, MOST_PARTS)
  for (let i = 0; i < count; i++) survey.marks |= markOf(content[i])
}

function markOf(part: JsonValue | undefined): number {
  if (!isObject(part)) return 0
  const { type } = part
  if (type === 'text') return isObject(part.cache_control) ? ANTHROPIC : 0
  if (typeof type !== 'string') return keyedMark(part)
  if (type === 'reasoning') return reasoningMark(part)
  if (type === 'image' || type === 'file' || type === 'audio' || type === 'video') return mediaMark(part)
  return TYPE_MARKS.get(type) ?? 0
}

function reasoningMark(part: JsonObject): number {
  if (part.reasoning !== undefined) return LANGCHAIN
  return part.summary !== undefined ? RESPONSES : REASONING
}

function mediaMark(part: JsonObject): number {
  if (isObject(part.source)) return ANTHROPIC
  if (isObject(part.file)) return OPENAI
  if (part.source_type !== undefined) return LANGCHAIN
  if (part.image !== undefined || part.mediaType !== undefined || part.mimeType !== undefined) return VERCEL
  return CANONICAL
}

function keyedMark(part: JsonObject): number {
  if (part.toolUse !== undefined || part.toolResult !== undefined) return BEDROCK
  if (part.image !== undefined || part.document !== undefined || part.reasoningContent !== undefined)
    return BEDROCK
  return part.text === undefined ? 0 : UNTYPED
}
