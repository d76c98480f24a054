/** What a code means to the outside: HTTP status, whether trying again can help, and the default text. */
export interface ErrorKind {
  readonly status: number
  readonly retryable: boolean
  readonly message: string
}

function kind(status: number, message: string): ErrorKind {
  return { status, retryable: false, message }
}

function retryable(status: number, message: string): ErrorKind {
  return { status, retryable: true, message }
}

/**
 * Every error code of the product; docs/errors.md is printed from this table. Overload is always retryable
 * with 429 or 503, never 500: clients give up at once on other answers (contract trace-ingest §0 fact 4).
 */
export const ERRORS = {
  invalid_request: kind(422, 'The request is not valid.'),
  invalid_json: kind(400, 'The body is not valid JSON.'),
  invalid_multipart: kind(400, 'The body is not valid multipart/form-data.'),
  invalid_otlp: kind(400, 'The body is not a valid OTLP message.'),
  invalid_encoding: kind(400, 'The body does not decompress with the Content-Encoding it names.'),
  unsupported_media_type: kind(415, 'This Content-Type is not accepted here.'),
  unsupported_encoding: kind(415, 'This Content-Encoding is not accepted; use identity, gzip or zstd.'),
  body_too_large: kind(413, 'The body is larger than the limit.'),
  body_too_slow: kind(408, 'The body arrived too slowly.'),
  unauthorized: kind(401, 'Invalid token'),
  forbidden: kind(403, 'Forbidden'),
  foreign_origin: kind(403, 'Without a key, requests of pages of other sites are not accepted.'),
  misdirected_request: kind(
    421,
    'Without a key, this server answers only under a loopback name or the name in PUBLIC_URL.',
  ),
  auth_unavailable: retryable(503, "The deployment's auth handler does not answer. Try again shortly."),
  auth_failed: kind(500, "The deployment's auth handler failed."),
  app_unavailable: retryable(503, "The deployment's HTTP app does not answer. Try again shortly."),
  app_failed: kind(502, "The deployment's HTTP app broke off before it had answered."),
  ui_unavailable: retryable(503, "The deployment's UI components are not bundled."),
  websockets_unsupported: kind(400, 'Websockets are not served here.'),
  workspace_required: kind(
    403,
    'This key serves several workspaces and has no default: name one in X-Tenant-Id, or take a key of one workspace.',
  ),
  not_found: kind(404, 'Not found'),
  usage_disabled: kind(
    404,
    'Granular usage reporting is not enabled. Set DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING and GRANULAR_USAGE_TABLE_ENABLED to true.',
  ),
  method_not_allowed: kind(405, 'This method is not allowed here.'),
  conflict: kind(409, 'The request conflicts with what is stored.'),
  run_not_active: kind(409, 'The run is not pending or running.'),
  run_id_taken: kind(409, 'Another thread has a run with this id.'),
  thread_busy: kind(409, 'Thread is busy'),
  overloaded: retryable(503, 'Too much work is in flight. Try again shortly.'),
  log_full: retryable(503, 'The ingest log is full because the store is behind. Try again shortly.'),
  disk_full: retryable(503, 'The disk of DATA_DIR is full: nothing is stored until there is room on it.'),
  disk_unwritable: retryable(503, 'The disk of DATA_DIR takes no writes: nothing is stored until it does.'),
  log_unavailable: retryable(503, 'The ingest log cannot be written. Try again shortly.'),
  log_unusable: kind(500, 'The directory of the ingest log cannot be used.'),
  worker_failed: retryable(503, 'A worker thread ended before the work was done. Try again shortly.'),
  worker_timeout: retryable(503, 'The work took longer than it may. Try again later.'),
  host_unavailable: retryable(503, 'No graph host answers. Try again shortly.'),
  store_unavailable: retryable(503, 'The store does not answer. Try again shortly.'),
  rate_limited: retryable(429, 'Too many requests. Try again shortly.'),
  too_many_streams: retryable(429, 'Too many event streams are open. Close some, or try again later.'),
  usage_limit_reached: retryable(429, 'The limit of traces for this month is reached.'),
  shutting_down: retryable(503, 'The server is stopping. Try again shortly.'),
  internal: kind(500, 'Internal error'),
  config_invalid: kind(500, 'The configuration is not valid.'),
  store_changed: kind(500, 'A store is not the one that it was when this server ran last.'),
  data_dir_unusable: kind(500, 'DATA_DIR cannot be used.'),

  invalid_run_id: kind(422, 'The id is not a UUID.'),
  invalid_trace_id: kind(422, 'The trace_id is not a UUID or does not fit the run.'),
  invalid_parent_run_id: kind(422, 'The parent_run_id is not a UUID or does not fit the run.'),
  invalid_dotted_order: kind(400, 'The dotted_order is not valid.'),
  invalid_timestamp: kind(422, 'The time must be an ISO 8601 timestamp or epoch milliseconds.'),
  invalid_field: kind(422, 'A field has the wrong type or value.'),
  missing_field: kind(422, 'A required field is missing.'),
  incomplete_run: kind(422, 'The run did not arrive whole.'),
  run_too_large: kind(413, 'The run is larger than the limit.'),
  too_many_parts: kind(413, 'The request has more parts than the limit.'),
  unknown_part: kind(422, 'A part of the request has a name that is not known here.'),
} as const satisfies Record<string, ErrorKind>

/** The name of an error, stable across releases: clients and dashboards may match on it. */
export type ErrorCode = keyof typeof ERRORS

/**
 * The one error class of the product: a code from ERRORS, and what the answer may carry besides. The
 * message is meant for the caller and never holds a payload or a key; `cause` is for the log only.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: unknown

  constructor(
    code: ErrorCode,
    options: { message?: string | undefined; details?: unknown; cause?: unknown } = {},
  ) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
  }

  /** The HTTP status that belongs to the code. */
  get status(): number {
    return ERRORS[this.code].status
  }

  /** True when the same request may succeed later; such answers carry Retry-After. */
  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }
}

/** Any thrown value as an AppError: itself, or `internal` with the value as its cause. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('internal', { cause: thrown })
}
