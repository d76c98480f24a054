import type { ErrorCode } from '../base/errors.ts'
import type { GraphCall, GraphJob, GraphState } from '../runs/graph-host.ts'
import type { Tenant } from '../runs/model.ts'
import type { JsonObject } from '../schema/json.ts'
import type { GraphEntry } from './deployment-file.ts'
import type { GraphLogLine } from './graph-logger.ts'
import type { LoadFailure } from './load-failure.ts'

/** The first message to a host: its graphs, and what its storage is opened with. */
export interface OpenMessage {
  type: 'open'
  graphs: GraphEntry[]
  store_index: JsonObject | null
  store_ttl: JsonObject | null
  storage: JsonObject
  tracing_project: string
  /** The host tells which files it loads. */
  tell_files: boolean
}

/** From the server to a host. */
export type ToHost =
  | OpenMessage
  /** A job that the host may soon begin; it answers `ready`. */
  | { type: 'offer'; id: number; job: GraphJob }
  /** The offered job is granted: a job that was not is never begun, so that none runs in two hosts. */
  | { type: 'go'; id: number }
  /** Given to another host. */
  | { type: 'drop'; id: number }
  | { type: 'cancel'; id: number }
  | { type: 'call'; id: number; tenant: Tenant; call: HostCall }
  | { type: 'stop' }

/** What a host can be asked: beyond what the port names, the state that a run left behind whose host has died. */
export type HostCall =
  | GraphCall
  | { name: 'end_state'; graph_id: string; config: JsonObject; made_with: JsonObject }
  | { name: 'embed'; texts: string[] }

/** GraphState without its texts, which are parts of the frame. */
export type StateHead = Pick<GraphState, 'next' | 'interrupts'>

/** From a host to the server. */
export type FromHost =
  /** It serves all graphs but these. */
  | { type: 'opened'; failures: readonly LoadFailure[] }
  /** It serves none: none can be loaded, or there is another reason. */
  | { type: 'failed'; message: string; failures: readonly LoadFailure[] }
  /** Absolute paths of modules outside of packages that it has loaded, or looked for; before `opened` and `failed` too. */
  | { type: 'loaded'; files: string[] }
  | { type: 'ready'; id: number }
  /** A graph has logged a line; `id` is the job that it executes. */
  | ({ type: 'log'; id: number | null } & GraphLogLine)
  /** Parts: the data of each event. */
  | { type: 'items'; id: number; events: string[] }
  /** Part: the batch body. */
  | { type: 'trace'; id: number }
  /** Parts: values of the state, its rest, and the last `values` event where it differs. */
  | { type: 'end'; id: number; end: EndHead; state: StateHead | null; values: 'none' | 'state' | 'own' }
  /** Parts: the body; values and rest of the state. `next`: where a history that was cut goes on. */
  | { type: 'answer'; id: number; state: StateHead | null; next?: string }
  | { type: 'refused'; id: number; code: ErrorCode; message: string }
  /** The host lives: every quarter of a second while it works. */
  | { type: 'beat' }
  /** The job that ends the process: told in its last moment. */
  | { type: 'culprit'; id: number; message: string }
  /** The host takes no more jobs: something in it has failed that nobody caught. */
  | { type: 'retire'; message: string }

/** How a job ended, without texts. */
export type EndHead =
  | { kind: 'done' }
  | { kind: 'failed'; error: string; message: string; retryable: boolean }
  | { kind: 'cancelled' }
