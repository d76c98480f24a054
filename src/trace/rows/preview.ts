import { type JsonObject, type JsonValue, isObject, text } from '../../schema/json.ts'
import type { Message } from '../../schema/types.gen.ts'
import { parseLooseJson } from '../json/loose-json.ts'
import type { Side } from '../messages/processor.ts'
import { shortenJson } from '../json/shorten-json.ts'

/** Maximum length of a preview, in characters. */
const PREVIEW = 500
/** Values in more levels than these are not looked into. */
const MAX_DEPTH = 8
/** Payloads above this size are shortened before they are parsed. */
const MAX_PARSED_BYTES = 32 * 1024

interface PreviewedSide {
  side: Side
  /** Canonical messages of a model call. */
  messages: readonly Message[] | undefined
  raw: Uint8Array | undefined
  /** The side of a span. */
  mapped: JsonValue | undefined
}

/**
 * What was asked, or answered, in words: the last text of the user or of the assistant, the call of a tool, the number
 * of documents and the first of them; for other values their fields. Empty if there is nothing to tell.
 */
export function previewOf({ side, messages, raw, mapped }: PreviewedSide): string {
  const told = messages === undefined ? '' : lastOfCall(messages as unknown as JsonValue[], side)
  if (told !== '') return cut(told)
  const value = mapped ?? (raw && parsed(raw))
  return value === undefined ? '' : cut(words(value, side, 0))
}

function parsed(raw: Uint8Array): JsonValue {
  return raw.length <= MAX_PARSED_BYTES ? parseLooseJson(raw).value : shortenJson(raw, PREVIEW + 1)
}

function cut(value: string): string {
  return value.length <= PREVIEW ? value : `${value.slice(0, PREVIEW - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Fields that say what was asked or answered, most telling first. */
const TELLING: Record<Side, readonly string[]> = {
  inputs: [
    'messages',
    'question',
    'query',
    'input',
    'prompt',
    'text',
    'message',
    'content',
    'user_input',
    'inputs',
  ],
  outputs: [
    'messages',
    'answer',
    'output',
    'response',
    'result',
    'choices',
    'generations',
    'candidates',
    'message',
    'content',
    'text',
    'output_text',
    'generation',
    'completion',
    'outputs',
  ],
}
const DOCUMENTS = ['documents', 'docs', 'source_documents']

function words(value: JsonValue, side: Side, depth: number): string {
  if (typeof value === 'string') return value
  if (value === null || depth > MAX_DEPTH) return ''
  if (Array.isArray(value)) return wordsOfList(value, side, depth)
  if (!isObject(value)) return String(value)
  const message = messageOf(value)
  if (message !== undefined) return wordsOfMessage(message)
  for (const key of DOCUMENTS) {
    const documents = value[key]
    if (Array.isArray(documents) && areDocuments(documents)) return wordsOfDocuments(documents)
  }
  for (const key of TELLING[side]) {
    const inner = value[key]
    const told = inner === undefined || typeof inner === 'number' ? '' : words(inner, side, depth + 1)
    if (told !== '') return told
  }
  const [only, ...others] = Object.values(value)
  if (only !== undefined && others.length === 0) return words(only, side, depth + 1)
  return fieldsOf(value)
}

function wordsOfList(list: JsonValue[], side: Side, depth: number): string {
  if (list.some((one) => messageOf(one) !== undefined)) return lastOf(list, side)
  if (list.length > 0 && areDocuments(list)) return wordsOfDocuments(list)
  const [first] = list
  // The first of several choices or generations is the one that was used.
  if (first !== undefined && (list.length === 1 || isObject(first) || Array.isArray(first)))
    return words(first, side, depth + 1)
  return listText(list)
}

interface ReadMessage {
  role: string
  fields: JsonObject
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  HumanMessage: 'user',
  HumanMessageChunk: 'user',
  ai: 'assistant',
  model: 'assistant',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  ToolMessage: 'tool',
  SystemMessage: 'system',
}
const KNOWN_ROLES = new Set([
  ...Object.keys(ROLES),
  'user',
  'assistant',
  'system',
  'tool',
  'function',
  'developer',
])
const HAS_WORDS = ['content', 'tool_calls', 'parts', 'contents']

/** A message in any of the common spellings; undefined for other values. */
function messageOf(value: JsonValue): ReadMessage | undefined {
  if (Array.isArray(value)) {
    const [role, content] = value
    if (value.length !== 2 || typeof role !== 'string' || !KNOWN_ROLES.has(role)) return undefined
    return { role: ROLES[role] ?? role, fields: { content: content! } }
  }
  if (!isObject(value)) return undefined
  const { kwargs, id } = value
  if (value['lc'] === 1 && isObject(kwargs)) {
    const name = Array.isArray(id) ? text(id.at(-1)) : undefined
    return name !== undefined && Object.hasOwn(ROLES, name)
      ? { role: ROLES[name]!, fields: kwargs }
      : undefined
  }
  const role = text(value['role']) ?? text(value['type'])
  if (role === undefined || !KNOWN_ROLES.has(role)) return undefined
  const inner = isObject(value['data']) ? value['data'] : value
  return HAS_WORDS.some((key) => inner[key] !== undefined)
    ? { role: ROLES[role] ?? role, fields: inner }
    : undefined
}

/** The words of the last message of the user (inputs) or of the assistant (outputs), otherwise of the last with any. */
function lastOf(messages: readonly JsonValue[], side: Side): string {
  return lastWords(messages, side === 'inputs' ? 'user' : 'assistant') || lastWords(messages)
}

/** As lastOf for a model call, whose input may end with the results of tools: they tell one call from the other. */
function lastOfCall(messages: readonly JsonValue[], side: Side): string {
  return side === 'outputs' ? lastOf(messages, side) : lastWords(messages)
}

/**
 * The words of the last message, of the role if one is given, that has any; '' if none has. Earlier messages, which may
 * be many, are not read.
 */
function lastWords(messages: readonly JsonValue[], role?: string): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messageOf(messages[i]!)
    const said =
      message === undefined || (role !== undefined && message.role !== role) ? '' : wordsOfMessage(message)
    if (said !== '') return said
  }
  return ''
}

function wordsOfMessage(message: ReadMessage): string {
  const { fields } = message
  const said = contentText(fields['content'] ?? fields['parts'] ?? fields['contents'] ?? '')
  const kwargs = fields['additional_kwargs']
  const own = fields['tool_calls'] ?? (isObject(kwargs) ? kwargs['tool_calls'] : undefined)
  const calls = Array.isArray(own) ? own.flatMap((call) => (isObject(call) ? callText(call) : [])) : []
  // LangChain repeats the calls of a message in its content.
  const all = said.calls.length > 0 ? said.calls : calls
  if (all.length === 0) return said.text
  return [said.text, ...all].filter((part) => part !== '').join(' ')
}

function contentText(content: JsonValue): { text: string; calls: string[] } {
  if (typeof content === 'string') return { text: content, calls: [] }
  if (!Array.isArray(content)) return { text: '', calls: [] }
  const texts: string[] = []
  const calls: string[] = []
  for (const block of content) {
    if (typeof block === 'string') texts.push(block)
    if (!isObject(block)) continue
    const type = text(block['type']) ?? 'text'
    if (type === 'text' && typeof block['text'] === 'string') {
      texts.push(block['text'])
      continue
    }
    const call = block['functionCall'] ?? block['toolUse']
    if (isObject(call)) calls.push(callText(call))
    else if (/^(?:tool_call|tool_use|tool-call|function_call)$/.test(type)) calls.push(callText(block))
    else if (type.endsWith('text')) texts.push(text(block['text']) ?? text(block['content']) ?? '')
    else if (/image|audio|video|file|document/.test(type)) texts.push(`[${type.replace(/_url$/, '')}]`)
    else if (/^tool[_-]result$/.test(type)) texts.push(contentText(block['content'] ?? '').text)
  }
  return { text: texts.filter((one) => one.trim() !== '').join('\n'), calls }
}

/** A call of a tool: `→ lookup_order(order_id: 11536)`. */
function callText(call: JsonObject): string {
  const inner = isObject(call['function']) ? call['function'] : call
  const sent = inner['args'] ?? inner['arguments'] ?? inner['input'] ?? {}
  const args = typeof sent === 'string' ? parseLooseJson(Buffer.from(sent)).value : sent
  const name = text(inner['name']) ?? text(inner['toolName']) ?? 'tool'
  return `→ ${name}(${isObject(args) ? fieldsOf(args) : valueText(args)})`
}

const OF_A_DOCUMENT = ['page_content', 'pageContent', 'document.content']

function documentText(document: JsonValue): string | undefined {
  if (!isObject(document)) return undefined
  const fields = isObject(document['kwargs']) ? document['kwargs'] : document
  const key = OF_A_DOCUMENT.find((name) => typeof fields[name] === 'string')
  return key === undefined ? undefined : text(fields[key])
}

function areDocuments(list: readonly JsonValue[]): boolean {
  return list.every((one) => documentText(one) !== undefined)
}

function wordsOfDocuments(list: readonly JsonValue[]): string {
  const [first] = list
  if (first === undefined) return 'no documents'
  return `${list.length} ${list.length === 1 ? 'document' : 'documents'}: ${documentText(first)}`
}

/** The fields of an object: `city: Paris, days: [1, 2]`. */
function fieldsOf(value: JsonObject): string {
  let out = ''
  for (const [key, field] of Object.entries(value)) {
    if (out.length > PREVIEW) break
    out += `${out === '' ? '' : ', '}${key}: ${valueText(field ?? null)}`
  }
  return out
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value.length > PREVIEW ? value.slice(0, PREVIEW) : value
  if (Array.isArray(value)) return `[${listText(value)}]`
  return isObject(value) ? `{${fieldsOf(value)}}` : String(value)
}

/** Longest list of numbers that is written out; longer ones are embeddings. */
const MOST_NUMBERS = 8

function listText(list: readonly JsonValue[]): string {
  if (list.length > MOST_NUMBERS && list.every((one) => typeof one === 'number'))
    return `${list.length} numbers`
  let out = ''
  for (const one of list) {
    if (out.length > PREVIEW) break
    out += `${out === '' ? '' : ', '}${valueText(one)}`
  }
  return out
}
