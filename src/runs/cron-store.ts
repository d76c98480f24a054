import type { JsonObject } from '../schema/json.ts'
import type { Caller, Tenant } from './model.ts'
import type { Visible } from './run-store.ts'

/** A run that is made again and again; times are epoch milliseconds. */
export interface Cron {
  cron_id: string
  assistant_id: string
  /** Null: each run has a thread of its own. */
  thread_id: string | null
  /** Of threads of their own: what becomes of them after the run. */
  on_run_completed: 'delete' | 'keep'
  schedule: string
  /** IANA name; null for UTC. */
  timezone: string | null
  end_time: number | null
  /** Null when there is none: disabled, or past its end. */
  next_run_date: number | null
  enabled: boolean
  /** In whose name runs are made. */
  caller: Caller
  /** The run's request (run-api 1.5). */
  payload: JsonObject
  metadata: JsonObject
  created_at: number
  updated_at: number
}

/** A page of crons. */
export interface CronSearch {
  assistant_id?: string | undefined
  thread_id?: string | undefined
  enabled?: boolean | undefined
  /** What the metadata must contain. */
  metadata?: JsonObject | undefined
  /** Only these. */
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
  /** 0 only counts. */
  limit: number
  offset: number
  /** Of texts that are read; the page is shorter then. Default 32 MB. */
  max_bytes?: number | undefined
}

/** A cron whose time has come. */
export interface DueCron extends Tenant {
  cron: Cron
}

/** Crons of tenants. */
export interface CronStore {
  create(tenant: Tenant, cron: Cron): Promise<void>
  get(tenant: Tenant, cron_id: string): Promise<Cron | undefined>
  /** Changes what `change` makes of it; undefined when there is no such cron. `change` must have no other effect. */
  update(tenant: Tenant, cron_id: string, change: (cron: Cron) => Cron): Promise<Cron | undefined>
  /** Whether it was there. */
  remove(tenant: Tenant, cron_id: string): Promise<boolean>
  /** Deletes those of a thread that is gone. */
  removeOfThread(tenant: Tenant, thread_id: string): Promise<void>
  /** `total` counts all that match. */
  search(tenant: Tenant, search: CronSearch): Promise<{ crons: Cron[]; total: number }>
  /** Those of these deployments whose time has come, the longest overdue first; fewer than there are when they are large. */
  due(deployments: readonly string[], now: number, limit: number): Promise<DueCron[]>
  /** Sets the next time of a cron that was due: false when another process was first, whose run it then is. */
  advance(due: DueCron, next_run_date: number | null): Promise<boolean>
  /** The earliest time of any cron of these deployments, so that a timer can wait for it. */
  nextDue(deployments: readonly string[]): Promise<number | undefined>
}
