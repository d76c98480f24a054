import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/** An interrupt of a graph that waits for an answer. */
export interface PendingInterrupt {
  id: string
  value: JsonValue
}

/** LangGraph's ids of interrupts: 128 bits in hexadecimal. */
const ID = /^[0-9a-f]{32}$/

/** The interrupts of a thread, which are stored by task; each once. */
export function pendingInterrupts(by_task: JsonObject): PendingInterrupt[] {
  return interruptsIn(Object.values(by_task).flat())
}

/** The interrupts in a list, each once. */
export function interruptsIn(list: readonly unknown[]): PendingInterrupt[] {
  const found = new Map<string, PendingInterrupt>()
  for (const one of list) {
    if (!isObject(one) || typeof one['id'] !== 'string' || found.has(one['id'])) continue
    found.set(one['id'], { id: one['id'], value: one['value'] ?? null })
  }
  return [...found.values()]
}

/** Ids of the interrupts that a command answers; undefined when its answer names none. */
export function answeredIds(command: JsonObject | null): string[] | undefined {
  const resume = command?.['resume']
  if (!isObject(resume)) return undefined
  const ids = Object.keys(resume)
  return ids.length > 0 && ids.every((id) => ID.test(id)) ? ids : undefined
}
