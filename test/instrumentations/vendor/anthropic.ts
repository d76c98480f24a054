import { type Asked, piecesOf, TOOL_CALL, type VendorCall } from './call.ts'

/** A body of POST /v1/messages, with the fields that determine the answer. */
export interface MessagesBody {
  model: string
  messages: { role: string; content: string | { type: string }[] }[]
  tools?: unknown[]
  stream?: boolean
}

export function messagesAsked({ model, messages, tools, stream = false }: MessagesBody): Asked {
  const content = messages.at(-1)?.content
  const hasResult = Array.isArray(content) && content.some(({ type }) => type === 'tool_result')
  return { model, stream, hasResult, wantsTool: (tools?.length ?? 0) > 0 && !hasResult }
}

/** `input_tokens` excludes tokens read from or written to the cache. */
function usageOf({ input, cache_read, cache_creation, output }: VendorCall) {
  return {
    input_tokens: input - cache_read - cache_creation,
    cache_read_input_tokens: cache_read,
    cache_creation_input_tokens: cache_creation,
    cache_creation: { ephemeral_5m_input_tokens: cache_creation, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  }
}

function contentOf({ text }: VendorCall, id: string) {
  const { name, args } = TOOL_CALL
  return text === undefined
    ? { type: 'tool_use' as const, id: `toolu_${id}`, name, input: args }
    : { type: 'text' as const, text }
}

export function messagesAnswer(call: VendorCall, id: string) {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: call.model,
    content: [contentOf(call, id)],
    stop_reason: call.text === undefined ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: usageOf(call),
  }
}

export function messagesStream(call: VendorCall, id: string): string[] {
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
  const message = messagesAnswer(call, id)
  const content = contentOf(call, id)
  const deltas =
    content.type === 'tool_use'
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(content.input) }]
      : piecesOf(content.text).map((text) => ({ type: 'text_delta', text }))
  const content_block = content.type === 'tool_use' ? { ...content, input: {} } : { type: 'text', text: '' }
  const begun = { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } }
  const { stop_reason, stop_sequence } = message
  return [
    event('message_start', { message: begun }),
    event('content_block_start', { index: 0, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason, stop_sequence }, usage: { output_tokens: call.output } }),
    event('message_stop', {}),
  ]
}
