import type { LeaseWatch } from './execute/lease-watch.ts'
import type { EventDraft } from '../events/event-log.ts'
import type { JsonObject, JsonValue } from '../schema/json.ts'
import type {
  CancelAction,
  Caller,
  MultitaskStrategy,
  Run,
  RunKwargs,
  RunStatus,
  Tenant,
  Thread,
  ThreadStatus,
  ThreadTtl,
} from './model.ts'
import type { EndedStatus } from './execute/end-event.ts'

/** Whether the caller may see a thread, an assistant or a cron with this metadata. */
export type Visible = (metadata: JsonObject) => boolean

/** The right to execute a run: every write for the run carries the token (D-44). */
export interface Lease extends Tenant {
  run_id: string
  thread_id: string
  token: string
}

/** Bytes of the checkpoints of a thread as stored. */
export interface ThreadStorage {
  /** Of the checkpoints without the values of their channels. */
  checkpoints: number
  /** Of the values, by channel. */
  channels: Record<string, number>
  /** Of what tasks have written after a checkpoint. */
  writes: number
}

/** The process that claims runs, and how long a lease lasts without renewal. */
export interface Claimer {
  /**
   * Id of the instance. A later process on the same DATA_DIR has the same id; processes that run at the same time have
   * different ids.
   */
  owner: string
  lease_ms: number
  /** Whether Weir's own tracing is on. Each attempt then gets a `trace_id`. */
  traced: boolean
  /**
   * The revision that will execute the claimed runs, which are all of one deployment. Absent if the deployment has no
   * revisions. Runs that were made for a later revision, or begun on one, wait for another process.
   */
  revision_id?: string | null
  /**
   * The graphs that the process has. A run of another graph, and the later runs of its thread, wait for another
   * process. Absent: the process claims runs of all graphs.
   */
  graphs?: readonly string[]
  /**
   * The newest version of runs that the process executes; newer runs wait for another process. Default: `RUN_VERSION`.
   */
  version?: number
  /**
   * Runs that need a version above this one, and were due ten minutes ago, are claimed in order to fail them: no server
   * executes them.
   */
  abandoned_above?: number | undefined
}

/** A run that a worker has claimed; its status is `running`. */
export interface Claim extends Lease {
  run: Run
  /** True if the thread was created with the run, so that it has no checkpoints before the run's first write. */
  fresh?: boolean
  /** True if the run needs a later version than the claimer executes, so that it must fail. */
  abandoned?: boolean
}

/** A cancelled run whose worker must still be notified. */
export interface CancelOrder {
  run_id: string
  thread_id: string
  action: CancelAction
}

export interface RunAdmission {
  run: Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'graph_id' | 'metadata' | 'kwargs' | 'caller'>
  /** The ids of run and thread were just made, so that no stored run or thread can have them. */
  has_new_ids?: boolean
  multitask_strategy: MultitaskStrategy
  /** `after_seconds` × 1000; 0 to start as soon as the thread is free. */
  delay_ms: number
  /**
   * `create` creates a missing thread, `reject` refuses the run. The thread of a stateless run is created, and
   * temporary.
   */
  if_not_exists: 'create' | 'reject'
  /** Merged shallowly into the thread's metadata. */
  thread_metadata: JsonObject
  /** Merged into the thread's config key by key, and its `configurable` likewise. It never names a checkpoint. */
  thread_config: JsonObject
  /** Initial metadata of the thread if this run creates it. */
  new_thread_metadata?: JsonObject
  /** The ttl of a thread that is created for the run. The time counts while no run of the thread is active. */
  new_thread_ttl?: ThreadTtl | null
  /** Whether the caller may see the thread; a thread that is not visible counts as missing. Pure. */
  visible?: Visible | undefined
  /**
   * Merges the run's metadata and kwargs with the stored ones of the thread, in the same transaction. Absent: those of
   * `run` are stored. Pure, because it may be called again.
   */
  compose?: (thread: { metadata: JsonObject; config: JsonObject }) => {
    metadata: JsonObject
    kwargs: RunKwargs
  }
  /** If set, the run is claimed in the same transaction if no other run is before it. */
  claim: Claimer | null
  /** The revision for which the run is made: no earlier one executes it. Absent if the deployment has no revisions. */
  revision_id?: string | null
  /** The date of the cron that creates the run. The cron advances to its next date in the same transaction. */
  cron?: CronDate | undefined
  /**
   * Id of the run that must be the newest of the thread; null: the thread must have no run. Otherwise the result is
   * `overtaken`.
   */
  newest_run_id?: string | null
}

/** One date of a cron. The cron becomes due again at `next`. Times are epoch milliseconds. */
export interface CronDate {
  cron_id: string
  due_at: number
  /** Null for never. */
  next: number | null
}

export type Admitted =
  | {
      kind: 'created'
      run: Run
      /** Set when the run is already claimed. */
      claim: Claim | null
      /**
       * Running runs of the thread that have been cancelled. Their workers must be notified; the new run waits until
       * they have ended.
       */
      cancelling: CancelOrder[]
      /** Pending runs that this admission ended: `interrupted`, or `deleted` by rollback. */
      ended: { run_id: string; status: 'interrupted' | 'deleted' }[]
    }
  /** A run with this id exists already on this thread (D-47). */
  | { kind: 'known'; run: Run }
  | { kind: 'refused'; reason: RefusalReason }

/** Why a run is not admitted. */
export type RefusalReason = 'thread_not_found' | 'thread_busy' | 'run_id_taken' | 'date_taken' | 'overtaken'

/**
 * The result of admitting several runs together. `refused`: the run at `index` cannot be admitted, so no run was
 * admitted.
 */
export type AllAdmitted =
  | { kind: 'created'; runs: Run[] }
  | { kind: 'refused'; index: number; reason: RefusalReason }

/** A thread's state as of its last checkpoint. */
export interface StateSummary {
  /** JSON text. */
  values_json: string | null
  /** Unfinished nodes, each once; the host may leave some out, but not all. */
  next: string[]
  /** Open interrupts by task. */
  interrupts: JsonObject
}

export interface RunEnd {
  status: Exclude<RunStatus, 'pending' | 'running'>
  error: Run['error']
  partial_messages: JsonValue
  /** Undefined if the run stored nothing, so that the state is unchanged. */
  state: StateSummary | undefined
  nodes?: ReportedNodes
}

/** Number of nodes that an attempt has completed, for the usage of deployments; undefined if its host did not tell. */
export type ReportedNodes = number | undefined

/**
 * Returns the events that end a run with this final status in its thread's log; by default the events of a run that
 * ends outside of an attempt. The events are stored together with the end, exactly once. Pure.
 */
export type Closing = (status: EndedStatus) => readonly EventDraft[]

export type AttemptEnd =
  /** The lease is lost: nothing was written. */
  | { kind: 'lost' }
  /** The run is pending again, with `attempt` + 1. */
  | { kind: 'retried' }
  /**
   * The run is over. A cancel that was accepted earlier overrides its status: `interrupted`, or `deleted` for rollback.
   * `more` is true if the thread has another run to claim, now or later.
   */
  | { kind: 'ended'; status: RunEnd['status'] | 'deleted'; more: boolean }

/** What is left of a stateless run and its thread for ten minutes after their end. */
export interface StatelessEnd {
  run_id: string
  thread_id: string
  caller: Caller
  /** Of the thread. */
  metadata: JsonObject
  status: EndedStatus
  /** Epoch milliseconds, as `ended_at`. */
  created_at: number
  ended_at: number
  /** The answer of requests that wait for the run, JSON text. On SQLite without the values of a run that was executed. */
  answer: string
}

/** A run recovered from a process that is gone, and its new status. */
export interface Recovered extends Tenant {
  run_id: string
  thread_id: string
  status: 'pending' | 'error' | 'interrupted' | 'deleted'
}

/** The runs to cancel; runs of threads that the caller may not see count as missing. */
export type CancelSelector = (
  | { thread_id: string; run_ids: readonly string[] }
  | { status: 'pending' | 'running' | 'all' }
) & { visible?: Visible | undefined }

export interface CancelResult {
  run_id: string
  thread_id: string
  /**
   * `ended`: it was pending and is over now; `requested`: it is running, and its worker must be notified; `not_active`:
   * it had ended before.
   */
  outcome: 'ended' | 'requested' | 'not_active' | 'not_found'
  status: RunStatus | 'deleted' | null
}

/** The newest run of an A2A task, and what decides its state, read in one statement. */
export interface TaskRun {
  run: Run
  /** Whether the thread has no later run. */
  is_last: boolean
  thread_status: ThreadStatus
  /** The active runs of the task, the oldest first; read beside the others. */
  active_run_ids: string[]
}

/** The newest run of an A2A task, without its content. */
export interface TaskHead {
  task_id: string
  thread_id: string
  run_id: string
  status: RunStatus
  interrupted: boolean
  /** Epoch milliseconds. */
  updated_at: number
  is_last: boolean
  thread_status: ThreadStatus
}

export interface TaskSearch {
  assistant_id: string
  thread_id?: string | undefined
  /** Only tasks of threads whose metadata satisfy this condition; default: all. */
  visible?: Visible | undefined
}

export interface NewThread {
  thread_id: string
  metadata: JsonObject
  config: JsonObject
  ttl: ThreadTtl | null
}

/** A page of threads. Filters on `metadata` and `values` compare each named key for equality. */
export interface ThreadSearch {
  ids?: readonly string[]
  metadata?: JsonObject
  values?: JsonObject
  status?: ThreadStatus
  /** Only threads whose metadata satisfy this condition; default: all. */
  visible?: Visible | undefined
  sort_by: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at'
  sort_order: 'asc' | 'desc'
  /** 0 to get only the count. */
  limit: number
  offset: number
  /** Maximum bytes of text of a page. A page that would be larger ends early. Default 32 MB. */
  max_bytes?: number
  /** If false, `values_json` is not read and is null. Default true. */
  with_values?: boolean
}

/** The fields of a thread that may change; metadata is merged shallowly. */
export interface ThreadChange {
  metadata?: JsonObject
  ttl?: ThreadTtl | null
  /**
   * A change of state outside of a run. It is ignored while a run is running, since the end of that run sets the state.
   */
  state?: StateSummary
}

/**
 * Threads and their runs: transactional methods, each one atomic for a thread, durable when it resolves (D-43).
 * Refusals are returned as results; only faults are thrown. Every method is limited to the tenant: ids that clients
 * choose are unique only within one. A thread has at most one running run, which only the holder of its lease can end;
 * a thread's status is `busy` exactly while it has an active run.
 */
export interface RunStore {
  /** `exists`: the id is taken by the returned thread. */
  createThread(tenant: Tenant, thread: NewThread): Promise<{ kind: 'created' | 'exists'; thread: Thread }>
  getThread(tenant: Tenant, thread_id: string): Promise<Thread | undefined>
  /** `total` is the number of all matches. Ties are ordered by `thread_id`. */
  searchThreads(tenant: Tenant, search: ThreadSearch): Promise<{ threads: Thread[]; total: number }>
  updateThread(tenant: Tenant, thread_id: string, change: ThreadChange): Promise<Thread | undefined>
  /**
   * Copies thread and checkpoints, without runs, under a new id. The metadata of the copy contain the new id as
   * `thread_id`. Undefined when there is no such thread. @throws AppError conflict when the new id is taken
   */
  copyThread(tenant: Tenant, thread_id: string, new_id: string): Promise<Thread | undefined>
  /**
   * Deletes threads with their runs, checkpoints and crons. Active runs lose their leases, so cancel them first. With
   * `latest_checkpoint` only older checkpoints are deleted, and none of a thread with a running run. Returns how many
   * of the threads existed.
   */
  deleteThreads(
    tenant: Tenant,
    thread_ids: readonly string[],
    keep: 'nothing' | 'latest_checkpoint',
  ): Promise<number>
  /** The bytes that the checkpoints of a thread take; zeros for a thread without checkpoints. */
  threadStorage(tenant: Tenant, thread_id: string): Promise<ThreadStorage>
  /**
   * Deletes those of the threads that have expired with this strategy and are not busy at this moment; returns their ids.
   * With `keep_latest` only their older checkpoints are deleted.
   */
  deleteExpired(
    tenant: Tenant,
    thread_ids: readonly string[],
    strategy: ThreadTtl['strategy'],
  ): Promise<string[]>
  /** Threads that are past their `expires_at` and not busy, of all tenants, at most `limit`. */
  expiredThreads(limit: number): Promise<(Tenant & { thread_id: string; strategy: ThreadTtl['strategy'] })[]>

  /** Makes the multitask decision and inserts the run, in one transaction. */
  admit(tenant: Tenant, admission: RunAdmission): Promise<Admitted>
  /**
   * Admits several runs, each on a new thread, in one transaction: all or none. No run is claimed. @throws AppError
   * quota_reached if the quota has no room for all the threads; then none was created
   */
  admitAll(tenant: Tenant, admissions: readonly Omit<RunAdmission, 'claim'>[]): Promise<AllAdmitted>
  /** The next due runs of these deployments whose thread is free, oldest first, at most `limit`. */
  claim(claimer: Claimer, deployments: readonly string[], limit: number): Promise<Claim[]>
  /** Earliest future `due_at` of a free thread, so that a timer can wait for it; undefined when there is none. */
  nextDue(): Promise<number | undefined>
  /** Number of pending runs that are due, up to 100,000, and the time when the oldest was due (epoch milliseconds). */
  waiting(deployments: readonly string[]): Promise<{ count: number; oldest_due_at: number | undefined }>
  /** The graphs of runs of the deployment that are pending and were due before `before`, epoch milliseconds. */
  waitingGraphs(deployment_id: string, before: number): Promise<string[]>
  /** The versions above `version` that pending runs of all deployments need; reads at most 100,000 of them. */
  waitingVersions(version: number): Promise<number[]>
  /** Renews leases; returns the runs whose leases are lost, and those that must be cancelled. */
  renew(leases: readonly Lease[], lease_ms: number): Promise<{ lost: string[]; cancel: CancelOrder[] }>
  /**
   * Ends a run and updates the thread's state and status. A thread that was created for a stateless run is deleted in
   * the transaction that ends its last active run, here and by all other methods that end runs.
   */
  finish(lease: Lease, end: RunEnd, closing?: Closing): Promise<AttemptEnd>
  /** Deletes the run and its checkpoints, which restores the thread's earlier state. */
  rollback(lease: Lease, closing?: Closing, nodes?: ReportedNodes): Promise<AttemptEnd>
  /**
   * Makes a run pending again for another attempt. After `max_attempts` attempts the run ends with `error` instead;
   * after an accepted cancel it ends as cancelled.
   */
  release(
    lease: Lease,
    why: { error: string; message: string },
    max_attempts: number,
    closing?: Closing,
    nodes?: ReportedNodes,
  ): Promise<AttemptEnd>
  /**
   * Recovers runs whose process has ended, each as `release` does. Runs of `owner` are recovered at once, so this must
   * be called before the first claim. Runs of other owners are recovered after their leases expired (D-4). The thread's
   * state remains that of the last finished run; the caller updates it for an interrupted or failed one. `watch` finds
   * the leases that have expired; the caller keeps it between calls. Without it, leases expire by the clock.
   */
  recover(owner: string, max_attempts: number, watch?: LeaseWatch): Promise<Recovered[]>
  /** Ends pending runs and flags running ones; a rollback overrides an earlier interrupt. */
  requestCancel(tenant: Tenant, selector: CancelSelector, action: CancelAction): Promise<CancelResult[]>

  statelessEnd(tenant: Tenant, run_id: string): Promise<StatelessEnd | undefined>
  /** Deletes the ends of stateless runs after their ten minutes. */
  forgetStatelessEnds(): Promise<void>

  /** `thread_id` null: the run may be on any thread. */
  getRun(tenant: Tenant, thread_id: string | null, run_id: string): Promise<Run | undefined>
  /**
   * Runs, newest first, as many as fit into `max_bytes` of text (default 32 MB); `more` is true if the page is not the
   * last. `thread_id` null: the runs of all threads. Undefined if there is no such thread.
   */
  listRuns(
    tenant: Tenant,
    thread_id: string | null,
    page: { limit: number; offset: number; status?: RunStatus; max_bytes?: number },
  ): Promise<{ runs: Run[]; more: boolean } | undefined>
  activeRunIds(tenant: Tenant, thread_id: string): Promise<string[]>
  taskRun(tenant: Tenant, thread_id: string, task_id: string): Promise<TaskRun | undefined>
  /** The A2A tasks of an assistant, those whose runs changed last first, at most 10,000. */
  tasks(tenant: Tenant, search: TaskSearch): Promise<TaskHead[]>
  /**
   * Deletes the run but not its checkpoints, which belong to the thread. Returns `active` for an active run, which must
   * be cancelled first.
   */
  deleteRun(tenant: Tenant, thread_id: string, run_id: string): Promise<'deleted' | 'active' | 'not_found'>
}
