import type { ContentBlock, Message, PlaygroundRunCreate } from '../../api/platform.gen.ts'
import { parseTyped } from '../../api/typed-json.ts'
import {
  type Draft,
  type DraftBlock,
  type DraftColumn,
  type DraftMessage,
  type DraftTool,
  toolOfChoice,
} from './draft.ts'

/** A draft that cannot be sent as it is; the message names the place and the reason. */
export class DraftFault extends Error {}

type Fields = Record<string, unknown>

/** Characters of the contents of all messages, a little less than a request may have. */
const MAX_CHARS = 19 << 20

/** Undefined for an empty text. @throws JsonFault, DraftFault for JSON that is no object */
function objectOf(text: string, what: string): Fields | undefined {
  if (text.trim() === '') return undefined
  const value = parseTyped(text, what)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new DraftFault(`${what} must be a JSON object.`)
}

function numberOf(text: string, what: string): number | undefined {
  if (text.trim() === '') return undefined
  const value = Number(text)
  if (Number.isFinite(value)) return value
  throw new DraftFault(`${what} must be a number, and is “${text.trim()}”.`)
}

function blockOf(block: DraftBlock, where: string): ContentBlock {
  if (block.kind === 'text') return { type: 'text', text: block.text }
  if (block.kind === 'media') return block.block
  if (block.kind === 'other') return objectOf(block.text, `A block of ${where}`) as unknown as ContentBlock
  const { call_id, name, args } = block
  const what = `The arguments of ${name === '' ? `a tool call in ${where}` : name}`
  return {
    type: 'tool_call',
    ...(call_id !== '' && { id: call_id }),
    name,
    args: objectOf(args, what) ?? {},
  }
}

function isEmpty(block: DraftBlock): boolean {
  return block.kind === 'text' || block.kind === 'other' ? block.text.trim() === '' : false
}

/**
 * Converts messages. Empty blocks are left out. Messages without a block are left out too, except results of tools,
 * which may be empty.
 */
function messagesOf(messages: readonly DraftMessage[]): Message[] {
  return messages.flatMap(({ role, name, tool_call_id, blocks }, place) => {
    const where = `message ${place + 1}`
    const content = blocks.filter((block) => !isEmpty(block)).map((block) => blockOf(block, where))
    if (content.length === 0 && role !== 'tool') return []
    if (role === 'tool' && tool_call_id === '')
      throw new DraftFault(
        `Message ${place + 1} is the result of a tool: name the id of the call it answers.`,
      )
    const isNamed = name !== ''
    return [{ role, content, ...(isNamed && { name }), ...(role === 'tool' && { tool_call_id }) }]
  })
}

function toolsOf(tools: readonly DraftTool[]): NonNullable<PlaygroundRunCreate['tools']> {
  return tools.map(({ name, description, schema }, place) => {
    if (name.trim() === '') throw new DraftFault(`Tool ${place + 1} has no name.`)
    const parameters = objectOf(schema, `The schema of ${name}`)
    return {
      name: name.trim(),
      ...(description !== '' && { description }),
      ...(parameters && { parameters }),
    }
  })
}

function choiceOf(
  { tool_choice }: DraftColumn,
  tools: NonNullable<PlaygroundRunCreate['tools']>,
): NonNullable<PlaygroundRunCreate['tool_choice']> {
  const name = toolOfChoice(tool_choice)
  if (name === undefined) return tool_choice as 'auto' | 'none' | 'required'
  if (tools.some((tool) => tool.name === name)) return { name }
  throw new DraftFault(`The model must call ${name}, which is not among the tools.`)
}

function parametersOf(column: DraftColumn): NonNullable<PlaygroundRunCreate['parameters']> {
  const stop = column.stop.split('\n').filter((line) => line !== '')
  return {
    temperature: numberOf(column.temperature, 'Temperature') ?? null,
    top_p: numberOf(column.top_p, 'Top p') ?? null,
    max_tokens: numberOf(column.max_tokens, 'Limit of tokens') ?? null,
    stop: stop.length === 0 ? null : stop,
    seed: numberOf(column.seed, 'Seed') ?? null,
    extra: objectOf(column.extra, 'Further fields') ?? null,
  }
}

function lengthOf(messages: readonly Message[]): number {
  const texts = messages.flatMap(({ content }) =>
    content.flatMap((block) => ['text', 'base64', 'url'].map((field) => (block as unknown as Fields)[field])),
  )
  return texts.reduce((sum: number, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}

/** The request that sends a draft to the model of a column. @throws DraftFault, JsonFault */
export function callBody(draft: Draft, column: DraftColumn, source: string): PlaygroundRunCreate {
  if (column.model.trim() === '') throw new DraftFault('Name the model.')
  if (column.provider === 'openai-compatible' && column.base_url.trim() === '')
    throw new DraftFault('Name the address of the API, such as http://127.0.0.1:11434/v1.')
  const messages = messagesOf(column.messages ?? draft.messages)
  if (messages.length === 0) throw new DraftFault('The prompt is empty: write a message.')
  if (lengthOf(messages) > MAX_CHARS)
    throw new DraftFault('The prompt with its files is too large: a request may have 20 MiB.')
  const tools = toolsOf(draft.tools)
  const schema = objectOf(draft.output_schema, 'The schema of the answer')
  return {
    provider: column.provider,
    model: column.model.trim(),
    base_url: column.base_url.trim() || null,
    secret: column.secret.trim() || null,
    provider_name: column.provider_name.trim() || null,
    messages,
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : choiceOf(column, tools),
    output_schema: schema ?? null,
    parameters: parametersOf(column),
    source_run_id: source === '' ? null : source,
  }
}
