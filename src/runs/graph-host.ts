import type { JsonObject, JsonValue } from '../schema/json.ts'
import type { Run, Tenant } from './model.ts'
import type { Lease, StateSummary } from './run-store.ts'

/** A graph that a deployment serves. */
export interface GraphInfo {
  graph_id: string
  description: string | null
  /** What its own assistant begins with. */
  config: JsonObject
  context: JsonObject
  /** Why it cannot be loaded, with file and line; null when it can, or when that is not known yet. */
  unavailable: string | null
}

/** What a graph host is asked to execute. */
export interface GraphJob {
  tenant: Tenant
  lease: Lease
  /** `kwargs.config` is already the assistant's under the request's, with the headers that graphs may read (run-api 1.1). */
  run: Run
  /** The trace that the host records into; null with own tracing off. */
  trace_id: string | null
}

/** One item that a run streams: event name on the wire, and data as JSON text, ready to be sent. */
export interface StreamItem {
  event: string
  data: string
}

/** What a host tells while it executes a job. */
export interface GraphEvents {
  /** In order; batches as they come. The first item of an attempt is `metadata`, a failed one's last is `error`, which readers get only when the run is not tried again. */
  items(items: readonly StreamItem[]): void
  /** Trace operations of the run as a JSON batch body (`{"post":[…],"patch":[…]}`), for the ingester. */
  trace(body: Uint8Array): void
}

/**
 * A thread as of its last checkpoint. All texts are JSON made by the host. A ThreadState as read is both together:
 * `{"values":` + values_json + `,` + rest_json without its opening brace.
 */
export interface GraphState extends StateSummary {
  values_json: string
  /** The thread state without its values: never an empty object. */
  rest_json: string
}

/** How an execution ended, as the host saw it. `state` is undefined when no checkpoint was to be had. */
export type GraphEnd =
  /** `values`: data of the last `values` event, with `__interrupt__` when interrupted; null when there was none. */
  | { kind: 'done'; state: GraphState | undefined; values: string | null }
  | { kind: 'failed'; error: string; message: string; retryable: boolean; state: GraphState | undefined }
  | { kind: 'cancelled'; state: GraphState | undefined }
  /** The host died or fell silent. `culprit` when this job held it up: it must not be tried again. */
  | { kind: 'lost'; culprit: boolean; message: string; state: GraphState | undefined }

/** The answer to a call. All texts are JSON. */
export interface GraphAnswer {
  /** Ready to be sent. */
  body: string
  /** Of a history that ends early because it would be too large: the checkpoint before which it goes on. */
  next?: string
  /** After a change of state: the thread as it is now. */
  state?: GraphState
}

/** The only door to LangGraph: executes graphs in child processes, so that user code cannot hold up the server (D-42). */
export interface GraphHost {
  /** The graphs of the deployment, in the order of its file; needs no host. */
  graphs(): readonly GraphInfo[]
  /** Resolves when a host is ready to execute: its graphs are loaded. Rejects with the reason when they cannot be. */
  ready(): Promise<void>
  /**
   * Executes a run to its end; never rejects. Aborting `signal` cancels: resolves `cancelled` when LangGraph's stream
   * has ended, or when the host had to be killed. No events come after it has resolved.
   */
  run(job: GraphJob, events: GraphEvents, signal: AbortSignal): Promise<GraphEnd>
  /**
   * Asks about or changes a thread's state, and reads graphs.
   * @throws AppError not_found, invalid_request, host_unavailable
   */
  call(tenant: Tenant, call: GraphCall): Promise<GraphAnswer>
  /** Ends every host; runs under way end `lost`. */
  stop(): Promise<void>
}

/**
 * A question or a change that needs the graph's own code. `config` is as of LangGraph: `{configurable: {thread_id, …}}`.
 * A factory is given `made_with`, or `config` where that is absent.
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
  /** → the same; `supersteps` as of `POST /threads` */
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
 * What is known from TypeScript of a graph and its subgraphs: JSON text of schemas by namespace. Null: may be asked for;
 * absent: none are to be had.
 */
export type GraphTypes = string | null
