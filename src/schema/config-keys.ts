import { isObject, type JsonObject } from './json.ts'

/** Keys of `configurable` that name the checkpoint where a run begins, as LangGraph calls them. */
export const CHECKPOINT_KEYS = ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map'] as const

/** Keys of `configurable` that tell a graph who its user is. Only the server sets them. */
export const USER_KEYS = [
  'langgraph_auth_user',
  'langgraph_auth_user_id',
  'langgraph_auth_permissions',
] as const

/** What LangGraph writes into the metadata of each step, beside what begins with `__`. */
const STEP_METADATA = /^(__|langgraph_(step|node|triggers|path|checkpoint_ns)$|checkpoint_(id|ns|map)$)/

const OWN_KEYS: ReadonlySet<string> = new Set([...CHECKPOINT_KEYS, ...USER_KEYS])

/**
 * True for a key of `configurable` that only LangGraph itself may set. Its names begin with `__` or, for its tags, with
 * `langsmith:`; `thread_ts` is its older name of `checkpoint_id`.
 */
function isRuntimeKey(key: string): boolean {
  return key.startsWith('__') || key.startsWith('langsmith:') || key === 'thread_ts'
}

function without(config: JsonObject, isDropped: (key: string) => boolean): JsonObject {
  const { configurable } = config
  if (!isObject(configurable) || !Object.keys(configurable).some(isDropped)) return config
  return {
    ...config,
    configurable: Object.fromEntries(Object.entries(configurable).filter(([key]) => !isDropped(key))),
  }
}

/** A config without the keys of `configurable` that no client may set (D-58). */
export function withoutRuntimeKeys(config: JsonObject): JsonObject {
  return without(config, isRuntimeKey)
}

/** True for a key of `configurable` that no client may set for longer than one run. */
export function isReservedKey(key: string): boolean {
  return isRuntimeKey(key) || OWN_KEYS.has(key)
}

/**
 * A config without the keys of `configurable` that no client may set, and without those that belong to a single run: what
 * threads and assistants may keep.
 */
export function withoutOwnKeys(config: JsonObject): JsonObject {
  return without(config, isReservedKey)
}

/** Metadata without what LangGraph writes into it at each step. */
export function withoutStepMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !STEP_METADATA.test(key)))
}
