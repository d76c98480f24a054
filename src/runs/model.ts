import type { JsonObject, JsonValue } from '../schema/json.ts'

/** The owner of a thread: every row of run state has both ids (D-40). */
export interface Tenant {
  workspace_id: string
  deployment_id: string
}

/** A user as a deployment's own auth file returned it: these fields always exist, and all others are kept. */
export interface AccessUser extends JsonObject {
  identity: string
  display_name: string
  is_authenticated: boolean
  permissions: string[]
}

/** The user or key that created a run. The run is traced and counted for this user or key (D-45). */
export interface Caller {
  user_id: string | null
  api_key_id: string
  /** The user of the deployment's own auth file; stored with crons, whose runs are created in the user's name. */
  user?: AccessUser
}

/** The six statuses that clients recognize. A rollback has no status, because it deletes the run. */
export const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const THREAD_STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const
export type ThreadStatus = (typeof THREAD_STATUSES)[number]

export const MULTITASK_STRATEGIES = ['reject', 'enqueue', 'interrupt', 'rollback'] as const
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number]

export type CancelAction = 'interrupt' | 'rollback'

/** When a thread expires: `keep_latest` deletes all but its latest checkpoint. */
export interface ThreadTtl {
  strategy: 'delete' | 'keep_latest'
  ttl_minutes: number
}

/** A conversation as stored; times are epoch milliseconds. */
export interface Thread {
  thread_id: string
  created_at: number
  updated_at: number
  state_updated_at: number
  metadata: JsonObject
  status: ThreadStatus
  config: JsonObject
  /**
   * Values as of the last finished run or state update, null before the first; JSON text, so that they are passed on
   * unparsed.
   */
  values_json: string | null
  /** Open interrupts by task. */
  interrupts: JsonObject
  /** The error of the last ended run if it failed. */
  error: Run['error']
  /** `expires_at` counts from the last write to the thread; null if only the latest checkpoint is left. */
  ttl: (ThreadTtl & { expires_at: number | null }) | null
}

/** The request of a run: `kwargs` in responses, and the input of the host. */
export interface RunKwargs {
  input: JsonValue
  command: JsonObject | null
  config: JsonObject
  context: JsonObject
  stream_mode: string[]
  subgraphs: boolean
  resumable: boolean
  temporary: boolean
  interrupt_before: string[] | '*' | null
  interrupt_after: string[] | '*' | null
  checkpoint: JsonObject | null
  durability: 'sync' | 'async' | 'exit'
  webhook: string | null
  on_completion: 'delete' | 'keep'
  /** 2 for a run made over protocol v2. Its graph is executed through LangGraph's events of that protocol (V-45). */
  protocol?: 2
  /** True: if an interrupt that the run answers is no longer open, the run fails before it executes anything (V-13). */
  strict_resume?: true
  /** Where the run is recorded, if a caller over MCP or A2A has a trace (RUN-37). Absent: as a trace of its own. */
  caller_trace?: CallerTrace
}

/** A place in the trace of a caller. */
export type CallerTrace = {
  trace_id: string
  parent_run_id: string
  /** That of the parent; absent for a span, whose place is known when it arrives. */
  dotted_order?: string
  /** Name of the caller's project; absent: that of the deployment. */
  project?: string
}

/** One execution of an assistant as stored; times are epoch milliseconds. */
export interface Run {
  run_id: string
  thread_id: string
  assistant_id: string
  graph_id: string
  status: RunStatus
  created_at: number
  updated_at: number
  /** Earliest time at which the run is claimed; `created_at` unless `after_seconds` was given. */
  due_at: number
  started_at: number | null
  ended_at: number | null
  metadata: JsonObject
  kwargs: RunKwargs
  multitask_strategy: MultitaskStrategy
  /** Number of the attempt, from 1; increases each time the run is claimed again after a crash or for a retry. */
  attempt: number
  caller: Caller
  /**
   * Id of the last attempt's trace. The trace of the first attempt has the id of the run (D-45). Null before the first
   * attempt, and when runs are not traced.
   */
  trace_id: string | null
  /**
   * The revision that executes the last attempt (P-33); before the first attempt, the revision for which the run was
   * made. Null if the deployment has no revisions.
   */
  revision_id: string | null
  /** The reason if the status is `error` or `timeout`. */
  error: { error: string; message: string } | null
  /** Messages streamed before a cancel (D-46). */
  partial_messages: JsonValue
  /** Whether the run stopped at an interrupt: its thread is interrupted until another run resumes it. */
  interrupted: boolean
}
