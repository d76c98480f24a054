import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import {
  mediaUrl,
  mimeOf,
  type PlacedMessage,
  sentMessages,
  joinedText,
  toolCallsOf,
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

/** OpenAI's chat completions. */
export const openai: Provider = {
  name: 'openai',
  secret: 'OPENAI_API_KEY',
  base_url: 'https://api.openai.com/v1',
  toRequest: (call, secret) => toRequest(call, secret, 'max_completion_tokens'),
  readEvent,
}

/** Servers with OpenAI's API, such as Ollama and vLLM; few of them support `max_completion_tokens`. */
export const openaiCompatible: Provider = {
  name: 'openai-compatible',
  secret: 'OPENAI_COMPATIBLE_API_KEY',
  base_url: undefined,
  toRequest: (call, secret) => toRequest(call, secret, 'max_tokens'),
  readEvent,
}

function toRequest(call: ModelCall, secret: string, maxTokens: string) {
  const { model, messages, tools, tool_choice, output_schema, parameters } = call
  const { temperature, top_p, max_tokens, stop, seed, extra } = parameters
  const body = withExtra(extra, {
    model,
    messages: sentMessages(messages).map(toMessage),
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    tool_choice: tools.length === 0 ? undefined : toChoice(tool_choice),
    response_format: output_schema && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: output_schema, strict: true },
    },
    temperature,
    top_p,
    [maxTokens]: max_tokens,
    stop: stop && [...stop],
    seed,
    stream: true,
    stream_options: { include_usage: true },
  })
  return { path: '/chat/completions', headers: { authorization: `Bearer ${secret}` }, body }
}

function toTool({ name, description, parameters }: ModelCall['tools'][number]): JsonObject {
  return { type: 'function', function: sentFields({ name, description, parameters }) }
}

function toChoice(choice: ToolChoice): JsonValue {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}

function toMessage(placed: PlacedMessage): JsonObject {
  const { message } = placed
  const name = text(message.name)
  if (message.role === 'tool')
    return sentFields({ role: 'tool', tool_call_id: message.tool_call_id, content: joinedText(message) })
  if (message.role === 'system') return sentFields({ role: 'system', content: joinedText(message), name })
  if (message.role === 'user') return sentFields({ role: 'user', content: toContent(placed), name })
  const calls = toolCallsOf(placed).map(({ id, name: called, args }) => ({
    id,
    type: 'function',
    function: { name: called, arguments: JSON.stringify(args) },
  }))
  const content = joinedText(message)
  return sentFields({
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    tool_calls: calls.length === 0 ? undefined : calls,
    name,
  })
}

/** Converts content. A single text is sent as a string, which every compatible server accepts. */
function toContent(placed: PlacedMessage): JsonValue {
  const { content } = placed.message
  if (content.every(({ type }) => type === 'text')) return joinedText(placed.message)
  return content.map((block, at) => {
    if (block.type === 'text') return { type: 'text', text: block.text }
    if (block.type === 'image' && mediaUrl(block) !== undefined)
      return { type: 'image_url', image_url: { url: mediaUrl(block) } }
    if (block.type === 'audio' && block.base64 !== undefined)
      return { type: 'input_audio', input_audio: { data: block.base64, format: formatOf(mimeOf(block)) } }
    if (block.type === 'file' && block.base64 !== undefined)
      return { type: 'file', file: { filename: 'file', file_data: mediaUrl(block) } }
    throw unsupportedBlock('OpenAI', block, [placed.index, at])
  })
}

/** OpenAI's name of an audio format: `mp3` for `audio/mpeg`, `wav` for `audio/x-wav`. */
function formatOf(mime: string): string {
  const subtype = mime.slice(mime.indexOf('/') + 1).replace(/^x-/, '')
  return subtype === 'mpeg' ? 'mp3' : subtype
}

function readEvent(data: JsonObject): ReadEvent {
  if (isObject(data['error']))
    return { error: text(data['error']['message']) ?? 'the provider sent an error' }
  const [choice] = Array.isArray(data['choices']) ? data['choices'] : []
  const delta = isObject(choice) && isObject(choice['delta']) ? choice['delta'] : {}
  const usage = data['usage']
  const finish = isObject(choice) ? text(choice['finish_reason']) : undefined
  const [model, id] = [text(data['model']), text(data['id'])]
  return {
    deltas: readDelta(delta),
    ...(isObject(usage) && { usage }),
    ...(finish !== undefined && { finish_reason: finish }),
    ...(model !== undefined && { model }),
    ...(id !== undefined && { id }),
  }
}

/**
 * Reads a delta. Compatible servers send reasoning as `reasoning_content` (vLLM, DeepSeek) or `reasoning` (Ollama,
 * OpenRouter).
 */
function readDelta(delta: JsonObject): Delta[] {
  const reasoning = text(delta['reasoning_content']) ?? text(delta['reasoning'])
  const said = text(delta['content']) ?? text(delta['refusal'])
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isObject) : []
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(said === undefined ? [] : [{ type: 'text' as const, text: said }]),
    ...calls.map(readCall),
  ]
}

function readCall(call: JsonObject, at: number): Delta {
  const { index, id } = call
  const called = isObject(call['function']) ? call['function'] : {}
  const [name, args] = [text(called['name']), text(called['arguments'])]
  return {
    type: 'tool_call',
    index: typeof index === 'number' ? index : at,
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(name !== undefined && { name }),
    ...(args !== undefined && { args }),
  }
}
