import type { Issue, IssueCode } from '../../schema/issue.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { ContentBlock, Message } from '../../schema/types.gen.ts'
import { addIssue, kept, readRole, type MessageRole, shown, textBlock, toolCallBlock } from './messages.ts'

type Kind = 'string' | 'object' | 'objects' | 'status'
interface Field {
  name: string
  kind: Kind
  required: boolean
}

const must = (name: string, kind: Kind = 'string'): Field => ({ name, kind, required: true })
const may = (name: string, kind: Kind = 'string'): Field => ({ name, kind, required: false })
const MEDIA = [may('url'), may('base64'), may('id'), may('mime_type')]

/** The fields of each content type of the interface. `checkMedia` checks where the data of media is (D-13). */
const BLOCK_FIELDS: ReadonlyMap<string, readonly Field[]> = new Map([
  ['text', [must('text'), may('annotations', 'objects'), may('extras', 'object')]],
  ['reasoning', [must('text'), may('extras', 'object')]],
  ['image', MEDIA],
  ['file', MEDIA],
  ['audio', MEDIA],
  ['video', MEDIA],
  ['tool_call', [may('name'), must('args', 'object'), may('id')]],
  ['server_tool_call', [must('id'), must('name'), must('args', 'object')]],
  ['server_tool_result', [must('tool_call_id'), may('id'), must('status', 'status')]],
])

const KIND_TEXT: Readonly<Record<Kind, string>> = {
  string: 'a string',
  object: 'an object',
  objects: 'a list of objects',
  status: '"success" or "error"',
}
const CANONICAL_ROLES: ReadonlySet<unknown> = new Set(['system', 'reasoning', 'user', 'assistant', 'tool'])

/**
 * Checks messages in the interface's LangChain-style format: roles, the nine content types and their fields, tool call
 * ids. Returns at most 100 issues; `path` is the path of the list.
 */
export function validateMessages(messages: readonly unknown[], path = ''): Issue[] {
  const issues: Issue[] = []
  readCanonicalMessages(messages as readonly JsonValue[], path, issues)
  return issues
}

/**
 * Checks messages and returns them: valid messages unchanged, others changed to fit the schema without losing content.
 */
export function readCanonicalMessages(
  values: readonly JsonValue[],
  path: string,
  issues: Issue[],
): Message[] {
  const calls = new Set<string>()
  const messages: Message[] = []
  for (let i = 0; i < values.length; i++) {
    messages.push(readCanonicalMessage(values[i] ?? null, `${path}[${i}]`, calls, issues))
  }
  return messages
}

/** Checks one message. `calls` contains the ids of the tool calls made so far; the ids of this message are added. */
export function readCanonicalMessage(
  value: JsonValue,
  path: string,
  calls: Set<string>,
  issues: Issue[],
): Message {
  if (!isObject(value)) {
    report(
      issues,
      'message_not_object',
      path,
      `The message is ${shown(value)}.`,
      'Send an object with role and content.',
    )
    return { role: 'user', content: [typeof value === 'string' ? textBlock(value) : kept(value)] }
  }
  const role = checkRole(value.role, path, issues)
  let content = checkContent(value.content, path, issues)
  if (role === 'assistant') content = withListedCalls(value.tool_calls, content, path, issues)
  const usable = checkMessageFields(value, role, calls, path, issues)
  if (role === 'assistant') noteCalls(content, calls)
  if (usable && value.role === role && value.content === content) return value as unknown as Message
  return rebuilt(value, role, content)
}

function report(issues: Issue[], code: IssueCode, path: string, message: string, fix: string): void {
  addIssue(issues, { code, severity: 'error', path, message, fix })
}

function checkRole(value: JsonValue | undefined, path: string, issues: Issue[]): MessageRole {
  if (CANONICAL_ROLES.has(value)) return value as MessageRole
  const missing = value === undefined
  const message = missing ? 'The message has no role.' : `The role ${shown(value)} is not one of this format.`
  const fix = 'Set role to one of system, reasoning, user, assistant, tool.'
  report(issues, missing ? 'role_missing' : 'unknown_role', `${path}.role`, message, fix)
  return readRole(value) ?? 'user'
}

function checkContent(value: JsonValue | undefined, path: string, issues: Issue[]): ContentBlock[] {
  const at = `${path}.content`
  if (Array.isArray(value)) {
    let mended: ContentBlock[] | undefined
    for (let i = 0; i < value.length; i++) {
      const sent = value[i] ?? null
      const block = withoutNulls(sent)
      const fits = checkBlock(block, `${at}[${i}]`, issues)
      if (fits && block === sent && mended === undefined) continue
      mended ??= value.slice(0, i) as unknown as ContentBlock[]
      mended.push(fits ? (block as unknown as ContentBlock) : mend(sent))
    }
    return mended ?? (value as unknown as ContentBlock[])
  }
  const missing = value === undefined || value === null
  const message = missing ? 'The message has no content.' : `The content is ${shown(value)}, not a list.`
  const fix = 'Send content as a list of typed objects, such as [{"type":"text","text":"…"}].'
  report(issues, missing ? 'content_missing' : 'content_not_array', at, message, fix)
  if (missing) return []
  return [mend(value)]
}

/** The block without those of its fields that are null: serialisers write absent fields so. */
function withoutNulls(block: JsonValue): JsonValue {
  if (!isObject(block)) return block
  const fields = (typeof block.type === 'string' && BLOCK_FIELDS.get(block.type)) || []
  const absent = new Set(fields.filter(({ name }) => block[name] === null).map(({ name }) => name))
  if (absent.size === 0) return block
  return Object.fromEntries(Object.entries(block).filter(([name]) => !absent.has(name)))
}

/** Converts a block that does not fit the schema to one that keeps it whole; readable text becomes a text block. */
function mend(block: JsonValue): ContentBlock {
  if (typeof block === 'string') return textBlock(block)
  const text = isObject(block) && (block.type === 'text' || block.type === undefined) ? block.text : undefined
  return typeof text === 'string' ? { type: 'text', text, extras: { unread: block } } : kept(block)
}

/** Whether the block fits the schema; adds issues otherwise. */
function checkBlock(block: JsonValue, path: string, issues: Issue[]): boolean {
  if (!isObject(block)) {
    report(
      issues,
      'content_not_object',
      path,
      `The content block is ${shown(block)}.`,
      'Send an object with a type.',
    )
    return false
  }
  const fields = typeof block.type === 'string' ? BLOCK_FIELDS.get(block.type) : undefined
  if (fields === undefined) {
    const missing = block.type === undefined
    const message = missing
      ? 'The content block has no type.'
      : `The content type ${shown(block.type)} is not known.`
    const fix = `Set type to one of ${[...BLOCK_FIELDS.keys()].join(', ')}.`
    report(issues, missing ? 'content_type_missing' : 'unknown_content_type', `${path}.type`, message, fix)
    return false
  }
  let fits = true
  for (const field of fields) if (!checkField(block, field, path, issues)) fits = false
  return (fields !== MEDIA || !fits || checkMedia(block, path, issues)) && fits
}

function checkField(block: JsonObject, field: Field, path: string, issues: Issue[]): boolean {
  const value = block[field.name]
  if (value === undefined) {
    if (!field.required) return true
    const message = `A ${String(block.type)} block needs ${field.name}.`
    report(
      issues,
      'content_field_missing',
      `${path}.${field.name}`,
      message,
      `Add ${field.name}, ${KIND_TEXT[field.kind]}.`,
    )
    return false
  }
  if (isOfKind(value, field.kind)) return true
  const message = `The field ${field.name} is ${shown(value)}.`
  const fix = `Make it ${KIND_TEXT[field.kind]}${field.required ? '' : ', or leave it out'}.`
  report(issues, 'content_field_invalid', `${path}.${field.name}`, message, fix)
  return false
}

function isOfKind(value: JsonValue, kind: Kind): boolean {
  if (kind === 'string') return typeof value === 'string'
  if (kind === 'object') return isObject(value)
  if (kind === 'status') return value === 'success' || value === 'error'
  return Array.isArray(value) && value.every(isObject)
}

/** Checks the data of media (D-13): base64 is required; a reference alone is valid, with a warning. */
function checkMedia(block: JsonObject, path: string, issues: Issue[]): true {
  if (block.base64 !== undefined && block.base64 !== '') return true
  const referred = Boolean(block.url) || Boolean(block.id)
  const kind = String(block.type)
  addIssue(issues, {
    code: referred ? 'media_without_base64' : 'content_field_missing',
    severity: referred ? 'warning' : 'error',
    path: `${path}.base64`,
    message: referred
      ? `The ${kind} block only refers to its data, by ${block.url ? 'url' : 'id'}.`
      : `The ${kind} block needs base64, url or id.`,
    fix: 'Add base64, the data itself.',
  })
  return true
}

/** Adds the calls that a message lists beside its content, unless the content contains them already. */
function withListedCalls(
  calls: JsonValue | undefined,
  content: ContentBlock[],
  path: string,
  issues: Issue[],
): ContentBlock[] {
  if (!Array.isArray(calls) || calls.length === 0) return content
  const there = new Set<string>()
  noteCalls(content, there)
  const added: ContentBlock[] = []
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i]
    if (!isObject(call) || (typeof call.id === 'string' && there.has(call.id))) continue
    const of = isObject(call.function) ? call.function : call
    const args = of.args ?? of.arguments
    added.push(toolCallBlock(call.id, of.name, args, `${path}.tool_calls[${i}]`, issues))
  }
  return added.length === 0 ? content : content.concat(added)
}

function noteCalls(content: readonly ContentBlock[], calls: Set<string>): void {
  for (const block of content) if (block.type === 'tool_call' && block.id !== undefined) calls.add(block.id)
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}

/** Whether the fields besides role and content fit the schema. Null stands for an absent field, but does not fit. */
function checkMessageFields(
  value: JsonObject,
  role: MessageRole,
  calls: ReadonlySet<string>,
  path: string,
  issues: Issue[],
): boolean {
  const id = value.tool_call_id
  if (isPresent(id)) {
    const at = `${path}.tool_call_id`
    if (role !== 'tool') {
      const message = `A message of role ${role} has a tool_call_id.`
      report(issues, 'tool_call_id_misplaced', at, message, 'Leave it out, or set role to tool.')
    } else if (typeof id !== 'string' || !calls.has(id)) {
      const message = `No earlier assistant message makes the tool call ${shown(id)}.`
      report(
        issues,
        'tool_call_id_unknown',
        at,
        message,
        'Use the id of a tool call of an earlier assistant message.',
      )
    }
  }
  const { name, usage_metadata: usage } = value
  return (
    (id === undefined || (typeof id === 'string' && role === 'tool')) &&
    (name === undefined || typeof name === 'string') &&
    (usage === undefined || isObject(usage))
  )
}

function rebuilt(value: JsonObject, role: MessageRole, content: ContentBlock[]): Message {
  const { tool_call_id: id, name, usage_metadata: usage, tool_calls: calls, ...rest } = value
  const result: Message = { ...rest, role, content }
  // The calls of an assistant message are already in its content.
  if (calls !== undefined && role !== 'assistant') result.tool_calls = calls
  if (typeof id === 'string' && role === 'tool') result.tool_call_id = id
  if (typeof name === 'string') result.name = name
  if (isObject(usage)) result.usage_metadata = usage
  return result
}
