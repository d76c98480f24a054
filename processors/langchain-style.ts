import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft, withCleanPaths } from '../src/trace/messages/messages.ts'
import { readCanonicalMessage, readCanonicalMessages } from '../src/trace/messages/message-checks.ts'
import type { Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { CANONICAL, REASONING, surveyMessages, TOOL_CALLS, UNTYPED } from './parts/survey.ts'

/**
 * The interface's own LangChain-style format, checked completely: `messages[]`, a plain list, or one message (also
 * under `message`), whose content is a list of the nine content types.
 */
export const langchainStyle: Processor = { name: 'langchain-style', match, normalize }

function match(_side: Side, value: JsonValue): 0 | 1 | 2 {
  const list = listOf(value)
  if (list === undefined || list.length === 0) return 0
  const survey = surveyMessages(list)
  const { messages, lists, strings } = survey
  // Tool calls may be listed beside content of this format.
  const marks = lists && (survey.marks & CANONICAL) !== 0 ? survey.marks & ~TOOL_CALLS : survey.marks
  if (!messages || (marks & ~(CANONICAL | REASONING | UNTYPED)) !== 0) return 0
  if ((marks & CANONICAL) !== 0 || ((marks & REASONING) !== 0 && !strings)) return 2
  return lists ? 1 : 0
}

function listOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  if (Array.isArray(value.messages)) return value.messages
  const one = loneMessage(value)
  return one === undefined ? undefined : [one]
}

function loneMessage(value: JsonObject): JsonObject | undefined {
  const one = isObject(value.message) ? value.message : value
  return typeof one.role === 'string' && Array.isArray(one.content) ? one : undefined
}

function normalize(_side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const result = finish(draft, isObject(value) ? { model: value.model, tools: value.tools } : {})
  const one = isObject(value) && !Array.isArray(value.messages) ? loneMessage(value) : undefined
  if (one !== undefined) {
    const path = one === value ? '' : 'message'
    result.messages = [readCanonicalMessage(one, path, new Set(), draft.issues)]
    return withCleanPaths(result)
  }
  const path = Array.isArray(value) ? '' : 'messages'
  result.messages = readCanonicalMessages(listOf(value) ?? [], path, draft.issues)
  return result
}
