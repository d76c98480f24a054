import type { Rejected, RequestHead } from '../trace/decoded.ts'
import type { DiskState } from './data-disk.ts'

/** What became of one ingest request: it is answered only after everything accepted is durable. */
export interface Accepted {
  /** Fragments (creates and updates) stored. */
  accepted: number
  feedback: number
  rejected: Rejected[]
  /** The body stopped early; what had arrived whole is stored. */
  truncated: boolean
  /** What the caller should know besides: soft limits that are reached. */
  warnings: string[]
}

/** What users may know about ingestion (GET /api/v1/ingest/health). */
export interface IngestHealth {
  /** That of the disk first, as nothing is accepted while it takes no writes. */
  status: 'ok' | 'behind' | 'store_unavailable' | 'disk_full' | 'disk_unwritable'
  /** Since the process started. */
  accepted: number
  stored: number
  derived: number
  rejected: Record<string, number>
  truncated_requests: number
  /** Fragments acknowledged and not yet confirmed by the store. */
  waiting: number
  /** Receive time of the oldest of them, ISO 8601. */
  oldest_waiting_at: string | null
  log: { bytes: number; max_bytes: number; segments: number; last_recovery: unknown }
  store: { up: boolean; last_error: string | null; last_confirmed_at: string | null }
  /** Of DATA_DIR. */
  disk: DiskState
  lanes: Record<string, { queued: number }>
}

export interface Ingester {
  /**
   * Decodes, validates and logs one request body; resolves when what it accepted is durable.
   * @throws AppError for whole-body faults, `log_full`, `overloaded`, `shutting_down`, `usage_limit_reached`
   */
  ingest(head: RequestHead, body: Uint8Array): Promise<Accepted>
  health(): IngestHealth
}
