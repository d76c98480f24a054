import type { Run } from '../../model.ts'
import type { Call } from '../../runs.ts'
import { keptEvents, type ReadDeps } from './kept-events.ts'

/**
 * Ids of the interrupts that a running run has requested so far and that no run has answered. They are stored with
 * the thread only when the run has ended.
 */
export async function requestedIds(
  deps: ReadDeps,
  call: Call,
  thread_id: string,
  asking: Run | undefined,
): Promise<ReadonlySet<string>> {
  const requested = new Set<string>()
  if (asking?.status !== 'running') return requested
  for (const { method, run_id, data } of await keptEvents(deps, call, thread_id, ['input'])) {
    const { interrupt_id, interrupt_ids = [] } = JSON.parse(data) as InputData
    for (const id of interrupt_ids) requested.delete(id)
    if (method === 'input.requested' && run_id === asking.run_id) requested.add(interrupt_id)
  }
  return requested
}

/** Data of events of the channel `input`. */
interface InputData {
  interrupt_id: string
  interrupt_ids?: string[]
}
