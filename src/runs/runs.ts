import type { JsonObject, JsonValue } from '../schema/json.ts'
import type { Caller, CallerTrace, CancelAction, MultitaskStrategy, Run, Tenant } from './model.ts'
import type {
  CancelResult,
  CancelSelector,
  CronDate,
  StatelessEnd,
  TaskHead,
  TaskRun,
  TaskSearch,
  Visible,
} from './run-store.ts'

/** The caller, the deployment, and the headers of the request that graphs may read. */
export interface Call {
  tenant: Tenant
  caller: Caller
  /**
   * `x-*` and `user-agent` headers that `http.configurable_headers` allows, and the trace that the request is part of;
   * merged into `config.configurable`.
   */
  headers: Readonly<JsonObject>
  /** The restrictions of the deployment's own auth file on a run to create. */
  access?: RunAccess
  /** The date of the cron that creates the run. Absent if no cron creates it. */
  cron?: CronDate
}

/** Restrictions on a run that a user of the deployment's own auth file creates. */
export interface RunAccess {
  /** Whether the run may use an existing thread. */
  visible: Visible | undefined
}

/** The body of a run creation, checked by its schema; absent fields get their defaults here. */
export interface RunRequest {
  /** Id of an assistant or name of a graph. */
  assistant_id: string
  /** Chosen by the client (D-47); otherwise generated. */
  run_id?: string
  input?: JsonValue
  command?: JsonObject | null
  checkpoint?: JsonObject | null
  /** The older form of `checkpoint: {checkpoint_id}`. */
  checkpoint_id?: string | null
  metadata?: JsonObject
  config?: JsonObject
  context?: JsonObject
  webhook?: string | null
  interrupt_before?: string[] | '*' | null
  interrupt_after?: string[] | '*' | null
  stream_mode?: string | string[]
  stream_subgraphs?: boolean
  stream_resumable?: boolean
  on_disconnect?: 'cancel' | 'continue'
  multitask_strategy?: MultitaskStrategy
  if_not_exists?: 'create' | 'reject'
  after_seconds?: number
  durability?: 'sync' | 'async' | 'exit'
  /** Deprecated: `false` is `durability: 'exit'`. */
  checkpoint_during?: boolean
  /** Stateless runs only. */
  on_completion?: 'delete' | 'keep'
  /** The run is made over protocol v2. */
  protocol?: 2
  /** The run fails if an interrupt that it answers is no longer open when the run begins. */
  strict_resume?: true
  caller_trace?: CallerTrace
  /**
   * Id of the run that the request expects to be the newest of the thread; null: the thread must have no run. If
   * another run is the newest, the request is refused as `conflict`.
   */
  newest_run_id?: string | null
}

/** A run, and a promise of its outcome. */
export interface Awaited {
  run: Run
  /**
   * The response of `wait` and `join` as JSON text: the last values, with `__interrupt__` when the graph waits for a
   * human, or `{"__error__":{"error","message"}}`. Rejects only when the server stops or the store fails. The
   * connection must then be cut, so that the client joins again. Never resolves after the client has disconnected.
   */
  result: Promise<string>
}

export interface CancelOptions {
  action: CancelAction
  /** True: resolve when the run has ended. False: resolve when its worker has been notified. */
  wait: boolean
  /** For an unknown run: keep the cancel for 60 s and end the run if it is created in that time (D-47). */
  early: boolean
}

/**
 * Runs of the deployment API. `thread_id` is null for the stateless routes. Every method is limited to the call's
 * tenant; refusals are an AppError: `not_found` (thread, run, assistant), `thread_busy` and `run_id_taken` (409),
 * `run_not_active` (409), `invalid_request`, `shutting_down`, `store_unavailable`.
 */
export interface Runs {
  /** Creates a run in the background; durable when it resolves. */
  create(call: Call, thread_id: string | null, request: RunRequest): Promise<Run>
  /** Creates stateless runs, all or none: if a quota or the disk refuses one, none is created. */
  createBatch(call: Call, requests: readonly RunRequest[]): Promise<Run[]>
  /**
   * Creates a run and waits for it. `gone` aborts when the client disconnects: with `on_disconnect: 'cancel'` the run
   * is then cancelled (interrupt) if it has not ended.
   */
  wait(call: Call, thread_id: string | null, request: RunRequest, gone: AbortSignal): Promise<Awaited>
  /** Waits for an existing run. */
  join(
    call: Call,
    thread_id: string | null,
    run_id: string,
    leaving: { gone: AbortSignal; cancel_on_disconnect: boolean },
  ): Promise<Awaited>
  get(call: Call, thread_id: string | null, run_id: string): Promise<Run>
  /** What is left of a stateless run of this caller that ended less than ten minutes ago. */
  statelessEnd(call: Call, run_id: string): Promise<StatelessEnd | undefined>
  /** The newest runs of a thread, newest first, as many as fit into some megabytes; none for an unknown thread. */
  recent(call: Call, thread_id: string): Promise<Run[]>
  /** The newest run of an A2A task. */
  ofTask(call: Call, thread_id: string, task_id: string): Promise<TaskRun>
  /** The A2A tasks of an assistant, those whose runs changed last first. */
  tasks(call: Call, search: Omit<TaskSearch, 'visible'>): Promise<TaskHead[]>
  /** Deletes a run that has ended. @throws AppError conflict for an active run */
  remove(call: Call, thread_id: string, run_id: string): Promise<void>
  cancel(call: Call, thread_id: string | null, run_id: string, options: CancelOptions): Promise<void>
  /** Returns the outcome of each run. @throws AppError not_found if there was nothing to cancel */
  cancelMany(
    call: Call,
    selector: CancelSelector,
    options: { action: CancelAction; wait: boolean },
  ): Promise<CancelResult[]>
  /** Tokens and cost of the run's trace as far as they are known (D-45); null if Weir's own tracing is off. */
  totals(call: Call, run: Run): Promise<JsonObject | null>
}
