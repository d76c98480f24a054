import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { AgentMessage, Part } from './model.ts'

/** What wrote a message of LangChain, by its `type` or `role`; undefined for those that are not shown. */
function writerOf({ type, role }: JsonObject): 'user' | 'agent' | 'tool' | undefined {
  const name = String(role ?? type ?? '').toLowerCase()
  if (/^(human|user|humanmessage(chunk)?)$/.test(name)) return 'user'
  if (/^(ai|assistant|agent|aimessage(chunk)?)$/.test(name)) return 'agent'
  return /^tool(message(chunk)?)?$/.test(name) ? 'tool' : undefined
}

const MEDIA: ReadonlySet<JsonValue | undefined> = new Set(['image', 'audio', 'video', 'file', 'image_url'])

/** The content of a message of LangChain as parts: texts that follow each other are one part. */
export function contentParts(content: JsonValue | undefined): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  const parts: Part[] = []
  for (const block of Array.isArray(content) ? content : []) {
    const text = textOf(block)
    const last = parts.at(-1)
    if (text !== undefined && last !== undefined && 'text' in last) last.text += text
    else if (text !== undefined) parts.push({ text })
    else if (isObject(block) && MEDIA.has(block['type'])) parts.push(...mediaParts(block))
  }
  return parts.filter((part) => !('text' in part) || part.text !== '')
}

function textOf(block: JsonValue): string | undefined {
  if (typeof block === 'string') return block
  return isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
    ? block['text']
    : undefined
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

/** A file of a message: `base64`, `data`, `url`, or OpenAI's `image_url`. Addresses are not fetched. */
function mediaParts(block: JsonObject): Part[] {
  const { base64, data, url, image_url, mime_type, filename, extras } = block
  const address = url ?? (isObject(image_url) ? image_url['url'] : image_url)
  const [, urlType, urlBytes] = (typeof address === 'string' && DATA_URL.exec(address)) || []
  const raw = base64 ?? data ?? urlBytes
  const file = typeof raw === 'string' ? { raw } : typeof address === 'string' ? { url: address } : undefined
  if (file === undefined) return []
  const mediaType = mime_type ?? urlType
  const name = filename ?? (isObject(extras) ? extras['filename'] : undefined)
  return [
    {
      file,
      ...(typeof mediaType === 'string' && { mediaType }),
      ...(typeof name === 'string' && { filename: name }),
    },
  ]
}

/** Messages after the last one of the user. */
function ofTurn(messages: readonly JsonValue[]): JsonObject[] {
  const last = messages.findLastIndex((message) => isObject(message) && writerOf(message) === 'user')
  return messages.slice(last + 1).filter(isObject)
}

/** The agent's last message of this turn that has content; undefined if there is none. */
export function lastAnswer(
  messages: JsonValue | undefined,
): { id: string | undefined; parts: Part[] } | undefined {
  const turn = Array.isArray(messages) ? ofTurn(messages) : []
  for (const message of turn.toReversed()) {
    if (writerOf(message) !== 'agent') continue
    const parts = contentParts(message['content'])
    if (parts.length > 0) return { id: typeof message['id'] === 'string' ? message['id'] : undefined, parts }
  }
  return undefined
}

/** The parts of the answer of a run that ended with these values (rule A2A-7). */
export function answerParts(values: JsonValue): Part[] {
  const messages = isObject(values) ? values['messages'] : undefined
  const answer = lastAnswer(messages)
  if (answer !== undefined) return answer.parts
  return Array.isArray(messages) && messages.length > 0 ? [{ text: '' }] : [{ data: values }]
}

interface HistoryOptions {
  taskId: string
  contextId: string
  /** Ids of the user's messages of the task. */
  own: ReadonlySet<string>
  scope: 'context' | 'task'
  /** Newest messages to return. */
  length: number
}

/** Messages of a state in the form of the protocol. Those that follow a message of the task belong to the task. */
export function historyOf(messages: JsonValue | undefined, options: HistoryOptions): AgentMessage[] {
  const { taskId, contextId, own, scope, length } = options
  const shown: AgentMessage[] = []
  let isOwn = false
  for (const [place, message] of (Array.isArray(messages) ? messages : []).entries()) {
    if (!isObject(message)) continue
    const writer = writerOf(message)
    if (writer === undefined) continue
    const id = typeof message['id'] === 'string' ? message['id'] : `${contextId}:${place}`
    if (writer === 'user') isOwn = own.has(id)
    if (scope === 'task' && !isOwn) continue
    const parts = writer === 'tool' ? toolParts(message) : contentParts(message['content'])
    if (parts.length === 0) continue
    const role = writer === 'user' ? 'user' : 'agent'
    shown.push({ messageId: id, contextId, ...(isOwn && { taskId }), role, parts })
  }
  return length === 0 ? [] : shown.slice(-length)
}

function toolParts({ tool_call_id, content, name, status }: JsonObject): Part[] {
  if (typeof tool_call_id !== 'string') return []
  const result = {
    toolCallId: tool_call_id,
    ...(content !== undefined && { content }),
    ...(typeof name === 'string' && { name }),
    ...(typeof status === 'string' && { status }),
  }
  return [{ data: { tool_results: [result] } }]
}
