import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { Thread, ThreadTtl } from '../model.ts'
import type { ThreadSearch, ThreadStorage } from '../run-store.ts'
import type { Call } from '../runs.ts'

/** The body of a thread creation, checked by its schema. */
export interface ThreadRequest {
  thread_id?: string
  metadata?: JsonObject
  /** For an id that exists: `raise` (default) responds with 409, `do_nothing` with the existing thread. */
  if_exists?: 'raise' | 'do_nothing'
  ttl?: ThreadTtl | null
  /** Initial state, by super-step; needs `metadata.graph_id`. */
  supersteps?: JsonValue[]
}

/** A change of a thread's state by a client. */
export interface StateUpdate {
  values: JsonValue
  as_node: string | null
  /** The checkpoint to change; undefined for the latest. */
  checkpoint?: JsonObject
}

export interface HistoryQuery {
  limit: number
  /** A checkpoint or config (`{checkpoint_id,…}`): only states before it. */
  before: JsonObject | null
  metadata: JsonObject | null
  /** Fields of each state; null: all but `values_bytes`, the size of `values` as JSON. */
  select: readonly string[] | null
  /** `{checkpoint_ns,…}` for the history of a subgraph. */
  checkpoint: JsonObject | null
}

/**
 * Threads of the deployment API. States are JSON text, made where the graph runs. Every
 * method is limited to the call's tenant; refusals are an AppError: `not_found`, `conflict` (id taken, or the source of
 * a copy is gone), `thread_busy` (409), `invalid_request`, `host_unavailable` (503).
 */
export interface Threads {
  create(call: Call, request: ThreadRequest): Promise<Thread>
  get(call: Call, thread_id: string): Promise<Thread>
  /** Metadata is merged shallowly. */
  update(
    call: Call,
    thread_id: string,
    change: { metadata?: JsonObject; ttl?: ThreadTtl | null },
  ): Promise<Thread>
  /** Deletes the thread; rolls back its active runs first. */
  remove(call: Call, thread_id: string): Promise<void>
  search(call: Call, search: ThreadSearch): Promise<{ threads: Thread[]; total: number }>
  copy(call: Call, thread_id: string): Promise<Thread>
  /** The bytes that its checkpoints take in the store. */
  storage(call: Call, thread_id: string): Promise<ThreadStorage>
  /** Returns how many of the threads existed. */
  prune(call: Call, thread_ids: readonly string[], strategy: ThreadTtl['strategy']): Promise<number>
  /** Returns the state at a checkpoint; the latest state if `checkpoint` is undefined. */
  state(
    call: Call,
    thread_id: string,
    query: { checkpoint?: JsonObject; subgraphs: boolean },
  ): Promise<string>
  /** Returns `{"checkpoint":{…}}`. */
  updateState(call: Call, thread_id: string, update: StateUpdate): Promise<string>
  /**
   * Returns a JSON list of states, `[]` for a thread without checkpoints. If the history has further states, `next` is
   * the `before` of the request for them.
   */
  history(call: Call, thread_id: string, query: HistoryQuery): Promise<{ body: string; next?: string }>
}
