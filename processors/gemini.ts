import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import type { Message } from '../src/schema/types.gen.ts'
import {
  type Draft,
  finish,
  newDraft,
  resolveRole,
  type MessageRole,
} from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { putInteraction } from './parts/interactions.ts'
import { putMessage } from './parts/read-parts.ts'
import { GEMINI, OPENAI_CHAT, surveyMessages } from './parts/survey.ts'

/**
 * Google's Gemini: `contents[].parts` with `systemInstruction`, `candidates[].content.parts` (also as a list of
 * streamed answers), `steps` of the Interactions API, and the forms of LangSmith's wrapper: `messages`,
 * `{role, content, finish_reason}`.
 */
export const gemini: Processor = { name: 'gemini', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (side === 'outputs') {
    if (isCandidates(value) || isInteraction(value)) return 2
    if (Array.isArray(value) && value.some(isCandidates)) return 2
  }
  if (isObject(value)) {
    if (value.contents !== undefined) return matchContents(value.contents, hints)
    if (side === 'outputs' && typeof value.role === 'string' && value.content !== undefined) {
      return matchMessages([value], hints)
    }
    return Array.isArray(value.messages) ? matchMessages(value.messages, hints) : 0
  }
  return Array.isArray(value) && value.length > 0 ? matchMessages(value, hints) : 0
}

/** Whether this is an answer of the Interactions API. */
function isInteraction(value: JsonValue): value is JsonObject {
  return isObject(value) && (value.object === 'interaction' || isSteps(value.steps))
}

function isSteps(steps: JsonValue | undefined): boolean {
  return Array.isArray(steps) && steps.some((step) => isObject(step) && step.type === 'model_output')
}

function isCandidates(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value.candidates)) return false
  const first = value.candidates[0]
  return (
    first === undefined ||
    (isObject(first) && (first.content !== undefined || first.finishReason !== undefined))
  )
}

function matchContents(contents: JsonValue, hints: Hints): 0 | 1 | 2 {
  const first = Array.isArray(contents) ? contents[0] : contents
  if (isObject(first)) return Array.isArray(first.parts) ? 2 : 1
  return typeof first === 'string' ? (isHinted(hints) ? 2 : 1) : 0
}

function matchMessages(list: readonly JsonValue[], hints: Hints): 0 | 1 | 2 {
  const { messages, marks } = surveyMessages(list)
  if (!messages || (marks & ~(GEMINI | OPENAI_CHAT)) !== 0) return 0
  if ((marks & GEMINI) !== 0) return 2
  return isHinted(hints) && list.length > 0 ? 2 : 0
}

function isHinted(hints: Hints): boolean {
  if (hints.inputs_format === 'gemini') return true
  if (hints.provider !== undefined) return /^(?:google|gemini|vertex)/i.test(hints.provider)
  return /^(?:models\/)?gemini/i.test(hints.model ?? '')
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (Array.isArray(value)) {
    const streamed = side === 'outputs' && value.some(isCandidates)
    if (streamed) putStreamed(draft, value)
    else putContents(draft, value, '')
    const last = streamed ? value[value.length - 1] : undefined
    return finish(draft, isObject(last) ? { model: last.modelVersion } : {})
  }
  if (!isObject(value)) return finish(draft)
  if (side === 'outputs' && isCandidates(value)) {
    putCandidates(draft, value, '')
    return finish(draft, { model: value.modelVersion })
  }
  if (side === 'outputs' && isInteraction(value)) {
    putInteraction(draft, value)
    return finish(draft, { model: value.model })
  }
  if (value.contents === undefined && value.messages === undefined) {
    putOpenaiMessage(draft, '', value, 'assistant')
    return finish(draft, { model: value.model })
  }
  const config = isObject(value.config) ? value.config : {}
  putSystem(draft, value, config)
  if (value.contents === undefined) putContents(draft, value.messages ?? null, 'messages')
  else putContents(draft, value.contents, 'contents')
  return finish(draft, { model: value.model, tools: value.tools ?? config.tools })
}

function putSystem(draft: Draft, value: JsonObject, config: JsonObject): void {
  const found = (['systemInstruction', 'system_instruction'] as const)
    .flatMap((key) => [
      { said: value[key], path: key },
      { said: config[key], path: `config.${key}` },
    ])
    .find(({ said }) => said !== undefined && said !== null)
  if (found === undefined) return
  const { said, path } = found
  const content = isObject(said) && said.parts !== undefined ? said.parts : said
  putMessage(draft, path, { role: 'system', content, content_path: path })
}

/** Adds contents: a string, one content, or a list of strings, contents and single parts. */
function putContents(draft: Draft, contents: JsonValue, path: string): void {
  const list = Array.isArray(contents) ? contents : [contents]
  for (const [i, item] of list.entries()) {
    const at = Array.isArray(contents) ? `${path}[${i}]` : path
    if (!isObject(item)) {
      putMessage(draft, at, { role: 'user', content: item, content_path: at })
    } else if (Array.isArray(item.parts)) putContent(draft, at, item, 'user')
    else if (item.role === undefined && item.content === undefined) {
      putMessage(draft, at, { role: 'user', content: [item], content_path: at })
    } else putOpenaiMessage(draft, at, item, 'user')
  }
}

function putContent(draft: Draft, path: string, content: JsonObject, absent: MessageRole): void {
  const role = content.role === undefined ? absent : resolveRole(content.role, absent, path, draft.issues)
  putMessage(draft, path, { role, content: content.parts, content_path: `${path}.parts` })
}

function putCandidates(draft: Draft, value: JsonObject, path: string): void {
  if (!Array.isArray(value.candidates)) return
  for (const [i, candidate] of value.candidates.entries()) {
    if (!isObject(candidate) || !isObject(candidate.content)) continue
    putContent(
      draft,
      `${path}${path === '' ? '' : '.'}candidates[${i}].content`,
      candidate.content,
      'assistant',
    )
  }
}

/** Adds streamed answers: consecutive parts of one role are one message, and their texts are one block. */
function putStreamed(draft: Draft, answers: readonly JsonValue[]): void {
  const read: Draft = { ...newDraft(), issues: draft.issues }
  for (const [i, answer] of answers.entries()) if (isObject(answer)) putCandidates(read, answer, `[${i}]`)
  let open: Message | undefined
  const texts = new Map<Message['content'][number], string[]>()
  for (const [i, said] of read.messages.entries()) {
    if (open === undefined || open.role !== said.role) {
      open = { role: said.role, content: [] }
      draft.messages.push(open)
      draft.paths.push(read.paths[i] ?? '')
    }
    for (const block of said.content) addStreamed(open.content, block, texts)
  }
  for (const [block, pieces] of texts)
    if (block.type === 'text' || block.type === 'reasoning') block.text = pieces.join('')
}

function addStreamed(
  content: Message['content'],
  block: Message['content'][number],
  texts: Map<Message['content'][number], string[]>,
): void {
  const last = content[content.length - 1]
  const joinable = block.type === 'text' || block.type === 'reasoning'
  if (joinable && last !== undefined && last.type === block.type && block.extras === undefined) {
    texts.get(last)?.push(block.text)
    return
  }
  const own = joinable ? { ...block } : block
  content.push(own)
  if (own.type === 'text' || own.type === 'reasoning') texts.set(own, [own.text])
}
