import { type Asked, piecesOf, TOOL_CALL, type VendorCall } from './call.ts'

/** A body of POST /v1/responses, with the fields that determine the answer. */
export interface ResponsesBody {
  model: string
  input: string | { type?: string }[]
  tools?: unknown[]
  stream?: boolean
}

export function responsesAsked({ model, input, tools, stream = false }: ResponsesBody): Asked {
  const hasResult = typeof input !== 'string' && input.at(-1)?.type === 'function_call_output'
  return { model, stream, hasResult, wantsTool: (tools?.length ?? 0) > 0 && !hasResult }
}

function itemOf({ text }: VendorCall, id: string) {
  const { name, args } = TOOL_CALL
  if (text === undefined) {
    const call_id = `call_${id}`
    return {
      type: 'function_call',
      id: `fc_${id}`,
      call_id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    }
  }
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }
}

export function responsesAnswer(call: VendorCall, id: string): object {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: call.model,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    output: [itemOf(call, id)],
    usage: {
      input_tokens: call.input,
      input_tokens_details: { cached_tokens: call.cache_read },
      output_tokens: call.output,
      output_tokens_details: { reasoning_tokens: call.reasoning },
      total_tokens: call.input + call.output,
    },
  }
}

export function responsesStream(call: VendorCall, id: string): string[] {
  const whole = responsesAnswer(call, id)
  const item = itemOf(call, id)
  const at = { output_index: 0, item_id: item.id }
  const events: [type: string, rest: object][] = [
    ['response.created', { response: { ...whole, status: 'in_progress', output: [], usage: null } }],
  ]
  if (call.text === undefined) {
    const args = JSON.stringify(TOOL_CALL.args)
    events.push(
      ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }],
      ['response.function_call_arguments.delta', { ...at, delta: args }],
      ['response.function_call_arguments.done', { ...at, name: TOOL_CALL.name, arguments: args }],
    )
  } else {
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
    events.push(
      ['response.output_item.added', { output_index: 0, item: { ...item, content: [] } }],
      ['response.content_part.added', { ...at, content_index: 0, part }],
    )
    for (const delta of piecesOf(call.text))
      events.push(['response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] }])
    events.push(
      ['response.output_text.done', { ...at, content_index: 0, text: call.text, logprobs: [] }],
      ['response.content_part.done', { ...at, content_index: 0, part: { ...part, text: call.text } }],
    )
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
