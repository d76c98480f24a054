import { parseExact } from '../../api/exact-json.ts'
import type { Block, Message } from '../../api/messages.ts'
import { firstEntries, kindOf } from '../json/json-text.ts'

/** The conversation in inputs or outputs of a run that is no model call, and the fields beside it. */
interface PayloadMessages {
  messages: readonly Message[]
  /** Undefined if there are none. */
  rest: Readonly<Record<string, unknown>> | undefined
}

/** Longer lists are shown as JSON. */
const MOST_MESSAGES = 500
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  HumanMessage: 'user',
  HumanMessageChunk: 'user',
  ai: 'assistant',
  model: 'assistant',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'tool',
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields | undefined {
  return kindOf(value) === 'object' ? (value as Fields) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  try {
    return parseExact(value)
  } catch {
    return value
  }
}

/** A call of a tool in the spelling of LangChain, of OpenAI or of Anthropic. */
function callOf(value: unknown): Block[] {
  const call = fieldsOf(value)
  if (call === undefined) return []
  const inner = fieldsOf(call['function']) ?? call
  const args = argumentsOf(inner['args'] ?? inner['arguments'] ?? inner['input'])
  return [{ type: 'tool_call', id: call['id'] ?? '', name: inner['name'] ?? 'tool', args }]
}

function blockOf(value: unknown): Block[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  const block = fieldsOf(value)
  if (block === undefined) return []
  const type = textOf(block['type']) ?? 'text'
  if (type === 'tool_use' || type === 'tool_call') return callOf(block)
  return [{ ...block, type }]
}

function contentOf(value: unknown): Block[] {
  return Array.isArray(value) ? value.flatMap(blockOf) : blockOf(value)
}

/** A message in any of the common spellings; undefined for other values. */
function messageOf(value: unknown): Message | undefined {
  if (Array.isArray(value)) {
    const [role, content] = value as unknown[]
    const known = value.length === 2 && typeof role === 'string' ? ROLES[role] : undefined
    return known === undefined ? undefined : { role: known, content: contentOf(content) }
  }
  const outer = fieldsOf(value)
  if (outer === undefined) return undefined
  const kind = Array.isArray(outer['id']) ? textOf(outer['id'].at(-1)) : undefined
  const fields = fieldsOf(outer['kwargs']) ?? fieldsOf(outer['data']) ?? outer
  const role = ROLES[kind ?? textOf(outer['role']) ?? textOf(outer['type']) ?? '']
  if (role === undefined || !('content' in fields || 'tool_calls' in fields)) return undefined
  const content = contentOf(fields['content'])
  const calls = Array.isArray(fields['tool_calls']) ? fields['tool_calls'].flatMap(callOf) : []
  const [name, tool_call_id] = [textOf(fields['name']), textOf(fields['tool_call_id'])]
  return {
    role,
    // LangChain repeats the calls of a message in its content.
    content: content.some(({ type }) => type === 'tool_call') ? content : [...content, ...calls],
    ...(name !== undefined && { name }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  }
}

function listOf(value: unknown): Message[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_MESSAGES) return undefined
  const messages = value.flatMap((one) => messageOf(one) ?? [])
  return messages.length === value.length ? messages : undefined
}

/**
 * The messages of a payload: a list of them, alone or as `messages`, also inside the only field. Undefined for other
 * payloads, and where one element of the list is no message.
 */
export function payloadMessages(value: unknown): PayloadMessages | undefined {
  const own = listOf(value)
  if (own !== undefined) return { messages: own, rest: undefined }
  const fields = fieldsOf(value)
  if (fields === undefined) return undefined
  const { messages: sent, ...rest } = fields
  const messages = listOf(sent)
  if (messages !== undefined) return { messages, rest: Object.keys(rest).length > 0 ? rest : undefined }
  const [only, ...others] = Object.values(fields)
  return others.length === 0 && fieldsOf(only) !== undefined ? payloadMessages(only) : undefined
}

/** Shorter texts without a line break are easy to read in the tree of the JSON too. */
const LONG_TEXT = 80
/** Payloads with more fields are shown as JSON. */
const MOST_FIELDS = 100

/** The texts of a payload that are better read as text than as JSON, by their names, and the other fields. */
export function payloadTexts(value: unknown): { texts: [string, string][]; rest: Fields | undefined } {
  const { count, entries } = firstEntries(fieldsOf(value), MOST_FIELDS)
  if (count > MOST_FIELDS) return { texts: [], rest: fieldsOf(value) }
  const isText = (one: unknown): one is string =>
    typeof one === 'string' && (one.length > LONG_TEXT || one.includes('\n') || count === 1)
  const texts = entries.filter((entry): entry is [string, string] => isText(entry[1]))
  const rest = entries.filter(([, one]) => !isText(one))
  return { texts, rest: rest.length === 0 ? undefined : Object.fromEntries(rest) }
}
