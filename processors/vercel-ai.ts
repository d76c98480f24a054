import { isObject, type JsonObject, type JsonValue, text } from '../src/schema/json.ts'
import type { ContentBlock } from '../src/schema/types.gen.ts'
import {
  type Draft,
  finish,
  jsonText,
  newDraft,
  reasoningBlock,
  resolveRole,
} from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { addToolCalls, putOpenaiMessage } from './parts/openai/message.ts'
import { putMessage } from './parts/read-parts.ts'
import { CANONICAL, OPENAI_CHAT, REASONING, surveyMessages, VERCEL } from './parts/survey.ts'

/**
 * The Vercel AI SDK as LangSmith's wrapper and the SDK's own telemetry send it: `messages` or `prompt` with its
 * own parts; answers as `{role, content, tool_calls}` with finishReason, or `{text, reasoning, toolCalls, object}`.
 */
export const vercelAi: Processor = { name: 'vercel-ai', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (side === 'outputs' && isObject(value) && isAnswer(value, hints)) return 2
  if (
    side === 'inputs' &&
    hints.dialect === vercelAi.name &&
    isObject(value) &&
    typeof value.prompt === 'string'
  )
    return 2
  const list = listOf(value)
  if (list === undefined || list.length === 0) return 0
  const { messages, marks } = surveyMessages(list)
  if (!messages || (marks & ~(VERCEL | REASONING | OPENAI_CHAT)) !== 0) return 0
  if ((marks & VERCEL) !== 0) return 2
  if (isHinted(hints)) return 2
  return isObject(value) && value.messages === undefined && Array.isArray(value.prompt) ? 1 : 0
}

function isHinted(hints: Hints): boolean {
  return (
    hints.dialect === vercelAi.name ||
    hints.metadata.ls_integration === 'vercel-ai-sdk' ||
    hints.inputs_format === vercelAi.name
  )
}

/** Whether this is an answer: it has content, and camel case keys that no other vendor has. */
function isAnswer(value: JsonObject, hints: Hints): boolean {
  const { content, usage } = value
  const says =
    typeof content === 'string' ||
    Array.isArray(content) ||
    typeof value.text === 'string' ||
    Array.isArray(value.toolCalls) ||
    (hints.dialect === vercelAi.name && (value.object !== undefined || value.reasoning !== undefined))
  if (!says || value.choices !== undefined) return false
  if (hints.dialect === vercelAi.name || value.finishReason !== undefined || Array.isArray(value.toolCalls))
    return true
  if (isObject(usage) && (usage.inputTokens !== undefined || usage.promptTokens !== undefined)) return true
  if (!Array.isArray(content))
    return isHinted(hints) && (content === undefined || typeof value.role === 'string')
  const { marks } = surveyMessages([{ role: 'assistant', content }])
  return (marks & VERCEL) !== 0 || (isHinted(hints) && (marks & CANONICAL) === 0)
}

function listOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  if (Array.isArray(value.messages)) return value.messages
  return Array.isArray(value.prompt) ? value.prompt : undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  const list = listOf(value)
  if (isObject(value) && side === 'outputs' && list === undefined) {
    putAnswer(draft, value)
    const model = isObject(value.response) ? value.response.modelId : undefined
    return finish(draft, { model, provider: providerOf(value.providerMetadata) })
  }
  const path = Array.isArray(value)
    ? ''
    : isObject(value) && Array.isArray(value.messages)
      ? 'messages'
      : 'prompt'
  if (isObject(value) && typeof value.system === 'string') {
    putMessage(draft, 'system', { role: 'system', content: value.system, content_path: 'system' })
  }
  if (isObject(value) && list === undefined && typeof value.prompt === 'string') {
    putMessage(draft, 'prompt', { role: 'user', content: value.prompt, content_path: 'prompt' })
  }
  for (const [i, said] of (list ?? []).entries()) putOpenaiMessage(draft, `${path}[${i}]`, said, 'user')
  return finish(draft, isObject(value) ? { model: value.model ?? value.modelId, tools: value.tools } : {})
}

/** The provider, whose name is a key of its own metadata; the wrapper sends no ls_provider. */
function providerOf(metadata: JsonValue | undefined): string | undefined {
  const names = isObject(metadata) ? Object.keys(metadata) : []
  return names.length === 1 ? names[0] : undefined
}

function putAnswer(draft: Draft, value: JsonObject): void {
  const role = value.role === undefined ? 'assistant' : resolveRole(value.role, 'assistant', '', draft.issues)
  const after: ContentBlock[] = []
  addToolCalls(after, value.tool_calls, 'tool_calls', draft.issues)
  if (after.length === 0) addToolCalls(after, value.toolCalls, 'toolCalls', draft.issues)
  const parts = Array.isArray(value.content) || typeof value.content === 'string'
  const before = parts ? [] : reasoningOf(value)
  const content = parts ? value.content : (value.text ?? (value.object && jsonText(value.object)))
  putMessage(draft, '', { role, content, content_path: parts ? 'content' : 'text', before, after })
}

/** The reasoning: `reasoningText`, or `reasoning` as a string or a list of parts, depending on the version. */
function reasoningOf(value: JsonObject): ContentBlock[] {
  const said = text(value.reasoningText) ?? text(value.reasoning)
  if (said !== undefined) return [reasoningBlock(said)]
  if (!Array.isArray(value.reasoning)) return []
  const texts = value.reasoning.map((part) => (isObject(part) ? (text(part.text) ?? '') : ''))
  return texts.length === 0 ? [] : [reasoningBlock(texts.join('\n'))]
}
