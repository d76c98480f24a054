import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import {
  addIssue,
  type Draft,
  jsonText,
  kept,
  keptBlock,
  message,
  put,
  type Role,
  shown,
  textBlock,
} from '../../src/trace/messages.ts'
import { anthropicAnswers, anthropicParts } from './anthropic-parts.ts'
import { geminiWrapperParts, keyedAnswers, keyedParts } from './keyed-parts.ts'
import { langchainParts } from './langchain-parts.ts'
import { openaiParts } from './openai-parts.ts'
import type { AnswerReader, PartReader, ToolAnswer } from './part-reader.ts'
import { vercelAnswers, vercelParts } from './vercel-parts.ts'

/** Every vendor's parts at once, because clients mix them; types that two vendors share read both. */
const BY_TYPE: ReadonlyMap<string, PartReader> = new Map([
  ...openaiParts,
  ...anthropicParts,
  ...vercelParts,
  ...langchainParts,
  ...geminiWrapperParts,
])
const BY_KEY: ReadonlyMap<string, PartReader> = new Map(keyedParts)
const ANSWER_BY_TYPE: ReadonlyMap<string, AnswerReader> = new Map([
  ...anthropicAnswers,
  ...vercelAnswers,
  ...keyedAnswers,
])
const ANSWER_BY_KEY: ReadonlyMap<string, AnswerReader> = new Map(keyedAnswers)

/** The content blocks of a message: a string, a part, or a list of either. Tool answers inside are kept unread. */
export function readParts(content: JsonValue | undefined, path: string, issues: Issue[]): ContentBlock[] {
  const blocks: ContentBlock[] = []
  if (content === undefined || content === null || content === '') return blocks
  if (!Array.isArray(content)) {
    addPart(blocks, content, path, issues)
    return blocks
  }
  for (let i = 0; i < content.length; i++) addPart(blocks, content[i] ?? null, `${path}[${i}]`, issues)
  return blocks
}

function addPart(blocks: ContentBlock[], part: JsonValue, path: string, issues: Issue[]): void {
  if (typeof part === 'string') blocks.push(textBlock(part))
  else if (isObject(part)) {
    const block = readPart(part, path, issues)
    if (block === undefined) blocks.push(keptBlock(part, path, issues))
    else if (block !== null) blocks.push(block)
  } else if (Array.isArray(part)) blocks.push(keptBlock(part, path, issues))
  else if (part !== null) {
    addIssue(issues, {
      code: 'content_not_text',
      severity: 'warning',
      path,
      message: `The content is ${shown(part)}; it is read as text.`,
      fix: 'Send a string or a list of typed objects.',
    })
    blocks.push(textBlock(String(part)))
  }
}

function readPart(part: JsonObject, path: string, issues: Issue[]): ContentBlock | null | undefined {
  const { type } = part
  if (typeof type === 'string') return BY_TYPE.get(type)?.(part, path, issues)
  return firstByKey(part, BY_KEY)?.(part, path, issues)
}

function firstByKey<T>(part: JsonObject, readers: ReadonlyMap<string, T>): T | undefined {
  for (const [key, reader] of readers) if (Object.hasOwn(part, key)) return reader
  return undefined
}

/** The answer to a tool call that this part is, if it is one. */
function readAnswer(part: JsonValue): ToolAnswer | undefined {
  if (!isObject(part)) return undefined
  const { type } = part
  if (typeof type === 'string') return ANSWER_BY_TYPE.get(type)?.(part)
  return firstByKey(part, ANSWER_BY_KEY)?.(part)
}

/** What one message of any vendor holds. */
export interface Spoken {
  role: Role
  content: JsonValue | undefined
  /** Where the content is; `<path>.content` unless told. */
  content_path?: string
  tool_call_id?: JsonValue | undefined
  name?: JsonValue | undefined
  usage_metadata?: JsonValue | undefined
  /** Blocks that come before the content: reasoning that is sent beside it. */
  before?: ContentBlock[]
  /** Blocks that follow it; a tool call that the content holds already is left out. */
  after?: ContentBlock[]
}

/**
 * Appends a message to the draft. Tool answers among its parts become `tool` messages of their own, in
 * place (D-14), so that one message may become several.
 */
export function putMessage(draft: Draft, path: string, spoken: Spoken): void {
  const { role, content } = spoken
  const at = spoken.content_path ?? `${path}.content`
  let blocks: ContentBlock[] = spoken.before ?? []
  let answered = false
  if (Array.isArray(content)) {
    for (let i = 0; i < content.length; i++) {
      const part = content[i] ?? null
      const answer = readAnswer(part)
      if (answer === undefined) addPart(blocks, part, `${at}[${i}]`, draft.issues)
      else if (role === 'assistant') blocks.push(serverResult(answer, part))
      else {
        if (blocks.length > 0) put(draft, path, message(role === 'tool' ? 'user' : role, blocks))
        blocks = []
        answered = true
        putAnswer(draft, `${at}[${i}]`, answer)
      }
    }
  } else blocks = blocks.concat(readParts(content, at, draft.issues))
  addCalls(blocks, spoken.after)
  if (blocks.length === 0 && answered) return
  const said = message(answered && role === 'tool' ? 'user' : role, blocks, spoken.tool_call_id, spoken.name)
  if (isObject(spoken.usage_metadata)) said.usage_metadata = spoken.usage_metadata
  put(draft, path, said)
}

/** Appends the answer to a tool call as a message of its own; a failed one has `status: "error"` beside it. */
export function putAnswer(draft: Draft, path: string, answer: ToolAnswer): void {
  const blocks = answerContent(answer.content, `${path}.content`, draft.issues)
  const said = message('tool', blocks, answer.tool_call_id, answer.name)
  if (answer.failed) said.status = 'error'
  put(draft, path, said)
}

/** What a tool answered: parts are read, any other JSON becomes its text. */
function answerContent(content: JsonValue | undefined, path: string, issues: Issue[]): ContentBlock[] {
  if (content === undefined || content === null || content === '') return []
  if (Array.isArray(content) && content.length > 0 && content.every(looksLikePart)) {
    return readParts(content, path, issues)
  }
  const said = jsonText(content)
  return [said === undefined ? kept(content) : textBlock(said)]
}

function looksLikePart(part: JsonValue): boolean {
  if (typeof part === 'string') return true
  if (!isObject(part)) return false
  return typeof part.type === 'string' ? BY_TYPE.has(part.type) : firstByKey(part, BY_KEY) !== undefined
}

/** A tool answer inside an assistant message was given by the vendor itself. */
function serverResult(answer: ToolAnswer, part: JsonValue): ContentBlock {
  const id = text(answer.tool_call_id)
  if (id === undefined) return kept(part)
  const status = answer.failed ? 'error' : 'success'
  return { type: 'server_tool_result', tool_call_id: id, status, output: answer.content ?? null }
}

function addCalls(blocks: ContentBlock[], after: readonly ContentBlock[] | undefined): void {
  if (after === undefined || after.length === 0) return
  const ids = new Set<string>()
  const names = new Set<string>()
  for (const block of blocks) {
    if (block.type !== 'tool_call') continue
    if (block.id !== undefined) ids.add(block.id)
    else if (block.name !== undefined) names.add(block.name)
  }
  for (const block of after) {
    const repeated =
      block.type === 'tool_call' &&
      ((block.id !== undefined && ids.has(block.id)) || (block.name !== undefined && names.has(block.name)))
    if (!repeated) blocks.push(block)
  }
}
