import { isExactInteger } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { ToolResult } from '../../mcp/tool-server.ts'
import { messageFile } from '../reply/message-file.ts'

/**
 * The result of a tool from the result of its run (rule MCP-7): the agent's text after the last user message if the
 * output has messages (an empty list is none), otherwise the output as JSON; an error if the run failed. The output is what the output schema of
 * the graph names of the thread's values.
 */
export function toolResult(values: JsonValue, outputSchema?: unknown): ToolResult {
  const failure = isObject(values) ? values['__error__'] : undefined
  if (isObject(failure)) {
    const { error = 'Error', message = '' } = failure
    return { content: [textBlock(`${String(error)}: ${String(message)}`)], isError: true }
  }
  const output = outputOf(values, outputSchema)
  if (!isObject(output) || isExactInteger(output))
    return { content: [textBlock(typeof output === 'string' ? output : JSON.stringify(output))] }
  const { messages } = output
  if (Array.isArray(messages) && messages.length > 0) return { content: answerBlocks(messages) }
  return { content: [textBlock(JSON.stringify(output))], structuredContent: output }
}

/** The values of the channels that the output schema names; all if it names none of them. */
function outputOf(values: JsonValue, schema: unknown): JsonValue {
  const properties = isObject(schema) ? schema['properties'] : undefined
  if (!isObject(values) || !isObject(properties)) return values
  const named = Object.entries(values).filter(([name]) => Object.hasOwn(properties, name))
  return named.length === 0 ? values : Object.fromEntries(named)
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

/** An image or audio with its bytes. */
function mediaBlock(part: JsonObject): JsonObject | undefined {
  const file = messageFile(part)
  if (file === undefined || !('base64' in file.content)) return undefined
  const { kind, content, mime_type } = file
  if (kind !== 'image' && kind !== 'audio') return undefined
  const fallback = kind === 'image' ? 'image/png' : 'audio/wav'
  return { type: kind, data: content.base64, mimeType: mime_type ?? fallback }
}
