import type { JsonValue } from '../schema/json.ts'

const TASK_ID = /^([\da-f-]{36}):([\da-f-]{36})$/

/** The id of an A2A task: its thread and its first run (rule A2A-4). */
export function taskIdOf(thread_id: string, run_id: string): string {
  return `${thread_id}:${run_id}`
}

/** Thread and first run of a task; undefined if the value cannot be the id of a task. */
export function readTaskId(id: JsonValue | undefined): { thread_id: string; run_id: string } | undefined {
  const [, thread_id, run_id] = (typeof id === 'string' && TASK_ID.exec(id)) || []
  return thread_id === undefined || run_id === undefined ? undefined : { thread_id, run_id }
}
