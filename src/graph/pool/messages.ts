import type { ErrorCode } from '../../base/errors.ts'
import type { GraphCall, GraphJob, GraphState, FailurePlace } from '../../runs/execute/graph-host.ts'
import type { Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { GraphEntry } from '../project/deployment-file.ts'
import type { GraphLogLine } from '../host/logger.ts'
import type { LoadFailure } from '../project/load-failure.ts'

/** First message to a host: its graphs and the options of its storage. */
export interface OpenHost {
  type: 'open'
  graphs: GraphEntry[]
  store_index: JsonObject | null
  store_ttl: JsonObject | null
  storage: JsonObject
  tracing_project: string
  /** Socket at which graphs call the API of their deployment; null without one. */
  own_api: string | null
  /** Whether the host reports which files it loads. */
  report_files: boolean
}

/** From the server to a host. */
export type ToHost =
  | OpenHost
  /** A job that the host may begin once it is granted; the host answers `ready`. */
  | { type: 'offer'; id: number; job: GraphJob }
  /** Grants the offered job. A job is never begun without this, so that none runs in two hosts. */
  | { type: 'go'; id: number }
  /** The offered job went to another host. */
  | { type: 'drop'; id: number }
  /** `state: false`: the host may leave the state out of the end, since the run is rolled back. */
  | { type: 'cancel'; id: number; state?: false }
  | { type: 'call'; id: number; tenant: Tenant; call: HostCall }
  | { type: 'stop' }

/** Calls of a host: those of the port, and the state that a run left when its host ended unexpectedly. */
export type HostCall =
  | GraphCall
  | { name: 'end_state'; graph_id: string; config: JsonObject; made_with: JsonObject }
  | { name: 'embed'; texts: string[] }

/** GraphState without its texts, which are parts of the frame. */
export type StateHead = Pick<GraphState, 'next' | 'interrupts'>

/** From a host to the server. */
export type FromHost =
  /** The host serves all graphs except these. */
  | { type: 'opened'; failures: readonly LoadFailure[] }
  /** The host serves no graph: none can be loaded, or the start failed. */
  | { type: 'failed'; message: string; failures: readonly LoadFailure[] }
  /**
   * Absolute paths of modules outside of packages that the host has loaded or tried to load; may also come before
   * `opened` and `failed`.
   */
  | { type: 'loaded'; files: string[] }
  | { type: 'ready'; id: number }
  /** A graph has logged a line; `id` is its job. */
  | ({ type: 'log'; id: number | null } & GraphLogLine)
  /** Parts: the data of each event. */
  | { type: 'items'; id: number; events: string[] }
  /** Part: the batch body. */
  | { type: 'trace'; id: number }
  /** Parts: values of the state, its rest, and the last `values` event where it differs. */
  | { type: 'end'; id: number; end: EndHead; state: StateHead | null; values: 'none' | 'state' | 'own' }
  /**
   * Parts: the response body, then the values and the rest of the state if there is one. `next`: the checkpoint from
   * which a truncated history continues.
   */
  | { type: 'answer'; id: number; state: StateHead | null; next?: string }
  /** `broken`: the graph cannot be loaded. */
  | { type: 'refused'; id: number; code: ErrorCode; message: string; broken?: true }
  /** Sent every quarter of a second while the host works. */
  | { type: 'beat' }
  /** Sent just before the exit: the job whose code ends the process. */
  | { type: 'culprit'; id: number; message: string }
  /** The host accepts no more jobs, because of an uncaught error. */
  | { type: 'retire'; message: string }

/** The end of a job without its texts, which are parts of the frame. */
export type EndHead =
  | { kind: 'done' }
  | ({ kind: 'failed'; error: string; message: string; retryable: boolean } & FailurePlace)
  | { kind: 'cancelled' }
