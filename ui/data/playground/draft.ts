import type { PlaygroundRunCreate } from '../../api/platform.gen.ts'
import type { MediaBlock } from '../messages/media-block.ts'

/** Kinds of APIs that the playground calls. */
export type ProviderName = PlaygroundRunCreate['provider']
/** The role of a message of the prompt. */
export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** A part of a message, for editing; `id` distinguishes it from other parts. */
export type DraftBlock = { id: string } & (
  | { kind: 'text'; text: string }
  /** `args` is JSON text. */
  | { kind: 'call'; call_id: string; name: string; args: string }
  | { kind: 'media'; block: MediaBlock }
  /** Any other block, as JSON text. */
  | { kind: 'other'; text: string }
)

export interface DraftMessage {
  id: string
  role: Role
  /** For role tool: id of the call that the message answers. */
  tool_call_id: string
  name: string
  blocks: readonly DraftBlock[]
}

/** A tool, for editing; `schema` is JSON text. */
export interface DraftTool {
  id: string
  name: string
  description: string
  schema: string
}

/** Whether the model calls tools; `tool:NAME` if it must call this tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | `tool:${string}`

export function namedTool(name: string): ToolChoice {
  return `tool:${name}`
}

/** The tool of a choice; undefined when it names none. */
export function toolOfChoice(choice: ToolChoice): string | undefined {
  return choice.startsWith('tool:') ? choice.slice('tool:'.length) : undefined
}

/** A model with its settings, all as they were typed; '' for a setting that is not sent. */
export interface DraftColumn {
  id: string
  provider: ProviderName
  model: string
  base_url: string
  /** Name of a secret other than the provider's own. */
  secret: string
  /** `ls_provider` of the traced run, on which its price depends. */
  provider_name: string
  temperature: string
  top_p: string
  max_tokens: string
  /** Stop sequences, one per line. */
  stop: string
  seed: string
  /** Further fields of the request, as JSON text. */
  extra: string
  tool_choice: ToolChoice
  /** The model's own prompt; undefined if it gets the prompt of the draft. */
  messages?: readonly DraftMessage[] | undefined
}

/** The content of the playground: one prompt, and the models to which it is sent. */
export interface Draft {
  messages: readonly DraftMessage[]
  tools: readonly DraftTool[]
  /** JSON Schema of the answer, as text. */
  output_schema: string
  columns: readonly DraftColumn[]
}

/** Maximum number of columns. */
export const MAX_COLUMNS = 4

/** An id within a draft. Pages without https have no `crypto.randomUUID`. */
export function newId(): string {
  return Math.random().toString(36).slice(2)
}

export function textBlock(text = ''): DraftBlock {
  return { id: newId(), kind: 'text', text }
}

export function callBlock(): DraftBlock {
  return { id: newId(), kind: 'call', call_id: '', name: '', args: '{}' }
}

export function mediaBlock(block: MediaBlock): DraftBlock {
  return { id: newId(), kind: 'media', block }
}

export function newMessage(role: Role, blocks: readonly DraftBlock[] = [textBlock()]): DraftMessage {
  return { id: newId(), role, tool_call_id: '', name: '', blocks }
}

export function newTool(): DraftTool {
  return { id: newId(), name: '', description: '', schema: '{\n  "type": "object",\n  "properties": {}\n}' }
}

export function newColumn(provider: ProviderName = 'openai', model = ''): DraftColumn {
  const typed = { base_url: '', secret: '', provider_name: '', temperature: '', top_p: '', max_tokens: '' }
  return { id: newId(), provider, model, ...typed, stop: '', seed: '', extra: '', tool_choice: 'auto' }
}

export function emptyDraft(): Draft {
  const messages = [newMessage('system'), newMessage('user')]
  return { messages, tools: [], output_schema: '', columns: [newColumn()] }
}

/** The list with these fields of the entry `id` replaced. */
export function withEntry<T extends { id: string }>(
  list: readonly T[],
  id: string,
  change: (entry: T) => T,
): T[] {
  return list.map((entry) => (entry.id === id ? change(entry) : entry))
}

export function withoutEntry<T extends { id: string }>(list: readonly T[], id: string): T[] {
  return list.filter((entry) => entry.id !== id)
}

/** The list with the entry `id` one place earlier. */
export function movedUp<T extends { id: string }>(list: readonly T[], id: string): T[] {
  const at = list.findIndex((entry) => entry.id === id)
  return at < 1 ? [...list] : list.with(at - 1, list[at]!).with(at, list[at - 1]!)
}
