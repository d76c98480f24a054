import { isObject, type JsonObject, text } from '../../schema/json.ts'
import type { ContentBlock } from '../../schema/types.gen.ts'
import {
  type MediaBlock,
  mimeOf,
  type PlacedMessage,
  sentMessages,
  joinedText,
  unsupportedBlock,
} from './message-parts.ts'
import {
  sentFields,
  type Delta,
  type ModelCall,
  type Provider,
  type ReadEvent,
  type ToolChoice,
  withExtra,
} from './provider.ts'

/** Maximum tokens of answers to calls without a limit, since every request must have one. */
const MAX_TOKENS = 4096
const VERSION = '2023-06-01'

/** Anthropic's messages API. */
export const anthropic: Provider = {
  name: 'anthropic',
  secret: 'ANTHROPIC_API_KEY',
  base_url: 'https://api.anthropic.com',
  toRequest(call, secret) {
    const headers = { 'x-api-key': secret, 'anthropic-version': VERSION }
    return { path: '/v1/messages', headers, body: toBody(call) }
  },
  readEvent,
}

function toBody({ model, messages, tools, tool_choice, output_schema, parameters }: ModelCall): JsonObject {
  const { temperature, top_p, max_tokens = MAX_TOKENS, stop, extra } = parameters
  const sent = sentMessages(messages)
  const system = sent
    .flatMap(({ message }) => (message.role === 'system' ? [joinedText(message)] : []))
    .join('\n\n')
  return withExtra(extra, {
    model,
    max_tokens,
    system: system === '' ? undefined : system,
    messages: joinTurns(sent.filter(({ message }) => message.role !== 'system')),
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    tool_choice: tools.length === 0 ? undefined : toChoice(tool_choice),
    output_config: output_schema && {
      ...(isObject(extra['output_config']) ? extra['output_config'] : {}),
      format: { type: 'json_schema', schema: output_schema },
    },
    temperature,
    top_p,
    stop_sequences: stop && [...stop],
    stream: true,
  })
}

function toTool({ name, description, parameters }: ModelCall['tools'][number]): JsonObject {
  return sentFields({ name, description, input_schema: parameters })
}

function toChoice(choice: ToolChoice): JsonObject {
  if (typeof choice !== 'string') return { type: 'tool', name: choice.name }
  return { type: choice === 'required' ? 'any' : choice }
}

/** Puts the results of several tools into one message of the user, as the API requires. */
function joinTurns(sent: readonly PlacedMessage[]): JsonObject[] {
  const turns: { role: string; content: JsonObject[] }[] = []
  for (const placed of sent) {
    const { role } = placed.message
    const said = role === 'assistant' ? 'assistant' : 'user'
    const content = role === 'tool' ? [toResult(placed)] : toContent(placed)
    const last = turns.at(-1)
    if (last?.role === said) last.content.push(...content)
    else if (content.length > 0) turns.push({ role: said, content })
  }
  return turns.map((turn) => ({ ...turn }))
}

function toResult({ message }: PlacedMessage): JsonObject {
  return sentFields({ type: 'tool_result', tool_use_id: message.tool_call_id, content: joinedText(message) })
}

function toContent(placed: PlacedMessage): JsonObject[] {
  const { message, index } = placed
  return message.content.flatMap((block, at): JsonObject[] => {
    // The API refuses empty texts.
    if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    if (block.type === 'reasoning') return toThinking(block)
    if (block.type === 'tool_call') {
      const { id = `call_${index}_${at}`, name = '', args } = block
      return [{ type: 'tool_use', id, name, input: args as JsonObject }]
    }
    if (block.type === 'image' || block.type === 'file') {
      const source = toSource(block)
      if (source !== undefined) return [{ type: block.type === 'image' ? 'image' : 'document', source }]
    }
    throw unsupportedBlock('Anthropic', block, [index, at])
  })
}

/** Converts a reasoning block. The API accepts its own thoughts only with their signature. */
function toThinking({ text: thinking, extras }: Extract<ContentBlock, { type: 'reasoning' }>): JsonObject[] {
  const signature = text(extras?.['signature'])
  return signature === undefined ? [] : [{ type: 'thinking', thinking, signature }]
}

function toSource(block: MediaBlock): JsonObject | undefined {
  if (block.base64 !== undefined) return { type: 'base64', media_type: mimeOf(block), data: block.base64 }
  return block.url === undefined ? undefined : { type: 'url', url: block.url }
}

function readEvent(data: JsonObject): ReadEvent {
  const index = typeof data['index'] === 'number' ? data['index'] : 0
  switch (data['type']) {
    case 'message_start':
      return readStart(isObject(data['message']) ? data['message'] : {})
    case 'content_block_start':
      return { deltas: readBlock(isObject(data['content_block']) ? data['content_block'] : {}, index) }
    case 'content_block_delta':
      return { deltas: readDelta(isObject(data['delta']) ? data['delta'] : {}, index) }
    case 'message_delta': {
      const finish = isObject(data['delta']) ? text(data['delta']['stop_reason']) : undefined
      const usage = data['usage']
      return { ...(finish !== undefined && { finish_reason: finish }), ...(isObject(usage) && { usage }) }
    }
    case 'error':
      return {
        error: (isObject(data['error']) && text(data['error']['message'])) || 'the provider sent an error',
      }
    default:
      return {}
  }
}

function readStart(message: JsonObject): ReadEvent {
  const [model, id, usage] = [text(message['model']), text(message['id']), message['usage']]
  return {
    ...(isObject(usage) && { usage }),
    ...(model !== undefined && { model }),
    ...(id !== undefined && { id }),
  }
}

function readBlock(block: JsonObject, index: number): Delta[] {
  if (block['type'] !== 'tool_use')
    return readDelta({ ...block, type: `${String(block['type'])}_delta` }, index)
  const [id, name] = [text(block['id']), text(block['name'])]
  return [{ type: 'tool_call', index, ...(id !== undefined && { id }), ...(name !== undefined && { name }) }]
}

function readDelta(delta: JsonObject, index: number): Delta[] {
  const [said, thought] = [text(delta['text']), text(delta['thinking'])]
  const args = text(delta['partial_json'])
  if (said !== undefined) return [{ type: 'text', text: said }]
  if (thought !== undefined) return [{ type: 'reasoning', text: thought }]
  return args === undefined ? [] : [{ type: 'tool_call', index, args }]
}
