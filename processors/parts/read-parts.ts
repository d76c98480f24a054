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
  type MessageRole,
  shown,
  textBlock,
} from '../../src/trace/messages/messages.ts'
import { anthropicAnswers, anthropicParts } from './anthropic-parts.ts'
import { geminiWrapperParts, keyedAnswers, keyedParts } from './keyed-parts.ts'
import { langchainParts } from './langchain-parts.ts'
import { openaiParts } from './openai/parts.ts'
import type { AnswerReader, PartReader, ToolAnswer } from './part-reader.ts'
import { vercelAnswers, vercelParts } from './vercel-parts.ts'

/** Readers of parts of all vendors, because clients mix them; a type that two vendors share has a reader for both. */
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

/** The content blocks of a message: a string, a part, or a list of either. Tool results inside are kept unread. */
export function readContentParts(
  content: JsonValue | undefined,
  path: string,
  issues: Issue[],
): ContentBlock[] {
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

/** The result of a tool call, if this part is one. */
function readAnswer(part: JsonValue): ToolAnswer | undefined {
  if (!isObject(part)) return undefined
  const { type } = part
  if (typeof type === 'string') return ANSWER_BY_TYPE.get(type)?.(part)
  return firstByKey(part, ANSWER_BY_KEY)?.(part)
}

/** The content of one message, of any vendor. */
export interface Spoken {
  role: MessageRole
  content: JsonValue | undefined
  /** Path of the content; default `<path>.content`. */
  content_path?: string
  tool_call_id?: JsonValue | undefined
  name?: JsonValue | undefined
  usage_metadata?: JsonValue | undefined
  /** Blocks that come before the content: reasoning that is sent beside it. */
  before?: ContentBlock[]
  /** Blocks that come after the content; a tool call that is already in the content is left out. */
  after?: ContentBlock[]
}

/**
 * Appends a message to the draft. Tool results among its parts become separate `tool` messages in the same place
 * (D-14), so that one message may become several.
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
  } else blocks = blocks.concat(readContentParts(content, at, draft.issues))
  addCalls(blocks, spoken.after)
  if (blocks.length === 0 && answered) return
  const said = message(answered && role === 'tool' ? 'user' : role, blocks, spoken.tool_call_id, spoken.name)
  if (isObject(spoken.usage_metadata)) said.usage_metadata = spoken.usage_metadata
  put(draft, path, said)
}

/** Appends the result of a tool call as a separate message; a failed one also has `status: "error"`. */
export function putAnswer(draft: Draft, path: string, answer: ToolAnswer): void {
  const blocks = answerContent(answer.content, `${path}.content`, draft.issues)
  const said = message('tool', blocks, answer.tool_call_id, answer.name)
  if (answer.failed) said.status = 'error'
  put(draft, path, said)
}

/** The content of a tool result: parts are read, any other JSON becomes its text. */
function answerContent(content: JsonValue | undefined, path: string, issues: Issue[]): ContentBlock[] {
  if (content === undefined || content === null || content === '') return []
  if (Array.isArray(content) && content.length > 0 && content.every(looksLikePart)) {
    return readContentParts(content, path, issues)
  }
  const said = jsonText(content)
  return [said === undefined ? kept(content) : textBlock(said)]
}

function looksLikePart(part: JsonValue): boolean {
  if (typeof part === 'string') return true
  if (!isObject(part)) return false
  return typeof part.type === 'string' ? BY_TYPE.has(part.type) : firstByKey(part, BY_KEY) !== undefined
}

/** The block of a tool result inside an assistant message, which is from a tool of the vendor. */
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
