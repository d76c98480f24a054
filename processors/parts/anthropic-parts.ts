import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import {
  mediaBlock,
  type MediaKind,
  readToolArgs,
  reasoningBlock,
  textBlock,
  toolCallBlock,
} from '../../src/trace/messages/messages.ts'
import type { AnswerReaders, PartReader, PartReaders } from './part-reader.ts'

/** Content blocks of Anthropic's Messages API, except tool results. */
export const anthropicParts: PartReaders = [
  [
    'tool_use',
    (part, path, issues) => toolCallBlock(part.id, part.name, part.input, `${path}.input`, issues),
  ],
  ['thinking', readThinking],
  ['redacted_thinking', (part) => reasoningBlock('', { redacted: part.data })],
  ['document', (part) => readSource('file', part)],
  ['container_upload', (part) => mediaBlock('file', { id: part.file_id })],
  ['search_result', readSearchResult],
  ['server_tool_use', readServerCall],
  ['mcp_tool_use', readServerCall],
  ...[
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
    'text_editor_code_execution_tool_result',
    'tool_search_tool_result',
    'mcp_tool_result',
  ].map((type): readonly [string, PartReader] => [type, readServerResult]),
  // A rest of streamed arguments in LangChain's messages, which list the call itself beside the content.
  ['input_json_delta', () => null],
]

/** Tool results, which are parts of user messages and become separate tool messages (D-14). */
export const anthropicAnswers: AnswerReaders = [
  [
    'tool_result',
    (part) => ({
      tool_call_id: part.tool_use_id,
      name: undefined,
      content: part.content,
      failed: part.is_error === true,
    }),
  ],
]

/** An image or document by its `source`: base64, url, file, text, or a list of blocks. */
export function readSource(kind: MediaKind, part: JsonObject): ContentBlock | undefined {
  const { source } = part
  if (!isObject(source)) return undefined
  if (source.type === 'text' && typeof source.data === 'string') return textBlock(source.data)
  const block = mediaBlock(kind, {
    base64: source.data,
    url: source.url,
    id: source.file_id,
    mime_type: source.media_type,
  })
  const title = text(part.title)
  if (block !== undefined && title !== undefined) block.filename = title
  return block
}

function readThinking(part: JsonObject): ContentBlock | undefined {
  if (typeof part.thinking !== 'string') return undefined
  const signature = text(part.signature)
  return reasoningBlock(part.thinking, signature === undefined ? undefined : { signature })
}

function readSearchResult(part: JsonObject): ContentBlock | undefined {
  if (!Array.isArray(part.content)) return undefined
  const lines = part.content.map((block) => (isObject(block) ? (text(block.text) ?? '') : ''))
  const extras: JsonObject = { title: part.title, source: part.source }
  return { type: 'text', text: lines.join('\n'), extras }
}

function readServerCall(part: JsonObject, path: string, issues: Issue[]): ContentBlock | undefined {
  const { id, name } = part
  if (typeof id !== 'string' || typeof name !== 'string') return undefined
  return { type: 'server_tool_call', id, name, args: readToolArgs(part.input, `${path}.input`, issues) }
}

function readServerResult(part: JsonObject): ContentBlock | undefined {
  const id = part.tool_use_id
  if (typeof id !== 'string') return undefined
  const failed = part.is_error === true || isErrorContent(part.content)
  const output = part.content ?? null
  return { type: 'server_tool_result', tool_call_id: id, status: failed ? 'error' : 'success', output }
}

function isErrorContent(content: JsonValue | undefined): boolean {
  return isObject(content) && typeof content.type === 'string' && content.type.endsWith('_error')
}
