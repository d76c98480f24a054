/** A call of a tool in an answer; `args` is JSON text, of which a part may still be missing. */
export interface AnsweredCall {
  index: number
  id: string
  name: string
  args: string
}

/** Why a call failed: an error code (docs/api/errors.md), and a sentence about what happened. */
export interface CallProblem {
  code: string
  detail: string
  /** Id of the request of the call, if the server has answered it. */
  request_id?: string | undefined
}

/** The part of a call's answer that has arrived. */
export interface CallResult {
  state: 'running' | 'done' | 'failed' | 'stopped'
  /** Id of the traced run; '' before the server has answered. */
  run_id: string
  request_id?: string | undefined
  text: string
  reasoning: string
  calls: readonly AnsweredCall[]
  problem?: CallProblem | undefined
  model?: string | undefined
  finish_reason?: string | null | undefined
  input_tokens?: number | undefined
  output_tokens?: number | undefined
  duration_ms?: number | undefined
  first_token_ms?: number | null | undefined
}

/** The result of a call before any part of its answer has arrived. */
export function noResult(): CallResult {
  return { state: 'running', run_id: '', text: '', reasoning: '', calls: [] }
}

type Fields = Readonly<Record<string, unknown>>

/** Index of a call that is complete in one event. */
const NEW_CALL = -1

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function withCall(calls: readonly AnsweredCall[], delta: Fields): AnsweredCall[] {
  const index = delta['index'] === NEW_CALL ? calls.length : Number(delta['index'])
  const known = calls.find((one) => one.index === index) ?? { index, id: '', name: '', args: '' }
  const call = {
    index,
    id: textOf(delta['id']) || known.id,
    name: known.name || textOf(delta['name']),
    args: known.args + textOf(delta['args']),
  }
  return [...calls.filter((one) => one.index !== index), call].toSorted((a, b) => a.index - b.index)
}

function withDelta(result: CallResult, delta: Fields): CallResult {
  if (delta['type'] === 'text') return { ...result, text: result.text + textOf(delta['text']) }
  if (delta['type'] === 'reasoning') return { ...result, reasoning: result.reasoning + textOf(delta['text']) }
  return { ...result, calls: withCall(result.calls, delta) }
}

/** Event that `callModel` adds before the others, with the id of the request. */
export const REQUEST = 'request'

/** The result after one more event of `POST /playground/runs`. */
export function withEvent(result: CallResult, event: string, data: Fields): CallResult {
  switch (event) {
    case REQUEST:
      return { ...result, request_id: textOf(data['request_id']) }
    case 'run':
      return { ...result, run_id: textOf(data['run_id']) }
    case 'delta':
      return withDelta(result, data)
    case 'usage': {
      const { input_tokens, output_tokens } = data as { input_tokens?: number; output_tokens?: number }
      return {
        ...result,
        ...(input_tokens !== undefined && { input_tokens }),
        ...(output_tokens !== undefined && { output_tokens }),
      }
    }
    case 'error':
      return withProblem(result, { code: textOf(data['code']), detail: textOf(data['detail']) })
    case 'end': {
      const { model, finish_reason, duration_ms, first_token_ms } = data as Partial<CallResult>
      const state = result.state === 'running' ? 'done' : result.state
      return { ...result, state, model, finish_reason, duration_ms, first_token_ms }
    }
    default:
      return result
  }
}

export function withProblem(result: CallResult, problem: CallProblem): CallResult {
  const { request_id } = result
  return {
    ...result,
    state: 'failed',
    problem: { ...(request_id !== undefined && { request_id }), ...problem },
  }
}
