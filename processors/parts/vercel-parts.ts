import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import {
  mediaBlock,
  mediaKind,
  readToolArgs,
  reasoningBlock,
  toolCallBlock,
} from '../../src/trace/messages/messages.ts'
import type { AnswerReaders, PartReaders, ToolAnswer } from './part-reader.ts'

/** Content parts that only the Vercel AI SDK sends, except tool results. */
export const vercelParts: PartReaders = [
  ['tool-call', readToolCall],
  ['redacted-reasoning', (part) => reasoningBlock('', { redacted: part.data })],
  ['source', readReference],
  ['tool-approval-request', () => null],
  ['tool-approval-response', () => null],
]

/** Tool results of all versions: `output: {type, value}` since 5, `result` before. */
export const vercelAnswers: AnswerReaders = [
  ['tool-result', readAnswer],
  ['tool-error', (part) => ({ ...readAnswer(part), content: part.error, failed: true })],
]

/** An image or file by `image` or `data` and a media type; the data may be a URL, a data URL or base64. */
export function vercelMedia(part: JsonObject): ContentBlock | undefined {
  const mimeType = text(part.mediaType) ?? text(part.mimeType)
  const data = part.type === 'image' ? part.image : (part.data ?? part.url)
  const kind = part.type === 'image' ? 'image' : mediaKind(mimeType)
  const isUrl = typeof data === 'string' && /^(?:https?|data|file|gs|s3):/i.test(data.slice(0, 8))
  const block = mediaBlock(kind, { [isUrl ? 'url' : 'base64']: data, mime_type: mimeType })
  const filename = text(part.filename)
  if (block !== undefined && filename !== undefined) block.filename = filename
  return block
}

function readToolCall(part: JsonObject, path: string, issues: Issue[]): ContentBlock {
  const key = part.input === undefined ? 'args' : 'input'
  const { toolCallId: id, toolName: name } = part
  if (part.providerExecuted === true && typeof id === 'string' && typeof name === 'string') {
    return { type: 'server_tool_call', id, name, args: readToolArgs(part[key], `${path}.${key}`, issues) }
  }
  return toolCallBlock(id, name, part[key], `${path}.${key}`, issues)
}

function readAnswer(part: JsonObject): ToolAnswer {
  const { output } = part
  const typed =
    isObject(output) && typeof output.type === 'string' && ('value' in output || 'reason' in output)
  const failed = part.isError === true || (typed && /^(?:error-|execution-denied)/.test(String(output.type)))
  const content: JsonValue | undefined = typed ? (output.value ?? output.reason) : (output ?? part.result)
  return { tool_call_id: part.toolCallId, name: part.toolName, content, failed }
}

function readReference(part: JsonObject): ContentBlock | undefined {
  const source = isObject(part.source) ? part.source : part
  const title = text(source.title) ?? text(source.url)
  return title === undefined ? undefined : { type: 'text', text: '', annotations: [source] }
}
