import type { Rejected, RequestHead } from '../trace/decode/decoded.ts'
import type { DiskState } from './store/data-disk.ts'

/** The result of an ingest request, returned once everything accepted is durable. */
export interface Accepted {
  /** Fragments (creates and updates) stored. */
  accepted: number
  feedback: number
  rejected: Rejected[]
  /** Whether the body was truncated; the part that arrived is stored. */
  truncated: boolean
  /** Messages for the caller: soft limits that are reached. */
  warnings: string[]
}

/** The state of ingestion for users (GET /api/v1/ingest/health). */
export interface IngestHealth {
  /** A disk problem takes precedence, because no data is accepted during one. */
  status: 'ok' | 'behind' | 'store_unavailable' | 'disk_full' | 'disk_unwritable'
  /** Counts since the process started. */
  accepted: number
  stored: number
  derived: number
  rejected: Record<string, number>
  truncated_requests: number
  /** Requests refused because of a limit a minute; `last_at` is ISO 8601. */
  rate_limited: { requests: number; last_at: string | null }
  /** Fragments acknowledged and not yet confirmed by the store. */
  waiting: number
  /** Receive time of the oldest waiting fragment, ISO 8601. */
  oldest_waiting_at: string | null
  log: { bytes: number; max_bytes: number; segments: number; last_recovery: unknown }
  store: { up: boolean; last_error: string | null; last_confirmed_at: string | null }
  /** The disk of DATA_DIR. */
  disk: DiskState
  lanes: Record<string, { queued: number }>
}

export interface Ingester {
  /**
   * Decodes, validates and logs one request body; resolves when the accepted items are durable. `hold` reserves memory
   * for the decoded items, which may be much larger than a compressed body; false: there is none. @throws AppError for
   * whole-body faults, `log_full`, `overloaded`, `shutting_down`, `rate_limited`, `usage_limit_reached`
   */
  ingest(head: RequestHead, body: Uint8Array, hold?: (bytes: number) => boolean): Promise<Accepted>
  /**
   * Resolves when everything acknowledged before is stored and can be read, and waits for a store that is only slow.
   * @throws AppError store_unavailable when the store refuses for 8 s, or takes longer than clients wait
   */
  settled(): Promise<void>
  /**
   * As `settled`, for callers that can go on without the store. @throws AppError store_unavailable at once while the
   * store refuses, and after 8 s
   */
  settledSoon(): Promise<void>
  /** As StoreWriter.check. */
  checkStoring(): void
  health(): IngestHealth
}
