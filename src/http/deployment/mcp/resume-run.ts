import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonValue } from '../../../schema/json.ts'
import { RpcFault } from '../../mcp/message.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentContext } from '../route.ts'
import type { AskedState } from './asked-state.ts'
import { answerOf } from './question.ts'

/**
 * Creates the run that goes on with the answers of the user; undefined if the user has declined one.
 * @throws RpcFault invalid_params if the question was answered before
 */
export async function resumeRun(
  context: DeploymentContext,
  state: AskedState,
  responseTo: (id: string) => JsonValue | undefined,
): Promise<string | undefined> {
  const { assistant_id, thread_id, run_id } = state
  const answers = answersTo(state, responseTo)
  if (answers === undefined) return undefined
  const { runs } = context.deps
  const call = callOf(context)
  try {
    const { kwargs } = await runs.get(call, thread_id, run_id)
    const made = await runs.create(call, thread_id, {
      assistant_id,
      command: { resume: answers },
      // Only the first answer counts: the run of a second one would no longer follow the run that asked.
      newest_run_id: run_id,
      context: kwargs.context,
      stream_mode: kwargs.stream_mode,
      ...(kwargs.caller_trace && { caller_trace: kwargs.caller_trace }),
    })
    return made.run_id
  } catch (error) {
    if (!(error instanceof AppError) || !['conflict', 'not_found'].includes(error.code)) throw error
    throw new RpcFault('invalid_params', 'The question was answered already: call the tool again.')
  }
}

/** The value to resume with; undefined if the user has not accepted every form. */
function answersTo(
  { asked, is_all }: AskedState,
  responseTo: (id: string) => JsonValue | undefined,
): JsonValue | undefined {
  const answers: [string, JsonValue][] = []
  for (const [id, is_whole] of asked) {
    const response = responseTo(id)
    if (!isObject(response) || response['action'] !== 'accept') return undefined
    answers.push([id, answerOf(response['content'], is_whole)])
  }
  const [first] = answers
  return is_all && answers.length === 1 && first !== undefined ? first[1] : Object.fromEntries(answers)
}
