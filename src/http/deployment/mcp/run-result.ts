import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { ToolResult } from '../../mcp/serve-mcp.ts'

/**
 * The result of a tool from the result of its run (rule MCP-7): the agent's text after the last user message if the
 * output has messages, otherwise the output as JSON; an error if the run failed.
 */
export function toolResult(output: JsonValue): ToolResult {
  const failure = isObject(output) ? output['__error__'] : undefined
  if (isObject(failure)) {
    const { error = 'Error', message = '' } = failure
    return { content: [textBlock(`${String(error)}: ${String(message)}`)], isError: true }
  }
  if (!isObject(output))
    return { content: [textBlock(typeof output === 'string' ? output : JSON.stringify(output))] }
  const { messages } = output
  if (Array.isArray(messages)) return { content: answerBlocks(messages) }
  return { content: [textBlock(JSON.stringify(output))], structuredContent: output }
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text }
}

/** Text, images and audio of the agent after the last message of the user. */
function answerBlocks(messages: readonly JsonValue[]): JsonObject[] {
  const last = messages.findLastIndex((message) => isObject(message) && isOfUser(message))
  const answers = messages.slice(last + 1).filter((message) => isObject(message) && isOfAgent(message))
  const blocks = answers.flatMap((message) =>
    contentBlocks(isObject(message) ? message['content'] : undefined),
  )
  const text = blocks.flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : []))
  const media = blocks.filter((block) => block['type'] !== 'text')
  return [textBlock(text.join('\n')), ...media]
}

function isOfUser({ type, role }: JsonObject): boolean {
  return type === 'human' || role === 'user' || role === 'human'
}

function isOfAgent({ type, role }: JsonObject): boolean {
  return type === 'ai' || type === 'AIMessageChunk' || role === 'assistant' || role === 'ai'
}

function contentBlocks(content: JsonValue | undefined): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return []
  return content.flatMap((part) => {
    if (typeof part === 'string') return [textBlock(part)]
    if (!isObject(part)) return []
    if (typeof part['text'] === 'string' && part['type'] === 'text') return [textBlock(part['text'])]
    const block = mediaBlock(part)
    return block === undefined ? [] : [block]
  })
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

/** An image or audio with its data, in LangChain's forms: `base64`, `data`, a data URL. Addresses are not fetched. */
function mediaBlock(part: JsonObject): JsonObject | undefined {
  const { type, base64, data, mime_type, image_url } = part
  const url = isObject(image_url) ? image_url['url'] : image_url
  const [, urlType, urlData] = (typeof url === 'string' && DATA_URL.exec(url)) || []
  const kind = type === 'image_url' ? 'image' : type
  const bytes = base64 ?? data ?? urlData
  if ((kind !== 'image' && kind !== 'audio') || typeof bytes !== 'string') return undefined
  const fallback = kind === 'image' ? 'image/png' : 'audio/wav'
  return {
    type: kind,
    data: bytes,
    mimeType: typeof mime_type === 'string' ? mime_type : (urlType ?? fallback),
  }
}
