import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { type Draft, finish, newDraft } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { foldChatChunks, isChatChunk } from './parts/openai/chunks.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { MIXABLE, OPENAI_CHAT, surveyMessages } from './parts/survey.ts'

/**
 * OpenAI chat completions and everything compatible with them: `messages[]` (or a plain list of messages)
 * on both sides, `choices[].message` on the outputs, lists of streamed chunks. Also messages in which the parts of
 * several vendors are mixed.
 */
export const openaiChat: Processor = { name: 'openai-chat', match, normalize }

const REQUEST_ROLES: ReadonlySet<unknown> = new Set([
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
  'function',
])

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (side === 'outputs') {
    if (isObject(value) && Array.isArray(value.choices)) return matchChoices(value.choices, value)
    if (Array.isArray(value) && isChatChunk(value[0])) return 2
  }
  const list = messagesOf(value)
  if (list === undefined) return 0
  const { messages, marks } = surveyMessages(list)
  if (!messages || (marks & ~MIXABLE) !== 0) return 0
  // Messages of several vendors, which clients pass to any model through one interface.
  if ((marks & ~OPENAI_CHAT) !== 0) return 1
  if (marks !== 0) return 2
  return isRequest(value, list, hints) ? 2 : 1
}

function matchChoices(choices: readonly JsonValue[], value: JsonObject): 0 | 1 | 2 {
  const first = choices[0]
  if (isObject(first)) return isObject(first.message) || isObject(first.delta) ? 2 : 0
  const named = typeof value.object === 'string' && value.object.startsWith('chat.completion')
  return choices.length > 0 ? 0 : named ? 2 : 1
}

/** Whether this is a complete request: a list of messages with the vendor's roles, and a model. */
function isRequest(value: JsonValue, list: readonly JsonValue[], hints: Hints): boolean {
  if (!isObject(value) || typeof value.model !== 'string' || list.length > 100) return false
  if (hints.provider !== undefined && /anthropic|google|gemini|bedrock/i.test(hints.provider)) return false
  return list.every((said) => isObject(said) && REQUEST_ROLES.has(said.role))
}

function messagesOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (isObject(value)) return Array.isArray(value.messages) ? value.messages : undefined
  return Array.isArray(value) && value.length > 0 ? value : undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (side === 'outputs') {
    if (isObject(value) && Array.isArray(value.choices)) return normalizeChoices(draft, value, value.choices)
    if (Array.isArray(value) && isChatChunk(value[0])) {
      const folded = foldChatChunks(value)
      return normalizeChoices(draft, folded, folded.choices)
    }
  }
  const list = messagesOf(value) ?? []
  const path = Array.isArray(value) ? '' : 'messages'
  const absent = side === 'inputs' ? 'user' : 'assistant'
  for (let i = 0; i < list.length; i++) putOpenaiMessage(draft, `${path}[${i}]`, list[i] ?? null, absent)
  if (!isObject(value)) return finish(draft)
  return finish(draft, { model: value.model, tools: value.tools ?? value.functions })
}

function normalizeChoices(draft: Draft, value: JsonObject, choices: readonly JsonValue[]): Normalized {
  for (let i = 0; i < choices.length; i++) {
    const choice = choices[i]
    if (!isObject(choice)) continue
    const key = choice.message === undefined ? 'delta' : 'message'
    if (choice[key] !== undefined) putOpenaiMessage(draft, `choices[${i}].${key}`, choice[key], 'assistant')
  }
  return finish(draft, { model: value.model })
}
