import type { EventLog } from '../../events/event-log.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import type { GraphHost } from './graph-host.ts'
import type { Run, Tenant } from '../model.ts'
import type { RunStore } from '../run-store.ts'
import { stateTextEvent } from '../streams/state-event.ts'

/**
 * Updates the stored state of a thread from the thread's last checkpoint, and notifies the clients that stream its
 * states. Called after a worker or host has ended during a run of the thread. If the thread has had another run
 * meanwhile, the store ignores the update, and that run reports its own state.
 */
export async function refreshThread(
  { store, events }: { store: RunStore; events: EventLog },
  host: GraphHost,
  { workspace_id, deployment_id }: Tenant,
  { thread_id, graph_id, kwargs }: Pick<Run, 'thread_id' | 'graph_id' | 'kwargs'>,
): Promise<void> {
  const tenant = { workspace_id, deployment_id }
  const config = { configurable: { thread_id, checkpoint_ns: '' } }
  const call = { name: 'state', graph_id, config, made_with: kwargs.config, subgraphs: false } as const
  const { body } = await host.call(tenant, call)
  const state = parseExact(body)
  if (!isObject(state) || state['created_at'] === null) return
  const next = Array.isArray(state['next']) ? state['next'].filter((node) => typeof node === 'string') : []
  const values_json = JSON.stringify(state['values'] ?? {})
  const thread = await store.updateThread(tenant, thread_id, {
    state: { values_json, next, interrupts: interruptsOf(state) },
  })
  if (thread === undefined || thread.status === 'busy') return
  const item = { ...stateTextEvent(thread_id, body), run_id: null }
  await events.append({ ...tenant, thread_id }, [item], null)
}

/** Open interrupts by task id. */
function interruptsOf(state: JsonObject): JsonObject {
  const tasks = Array.isArray(state['tasks']) ? state['tasks'].filter(isObject) : []
  return Object.fromEntries(
    tasks.flatMap(({ id, interrupts }) =>
      typeof id === 'string' && Array.isArray(interrupts) && interrupts.length > 0 ? [[id, interrupts]] : [],
    ),
  )
}
