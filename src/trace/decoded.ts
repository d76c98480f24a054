/** Who sent a request, when, and how its body is framed: all that decoding needs besides the bytes. */
export interface RequestHead {
  /** Which ingest route took it. */
  kind: 'multipart' | 'batch' | 'create' | 'update' | 'otlp-traces' | 'otlp-logs'
  /** Header `Content-Type` as sent; '' when absent. */
  content_type: string
  /** Header `Content-Encoding` as sent; '' when absent. */
  content_encoding: string
  /** The id in the path of `PATCH /runs/{id}`, as sent. */
  path_run_id?: string
  /** Header `Langsmith-Project`: the project of spans that name none. */
  project?: string
  workspace_id: string
  /** NIL_UUID for a key without a user. */
  user_id: string
  api_key_id: string
  /** Receive time, epoch milliseconds. */
  received_at: number
  limits: DecodeLimits
  /** The body stopped before its announced end (the connection broke): decode what arrived whole. */
  truncated?: boolean
}

/** What a request may at most be; documented in `/info`. */
export interface DecodeLimits {
  /** Bytes after decompression. */
  max_body_bytes: number
  /** Parts of a multipart body, operations of a batch. */
  max_parts: number
  /** Bytes of one part or field. */
  max_part_bytes: number
}

/** Why one submitted item was not stored (D-6). */
export interface Rejected {
  /** The id as the client sent it (lower case with dashes where it is a uuid); null when there was none. */
  run_id: string | null
  code: string
  field: string | null
  reason: string
  /** LangSmith's wording and status for the same fault: what users grep for when nothing of a request was storable. */
  error: string
  status: 400 | 422 | 413
}

/** A project named by fragments of a request, to be resolved to an id before they are stored. */
export interface ProjectReference {
  session_name: string | null
  session_id: string | null
  /** Positions in `rows` where the id goes. */
  offsets: number[]
}

/** Attachment bytes, content-addressed. */
export interface Blob {
  /** SHA-256 of the bytes, hex. */
  sha256: string
  bytes: Uint8Array
}

/** What became of a request body. */
export interface Decoded {
  /** Fragments as RowBinary rows; project ids still NIL_UUID. */
  rows: Uint8Array
  /** Fragments in `rows`. */
  count: number
  projects: ProjectReference[]
  /** Feedback records as RowBinary rows of table `feedback`. */
  feedback_rows: Uint8Array
  feedback_count: number
  blobs: Blob[]
  rejected: Rejected[]
  /** The multipart body had no closing boundary, or stopped inside a part. */
  truncated: boolean
}
