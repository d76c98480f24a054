import { answerId } from '../../traces/answer-id.ts'

/** The fields of a request of OpenAI's Responses API that determine the answer. */
export interface ResponsesRequest {
  model: string
  input: string | { type?: string }[]
  tools?: unknown[]
  stream?: boolean
}

/** The fake's answers in this API. */
export interface ResponsesScript {
  text: string
  call: { id: string; name: string; args: object }
}

const CREATED = 1_795_166_133

/** True when the answer is a tool call: the request offers tools, and its last item is not a tool's result. */
export function asksForCall({ tools, input }: ResponsesRequest): boolean {
  const last = typeof input === 'string' ? undefined : input.at(-1)
  return tools !== undefined && last?.type !== 'function_call_output'
}

function outputItem(request: ResponsesRequest, { text, call }: ResponsesScript) {
  return asksForCall(request)
    ? {
        type: 'function_call',
        id: 'fc_1',
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.args),
        status: 'completed',
      }
    : {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      }
}

function usageOf(request: ResponsesRequest) {
  const [input_tokens, output_tokens] = asksForCall(request) ? [82, 17] : [25, 9]
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  }
}

/** The complete answer. */
export function responseOf(request: ResponsesRequest, script: ResponsesScript) {
  return {
    id: answerId('resp', request),
    object: 'response',
    created_at: CREATED,
    model: request.model,
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [outputItem(request, script)],
    usage: usageOf(request),
  }
}

/** The answer as server-sent events. */
export function responseEvents(request: ResponsesRequest, script: ResponsesScript): string[] {
  const whole = responseOf(request, script)
  const item = outputItem(request, script)
  const at = { output_index: 0, item_id: item.id }
  const events: [type: string, rest: object][] = [
    ['response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } }],
  ]
  if (item.type === 'function_call') {
    const { arguments: args } = item
    events.push(
      ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }],
      ['response.function_call_arguments.delta', { ...at, delta: args }],
      ['response.function_call_arguments.done', { ...at, arguments: args }],
    )
  } else {
    events.push(['response.output_item.added', { output_index: 0, item: { ...item, content: [] } }])
    for (const delta of script.text.split(/(?<= )/))
      events.push(['response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] }])
  }
  events.push(
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: whole }],
  )
  return events.map(
    ([type, rest], sequence_number) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...rest })}\n\n`,
  )
}
