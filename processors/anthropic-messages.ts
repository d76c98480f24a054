import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { type Draft, finish, newDraft, resolveRole } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { foldAnthropicEvents, isAnthropicEvent } from './parts/anthropic-events.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { putMessage } from './parts/read-parts.ts'
import { ANTHROPIC, CANONICAL, LANGCHAIN, OPENAI_CHAT, REASONING, surveyMessages } from './parts/survey.ts'

/**
 * Anthropic's Messages API: `system` and `messages[]`; answers as `content[]`, `message.content`,
 * `messages[0].content`, `output.messages[0].content`, or as the list of streamed events.
 */
export const anthropicMessages: Processor = { name: 'anthropic-messages', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (Array.isArray(value)) {
    if (side === 'outputs' && value.some(isAnthropicEvent)) return 2
    return value.length > 0 && isMarked(value) ? 2 : 0
  }
  if (!isObject(value)) return 0
  if (side === 'outputs') {
    const answer = answerOf(value)
    if (answer !== undefined) return matchAnswer(answer.said, hints)
  }
  if (!Array.isArray(value.messages)) return 0
  return matchMessages(value, value.messages, hints)
}

function isMarked(list: readonly JsonValue[]): boolean {
  const { messages, marks } = surveyMessages(list)
  return messages && (marks & ANTHROPIC) !== 0 && (marks & ~(ANTHROPIC | REASONING)) === 0
}

function matchMessages(value: JsonObject, list: readonly JsonValue[], hints: Hints): 0 | 1 | 2 {
  const { messages, marks } = surveyMessages(list)
  if (!messages || (marks & (CANONICAL | LANGCHAIN)) !== 0) return 0
  if ((marks & ~(ANTHROPIC | OPENAI_CHAT)) !== 0) return 0
  if ((marks & ANTHROPIC) !== 0) return (marks & OPENAI_CHAT) === 0 ? 2 : 1
  if ((marks & OPENAI_CHAT) !== 0) return 0
  const system = typeof value.system === 'string' || Array.isArray(value.system)
  if (system && !isBedrockSystem(value.system)) return 2
  if (!isHinted(hints)) return 0
  return typeof value.model === 'string' ? 2 : 1
}

/** Whether this is a system prompt of Bedrock, which is a list of parts without a type. */
function isBedrockSystem(system: JsonValue | undefined): boolean {
  return Array.isArray(system) && isObject(system[0]) && system[0].type === undefined
}

function isHinted(hints: Hints): boolean {
  if (hints.inputs_format === 'anthropic-messages') return true
  return (
    /^anthropic/i.test(hints.provider ?? '') ||
    (hints.provider === undefined && /^claude/i.test(hints.model ?? ''))
  )
}

function matchAnswer(said: JsonObject, hints: Hints): 0 | 1 | 2 {
  const { messages, marks } = surveyMessages([{ role: 'assistant', content: said.content }])
  if (!messages || (marks & ~ANTHROPIC) !== 0) return 0
  if (marks !== 0 || said.type === 'message' || said.stop_reason !== undefined) return 2
  return isHinted(hints) && said.finish_reason === undefined ? 1 : 0
}

/** The message of the answer, at any of the places that clients use, if its content is a list of blocks. */
function answerOf(value: JsonObject): { said: JsonObject; path: string } | undefined {
  if (Array.isArray(value.content)) return { said: value, path: '' }
  const { message, messages, output } = value
  if (isObject(message) && Array.isArray(message.content)) return { said: message, path: 'message' }
  const lists: [JsonValue | undefined, string][] = [
    [messages, 'messages[0]'],
    [isObject(output) ? output.messages : undefined, 'output.messages[0]'],
  ]
  for (const [list, path] of lists) {
    const first = Array.isArray(list) && list.length === 1 ? list[0] : undefined
    if (isObject(first) && Array.isArray(first.content)) return { said: first, path }
  }
  return undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (Array.isArray(value)) {
    if (side !== 'outputs' || !value.some(isAnthropicEvent)) putAll(draft, value, '')
    else {
      const said = foldAnthropicEvents(value)
      putAnswerMessage(draft, said, '')
      return finish(draft, { model: said.model })
    }
    return finish(draft)
  }
  if (!isObject(value)) return finish(draft)
  const answer = side === 'outputs' ? answerOf(value) : undefined
  if (answer !== undefined) {
    putAnswerMessage(draft, answer.said, answer.path)
    return finish(draft, { model: answer.said.model ?? value.model })
  }
  const { system, messages, model, tools } = value
  if (system !== undefined && system !== null) {
    putMessage(draft, 'system', { role: 'system', content: system, content_path: 'system' })
  }
  if (Array.isArray(messages)) putAll(draft, messages, 'messages')
  return finish(draft, { model, tools })
}

function putAll(draft: Draft, list: readonly JsonValue[], path: string): void {
  for (const [i, said] of list.entries()) putOpenaiMessage(draft, `${path}[${i}]`, said, 'user')
}

function putAnswerMessage(draft: Draft, said: JsonObject, path: string): void {
  const role = said.role === undefined ? 'assistant' : resolveRole(said.role, 'assistant', path, draft.issues)
  putMessage(draft, path, { role, content: said.content })
}
