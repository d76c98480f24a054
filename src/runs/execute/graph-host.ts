import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { Run, Tenant } from '../model.ts'
import type { Lease, StateSummary } from '../run-store.ts'

/** A graph that a deployment serves. */
export interface GraphInfo {
  graph_id: string
  language: 'javascript' | 'python'
  description: string | null
  /** Config and context that its default assistant starts with. */
  config: JsonObject
  context: JsonObject
  /** Why the graph cannot be loaded, with file and line; null when it was loaded or is still loading. */
  unavailable: string | null
}

export interface GraphJob {
  tenant: Tenant
  lease: Lease
  /**
   * `kwargs.config` already contains the assistant's config, overridden by the request's, and the headers that graphs
   * may read.
   */
  run: Run
  /** The trace that the host records into; null if Weir's own tracing is off. */
  trace_id: string | null
  /** True if the thread was created with the run, so that it has no checkpoints before the first write of this job. */
  fresh?: boolean
}

/** One item that a run streams: event name on the wire, and data as JSON text. */
export interface StreamItem {
  event: string
  data: string
}

/** Items that a host sends while it executes a job. */
export interface GraphEvents {
  /**
   * Items in order, in batches as they arrive. The first item of an attempt is `metadata`. The last item of a failed
   * attempt is `error`; clients get it only if the run is not tried again.
   */
  items(items: readonly StreamItem[]): void
  /** Trace operations of the run as a JSON batch body (`{"post":[…],"patch":[…]}`), for the ingester. */
  trace(body: Uint8Array): void
}

/**
 * A thread as of its last checkpoint. All texts are JSON made by the host. The two texts make a ThreadState:
 * `{"values":` + values_json + `,` + rest_json without its opening brace.
 */
export interface GraphState extends StateSummary {
  values_json: string
  /** The thread state without its values: never an empty object. */
  rest_json: string
}

/** The location of an error in a graph, for the log, if known. */
export interface FailurePlace {
  node?: string
  /** `file:line` of the first frame in the user's own code. */
  place?: string
}

/** Fields of every end that a host reports. */
interface ReportedEnd {
  /** Undefined when there was no checkpoint. */
  state: GraphState | undefined
  /** Number of nodes that the graph and its subgraphs have completed; undefined if the host does not count them. */
  nodes?: number | undefined
}

export type GraphEnd =
  /** `values`: data of the last `values` event, with `__interrupt__` when interrupted; null when there was none. */
  | ({ kind: 'done'; values: string | null } & ReportedEnd)
  | ({ kind: 'failed'; error: string; message: string; retryable: boolean } & FailurePlace & ReportedEnd)
  | ({ kind: 'cancelled' } & ReportedEnd)
  /** The host ended or stopped answering. `culprit`: this job blocked the host and must not be tried again. */
  | { kind: 'lost'; culprit: boolean; error: LostError; message: string; state: GraphState | undefined }

/** The `error` of the run: `OutOfMemory` if the host's heap or memory was full. */
export type LostError = 'HostLost' | 'OutOfMemory'

/** The answer to a call. All texts are JSON. */
export interface GraphAnswer {
  body: string
  /** Set if the history was truncated: its last checkpoint, which is the `before` of the next page. */
  next?: string
  /** Set if the call changed the state: the thread's new state. */
  state?: GraphState
}

/**
 * The only access to LangGraph: executes graphs in child processes, so that user code cannot block the server (D-42).
 */
export interface GraphHost {
  /** The graphs of the deployment, in the order of langgraph.json. Needs no running host. */
  graphs(): readonly GraphInfo[]
  /** Resolves when a host has loaded its graphs. Rejects with the reason if none can. */
  ready(): Promise<void>
  /**
   * Executes a run to its end; never rejects. Aborting `signal` cancels: resolves `cancelled` when LangGraph's stream
   * has ended, or when the host had to be killed. No events come after it has resolved. With the reason `rollback`
   * the end has no state.
   */
  run(job: GraphJob, events: GraphEvents, signal: AbortSignal): Promise<GraphEnd>
  /**
   * Reads or changes a thread's state, or reads graphs. @throws AppError not_found, invalid_request, host_unavailable
   */
  call(tenant: Tenant, call: GraphCall): Promise<GraphAnswer>
  /** Ends every host; runs in progress end `lost`. */
  stop(): Promise<void>
}

/**
 * A call that needs the graph's own code. `config` is LangGraph's: `{configurable: {thread_id, …}}`. A factory receives
 * `made_with`, or `config` if that is absent. An arrow shows the body of the answer.
 */
export type GraphCall =
  /** → ThreadState */
  | { name: 'state'; graph_id: string; config: JsonObject; made_with?: JsonObject; subgraphs: boolean }
  /** → ThreadState[], newest first; `before` is a config or a checkpoint */
  | {
      name: 'history'
      graph_id: string
      config: JsonObject
      made_with?: JsonObject
      limit: number
      before: JsonObject | null
      metadata: JsonObject | null
      /** Fields of each state; null: all but `values_bytes`. */
      select: readonly string[] | null
    }
  /** → `{"checkpoint":{…},"configurable":{…}}` */
  | {
      name: 'update_state'
      graph_id: string
      config: JsonObject
      made_with?: JsonObject
      values: JsonValue
      as_node: string | null
    }
  /** → as `update_state`; `supersteps` as in `POST /threads` */
  | { name: 'bulk_update'; graph_id: string; config: JsonObject; supersteps: JsonValue }
  /** → `{"nodes":[…],"edges":[…]}` */
  | { name: 'graph'; graph_id: string; config: JsonObject; xray: boolean | number }
  /** → schemas by namespace */
  | {
      name: 'subgraphs'
      graph_id: string
      config: JsonObject
      namespace: string | null
      recurse: boolean
      types?: GraphTypes
    }
  /** → `{"graph_id","input_schema","output_schema","state_schema","config_schema","context_schema"}` */
  | { name: 'schemas'; graph_id: string; config: JsonObject; types?: GraphTypes }

/**
 * Schemas from the TypeScript types of a graph and its subgraphs: JSON text by namespace. Null: not read yet; absent: not
 * available.
 */
export type GraphTypes = string | null
