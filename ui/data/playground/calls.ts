import { callRaw } from '../../api/call.ts'
import type { PlaygroundRunCreate } from '../../api/platform.gen.ts'
import { ApiError } from '../../api/problem.ts'
import { readEvents } from '../../api/server-events.ts'
import { JsonFault } from '../../api/typed-json.ts'
import { type CallProblem, type CallResult, noResult, REQUEST, withEvent, withProblem } from './answer.ts'
import { DraftFault } from './call-body.ts'

/** Sends one call and reads its answer as it arrives. */
export type CallModel = (
  body: PlaygroundRunCreate,
  signal: AbortSignal,
) => AsyncIterable<{ event: string; data: string }>

export const callModel: CallModel = async function* (body, signal) {
  const { body: answer, headers } = await callRaw('POST /api/v1/playground/runs', { body, signal })
  const request_id = headers.get('x-request-id')
  if (request_id !== null) yield { event: REQUEST, data: JSON.stringify({ request_id }) }
  if (answer !== null) yield* readEvents(answer)
}

/** Code of a draft that was not sent because of a fault in it. */
export const DRAFT = 'draft'

export function callProblemOf(error: unknown): CallProblem {
  if (error instanceof ApiError) {
    const { code, message: detail, request_id } = error
    return { code, detail, ...(request_id !== undefined && { request_id }) }
  }
  if (error instanceof DraftFault || error instanceof JsonFault) return { code: DRAFT, detail: error.message }
  const detail = error instanceof Error ? error.message : String(error)
  return { code: 'unreachable', detail: `The answer broke off: ${detail}` }
}

/** Makes one call; `show` gets what has arrived after every event. Never throws. */
export async function runCall(
  call: CallModel,
  body: () => PlaygroundRunCreate,
  signal: AbortSignal,
  show: (result: CallResult) => void,
): Promise<void> {
  let result = noResult()
  const keep = (next: CallResult): void => {
    result = next
    show(result)
  }
  keep(result)
  try {
    for await (const { event, data } of call(body(), signal))
      keep(withEvent(result, event, JSON.parse(data) as Record<string, unknown>))
    if (result.state === 'running')
      keep(withProblem(result, { code: 'unreachable', detail: 'The answer broke off before its end.' }))
  } catch (error) {
    keep(signal.aborted ? { ...result, state: 'stopped' } : withProblem(result, callProblemOf(error)))
  }
}
