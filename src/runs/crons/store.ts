import type { JsonObject } from '../../schema/json.ts'
import type { Caller, Tenant } from '../model.ts'
import type { Visible } from '../run-store.ts'

/** A schedule that creates runs; times are epoch milliseconds. */
export interface Cron {
  cron_id: string
  assistant_id: string
  /** Null: each run has a thread of its own. */
  thread_id: string | null
  /** For crons without a thread of their own: what happens to the thread of a run after the run. */
  on_run_completed: 'delete' | 'keep'
  schedule: string
  /** IANA name; null for UTC. */
  timezone: string | null
  end_time: number | null
  /** Null if the cron is disabled or past its end. */
  next_run_date: number | null
  enabled: boolean
  /** The user in whose name runs are created. */
  caller: Caller
  /** The run's request. */
  payload: JsonObject
  metadata: JsonObject
  created_at: number
  updated_at: number
}

/** A search for crons. It returns one page. */
export interface CronSearch {
  assistant_id?: string | undefined
  thread_id?: string | undefined
  enabled?: boolean | undefined
  /** Keys and values that the metadata must contain. */
  metadata?: JsonObject | undefined
  /** Only crons whose metadata satisfy this condition; default: all. */
  visible?: Visible | undefined
  sort_by:
    | 'cron_id'
    | 'assistant_id'
    | 'thread_id'
    | 'next_run_date'
    | 'end_time'
    | 'created_at'
    | 'updated_at'
  sort_order: 'asc' | 'desc'
  /** 0 to get only the count. */
  limit: number
  offset: number
  /** Maximum bytes of text of a page. A page that would be larger ends early. Default 32 MB. */
  max_bytes?: number | undefined
}

export interface DueCron extends Tenant {
  cron: Cron
}

export interface CronStore {
  create(tenant: Tenant, cron: Cron): Promise<void>
  get(tenant: Tenant, cron_id: string): Promise<Cron | undefined>
  /** Stores the result of `change`, which must have no side effects. Returns undefined if there is no such cron. */
  update(tenant: Tenant, cron_id: string, change: (cron: Cron) => Cron): Promise<Cron | undefined>
  /** Returns whether it existed. */
  remove(tenant: Tenant, cron_id: string): Promise<boolean>
  /** `total` is the number of all matches. */
  search(tenant: Tenant, search: CronSearch): Promise<{ crons: Cron[]; total: number }>
  /** Crons of these deployments that are due, the longest overdue first; fewer than `limit` when they are large. */
  due(deployments: readonly string[], now: number, limit: number): Promise<DueCron[]>
  /**
   * Sets the next time of a due cron for which no run was created. Returns false if another process has changed the
   * cron.
   */
  advance(due: DueCron, next_run_date: number | null): Promise<boolean>
  /** The time of the next due cron of these deployments, so that a timer can wait for it. */
  nextDue(deployments: readonly string[]): Promise<number | undefined>
}
