import type { Block, Message } from '../../api/messages.ts'
import { llmOf } from '../llm-facts.ts'
import type { MediaBlock } from '../messages/media-block.ts'
import { offeredTools, parametersOf } from '../messages/call-request.ts'
import type { TraceRunRead as ReadRun } from '../../api/platform.gen.ts'
import {
  type Draft,
  type DraftBlock,
  type DraftColumn,
  type DraftMessage,
  emptyDraft,
  newColumn,
  newId,
  newMessage,
  type ProviderName,
  type Role,
  textBlock,
  toolOfChoice,
} from './draft.ts'
import { type CallSettings, settingsOfRun } from './run-settings.ts'

/** A draft that repeats a model call, with notes about the parts of the call that it cannot repeat. */
export interface DraftOfRun {
  draft: Draft
  notes: readonly string[]
}

const ROLES: readonly string[] = ['system', 'user', 'assistant', 'tool'] satisfies Role[]
const MEDIA: readonly string[] = ['image', 'file', 'audio', 'video'] satisfies MediaBlock['type'][]
const OLLAMA = 'http://127.0.0.1:11434/v1'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2)

/** A block of a message for editing. */
export function draftBlock(block: Block): DraftBlock {
  const id = newId()
  if (block.type === 'text' && block['extras'] === undefined) return textBlock(textOf(block['text']))
  if (block.type === 'tool_call') {
    const [call_id, name] = [textOf(block['id']), textOf(block['name'])]
    return { id, kind: 'call', call_id, name, args: jsonOf(block['args'] ?? {}) }
  }
  const hasBytes = typeof (block['base64'] ?? block['url']) === 'string'
  if (MEDIA.includes(block.type) && hasBytes)
    return { id, kind: 'media', block: block as unknown as MediaBlock }
  return { id, kind: 'other', text: jsonOf(block) }
}

/** Anthropic refuses a tool call without the signed thinking block before it; other reasoning blocks are not sent. */
function isSent({ type, extras }: Block): boolean {
  return (
    type !== 'reasoning' || typeof (extras as { signature?: unknown } | undefined)?.signature === 'string'
  )
}

/** A message for editing; undefined for a message of the role `reasoning`, which vendors do not accept. */
export function draftMessage({
  role,
  content,
  name = '',
  tool_call_id = '',
}: Message): DraftMessage | undefined {
  if (!ROLES.includes(role)) return undefined
  const said = content.filter(isSent)
  const blocks = said.length === 0 ? [textBlock()] : said.map(draftBlock)
  return { ...newMessage(role as Role, blocks), name, tool_call_id }
}

/** The API of the vendor that `ls_provider` of a run names. */
function providerOf(name: string): ProviderName {
  if (name === 'openai' || name === 'anthropic') return name
  if (name === '') return 'openai'
  return /^(?:google|gemini|vertex)/.test(name) ? 'google' : 'openai-compatible'
}

/** The model of a run, with its settings; the address is '' when it is the API's own. */
function columnOf(run: ReadRun, settings: CallSettings['column']): DraftColumn {
  const { provider: named, model } = llmOf(run) ?? {}
  const provider = providerOf(named ?? '')
  const isOther = provider === 'openai-compatible'
  const address = settings.base_url || (named === 'ollama' ? OLLAMA : '')
  return {
    ...newColumn(provider, model ?? ''),
    ...settings,
    base_url: isOther ? address : '',
    ...(isOther && { provider_name: named ?? '' }),
  }
}

/** The draft that repeats a model call. Vendors' own tools, which have no schema, are left out. */
export function draftOfRun(run: ReadRun): DraftOfRun {
  const llm = llmOf(run)
  const settings = settingsOfRun(parametersOf(run), providerOf(llm?.provider ?? ''))
  const offered = offeredTools(run)
  const tools = offered.filter(({ schema }) => schema !== undefined && schema !== null)
  const forced = toolOfChoice(settings.column.tool_choice)
  const isOffered = forced === undefined || tools.some(({ name }) => name === forced)
  const messages = (llm?.messages?.input ?? []).flatMap((message) => draftMessage(message) ?? [])
  const draft: Draft = {
    ...emptyDraft(),
    ...(messages.length > 0 && { messages }),
    tools: tools.map(({ name, description, schema }) => ({
      id: newId(),
      name,
      description,
      schema: jsonOf(schema),
    })),
    output_schema: settings.output_schema,
    columns: [columnOf(run, { ...settings.column, ...(!isOffered && { tool_choice: 'auto' }) })],
  }
  const notes = [
    messages.length === 0 && `The messages of the run could not be read: ${whyNot(run, 'format')}`,
    !llm?.model && `The model of the run is not known: ${whyNot(run, 'model')}`,
    tools.length < offered.length &&
      `${offered.length - tools.length} of its tools are executed by the vendor and are left out.`,
    !isOffered && `The call had to use the tool ${forced}, which is not among its tools.`,
    settings.left_out.length > 0 &&
      `These settings of the run are not sent: ${settings.left_out.join(', ')}.`,
  ]
  return { draft, notes: notes.filter((note) => note !== false) }
}

/** The reason of a failed check, such as `model`. */
function whyNot(run: ReadRun, check: string): string {
  return llmOf(run)?.checks?.[check]?.reason ?? 'the run does not have it.'
}
