import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { messageFile } from '../reply/message-file.ts'
import type { AgentMessage, Part } from './model.ts'

/** What wrote a message of LangChain, by its `type` or `role`; undefined for those that are not shown. */
function writerOf({ type, role }: JsonObject): 'user' | 'agent' | 'tool' | undefined {
  const name = String(role ?? type ?? '').toLowerCase()
  if (/^(human|user|humanmessage(chunk)?)$/.test(name)) return 'user'
  if (/^(ai|assistant|agent|aimessage(chunk)?)$/.test(name)) return 'agent'
  return /^tool(message(chunk)?)?$/.test(name) ? 'tool' : undefined
}

/** The content of a message of LangChain as parts: texts that follow each other are one part. */
export function contentParts(content: JsonValue | undefined): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  const parts: Part[] = []
  for (const block of Array.isArray(content) ? content : []) {
    const text = textOf(block)
    const last = parts.at(-1)
    if (text !== undefined && last !== undefined && 'text' in last) last.text += text
    else if (text !== undefined) parts.push({ text })
    else if (isObject(block)) parts.push(...fileParts(block))
  }
  return parts.filter((part) => !('text' in part) || part.text !== '')
}

function textOf(block: JsonValue): string | undefined {
  if (typeof block === 'string') return block
  return isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
    ? block['text']
    : undefined
}

function fileParts(block: JsonObject): Part[] {
  const found = messageFile(block)
  if (found === undefined) return []
  const { content, mime_type, name } = found
  return [
    {
      file: 'base64' in content ? { raw: content.base64 } : content,
      ...(mime_type !== undefined && { mediaType: mime_type }),
      ...(name !== undefined && { filename: name }),
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
