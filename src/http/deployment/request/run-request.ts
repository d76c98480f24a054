import type { RunRequest } from '../../../runs/runs.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { optionalChoiceParameter, type ParameterValues } from '../../api/parameters.ts'
import { isGiven, withoutNulls } from './given.ts'

type Body = SchemaTypes['run-create']

/** Query of the routes that create a run and keep the connection open. */
export const CONNECTED_QUERY = {
  on_disconnect: optionalChoiceParameter('As in the body, which comes first.', ['cancel', 'continue']),
}

/** `on_completion` under the names of the HTTP API and those of the JavaScript SDK. */
const ON_COMPLETION = { delete: 'delete', complete: 'delete', keep: 'keep', continue: 'keep' } as const

export function toRequest({ assistant_id, on_completion, strict_resume, ...rest }: Body): RunRequest {
  return {
    ...withoutNulls(rest),
    assistant_id,
    ...(strict_resume === true && { strict_resume }),
    ...(isGiven(on_completion) && { on_completion: ON_COMPLETION[on_completion] }),
  }
}

/** As `toRequest`, for a client that stays connected. */
export function toConnectedRequest({
  body,
  query,
}: {
  body: Body
  query: ParameterValues<typeof CONNECTED_QUERY>
}): RunRequest {
  const on_disconnect = body.on_disconnect ?? query.on_disconnect
  return { ...toRequest(body), ...(isGiven(on_disconnect) && { on_disconnect }) }
}
