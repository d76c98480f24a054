import type { JsonObject, JsonValue } from '../schema/json.ts'

/** Whose a thread is: every row of run state carries both (D-40). */
export interface Tenant {
  workspace_id: string
  deployment_id: string
}

/** A user as a deployment's own auth file has answered: whatever it said, and these in any case. */
export interface AccessUser extends JsonObject {
  identity: string
  display_name: string
  is_authenticated: boolean
  permissions: string[]
}

/** Who made a run; it is traced and counted as theirs (D-45). */
export interface Caller {
  user_id: string | null
  api_key_id: string
  /** As the deployment's own auth file knows them; kept with crons, whose runs are made in their name. */
  user?: AccessUser
}

/** The platform's six statuses (run-api 1.13 row 6). A run cancelled by rollback ceases to exist. */
export const RUN_STATUSES = ['pending', 'running', 'success', 'error', 'timeout', 'interrupted'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const THREAD_STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const
export type ThreadStatus = (typeof THREAD_STATUSES)[number]

export const MULTITASK_STRATEGIES = ['reject', 'enqueue', 'interrupt', 'rollback'] as const
export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number]

export type CancelAction = 'interrupt' | 'rollback'

/** When a thread ends by itself: `keep_latest` drops all but its latest checkpoint. */
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
  /** As of the last finished run or state update, as JSON text so that nobody has to parse it; null before. */
  values_json: string | null
  /** Open interrupts by task. */
  interrupts: JsonObject
  /** Of the last run that ended, if it failed. */
  error: Run['error']
  /** `expires_at` is counted from the last write to the thread; null when only the latest checkpoint is left already. */
  ttl: (ThreadTtl & { expires_at: number | null }) | null
}

/** What a run was asked to do: `kwargs` as read, and what the host is handed. */
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
  /** Taken up not before this; `created_at` unless `after_seconds` was given. */
  due_at: number
  started_at: number | null
  ended_at: number | null
  metadata: JsonObject
  kwargs: RunKwargs
  multitask_strategy: MultitaskStrategy
  /** 1 for the first, one more each time it is taken up again after a death or a retry. */
  attempt: number
  caller: Caller
  /** Of the last attempt: the run's own id for the first (D-45); null before it, or with own tracing off. */
  trace_id: string | null
  /** Why it ended so, for `error` and `timeout`. */
  error: { error: string; message: string } | null
  /** Messages streamed before a cancel (D-46). */
  partial_messages: JsonValue
  /** It stopped where the graph asks for a human: its thread waits until another run goes on from there. */
  interrupted: boolean
}
