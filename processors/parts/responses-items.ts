import type { Issue } from '../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock, Message } from '../../src/schema/types.gen.ts'
import {
  type Draft,
  keptBlock,
  mediaBlock,
  message,
  put,
  readToolArgs,
  reasoningBlock,
  resolveRole,
  type MessageRole,
  toolCallBlock,
} from '../../src/trace/messages/messages.ts'
import { joinTexts } from './langchain-parts.ts'
import { putAnswer, putMessage } from './read-parts.ts'

/** Calls whose results the caller sends, and the key of their arguments. */
const CALLS: ReadonlyMap<string, { key: string; name?: string }> = new Map([
  ['function_call', { key: 'arguments' }],
  ['custom_tool_call', { key: 'input' }],
  ['computer_call', { key: 'action', name: 'computer' }],
  ['local_shell_call', { key: 'action', name: 'local_shell' }],
  ['shell_call', { key: 'action', name: 'shell' }],
  ['apply_patch_call', { key: 'operation', name: 'apply_patch' }],
])

/** Calls of OpenAI's own tools: the name, the keys of the request and the key of the result. */
const SERVER_CALLS: ReadonlyMap<string, { name: string; asked: readonly string[]; answer?: string }> =
  new Map([
    ['web_search_call', { name: 'web_search', asked: ['action'] }],
    ['file_search_call', { name: 'file_search', asked: ['queries'], answer: 'results' }],
    [
      'code_interpreter_call',
      { name: 'code_interpreter', asked: ['code', 'container_id'], answer: 'outputs' },
    ],
    ['image_generation_call', { name: 'image_generation', asked: ['revised_prompt', 'size', 'quality'] }],
    ['mcp_call', { name: 'mcp', asked: ['arguments'], answer: 'output' }],
    ['mcp_list_tools', { name: 'mcp_list_tools', asked: ['server_label'], answer: 'tools' }],
    ['mcp_approval_request', { name: 'mcp_approval', asked: ['server_label', 'name', 'arguments'] }],
  ])

const ANSWERS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
])

/** Whether this is an item that no other API has. */
export function isResponsesItem(value: JsonValue): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return false
  const { type } = value
  if (type === 'function_call') return value.arguments !== undefined
  if (type === 'reasoning') return Array.isArray(value.summary)
  if (type === 'message') return hasTypedContent(value.content)
  return CALLS.has(type) || SERVER_CALLS.has(type) || ANSWERS.has(type)
}

function hasTypedContent(content: JsonValue | undefined): boolean {
  if (!Array.isArray(content)) return false
  const first = content[0]
  return (
    isObject(first) &&
    (first.type === 'output_text' || first.type === 'input_text' || first.type === 'refusal')
  )
}

/**
 * Appends a list of items. Consecutive items of the model (reasoning, one message, its calls) become one assistant
 * message, in the same order; `absent` is the role of a message without a role.
 */
export function putItems(draft: Draft, path: string, items: readonly JsonValue[], absent: MessageRole): void {
  let open: Message | undefined
  let openHasText = false
  for (const [i, item] of items.entries()) {
    const at = `${path}[${i}]`
    const blocks = isObject(item) ? assistantBlocks(item, at, draft.issues) : undefined
    if (blocks !== undefined) {
      if (open === undefined) {
        open = message('assistant', [])
        put(draft, at, open)
        openHasText = false
      }
      open.content.push(...blocks)
      continue
    }
    const from = draft.messages.length
    putItem(draft, at, item, absent)
    const added = draft.messages[from]
    const joins = draft.messages.length === from + 1 && added?.role === 'assistant'
    if (joins && open !== undefined && !openHasText) {
      for (const block of added.content) open.content.push(block)
      draft.messages.pop()
      draft.paths.pop()
    } else open = joins ? added : undefined
    openHasText = joins
  }
}

/** The blocks of an item of the model that is not a message; undefined for other items. */
function assistantBlocks(item: JsonObject, path: string, issues: Issue[]): ContentBlock[] | undefined {
  const type = String(item.type)
  const call = CALLS.get(type)
  if (call !== undefined) {
    // Newer models ask for several actions at once.
    const raw = item[call.key] ?? item.actions
    const args = type === 'custom_tool_call' ? { input: raw ?? null } : raw
    const name = item.name ?? call.name
    return [toolCallBlock(item.call_id ?? item.id, name, args, `${path}.${call.key}`, issues)]
  }
  if (type === 'reasoning') {
    const extras: JsonObject = {}
    if (text(item.id) !== undefined) extras.id = item.id
    if (text(item.encrypted_content) !== undefined) extras.encrypted_content = item.encrypted_content
    return [reasoningBlock(joinTexts(item), extras)]
  }
  const server = SERVER_CALLS.get(type)
  return server === undefined ? undefined : serverBlocks(item, server, path, issues)
}

function serverBlocks(
  item: JsonObject,
  known: { name: string; asked: readonly string[]; answer?: string },
  path: string,
  issues: Issue[],
): ContentBlock[] {
  const id = text(item.id) ?? path
  const args: JsonObject = {}
  for (const key of known.asked) if (item[key] !== undefined && item[key] !== null) args[key] = item[key]
  const asked = known.name === 'mcp' ? readToolArgs(item.arguments, `${path}.arguments`, issues) : args
  const isAsked = known.asked.includes('name')
  const name = isAsked ? known.name : (text(item.name) ?? known.name)
  const blocks: ContentBlock[] = [{ type: 'server_tool_call', id, name, args: asked }]
  const failed = item.status === 'failed' || text(item.error) !== undefined || isObject(item.error)
  const output = failed ? (item.error ?? null) : known.answer === undefined ? undefined : item[known.answer]
  if (failed || (output !== undefined && output !== null)) {
    const status = failed ? 'error' : 'success'
    blocks.push({ type: 'server_tool_result', tool_call_id: id, status, output: output ?? null })
  }
  const image = known.name === 'image_generation' ? mediaBlock('image', { base64: item.result }) : undefined
  if (image !== undefined) blocks.push({ ...image, mime_type: `image/${text(item.output_format) ?? 'png'}` })
  return blocks
}

function putItem(draft: Draft, path: string, item: JsonValue, absent: MessageRole): void {
  if (typeof item === 'string') {
    putMessage(draft, path, { role: absent, content: item, content_path: path })
  } else if (isObject(item) && ANSWERS.has(item.type)) {
    const { call_id, name, output, status } = item
    putAnswer(draft, path, { tool_call_id: call_id, name, content: output, failed: status === 'failed' })
  } else if (isObject(item) && (item.type === undefined || item.type === 'message')) {
    const role = resolveRole(item.role, absent, path, draft.issues)
    putMessage(draft, path, { role, content: item.content, name: item.name })
  } else if (isObject(item) && item.role === undefined && isBarePart(item)) {
    putMessage(draft, path, { role: absent, content: [item], content_path: path })
  } else {
    put(draft, path, message(absent, [keptBlock(item, path, draft.issues)]))
  }
}

/** Whether an item is a part without a message around it, as some clients send. */
function isBarePart(item: JsonObject): boolean {
  return typeof item.type === 'string' && /^(?:input_|output_|text$)/.test(item.type)
}
