import type { ErrorCode } from '../../base/errors.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import type { ProjectFilters } from '../otel/span/span-filter.ts'

/** Everything that decoding needs besides the bytes of the body. */
export interface RequestHead {
  /** The ingest route that received the request. */
  kind: 'multipart' | 'batch' | 'create' | 'update' | 'otlp-traces' | 'otlp-logs'
  /** Header `Content-Type` as sent; '' when absent. */
  content_type: string
  /** Header `Content-Encoding` as sent; '' when absent. */
  content_encoding: string
  /** The id in the path of `PATCH /runs/{id}`, as sent. */
  path_run_id?: string
  /** The id of a created run that is sent without one. Absent: such a run is rejected. */
  new_run_id?: string
  /** Header `Langsmith-Project`: the project of spans that name none. */
  project?: string
  /** Filters of the workspace's projects; absent: all spans are kept. */
  span_filters?: readonly ProjectFilters[]
  workspace_id: string
  /** NIL_UUID for a key without a user. */
  user_id: string
  api_key_id: string
  /** Receive time, epoch milliseconds. */
  received_at: number
  limits: DecodeLimits
  /**
   * True if the body stopped before its announced end because the connection broke; the part that arrived is decoded.
   */
  truncated?: boolean
  /** True for runs that this server executes: they count towards limits a minute, which never refuse them. */
  is_own?: true
}

/** Upper limits of a request; documented in `/info`. */
export interface DecodeLimits {
  /** Bytes after decompression. */
  max_body_bytes: number
  /** Parts of a multipart body, operations of a batch. */
  max_parts: number
  /** Bytes of one part or field. */
  max_part_bytes: number
}

/** A reason why a submitted item is not stored (D-6). */
export interface Fault {
  code: ErrorCode
  field: string | null
  reason: string
  /**
   * Status and text of LangSmith's response to the same fault. They are used if nothing of a request could be stored,
   * because users search for this text.
   */
  error: string
  status: 400 | 409 | 422 | 413
}

/** A submitted item that is not stored, and the first reason (D-6). */
export interface Rejected extends Fault {
  /** The id that the client sent; a uuid is in lower case with dashes. Null if the client sent none. */
  run_id: string | null
  /** Further reasons, for reports; only for the first thousand items of a request. */
  further?: readonly Fault[]
}

/**
 * A project that is named in a request. It must be resolved to an id before the fragments of the request are stored.
 */
export interface ProjectReference {
  session_name: string | null
  session_id: string | null
  /** Positions in `rows` at which the project id must be written. */
  offsets: number[]
}

/** Attachment bytes, content-addressed. */
export interface Blob {
  /** SHA-256 of the bytes, hex. */
  sha256: string
  bytes: Uint8Array
}

/** The result of decoding a request body. */
export interface Decoded {
  /** Fragments as RowBinary rows, whose project ids are still NIL_UUID. */
  rows: Uint8Array
  /** Fragments in `rows`. */
  count: number
  projects: ProjectReference[]
  /** Feedback records as RowBinary rows of table `feedback`. */
  feedback_rows: Uint8Array
  feedback_count: number
  blobs: Blob[]
  rejected: Rejected[]
  /** Bytes of the body after decompression. */
  body_bytes: number
  /** The multipart body had no closing boundary, or stopped inside a part. */
  truncated: boolean
}

/** The content of a body of any kind, for a validation report. */
export interface ReadBody {
  /** Fragments as RowBinary rows. */
  rows: Uint8Array
  /** The items that ingest would refuse. */
  rejected: Rejected[]
  /** Runs of a server's answer that have the server's own verdicts. */
  judged: ValidationReport['runs']
}
