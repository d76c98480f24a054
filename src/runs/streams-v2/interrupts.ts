import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { Run, Thread } from '../model.ts'
import { isActive } from '../state.ts'

/** An interrupt of a graph that waits for an answer. */
export interface PendingInterrupt {
  id: string
  value: JsonValue
}

/** LangGraph's ids of interrupts: 128 bits in hexadecimal. */
const ID = /^[0-9a-f]{32}$/

/** Returns the interrupts of a thread, stored by task, without duplicates. */
export function pendingInterrupts(by_task: JsonObject): PendingInterrupt[] {
  return interruptsIn(Object.values(by_task).flat())
}

/** Returns the interrupts in a list, without duplicates. */
export function interruptsIn(list: readonly unknown[]): PendingInterrupt[] {
  const found = new Map<string, PendingInterrupt>()
  for (const one of list) {
    if (!isObject(one) || typeof one['id'] !== 'string' || found.has(one['id'])) continue
    found.set(one['id'], { id: one['id'], value: one['value'] ?? null })
  }
  return [...found.values()]
}

/**
 * Returns the interrupts of a thread that wait for an answer, whatever the thread's status (V-11, V-32), including
 * those that remain after a failed answer. `runs` are the thread's last runs. Interrupts that an active run answers are
 * left out. A running run without answers by id closes all interrupts.
 */
export function waitingInterrupts(
  { interrupts }: Pick<Thread, 'interrupts'>,
  runs: readonly Pick<Run, 'status' | 'kwargs'>[],
): PendingInterrupt[] {
  const active = runs.filter(({ status }) => isActive(status))
  const answers = active.map(({ status, kwargs }) => ({ status, ids: answeredIds(kwargs.command) }))
  if (answers.some(({ status, ids }) => status === 'running' && ids === undefined)) return []
  const answered = new Set(answers.flatMap(({ ids = [] }) => ids))
  return pendingInterrupts(interrupts).filter(({ id }) => !answered.has(id))
}

/** Ids of the interrupts that a command answers; undefined when its answer names none. */
export function answeredIds(command: JsonObject | null): string[] | undefined {
  const resume = command?.['resume']
  if (!isObject(resume)) return undefined
  const ids = Object.keys(resume)
  return ids.length > 0 && ids.every((id) => ID.test(id)) ? ids : undefined
}
