import { toAppError } from '../../../base/errors.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../../schema/json.ts'
import type { Call } from '../../runs.ts'
import type { Threads } from '../../threads/threads.ts'
import { Refused } from './refused.ts'

export interface ReadStateDeps {
  threads: Pick<Threads, 'state' | 'history'>
}

/** Carries out `state.get`: the values of the graph, or of a subgraph. */
export async function stateOf(
  deps: ReadStateDeps,
  call: Call,
  thread_id: string,
  { namespace, keys }: JsonObject,
): Promise<JsonObject> {
  const checkpoint_ns = checkpointNamespace(namespace)
  const checkpoint = checkpoint_ns === '' ? {} : { checkpoint: { checkpoint_ns } }
  const reading = deps.threads.state(call, thread_id, { ...checkpoint, subgraphs: false })
  const state = parseExact(await inNamespace(checkpoint_ns, reading)) as JsonObject
  const values = isObject(state['values']) ? state['values'] : {}
  const shown = Array.isArray(keys)
    ? Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)))
    : values
  const at = isObject(state['checkpoint']) ? state['checkpoint'] : {}
  const id = text(at['checkpoint_id']) ?? null
  // For a subgraph without a state, LangGraph returns an empty state.
  if (id === null && checkpoint_ns !== '') throw noNamespace(checkpoint_ns)
  return {
    values: shown,
    checkpoint: { id, ns: at['checkpoint_ns'] ?? checkpoint_ns },
  }
}

function checkpointNamespace(namespace: JsonValue | undefined): string {
  return Array.isArray(namespace) ? namespace.map(String).join('|') : ''
}

function noNamespace(checkpoint_ns: string): Refused {
  return new Refused('no_such_namespace', `The thread has no state in the namespace "${checkpoint_ns}".`)
}

/**
 * Returns the result of `reading`. LangGraph for Python fails if the graph has no such subgraph; that error becomes
 * `no_such_namespace`.
 */
async function inNamespace<T>(checkpoint_ns: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    const { code, message } = toAppError(error)
    if (checkpoint_ns !== '' && code === 'invalid_request' && /^Subgraph .* not found$/.test(message))
      throw noNamespace(checkpoint_ns)
    throw error
  }
}

const MAX_CHECKPOINTS = 100

/** Carries out `state.listCheckpoints`: `limit` checkpoints, the newest first; 10 without a limit, at most 100. */
export async function checkpointsOf(
  deps: ReadStateDeps,
  call: Call,
  thread_id: string,
  params: JsonObject,
): Promise<JsonObject> {
  const { limit, before, namespace } = params
  const checkpoint_ns = checkpointNamespace(namespace)
  const reading = deps.threads.history(call, thread_id, {
    limit: typeof limit === 'number' ? Math.max(1, Math.min(limit, MAX_CHECKPOINTS)) : 10,
    before: typeof before === 'string' ? { checkpoint_id: before } : null,
    metadata: null,
    select: ['checkpoint', 'created_at', 'metadata'],
    checkpoint: checkpoint_ns === '' ? null : { checkpoint_ns },
  })
  const { body } = await inNamespace(checkpoint_ns, reading)
  const states = parseExact(body) as JsonObject[]
  if (states.length === 0 && checkpoint_ns !== '' && typeof before !== 'string')
    throw noNamespace(checkpoint_ns)
  const checkpoints = states.map(({ checkpoint, created_at = null, metadata = null }) => ({
    id: isObject(checkpoint) ? (checkpoint['checkpoint_id'] ?? null) : null,
    timestamp: created_at,
    step: isObject(metadata) ? (metadata['step'] ?? null) : null,
    metadata,
  }))
  return { checkpoints }
}
