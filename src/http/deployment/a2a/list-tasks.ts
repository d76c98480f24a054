import type { TaskHead } from '../../../runs/run-store.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import { toAppError } from '../../../base/errors.ts'
import { parseUuid } from '../../../base/ids.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentContext } from '../route.ts'
import { A2aFault } from './faults.ts'
import { findTask, taskState, taskOf, type TaskView } from './load-task.ts'
import type { Task } from './model.ts'
import { stateName, taskJson } from './wire.ts'

const PAGE = 50
const MAX_PAGE = 100
/** Characters of tasks after which a page ends, although it has fewer tasks than were asked for. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024

/** A page of the tasks of an assistant, newest first (rule A2A-12). @throws A2aFault invalid_params */
export async function listTasks(
  context: DeploymentContext,
  assistant_id: string,
  params: JsonObject,
  view: TaskView,
): Promise<JsonObject> {
  const size = numberOf(params['pageSize'], 'pageSize', PAGE)
  if (size < 1 || size > MAX_PAGE) throw invalid(`pageSize must lie between 1 and ${MAX_PAGE}.`)
  const from = numberOf(params['pageToken'], 'pageToken', 0)
  const contextId = params['contextId']
  const thread_id = contextId === undefined || contextId === '' ? undefined : parseUuid(contextId)
  if (thread_id === undefined && typeof contextId === 'string' && contextId !== '')
    throw invalid('contextId must be a UUID.')
  const heads = await context.deps.runs.tasks(callOf(context), { assistant_id, thread_id })
  const found = heads.filter(selector(params))
  const tasks: JsonObject[] = []
  let next = from
  // One after the other, because each may read the values of a thread.
  for (let chars = 0; next < Math.min(from + size, found.length) && chars < MAX_PAGE_CHARS; next++) {
    const task = await loadOf(context, assistant_id, found[next]!, view)
    if (task === undefined) continue
    const json = taskJson(task, '1.0')
    tasks.push(json)
    chars += JSON.stringify(json).length
  }
  return {
    tasks,
    totalSize: found.length,
    pageSize: size,
    nextPageToken: next < found.length ? String(next) : '',
  }
}

/** The task; undefined if it was deleted meanwhile. */
async function loadOf(
  context: DeploymentContext,
  assistant_id: string,
  { task_id: id }: TaskHead,
  view: TaskView,
): Promise<Task | undefined> {
  try {
    return await taskOf(context, await findTask(context, assistant_id, { id }), view)
  } catch (error) {
    if (error instanceof A2aFault ? error.kind === 'task_not_found' : toAppError(error).code === 'not_found')
      return undefined
    throw error
  }
}

function selector({ status, statusTimestampAfter }: JsonObject): (head: TaskHead) => boolean {
  const isAny =
    status === undefined || status === null || status === '' || status === 'TASK_STATE_UNSPECIFIED'
  if (!isAny && (typeof status !== 'string' || !status.startsWith('TASK_STATE_')))
    throw invalid('status must be a state such as TASK_STATE_COMPLETED.')
  const after = typeof statusTimestampAfter === 'string' ? Date.parse(statusTimestampAfter) : -1
  if (Number.isNaN(after)) throw invalid('statusTimestampAfter must be a time such as 2026-01-31T00:00:00Z.')
  return (head) => head.updated_at >= after && (isAny || stateName(taskState(head)) === status)
}

function numberOf(value: JsonValue | undefined, name: string, otherwise: number): number {
  if (value === undefined || value === '' || value === null) return otherwise
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  if (!Number.isSafeInteger(number) || number < 0) throw invalid(`${name} is not valid.`)
  return number
}

function invalid(message: string): A2aFault {
  return new A2aFault('invalid_params', message)
}
