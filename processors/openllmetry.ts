import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft, readRole, type Role } from '../src/trace/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/processor.ts'
import { putOpenaiMessage } from './parts/openai-message.ts'
import { readContent } from './parts/telemetry-content.ts'

/**
 * Indexed attributes (`gen_ai.prompt.0.role`, `gen_ai.completion.0.content`), as OpenLLMetry and many others write
 * them: the content of several parts is their JSON text, tool calls are `{id, name, arguments}`. The shape has no
 * mark of its own: it is read only where a span said so.
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

function toMessage(said: JsonObject, absent: Role): JsonObject {
  if (said.role === undefined && said.content === undefined) {
    // Old Bedrock and Replicate spans name the speaker in place of the role: `gen_ai.prompt.0.user`.
    const role = Object.keys(said).find((key) => readRole(key) !== undefined)
    if (role !== undefined) return { role, content: readContent(said[role]) ?? null }
  }
  // Completions often come without a role: they have only one.
  return { ...said, role: said.role ?? absent, content: readContent(said.content) ?? null }
}
