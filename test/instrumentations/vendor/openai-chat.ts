import { type Asked, piecesOf, TOOL_CALL, type VendorCall } from './call.ts'

/** A body of POST /v1/chat/completions, with the fields that determine the answer. */
export interface ChatBody {
  model: string
  messages: { role: string }[]
  tools?: unknown[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

export function chatAsked({ model, messages, tools, stream = false }: ChatBody): Asked {
  const hasResult = messages.at(-1)?.role === 'tool'
  return { model, stream, hasResult, wantsTool: (tools?.length ?? 0) > 0 && !hasResult }
}

function usageOf(call: VendorCall) {
  return {
    prompt_tokens: call.input,
    completion_tokens: call.output,
    total_tokens: call.input + call.output,
    prompt_tokens_details: { cached_tokens: call.cache_read, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: call.reasoning, audio_tokens: 0 },
  }
}

function toolCall(id: string) {
  const { name, args } = TOOL_CALL
  return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

export function chatAnswer(call: VendorCall, id: string): object {
  const message =
    call.text === undefined
      ? { role: 'assistant', content: null, refusal: null, tool_calls: [toolCall(id)] }
      : { role: 'assistant', content: call.text, refusal: null }
  const finish_reason = call.text === undefined ? 'tool_calls' : 'stop'
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: call.model,
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    usage: usageOf(call),
  }
}

/** Events of the stream. They include the usage if the request asks for it. */
export function chatStream(call: VendorCall, id: string, body: ChatBody): string[] {
  const head = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
  }
  const chunk = (rest: object): string =>
    `data: ${JSON.stringify({ ...head, model: call.model, ...rest })}\n\n`
  const delta = (piece: object, finish_reason: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta: piece, finish_reason, logprobs: null }] })
  const said =
    call.text === undefined
      ? [delta({ tool_calls: [{ index: 0, ...toolCall(id) }] }), delta({}, 'tool_calls')]
      : [...piecesOf(call.text).map((content) => delta({ content })), delta({}, 'stop')]
  const usage =
    body.stream_options?.include_usage === true ? [chunk({ choices: [], usage: usageOf(call) })] : []
  return [delta({ role: 'assistant', content: '' }), ...said, ...usage, 'data: [DONE]\n\n']
}
