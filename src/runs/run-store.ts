import type { EventDraft } from '../events/event-log.ts'
import type { JsonObject, JsonValue } from '../schema/json.ts'
import type {
  CancelAction,
  MultitaskStrategy,
  Run,
  RunKwargs,
  RunStatus,
  Tenant,
  Thread,
  ThreadStatus,
  ThreadTtl,
} from './model.ts'
import type { EndedStatus } from './run-done.ts'

/** Whether who asks may see a thread, an assistant or a cron with this metadata. */
export type Visible = (metadata: JsonObject) => boolean

/** The right to work on a run: the token goes with every write for it (D-44). */
export interface Lease extends Tenant {
  run_id: string
  thread_id: string
  token: string
}

/** Who takes up runs, and for how long without a word. */
export interface Claimer {
  /** Id of the instance, kept over restarts. */
  owner: string
  lease_ms: number
  /** Own tracing is on: each attempt gets a `trace_id`. */
  traced: boolean
}

/** A run that a worker has taken; its status is `running`. */
export interface Claim extends Lease {
  run: Run
}

/** A run that has been cancelled and that its worker is still to be told of. */
export interface CancelOrder {
  run_id: string
  thread_id: string
  action: CancelAction
}

/** A run to be admitted to a thread. */
export interface Admission {
  run: Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'graph_id' | 'metadata' | 'kwargs' | 'caller'>
  multitask_strategy: MultitaskStrategy
  /** `after_seconds` × 1000; 0 to start as soon as the thread is free. */
  delay_ms: number
  /** `create` makes the thread if it is not there; a stateless run's thread is made and temporary. */
  if_not_exists: 'create' | 'reject'
  /** Merged shallowly into the thread's metadata. */
  thread_metadata: JsonObject
  /** Merged into the thread's config, key by key, `configurable` key by key as well. Never a checkpoint (run-api 1.4). */
  thread_config: JsonObject
  /** What the thread's metadata begins with when this run makes it. */
  new_thread_metadata?: JsonObject
  /** Of a thread that is made for the run; it counts while no run is active. */
  new_thread_ttl?: ThreadTtl | null
  /** A thread that the caller may not see is not there. Pure. */
  visible?: Visible | undefined
  /**
   * Puts the run's metadata and kwargs together with what the thread had until now, in the same transaction; without it
   * those of `run` are stored. Pure: it may be called again.
   */
  compose?: (thread: { metadata: JsonObject; config: JsonObject }) => {
    metadata: JsonObject
    kwargs: RunKwargs
  }
  /** Take it up at once if nothing is before it: saves a claim. */
  claim: Claimer | null
}

/** What became of a run that was asked for. */
export type Admitted =
  | {
      kind: 'created'
      run: Run
      /** Set when the run is already taken up. */
      claim: Claim | null
      /** Running runs of the thread that have been cancelled: their workers must be told. The new run waits for them. */
      cancelling: CancelOrder[]
      /** Runs that ended by this admission: `interrupted` while pending, or `deleted` by rollback. */
      ended: { run_id: string; status: 'interrupted' | 'deleted' }[]
    }
  /** The same run id was asked for before on this thread (D-47). */
  | { kind: 'known'; run: Run }
  | { kind: 'refused'; reason: 'thread_not_found' | 'thread_busy' | 'run_id_taken' }

/** A thread's state as of its last checkpoint. */
export interface StateSummary {
  /** JSON text. */
  values_json: string | null
  next: string[]
  /** Open interrupts by task. */
  interrupts: JsonObject
}

/** How a worker's run ended. */
export interface RunEnd {
  status: Exclude<RunStatus, 'pending' | 'running'>
  error: Run['error']
  partial_messages: JsonValue
  /** Undefined = unchanged (nothing was stored). */
  state: StateSummary | undefined
}

/**
 * What closes a run in its thread's log, by how it ended; without it only that it has. It is there as soon as the run has
 * ended, and once. Pure.
 */
export type Closing = (status: EndedStatus) => readonly EventDraft[]

/** What a worker's word about its run came to. */
export type Settled =
  /** The lease is no longer ours: nothing was written. */
  | { kind: 'lost' }
  /** To be tried again: it is pending with `attempt` + 1. */
  | { kind: 'retried' }
  /**
   * The run is over. A cancel that was accepted before wins over how the run ended: `interrupted`, or `deleted` for
   * rollback. `more` when the thread has another run to be taken up, now or later: claim.
   */
  | { kind: 'ended'; status: RunEnd['status'] | 'deleted'; more: boolean }

/** A run taken back from an owner that is gone, and what became of it. */
export interface Recovered extends Tenant {
  run_id: string
  thread_id: string
  status: 'pending' | 'error' | 'interrupted' | 'deleted'
}

/** Which runs to cancel; those of threads that the caller may not see are not there. */
export type CancelSelector = (
  | { thread_id: string; run_ids: readonly string[] }
  | { status: 'pending' | 'running' | 'all' }
) & { visible?: Visible | undefined }

/** What a cancel came to, by run. */
export interface CancelResult {
  run_id: string
  thread_id: string
  /** `ended`: it was pending and is no more; `requested`: it runs, its worker must be told; `not_active`: it had ended before. */
  outcome: 'ended' | 'requested' | 'not_active' | 'not_found'
  status: RunStatus | 'deleted' | null
}

/** A thread to be made. */
export interface NewThread {
  thread_id: string
  metadata: JsonObject
  config: JsonObject
  ttl: ThreadTtl | null
}

/** A page of threads. Filters on `metadata` and `values` ask for equality of each named key. */
export interface ThreadSearch {
  ids?: readonly string[]
  metadata?: JsonObject
  values?: JsonObject
  status?: ThreadStatus
  /** Only these. */
  visible?: Visible | undefined
  sort_by: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at'
  sort_order: 'asc' | 'desc'
  /** 0 only counts. */
  limit: number
  offset: number
  /** Of texts that are read; the page is shorter then. Default 32 MB. */
  max_bytes?: number
  /** False: `values_json` of the page is not wanted, and null. Default true. */
  with_values?: boolean
}

/** What may be changed of a thread; metadata is merged shallowly. */
export interface ThreadChange {
  metadata?: JsonObject
  ttl?: ThreadTtl | null
  /** After a change of its state that no run made. A running run's end will tell the state anew, so then it is ignored. */
  state?: StateSummary
}

/**
 * Threads and their runs: transactional verbs, each one atomic for a thread, durable when it resolves (D-43). Refusals
 * that belong to the domain are answers; what throws is a fault. Everything is bounded to the tenant: the ids that
 * clients choose are unique within one only. A thread has at most one running run, which only the holder of its lease
 * can end; a thread's status is never `busy` without an active run, nor another with one.
 */
export interface RunStore {
  /** `exists` with the thread that has the id already. */
  createThread(tenant: Tenant, thread: NewThread): Promise<{ kind: 'created' | 'exists'; thread: Thread }>
  getThread(tenant: Tenant, thread_id: string): Promise<Thread | undefined>
  /** `total` counts all that match. Ties are ordered by `thread_id`. */
  searchThreads(tenant: Tenant, search: ThreadSearch): Promise<{ threads: Thread[]; total: number }>
  updateThread(tenant: Tenant, thread_id: string, change: ThreadChange): Promise<Thread | undefined>
  /**
   * Copies thread and checkpoints, without runs, under a new id, which goes into its metadata as `thread_id`.
   * Undefined when there is no such thread. @throws AppError conflict when the new id is taken
   */
  copyThread(tenant: Tenant, thread_id: string, new_id: string): Promise<Thread | undefined>
  /**
   * Deletes threads with runs and checkpoints, also active ones, whose leases are then lost: cancel them first. With
   * `latest_checkpoint` only older checkpoints are deleted, and not those of a thread with a running run. Answers how
   * many threads there were.
   */
  deleteThreads(
    tenant: Tenant,
    thread_ids: readonly string[],
    keep: 'nothing' | 'latest_checkpoint',
  ): Promise<number>
  /** Threads that are past their `expires_at` and not busy, of all tenants, at most `limit`. */
  expiredThreads(limit: number): Promise<(Tenant & { thread_id: string; strategy: ThreadTtl['strategy'] })[]>

  /** The multitask decision and the insert, in one transaction. */
  admit(tenant: Tenant, admission: Admission): Promise<Admitted>
  /** The next runs that are due and whose thread is free, oldest first, at most `limit`, of these deployments. */
  claim(claimer: Claimer, deployments: readonly string[], limit: number): Promise<Claim[]>
  /** Earliest future `due_at` of a free thread, so that a timer can wait for it; undefined when nothing waits for a time. */
  nextDue(): Promise<number | undefined>
  /** The runs that are due and have not begun, counted up to 100,000, and when the oldest of them was due. */
  waiting(deployments: readonly string[]): Promise<{ count: number; oldest_due_at: number | undefined }>
  /** Keeps leases alive; answers the runs of those that are lost, and those that are to be cancelled. */
  renew(leases: readonly Lease[], lease_ms: number): Promise<{ lost: string[]; cancel: CancelOrder[] }>
  /** Ends a run and settles the thread's state and status. */
  finish(lease: Lease, end: RunEnd, closing?: Closing): Promise<Settled>
  /** Deletes the run and its checkpoints: the thread is as before it. */
  rollback(lease: Lease, closing?: Closing): Promise<Settled>
  /** Gives a run back to be tried again, or ends it `error` when it was tried `max_attempts` times, or as its cancel says. */
  release(
    lease: Lease,
    why: { error: string; message: string },
    max_attempts: number,
    closing?: Closing,
  ): Promise<Settled>
  /**
   * Takes back runs whose owner is gone: `owner`'s at once (so call it before the first claim), others' after their
   * leases ran out (D-4). As `release` does, per run. The thread's state stays that of the last run that was finished:
   * who cares for what an interrupted or failed one had reached updates it.
   */
  recover(owner: string, max_attempts: number): Promise<Recovered[]>
  /** Ends what is pending, flags what runs; a rollback wins over an interrupt that was asked for before. */
  requestCancel(tenant: Tenant, selector: CancelSelector, action: CancelAction): Promise<CancelResult[]>

  /** `thread_id` null: whichever thread it is on. */
  getRun(tenant: Tenant, thread_id: string | null, run_id: string): Promise<Run | undefined>
  /**
   * Newest first, as many as fit into `max_bytes` of text (default 32 MB); `more` when others follow behind the page.
   * Undefined when there is no such thread.
   */
  listRuns(
    tenant: Tenant,
    thread_id: string,
    page: { limit: number; offset: number; status?: RunStatus; max_bytes?: number },
  ): Promise<{ runs: Run[]; more: boolean } | undefined>
  /** Of a thread: what is pending or running. */
  activeRunIds(tenant: Tenant, thread_id: string): Promise<string[]>
  /** Keeps its checkpoints: they are the thread's. `active` when it has to be cancelled first. */
  deleteRun(tenant: Tenant, thread_id: string, run_id: string): Promise<'deleted' | 'active' | 'not_found'>
}
