import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import {
  addIssue,
  kept,
  mediaBlock,
  mediaKind,
  readToolArgs,
  reasoningBlock,
  textBlock,
  toolCallBlock,
} from '../../src/trace/messages/messages.ts'
import { readSource } from './anthropic-parts.ts'
import { openaiFile } from './openai/parts.ts'
import type { PartReaders } from './part-reader.ts'
import { vercelMedia } from './vercel-parts.ts'

/**
 * Content blocks of LangChain (v0 data blocks, v1 standard blocks, the interface's own), and types whose names several
 * vendors share, which are distinguished by their keys.
 */
export const langchainParts: PartReaders = [
  ['reasoning', readReasoning],
  ['image', readMedia],
  ['audio', readMedia],
  ['video', readMedia],
  ['file', readMedia],
  ['media', readMedia],
  // LangSmith's Gemini wrapper.
  ['file_data', readMedia],
  [
    'text-plain',
    (part) => (typeof part.text === 'string' ? textBlock(part.text) : readMedia({ ...part, type: 'file' })),
  ],
  ['tool_call', readToolCall],
  [
    'function_call',
    (part, path, issues) =>
      toolCallBlock(part.call_id ?? part.id, part.name, part.arguments, `${path}.arguments`, issues),
  ],
  ['invalid_tool_call', invalidToolCall],
  ['tool_call_chunk', () => null],
  ['server_tool_call', readServerCall],
  ['server_tool_call_chunk', () => null],
  ['server_tool_result', readServerResult],
  ['non_standard', (part) => kept(part.value ?? part)],
]

/** Reads a call whose arguments the client could not parse; they are kept under `raw`, with a warning. */
export function invalidToolCall(part: JsonObject, path: string, issues: Issue[]): ContentBlock {
  addIssue(issues, {
    code: 'invalid_tool_call',
    severity: 'warning',
    path,
    message: 'The client could not parse the arguments of this tool call; they are kept as they came.',
    fix: 'Nothing to mend in the log: the model gave arguments that are not JSON.',
  })
  const raw = part.args ?? part.arguments ?? null
  return toolCallBlock(part.id, part.name, isObject(raw) ? raw : { raw }, path, issues)
}

function readToolCall(part: JsonObject, path: string, issues: Issue[]): ContentBlock {
  const of = isObject(part.function) ? part.function : part
  return toolCallBlock(part.id, of.name, of.args ?? of.arguments ?? of.input, `${path}.args`, issues)
}

function readReasoning(part: JsonObject): ContentBlock | undefined {
  const id = text(part.id)
  const extras = isObject(part.extras) ? part.extras : id === undefined ? undefined : { id }
  const said = typeof part.reasoning === 'string' ? part.reasoning : part.text
  if (typeof said === 'string') return reasoningBlock(said, extras)
  return Array.isArray(part.summary) ? reasoningBlock(joinTexts(part), extras) : undefined
}

/** Joins the texts of a reasoning item's `summary` and `content`. */
export function joinTexts(item: JsonObject): string {
  const texts: string[] = []
  for (const list of [item.summary, item.content]) {
    if (!Array.isArray(list)) continue
    for (const piece of list) if (isObject(piece) && typeof piece.text === 'string') texts.push(piece.text)
  }
  return texts.join('\n\n')
}

function readMedia(part: JsonObject): ContentBlock | undefined {
  if (isObject(part.source)) return readSource(part.type === 'image' ? 'image' : 'file', part)
  if (part.type === 'file' && isObject(part.file)) return openaiFile(part.file)
  if (part.image !== undefined || part.mediaType !== undefined || part.mimeType !== undefined) {
    return vercelMedia(part)
  }
  if (part.source_type === 'text' && typeof part.text === 'string') return textBlock(part.text)
  const mimeType = text(part.mime_type)
  const kind = part.type
  return mediaBlock(kind === 'image' || kind === 'audio' || kind === 'video' ? kind : mediaKind(mimeType), {
    base64: part.base64 ?? part.data,
    url: part.url ?? part.file_uri,
    id: part.file_id ?? part.id,
    mime_type: mimeType,
  })
}

function readServerCall(part: JsonObject, path: string, issues: Issue[]): ContentBlock | undefined {
  const { id, name } = part
  if (typeof id !== 'string' || typeof name !== 'string') return undefined
  return { type: 'server_tool_call', id, name, args: readToolArgs(part.args, `${path}.args`, issues) }
}

function readServerResult(part: JsonObject): ContentBlock | undefined {
  const id = part.tool_call_id ?? part.toolCallId
  if (typeof id !== 'string') return undefined
  const status = part.status === 'error' ? 'error' : 'success'
  return { type: 'server_tool_result', tool_call_id: id, status, output: part.output ?? null }
}
