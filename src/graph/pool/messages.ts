import { ERRORS, type ErrorCode } from '../../base/errors.ts'
import type { GraphCall, GraphState, FailurePlace } from '../../runs/execute/graph-host.ts'
import type { Tenant } from '../../runs/model.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { GraphEntry } from '../project/deployment-file.ts'
import type { GraphLogLine } from '../host/logger.ts'
import type { LoadFailure } from '../project/load-failure.ts'
import {
  type HeadChecks,
  isCount,
  isId,
  isFields,
  isFieldsOrNull,
  isText,
  isTexts,
  listWith,
  maybe,
  objectWith,
  oneOf,
} from './heads.ts'

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
  report_files: boolean
}

export type ToHost =
  | OpenHost
  /**
   * Offers a job. The host answers `ready` if it can begin the job, and begins it after `go`. Part: the GraphJob as JSON.
   * It is not in the head, so that a host that cannot read it knows which job fails.
   */
  | { type: 'offer'; id: number }
  /** Grants the offered job. No job is begun without this message, so that no job runs in two hosts. */
  | { type: 'go'; id: number }
  /** Withdraws the offer of a job, because it was given to another host or cancelled. */
  | { type: 'drop'; id: number }
  /** `state: false`: the run is rolled back, so the host may omit the state from the end of the job. */
  | { type: 'cancel'; id: number; state?: false }
  /** Part: the HostCall as JSON. */
  | { type: 'call'; id: number; tenant: Tenant }
  | { type: 'stop' }

/**
 * Calls of a host: the calls of `GraphHost`; `end_state`, the state that a run had when its host ended unexpectedly;
 * and `embed`.
 */
export type HostCall =
  | GraphCall
  | { name: 'end_state'; graph_id: string; config: JsonObject; made_with: JsonObject }
  | { name: 'embed'; texts: string[] }

/** GraphState without its texts, which are parts of the frame. */
export type StateHead = Pick<GraphState, 'next' | 'interrupts'>

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
  /**
   * Parts: the values of the state, the rest of the state, and the last `values` event if it differs from the values.
   * `nodes`: see `GraphEnd`.
   */
  | {
      type: 'end'
      id: number
      end: EndHead
      state: StateHead | null
      values: 'none' | 'state' | 'own'
      nodes?: number
    }
  /**
   * Parts: the body of the response; if there is a state, also its values and its rest. `next`: the checkpoint from
   * which a truncated history continues.
   */
  | { type: 'answer'; id: number; state: StateHead | null; next?: string }
  /** `broken`: the graph cannot be loaded. */
  | { type: 'refused'; id: number; code: ErrorCode; message: string; broken?: true }
  /** Sent every quarter of a second while the host works. */
  | { type: 'beat' }
  /** Sent just before the exit: the job whose code exits the process. */
  | { type: 'culprit'; id: number; message: string }
  /** The host accepts no more jobs, because of an uncaught error. */
  | { type: 'retire'; message: string }

/** Maximum characters of a message in a head; hosts cut longer ones, such as those of user code. */
export const MAX_MESSAGE_CHARS: number = 64 << 10
/** Maximum number of files in one `loaded`. */
export const MAX_LOADED_FILES = 500

/** The end of a job without its texts, which are parts of the frame. */
export type EndHead =
  | { kind: 'done' }
  | ({ kind: 'failed'; error: string; message: string; retryable: boolean } & FailurePlace)
  | { kind: 'cancelled' }

const isLine = maybe(isId)
const areFailures = listWith({
  graph_id: isText,
  file: isText,
  line: isLine,
  reason: isText,
  message: isText,
})
const isState = maybe(objectWith({ next: isTexts, interrupts: isFields }))
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isFailed = objectWith({
  error: isText,
  message: isText,
  retryable: isBoolean,
  node: maybe(isText),
  place: maybe(isText),
})

function isEnd(value: unknown): boolean {
  return (
    objectWith({ kind: oneOf('done', 'cancelled') })(value) ||
    (objectWith({ kind: oneOf('failed') })(value) && isFailed(value))
  )
}

export const LOG_LINE = {
  level: oneOf('error', 'warn', 'info', 'debug', 'trace'),
  text: isText,
  fields: maybe(isFieldsOrNull),
  node: maybe(isText),
}

export const REFUSAL = { id: isId, code: oneOf(...Object.keys(ERRORS)), message: isText }

export const FROM_HOST_HEADS: HeadChecks = {
  opened: { failures: areFailures },
  failed: { message: isText, failures: areFailures },
  loaded: { files: isTexts },
  ready: { id: isId },
  log: { id: maybe(isId), ...LOG_LINE },
  items: { id: isId, events: isTexts },
  trace: { id: isId },
  end: { id: isId, end: isEnd, state: isState, values: oneOf('none', 'state', 'own'), nodes: maybe(isCount) },
  answer: { id: isId, state: isState, next: maybe(isText) },
  refused: { ...REFUSAL, broken: maybe(isBoolean) },
  beat: {},
  culprit: { id: isId, message: isText },
  retire: { message: isText },
}
