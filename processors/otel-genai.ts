import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import {
  type Draft,
  finish,
  newDraft,
  resolveRole,
  type MessageRole,
} from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { putMessage } from './parts/read-parts.ts'
import { readContent, toPart } from './parts/telemetry-content.ts'

/**
 * OpenTelemetry's GenAI conventions: messages of typed `parts` with `system_instructions` beside them, and the older
 * message events, whose content is text or the vendor's own parts.
 */
export const otelGenai: Processor = { name: 'otel-genai', match, normalize }

const MOST_MESSAGES = 20

function match(_side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  const list = listOf(value)
  if (list === undefined) return 0
  if (hints.dialect === otelGenai.name) return 2
  if (list.length === 0) return 0
  return list.slice(0, MOST_MESSAGES).every(isTyped) ? 2 : 0
}

/** Whether this is a message of the current conventions, whose parts have types, unlike Gemini's. */
function isTyped(said: JsonValue): boolean {
  if (!isObject(said) || typeof said.role !== 'string' || !Array.isArray(said.parts)) return false
  const first = said.parts[0]
  return (
    said.content === undefined && (first === undefined || (isObject(first) && typeof first.type === 'string'))
  )
}

function listOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value
  return isObject(value) && Array.isArray(value.messages) ? value.messages : undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (isObject(value)) putSystem(draft, value.system_instructions)
  const base = Array.isArray(value) ? '' : 'messages'
  const absent = side === 'inputs' ? 'user' : 'assistant'
  for (const [i, said] of (listOf(value) ?? []).entries()) putSaid(draft, `${base}[${i}]`, said, absent)
  return finish(draft, isObject(value) ? { tools: value.tools } : {})
}

/** Adds a system prompt: a list of parts, or one text. */
function putSystem(draft: Draft, said: JsonValue | undefined): void {
  if (said === undefined || said === null || (Array.isArray(said) && said.length === 0)) return
  const path = 'system_instructions'
  const content = isObject(said) ? [toPart(said)] : Array.isArray(said) ? said.map(toPart) : said
  putMessage(draft, path, { role: 'system', content, content_path: path })
}

function putSaid(draft: Draft, path: string, said: JsonValue, absent: MessageRole): void {
  if (!isObject(said) || said.parts === undefined) {
    putOpenaiMessage(draft, path, isObject(said) ? withContent(said) : said, absent)
    return
  }
  const role = resolveRole(said.role, absent, path, draft.issues)
  const content = Array.isArray(said.parts) ? said.parts.map(toPart) : said.parts
  const { tool_call_id, name } = said
  putMessage(draft, path, { role, content, content_path: `${path}.parts`, tool_call_id, name })
}

/** Converts a message event. Its content may be JSON text of parts; without content, content capture was off. */
function withContent(said: JsonObject): JsonObject {
  const content = Array.isArray(said.content) ? said.content.map(toPart) : readContent(said.content)
  return { ...said, content: content ?? null }
}
