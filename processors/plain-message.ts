import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { type Draft, finish, newDraft, readRole } from '../src/trace/messages/messages.ts'
import type { Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'

/**
 * The interface's short shapes: `{message: {role, content}}`, `{role, content}`, `[role, content]`, and a list of such
 * pairs, also under `messages`. A plain string is not one of them.
 */
export const plainMessage: Processor = { name: 'plain-message', match, normalize }

function match(_side: Side, value: JsonValue): 0 | 1 | 2 {
  if (Array.isArray(value)) return isPair(value) || isPairs(value) ? 1 : 0
  if (!isObject(value)) return 0
  if (isPairs(value.messages)) return 1
  return isSpoken(value) || (isObject(value.message) && isSpoken(value.message)) ? 1 : 0
}

/**
 * Whether an object is a message. It may have any role; a pair must have a known one, since otherwise any two strings
 * would be a message.
 */
function isSpoken(value: JsonObject): boolean {
  if (typeof value.role !== 'string') return false
  const { content } = value
  return typeof content === 'string' || Array.isArray(content) || saysBeside(value)
}

function saysBeside(value: JsonObject): boolean {
  return Array.isArray(value.tool_calls) || isObject(value.function_call) || value.content === null
}

function isPair(value: JsonValue): value is [string, JsonValue] {
  if (!Array.isArray(value) || value.length !== 2 || readRole(value[0]) === undefined) return false
  return typeof value[1] === 'string' || Array.isArray(value[1])
}

function isPairs(value: JsonValue | undefined): value is JsonValue[] {
  return Array.isArray(value) && value.length > 0 && value.slice(0, 40).every(isPair)
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const absent = side === 'inputs' ? 'user' : 'assistant'
  if (isPair(value)) putOpenaiMessage(draft, '', { role: value[0], content: value[1] }, absent)
  else if (Array.isArray(value)) putPairs(draft, '', value, absent)
  else if (isObject(value) && isPairs(value.messages)) {
    putPairs(draft, 'messages', value.messages, absent)
    return finish(draft, { model: value.model, tools: value.tools })
  } else if (isObject(value) && isObject(value.message)) {
    putOpenaiMessage(draft, 'message', value.message, absent)
    return finish(draft, { model: value.model })
  } else if (isObject(value)) {
    putOpenaiMessage(draft, '', value, absent)
    return finish(draft, { model: value.model })
  }
  return finish(draft)
}

function putPairs(
  draft: Draft,
  path: string,
  pairs: readonly JsonValue[],
  absent: 'user' | 'assistant',
): void {
  for (const [i, pair] of pairs.entries()) {
    const said = isPair(pair) ? { role: pair[0], content: pair[1] } : pair
    putOpenaiMessage(draft, `${path}[${i}]`, said, absent)
  }
}
