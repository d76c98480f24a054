import { isObject, type JsonObject } from './json.ts'

/** LangGraph's keys of `configurable` for the checkpoint where a run begins. */
export const CHECKPOINT_KEYS = ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map'] as const

/** Keys of `configurable` for the authenticated user. Only the server sets them. */
export const USER_KEYS = [
  'langgraph_auth_user',
  'langgraph_auth_user_id',
  'langgraph_auth_permissions',
] as const

/** Keys that LangGraph writes into the metadata of each step. */
const STEP_METADATA = /^(__|langgraph_(step|node|triggers|path|checkpoint_ns)$|checkpoint_(id|ns|map)$)/

const OWN_KEYS: ReadonlySet<string> = new Set([...CHECKPOINT_KEYS, ...USER_KEYS])

/**
 * True for a key of `configurable` that only LangGraph itself may set: keys that begin with `__`, tags that begin with
 * `langsmith:`, and `thread_ts`, the old name of `checkpoint_id`.
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

/** The config without the keys of `configurable` that clients may not set (D-58). */
export function withoutRuntimeKeys(config: JsonObject): JsonObject {
  return without(config, isRuntimeKey)
}

/** True for a key of `configurable` that clients may set for a single run only, or not at all. */
export function isReservedKey(key: string): boolean {
  return isRuntimeKey(key) || OWN_KEYS.has(key)
}

/**
 * The config of a thread or an assistant: without keys of `configurable` that clients may not set, and without those of a
 * single run.
 */
export function withoutOwnKeys(config: JsonObject): JsonObject {
  return without(config, isReservedKey)
}

/** Metadata without the keys that LangGraph writes at each step. */
export function withoutStepMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !STEP_METADATA.test(key)))
}
