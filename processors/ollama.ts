import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft } from '../src/trace/messages/messages.ts'
import type { Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'

/** Ollama's own answers: `message` (chat) or `response` (generate) beside `done`, also as a list of streamed chunks. */
export const ollama: Processor = { name: 'ollama', match, normalize }

function match(side: Side, value: JsonValue): 0 | 1 | 2 {
  if (side === 'inputs') return 0
  return isAnswer(Array.isArray(value) ? value[0] : value) ? 2 : 0
}

function isAnswer(value: JsonValue | undefined): value is JsonObject {
  if (!isObject(value)) return false
  const counts = typeof value.eval_count === 'number' || typeof value.prompt_eval_count === 'number'
  if (typeof value.done !== 'boolean' && !counts) return false
  return isObject(value.message) || typeof value.response === 'string'
}

function normalize(_side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const chunks = Array.isArray(value) ? value.filter(isObject) : isObject(value) ? [value] : []
  const path = Array.isArray(value) ? '' : isObject(chunks[0]?.message) ? 'message' : 'response'
  putOpenaiMessage(draft, path, joined(chunks), 'assistant')
  return finish(draft, { model: chunks[0]?.model })
}

/** Joins all chunks to one message in OpenAI's shape. */
function joined(chunks: readonly JsonObject[]): JsonObject {
  const content: string[] = []
  const thinking: string[] = []
  const calls: JsonValue[] = []
  let role: JsonValue | undefined
  for (const { message, response, thinking: thought } of chunks) {
    const said = isObject(message) ? message : { content: response, thinking: thought }
    role ??= said.role
    if (typeof said.content === 'string') content.push(said.content)
    if (typeof said.thinking === 'string') thinking.push(said.thinking)
    if (Array.isArray(said.tool_calls)) calls.push(...said.tool_calls)
  }
  return {
    role: role ?? 'assistant',
    content: content.join(''),
    ...(thinking.length > 0 ? { reasoning_content: thinking.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}
