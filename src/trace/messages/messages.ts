import type { Issue } from '../../schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import type { ContentBlock, Message, TextBlock, ToolCallBlock } from '../../schema/types.gen.ts'
import { isTooDeep } from '../json/json-text.ts'
import type { Normalized } from './processor.ts'

/** The role of a canonical message's author. */
export type MessageRole = Message['role']

/** Kinds of content block that hold media. */
export type MediaKind = 'image' | 'file' | 'audio' | 'video'

/** Maximum number of issues about one side; the last issue reports that there are more. */
export const MAX_SIDE_ISSUES = 100

/** The canonical role for each role name of a vendor. */
const ROLES: ReadonlyMap<string, MessageRole> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['reasoning', 'reasoning'],
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
  // Roles that smolagents sends.
  ['tool-call', 'assistant'],
  ['tool-response', 'tool'],
])

/** Adds an issue unless the side already has MAX_SIDE_ISSUES. */
export function addIssue(issues: Issue[], issue: Issue): void {
  if (issues.length < MAX_SIDE_ISSUES - 1) issues.push(issue)
  else if (issues.length === MAX_SIDE_ISSUES - 1) {
    issues.push({
      code: 'more_issues',
      severity: issue.severity,
      path: issue.path,
      message: `There are more than ${MAX_SIDE_ISSUES - 1} issues; this one is of code ${issue.code}.`,
      fix: 'Mend the first ones and check again.',
    })
  } else if (issue.severity === 'error') {
    const last = issues[issues.length - 1]
    if (last !== undefined) last.severity = 'error'
  }
}

/** The canonical role of a vendor's role name (D-14); undefined for an unknown name. */
export function readRole(value: unknown): MessageRole | undefined {
  return typeof value === 'string' ? (ROLES.get(value) ?? ROLES.get(value.toLowerCase())) : undefined
}

/** As `readRole`, but a missing role becomes `absent`, and an unknown name `user`, each with a warning. */
export function resolveRole(value: unknown, absent: MessageRole, path: string, issues: Issue[]): MessageRole {
  const role = readRole(value)
  if (role !== undefined) return role
  const missing = value === undefined || value === null
  const taken = missing ? absent : 'user'
  addIssue(issues, {
    code: missing ? 'role_missing' : 'unknown_role',
    severity: 'warning',
    path: `${path}.role`,
    message: missing
      ? `The message has no role and is read as ${taken}.`
      : `The role ${shown(value)} is not known and is read as user.`,
    fix: 'Send one of system, user, assistant, tool.',
  })
  return taken
}

/**
 * A value in the text of an issue: at most about 40 characters of a string, and only the type of a list or an object.
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

export function textBlock(value: string): TextBlock {
  return { type: 'text', text: value }
}

export function reasoningBlock(value: string, extras?: JsonObject): ContentBlock {
  return extras === undefined
    ? { type: 'reasoning', text: value }
    : { type: 'reasoning', text: value, extras }
}

/** The kind of block for a MIME type; `file` if it is unknown. */
export function mediaKind(mimeType: string | undefined): MediaKind {
  if (mimeType === undefined) return 'file'
  if (mimeType.startsWith('image/')) return 'image'
  if (mimeType.startsWith('audio/')) return 'audio'
  return mimeType.startsWith('video/') ? 'video' : 'file'
}

/** The location of a media block's data, as sent; non-strings and empty strings are ignored. */
export interface MediaSource {
  url?: unknown
  base64?: unknown
  id?: unknown
  mime_type?: unknown
}

/**
 * A media block. A `data:` URL becomes base64 and MIME type; the data itself is not decoded. Undefined if the source
 * contains neither data nor a reference.
 */
export function mediaBlock(kind: MediaKind, source: MediaSource): ContentBlock | undefined {
  const base64 = text(source.base64)
  const url = text(source.url)
  const id = text(source.id)
  if (base64 === undefined && url === undefined && id === undefined) return undefined
  const inline = splitDataUrl(base64 ?? url)
  const data = inline?.data ?? base64
  const mimeType = text(source.mime_type) ?? inline?.mimeType
  const block: ContentBlock = { type: kind }
  if (url !== undefined && (base64 !== undefined || inline === undefined)) block.url = url
  if (data !== undefined) block.base64 = data
  if (id !== undefined) block.id = id
  if (mimeType !== undefined) block.mime_type = mimeType
  return block
}

/** RFC 2397, base64 only: the header is at most 200 characters long. */
function splitDataUrl(url: string | undefined): { data: string; mimeType: string | undefined } | undefined {
  if (url === undefined || !/^data:/i.test(url.slice(0, 5))) return undefined
  const header = /^data:([^;,]*)(?:;[^,;]*)*?;base64,/i.exec(url.slice(0, 200))
  if (header === null) return undefined
  return { data: url.slice(header[0].length), mimeType: text(header[1]) }
}

/**
 * A tool call block. Arguments in the form of JSON text are parsed; a value that is not a JSON object is kept under
 * `raw`, with the warning `tool_args_not_json`. `path` is the path of the arguments.
 */
export function toolCallBlock(
  id: unknown,
  name: unknown,
  args: JsonValue | undefined,
  path: string,
  issues: Issue[],
): ToolCallBlock {
  const block: ToolCallBlock = { type: 'tool_call', args: readToolArgs(args, path, issues) }
  const knownName = text(name)
  const knownId = text(id)
  if (knownName !== undefined) block.name = knownName
  if (knownId !== undefined) block.id = knownId
  return block
}

/** Arguments of a tool call as an object: see `toolCallBlock`. */
export function readToolArgs(args: JsonValue | undefined, path: string, issues: Issue[]): JsonObject {
  if (isObject(args)) return args
  if (args === undefined || args === null || args === '') return {}
  if (typeof args === 'string') {
    const parsed = jsonValueOf(args)
    if (isObject(parsed)) return parsed
    if (parsed === null && args.trim() === 'null') return {}
  }
  addIssue(issues, {
    code: 'tool_args_not_json',
    severity: 'warning',
    path,
    message: 'The arguments of the tool call are not a JSON object; they are kept as they came under "raw".',
    fix: 'Send the arguments as an object, or as the JSON text of one.',
  })
  return { raw: args }
}

/** The JSON value in a text; undefined if it is not JSON or nested too deep. Never throws. */
export function jsonValueOf(value: string): JsonValue | undefined {
  try {
    const parsed = JSON.parse(value) as JsonValue
    return isTooDeep(value, parsed) ? undefined : parsed
  } catch {
    return undefined
  }
}

/** A value as text for a model: strings unchanged, others as JSON; undefined when nested too deep. */
export function jsonText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** A block of an unknown type, kept whole in the extras of an empty text block, with an issue. */
export function keptBlock(value: JsonValue, path: string, issues: Issue[]): ContentBlock {
  const type = isObject(value) ? value.type : undefined
  addIssue(issues, {
    code: 'unknown_content_type',
    severity: 'info',
    path,
    message: `The content ${type === undefined ? `is ${shown(value)} without a type` : `type ${shown(type)} is not known`}; it is kept as it came, unread.`,
    fix: 'Send a content type of the interface, or add a processor for this format.',
  })
  return kept(value)
}

/** Puts a value that cannot be read as content into a block, unchanged. */
export function kept(value: JsonValue): ContentBlock {
  return { type: 'text', text: '', extras: { unread: value } }
}

/** A canonical message; only the role tool has a tool call id. */
export function message(
  role: MessageRole,
  content: ContentBlock[],
  toolCallId?: unknown,
  name?: unknown,
): Message {
  const result: Message = { role, content }
  const knownId = role === 'tool' ? text(toolCallId) : undefined
  const knownName = text(name)
  if (knownName !== undefined) result.name = knownName
  if (knownId !== undefined) result.tool_call_id = knownId
  return result
}

/** One side during reading: its messages, the path of each, and the issues. */
export interface Draft {
  messages: Message[]
  /** JSON path of each message, relative to the value that is read. */
  paths: string[]
  issues: Issue[]
}

export function newDraft(): Draft {
  return { messages: [], paths: [], issues: [] }
}

/** Appends a message that came from `path`. */
export function put(draft: Draft, path: string, message: Message): void {
  draft.messages.push(message)
  draft.paths.push(path)
}

/** The content of a side besides its messages. `undefined` means that a field is absent. */
export interface SideFacts {
  tools?: JsonValue | undefined
  model?: JsonValue | undefined
  provider?: string | undefined
}

/** Completes a draft. Tool results that refer to no earlier call get a warning only, since history may be cut. */
export function finish(draft: Draft, facts: SideFacts = {}): Normalized {
  checkToolLinks(draft)
  const result: Normalized = { messages: draft.messages, issues: draft.issues }
  const model = text(facts.model)
  if (model !== undefined) result.model = model
  if (facts.provider !== undefined) result.provider = facts.provider
  const { tools } = facts
  if (tools !== undefined && (Array.isArray(tools) ? tools.length > 0 : isObject(tools))) result.tools = tools
  return withCleanPaths(result)
}

/** A path relative to the value itself begins with a dot: `.role` becomes `role`. */
export function withCleanPaths(result: Normalized): Normalized {
  for (const issue of result.issues) if (issue.path.startsWith('.')) issue.path = issue.path.slice(1)
  return result
}

function checkToolLinks({ messages, paths, issues }: Draft): void {
  const known = new Set<string>()
  for (const [i, { role, content, tool_call_id: id }] of messages.entries()) {
    if (role === 'assistant') {
      for (const block of content)
        if (block.type === 'tool_call' && block.id !== undefined) known.add(block.id)
    } else if (id !== undefined && !known.has(id)) {
      addIssue(issues, {
        code: 'tool_call_id_unknown',
        severity: 'warning',
        path: paths[i] ?? '',
        message: `No earlier assistant message makes the tool call ${shown(id)} that this one answers.`,
        fix: 'Send the assistant message that made the call before its answer.',
      })
    }
  }
}
