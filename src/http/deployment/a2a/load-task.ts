import type { Run, Thread } from '../../../runs/model.ts'
import type { TaskHead, TaskRun } from '../../../runs/run-store.ts'
import { readTaskId } from '../../../runs/task-id.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import { isObject, type JsonValue } from '../../../schema/json.ts'
import { parsedJson } from '../../../schema/raw-json.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentContext } from '../route.ts'
import { answerParts, historyOf } from './content.ts'
import { A2aFault } from './faults.ts'
import type { Artifact, Task, TaskState, TaskStatus } from './model.ts'

export interface TaskView {
  /** Messages; 0 for none. */
  history: number
  scope: 'context' | 'task'
  artifacts: boolean
}

/** A task with the run that decides its state. */
export interface FoundTask extends TaskRun {
  id: string
  thread: Thread
  state: TaskState
}

/** @throws A2aFault task_not_found, also for a task of another assistant or context; invalid_params */
export async function findTask(
  context: DeploymentContext,
  assistant_id: string,
  { id, contextId }: { id: JsonValue | undefined; contextId?: JsonValue | undefined },
): Promise<FoundTask> {
  if (typeof id !== 'string') throw new A2aFault('invalid_params', 'params.id must be the id of a task.')
  const place = readTaskId(id)
  const unknown = (): A2aFault => new A2aFault('task_not_found', `Task not found: ${id.slice(0, 100)}`)
  if (place === undefined) throw unknown()
  if (typeof contextId === 'string' && contextId !== '' && contextId !== place.thread_id) throw unknown()
  const { runs, threads } = context.deps
  const call = callOf(context)
  const found = await runs.ofTask(call, place.thread_id, id)
  if (found.run.assistant_id !== assistant_id) throw unknown()
  const thread = await threads.get(call, place.thread_id)
  return { ...found, id, thread, state: taskState({ ...found, ...found.run }) }
}

/** The state of a task from its newest run (rule A2A-6). */
export function taskState({
  status,
  interrupted,
  is_last,
  thread_status,
}: Pick<TaskHead, 'status' | 'interrupted' | 'is_last' | 'thread_status'>): TaskState {
  if (status === 'pending') return 'submitted'
  if (status === 'running') return 'working'
  if (status === 'interrupted') return 'canceled'
  if (status !== 'success') return 'failed'
  // A later task of the context has left the question unanswered.
  if (interrupted && !is_last) return 'canceled'
  return interrupted && thread_status === 'interrupted' ? 'input-required' : 'completed'
}

/** The task in full, as `view` asks for it. */
export async function taskOf(context: DeploymentContext, found: FoundTask, view: TaskView): Promise<Task> {
  const { id, thread, state } = found
  const { thread_id: contextId } = thread
  const hasAnswer = state === 'completed' && view.artifacts
  const values = hasAnswer || view.history > 0 ? await valuesOf(context, found) : null
  const messages = isObject(values) ? values['messages'] : undefined
  const { history: length, scope } = view
  return {
    id,
    contextId,
    status: statusOf(found),
    ...(view.artifacts && { artifacts: artifactsOf(found, values) }),
    ...(length > 0 && {
      history: historyOf(messages, {
        taskId: id,
        contextId,
        own: await messageIds(context, found),
        scope,
        length,
      }),
    }),
  }
}

export function statusOf({ id, run, thread, state }: FoundTask): TaskStatus {
  const timestamp = new Date(run.updated_at).toISOString()
  if (state !== 'failed') return { state, timestamp }
  const { error, message } = run.error ?? { error: 'Error', message: `The run ended with ${run.status}.` }
  return {
    state,
    timestamp,
    message: {
      messageId: run.run_id,
      contextId: thread.thread_id,
      taskId: id,
      role: 'agent',
      parts: [{ text: `${error}: ${message}` }],
    },
  }
}

function artifactsOf({ run, thread, state }: FoundTask, values: JsonValue): Artifact[] {
  const { run_id } = run
  if (state === 'completed')
    return [{ artifactId: run_id, name: 'Assistant Response', parts: answerParts(values) }]
  if (state !== 'input-required') return []
  const parts = Object.values(thread.interrupts)
    .flat()
    .filter(isObject)
    .map(({ id, interrupt_id, value, response_schema }) => ({
      data: {
        id: id ?? interrupt_id ?? null,
        value: value ?? null,
        ...(response_schema !== undefined && { response_schema }),
      },
    }))
  if (parts.length === 0) return []
  const description = 'The agent needs an answer to go on.'
  return [{ artifactId: `${run_id}-interrupt`, name: 'Interrupt', description, parts }]
}

/** The values of the thread after the task's newest run, or as of now while it is active. */
async function valuesOf(context: DeploymentContext, { run, thread, is_last }: FoundTask): Promise<JsonValue> {
  if (is_last || run.ended_at === null) return parseExact(thread.values_json ?? '{}')
  const query = {
    limit: 1,
    before: null,
    metadata: { run_id: run.run_id },
    select: ['values'],
    checkpoint: null,
  }
  const { body } = await context.deps.threads.history(callOf(context), thread.thread_id, query)
  const [state] = parseExact(body) as { values?: JsonValue }[]
  return state?.values ?? {}
}

/** The ids of the user's messages of a task, which are in the inputs of its first and its newest run. */
async function messageIds(context: DeploymentContext, { id, run, thread }: FoundTask): Promise<Set<string>> {
  const first_id = readTaskId(id)?.run_id ?? ''
  const first =
    first_id === run.run_id
      ? undefined
      : await context.deps.runs.get(callOf(context), thread.thread_id, first_id).catch(() => undefined)
  return new Set([first, run].flatMap((one) => (one === undefined ? [] : idsOfInput(one))))
}

function idsOfInput({ kwargs }: Run): string[] {
  const input = parsedJson(kwargs.input)
  const messages = isObject(input) ? input['messages'] : undefined
  return (Array.isArray(messages) ? messages : []).flatMap((message) =>
    isObject(message) && typeof message['id'] === 'string' ? [message['id']] : [],
  )
}
