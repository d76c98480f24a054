import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft, readRole, type MessageRole } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { readContent } from './parts/telemetry-content.ts'

/**
 * Indexed attributes (`gen_ai.prompt.0.role`, `gen_ai.completion.0.content`), as OpenLLMetry and many others write
 * them. Content with several parts is JSON text, tool calls are `{id, name, arguments}`. The shape has no distinctive
 * key, so it is read only for spans that name it.
 */
export const openllmetry: Processor = { name: 'openllmetry', match, normalize }

function match(_side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  return hints.dialect === openllmetry.name && isObject(value) && Array.isArray(value.messages) ? 2 : 0
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const list = isObject(value) && Array.isArray(value.messages) ? value.messages : []
  const absent = side === 'inputs' ? 'user' : 'assistant'
  for (const [i, said] of list.entries())
    putOpenaiMessage(draft, `messages[${i}]`, isObject(said) ? toMessage(said, absent) : said, absent)
  return finish(draft)
}

function toMessage(said: JsonObject, absent: MessageRole): JsonObject {
  if (said.role === undefined && said.content === undefined) {
    // Old Bedrock and Replicate spans have the role as the name of a key: `gen_ai.prompt.0.user`.
    const role = Object.keys(said).find((key) => readRole(key) !== undefined)
    if (role !== undefined) return { role, content: readContent(said[role]) ?? null }
  }
  // Completions often have no role, because only one is possible.
  return { ...said, role: said.role ?? absent, content: readContent(said.content) ?? null }
}
