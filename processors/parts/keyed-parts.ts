import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import {
  jsonText,
  mediaBlock,
  mediaKind,
  reasoningBlock,
  textBlock,
  toolCallBlock,
} from '../../src/trace/messages/messages.ts'
import type { AnswerReaders, PartReaders, ToolAnswer } from './part-reader.ts'

/** Parts without a `type`, recognised by their key: Gemini's `parts` and Bedrock Converse's content blocks. */
export const keyedParts: PartReaders = [
  ['inlineData', (part) => readInline(part.inlineData)],
  ['inline_data', (part) => readInline(part.inline_data)],
  ['fileData', (part) => readFile(part.fileData)],
  ['file_data', (part) => readFile(part.file_data)],
  ['functionCall', (part, path, issues) => readCall(part, part.functionCall, path, issues)],
  ['function_call', (part, path, issues) => readCall(part, part.function_call, path, issues)],
  ['executableCode', (part) => readCode(part.executableCode)],
  ['executable_code', (part) => readCode(part.executable_code)],
  ['codeExecutionResult', (part) => readCodeResult(part.codeExecutionResult)],
  ['code_execution_result', (part) => readCodeResult(part.code_execution_result)],
  ['toolUse', readToolUse],
  ['reasoningContent', (part) => readBedrockReasoning(part.reasoningContent)],
  ['image', (part) => readBedrockMedia('image', part.image)],
  ['video', (part) => readBedrockMedia('video', part.video)],
  ['document', (part) => readBedrockMedia('file', part.document)],
  ['json', (part) => readJson(part.json)],
  ['cachePoint', () => null],
  ['guardContent', (part) => readGuarded(part.guardContent)],
  // Last, because a Gemini part of another kind may also have text.
  ['text', readText],
]

/** Parts to which LangSmith's Gemini wrapper adds a type; the same readers fit. */
export const geminiWrapperParts: PartReaders = keyedParts.filter(([key]) =>
  ['executable_code', 'code_execution_result'].includes(key),
)

/** Results of calls in these formats. */
export const keyedAnswers: AnswerReaders = [
  ['functionResponse', (part) => readResponse(part.functionResponse)],
  ['function_response', (part) => readResponse(part.function_response)],
  ['toolResult', (part) => readToolResult(part.toolResult)],
]

function readText(part: JsonObject): ContentBlock | undefined {
  if (typeof part.text !== 'string') return undefined
  const signature = text(part.thoughtSignature)
  const extras = signature === undefined ? undefined : { thoughtSignature: signature }
  if (part.thought === true) return reasoningBlock(part.text, extras)
  return extras === undefined ? textBlock(part.text) : { type: 'text', text: part.text, extras }
}

function readInline(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value)) return undefined
  const mimeType = text(value.mimeType) ?? text(value.mime_type)
  return mediaBlock(mediaKind(mimeType), { base64: value.data, mime_type: mimeType })
}

function readFile(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value)) return undefined
  const mimeType = text(value.mimeType) ?? text(value.mime_type)
  return mediaBlock(mediaKind(mimeType), { url: value.fileUri ?? value.file_uri, mime_type: mimeType })
}

function readCall(
  part: JsonObject,
  call: JsonValue | undefined,
  path: string,
  issues: Issue[],
): ContentBlock | undefined {
  if (!isObject(call)) return undefined
  const block = toolCallBlock(call.id, call.name, call.args, `${path}.functionCall.args`, issues)
  const signature = text(part.thoughtSignature)
  if (signature !== undefined) block.extras = { thoughtSignature: signature }
  return block
}

/** Reads executed code, to which Gemini gives no id. The result follows directly, so a constant id is enough. */
function readCode(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value)) return undefined
  return {
    type: 'server_tool_call',
    id: text(value.id) ?? 'code_execution',
    name: 'code_execution',
    args: value,
  }
}

function readCodeResult(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value)) return undefined
  const status = value.outcome === 'OUTCOME_OK' || value.outcome === undefined ? 'success' : 'error'
  return {
    type: 'server_tool_result',
    tool_call_id: text(value.id) ?? 'code_execution',
    status,
    output: value,
  }
}

function readResponse(value: JsonValue | undefined): ToolAnswer {
  const answer = isObject(value) ? value : {}
  const failed = isObject(answer.response) && answer.response.error !== undefined
  return { tool_call_id: answer.id, name: answer.name, content: answer.response, failed }
}

function readToolUse(part: JsonObject, path: string, issues: Issue[]): ContentBlock | undefined {
  const call = part.toolUse
  if (!isObject(call)) return undefined
  return toolCallBlock(call.toolUseId, call.name, call.input, `${path}.toolUse.input`, issues)
}

function readToolResult(value: JsonValue | undefined): ToolAnswer {
  const answer = isObject(value) ? value : {}
  return {
    tool_call_id: answer.toolUseId,
    name: undefined,
    content: answer.content,
    failed: answer.status === 'error',
  }
}

function readBedrockReasoning(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value)) return undefined
  const said = isObject(value.reasoningText) ? value.reasoningText : undefined
  if (said === undefined) return reasoningBlock('', { redacted: value.redactedContent })
  const signature = text(said.signature)
  return reasoningBlock(text(said.text) ?? '', signature === undefined ? undefined : { signature })
}

function readBedrockMedia(
  kind: 'image' | 'video' | 'file',
  value: JsonValue | undefined,
): ContentBlock | undefined {
  if (!isObject(value) || !isObject(value.source)) return undefined
  const { source, format, name } = value
  const place = isObject(source.s3Location) ? source.s3Location.uri : undefined
  const mimeType =
    typeof format !== 'string' ? undefined : `${kind === 'file' ? 'application' : kind}/${format}`
  const block = mediaBlock(kind, { base64: source.bytes, url: place, mime_type: mimeType })
  if (block !== undefined && typeof name === 'string') block.filename = name
  return block
}

function readGuarded(value: JsonValue | undefined): ContentBlock | undefined {
  if (!isObject(value) || !isObject(value.text)) return undefined
  return typeof value.text.text === 'string' ? textBlock(value.text.text) : undefined
}

function readJson(value: JsonValue | undefined): ContentBlock | undefined {
  const said = jsonText(value ?? null)
  return said === undefined ? undefined : textBlock(said)
}
