import { newTimeUuid } from '../../../base/ids.ts'
import type { RunRequest } from '../../../runs/runs.ts'
import { taskIdOf } from '../../../runs/task-id.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import { callOf } from '../call-of.ts'
import { callerTrace } from '../request/caller-trace.ts'
import type { DeploymentContext } from '../route.ts'
import { askGraph } from '../routes/assistant-graphs.ts'
import { A2aFault } from './faults.ts'
import { hasContent, type Incoming, inputOf, namedResume, readIncoming, resumeOf } from './incoming.ts'
import { findTask } from './load-task.ts'
import { isFinished } from './model.ts'

/**
 * The run for a message: the first one of a new task, or one more of a task that waits or goes on (rules A2A-4, A2A-5,
 * A2A-8). Creates the thread of a new context. @throws A2aFault, AppError
 */
export async function planMessage(
  context: DeploymentContext,
  assistant_id: string,
  params: JsonObject,
): ReturnType<typeof planForTask> {
  const incoming = readIncoming(params)
  const { taskId, contextId } = incoming
  if (taskId !== undefined) return await planForTask(context, assistant_id, incoming)
  if (namedResume(incoming) !== undefined)
    throw new A2aFault('invalid_params', 'data.resume needs message.taskId of a task that requires input.')
  await assertTakes(context, assistant_id, incoming)
  const { threads, clock } = context.deps
  const made = { ...(contextId !== undefined && { thread_id: contextId }), if_exists: 'do_nothing' } as const
  const { thread_id } = await threads.create(callOf(context), made)
  const run_id = newTimeUuid(clock.now())
  const task_id = taskIdOf(thread_id, run_id)
  const request = requestOf(context, { assistant_id, task_id }, incoming)
  return { task_id, thread_id, request: { ...request, run_id, input: inputOf(incoming) } }
}

async function planForTask(
  context: DeploymentContext,
  assistant_id: string,
  incoming: Incoming,
): Promise<{ task_id: string; thread_id: string; request: RunRequest }> {
  const { taskId: id, contextId } = incoming
  const task = await findTask(context, assistant_id, { id, contextId })
  const { state, run } = task
  const { thread_id } = task.thread
  const request = requestOf(context, { assistant_id, task_id: task.id }, incoming)
  if (isFinished(state))
    throw new A2aFault('unsupported', `The task is ${state}: send a message without taskId.`)
  if (state === 'input-required') {
    // Only the first answer counts: the run of a second one would no longer follow the run that asked.
    const answer = { command: { resume: resumeOf(incoming) }, newest_run_id: run.run_id }
    return { task_id: task.id, thread_id, request: { ...request, ...answer } }
  }
  if (namedResume(incoming) !== undefined)
    throw new A2aFault('invalid_params', `The task is ${state}: it does not require input.`)
  await assertTakes(context, assistant_id, incoming)
  return { task_id: task.id, thread_id, request: { ...request, input: inputOf(incoming) } }
}

function requestOf(
  caller: DeploymentContext,
  { assistant_id, task_id }: { assistant_id: string; task_id: string },
  { context }: Incoming,
): RunRequest {
  const caller_trace = callerTrace(caller)
  return {
    ...(caller_trace && { caller_trace }),
    assistant_id,
    metadata: { a2a: { task_id } },
    stream_mode: ['messages'],
    on_disconnect: 'continue',
    ...(context && { context }),
  }
}

/** @throws A2aFault invalid_params for text or files if the input of the graph has no messages */
async function assertTakes(
  context: DeploymentContext,
  assistant_id: string,
  incoming: Incoming,
): Promise<void> {
  if (!hasContent(incoming)) return
  // If the graph cannot be asked, the run tells what is wrong with it.
  const schemas: JsonObject = await askGraph(context, assistant_id, { name: 'schemas' }).then(
    (body) => JSON.parse(body) as JsonObject,
    () => ({}),
  )
  const { input_schema } = schemas
  const properties = isObject(input_schema) ? input_schema['properties'] : undefined
  if (!isObject(properties) || Object.hasOwn(properties, 'messages')) return
  const names = Object.keys(properties).slice(0, 20).join(', ')
  throw new A2aFault(
    'invalid_params',
    `The agent takes no text and no files: send a data part with ${names}.`,
  )
}
