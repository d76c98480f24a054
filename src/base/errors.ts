/** The meaning of a code for callers: HTTP status, whether a retry can help, and the default text. */
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
 * Every error code of the product; docs/api/errors.md is generated from this table. Overload is always retryable with 429
 * or 503, never 500: clients do not retry after other statuses.
 */
export const ERRORS = {
  invalid_request: kind(422, 'The request is not valid.'),
  invalid_json: kind(400, 'The body is not valid JSON.'),
  invalid_multipart: kind(400, 'The body is not valid multipart/form-data.'),
  invalid_otlp: kind(400, 'The body is not a valid OTLP message.'),
  invalid_encoding: kind(400, 'The body is not valid in the compression that its Content-Encoding names.'),
  unsupported_media_type: kind(415, 'This Content-Type is not accepted here.'),
  unsupported_encoding: kind(
    415,
    'This Content-Encoding is not accepted; use identity, gzip, deflate, zstd or snappy.',
  ),
  body_too_large: kind(413, 'The body is larger than the limit.'),
  metadata_too_large: kind(413, 'The metadata would be larger than the limit.'),
  body_too_slow: kind(408, 'The body arrived too slowly.'),
  unauthorized: kind(401, 'Invalid token'),
  forbidden: kind(403, 'Forbidden'),
  permission_required: kind(403, 'Forbidden: the key lacks the permission that this needs.'),
  key_sign_in_off: kind(403, 'Keys do not sign in here: use a sign-in provider, or weir open on the server.'),
  foreign_origin: kind(403, 'Requests without a key are not accepted from pages of other sites.'),
  misdirected_request: kind(
    421,
    'Requests without a key must use a loopback host name, HOST, or the host name of PUBLIC_URL.',
  ),
  auth_unavailable: retryable(503, "The deployment's auth handler does not answer. Try again shortly."),
  auth_failed: kind(500, "The deployment's auth handler failed."),
  app_unavailable: retryable(503, "The deployment's HTTP app does not answer. Try again shortly."),
  app_failed: kind(502, "The deployment's HTTP app closed the connection before its response was complete."),
  ui_unavailable: retryable(503, "The deployment's UI components are not bundled."),
  deployment_name_taken: kind(409, 'Another deployment of this server has this name.'),
  deployment_managed_by_server: kind(
    409,
    'This deployment comes from the setting GRAPHS. Change the setting and restart the server.',
  ),
  deployment_type_fixed: kind(409, 'The type of a deployment is fixed when it is made.'),
  build_not_kept: kind(409, 'The build of this revision is not kept any more: deploy its source again.'),
  source_unsupported: kind(400, 'This server takes source, not images: run `langgraph deploy --remote`.'),
  agents_unsupported: kind(400, 'This server has no agents: name the deployment with --name.'),
  secret_missing: kind(409, 'The workspace has no secret with this name.'),
  host_not_allowed: kind(403, 'This host may not be called.'),
  provider_failed: kind(502, 'The model provider did not answer, or refused the call.'),
  container_runtime_unavailable: kind(503, 'No container runtime answers.'),
  source_invalid: kind(422, 'The archive of the source is not valid.'),
  build_failed: kind(422, 'The revision could not be built.'),
  plan_required: kind(403, 'Deployments need the Plus plan or above.'),
  attachment_damaged: kind(
    500,
    'The stored bytes of the attachment are damaged. Restore them from a backup, or send the attachment again.',
  ),
  secrets_unreadable: kind(
    500,
    'The key in SECRETS_KEY, or in DATA_DIR, does not decrypt the stored secrets.',
  ),
  isolation_unavailable: kind(500, 'The isolation that DEPLOY_ISOLATION names does not work here.'),
  deployment_failed: kind(422, 'The revision could not be started; the active one is unchanged.'),
  deployment_not_ready: retryable(503, 'No revision of the deployment is active yet.'),
  websockets_unsupported: kind(400, 'WebSockets are not supported here.'),
  workspace_required: kind(
    403,
    'This key has several workspaces and no default, and requires workspace specification: name one in X-Tenant-Id, or use a key of one workspace.',
  ),
  not_found: kind(404, 'Not found'),
  share_ended: kind(404, 'What this link shared is no longer shared. Ask for a new link.'),
  usage_disabled: kind(
    404,
    'Granular usage reporting is not enabled. Set DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING and GRANULAR_USAGE_TABLE_ENABLED to true.',
  ),
  method_not_allowed: kind(405, 'This method is not allowed here.'),
  not_implemented: kind(501, 'This server does not support this request.'),
  conflict: kind(409, 'The request conflicts with what is stored.'),
  managed_by_file: kind(
    409,
    'A set-up file manages this: change the file, or send the request with ?override=true until the file is applied again.',
  ),
  run_not_active: kind(409, 'The run is not pending or running.'),
  run_id_taken: kind(409, 'Another thread has a run with this id.'),
  thread_busy: kind(409, 'Thread is busy'),
  overloaded: retryable(503, 'Too much work is in flight. Try again shortly.'),
  log_full: retryable(503, 'The ingest log is full because the store is behind. Try again shortly.'),
  disk_full: retryable(503, 'The disk of DATA_DIR is full: nothing is stored until space is free.'),
  disk_unwritable: retryable(503, 'The disk of DATA_DIR cannot be written. Nothing is stored until it can.'),
  log_unavailable: retryable(503, 'The ingest log cannot be written. Try again shortly.'),
  log_unusable: kind(500, 'The directory of the ingest log cannot be used.'),
  worker_failed: retryable(503, 'A worker thread ended before the work was done. Try again shortly.'),
  worker_timeout: retryable(503, 'The work exceeded its time limit. Try again later.'),
  // The status is below 500, because LangGraph's JavaScript SDK repeats a request for half a minute after a 5xx.
  graph_not_loaded: kind(409, 'The graph cannot be loaded. Change its code.'),
  thread_of_other_language: kind(
    409,
    'A graph of another language has written the thread. Use a new thread.',
  ),
  host_unavailable: retryable(503, 'No graph host answers. Try again shortly.'),
  store_unavailable: retryable(503, 'The store does not answer. Try again shortly.'),
  store_misconfigured: retryable(
    503,
    'Something between this server and a store refuses requests. The configuration must be changed.',
  ),
  rate_limited: retryable(429, 'Too many requests. Try again shortly.'),
  too_many_streams: retryable(429, 'Too many event streams are open. Close some, or try again later.'),
  quota_reached: retryable(
    429,
    'The workspace has as many of these records as its quota allows. Delete some, or try again later.',
  ),
  store_full: kind(507, 'The items of the workspace have reached their quota of bytes. Delete some.'),
  usage_limit_reached: retryable(429, 'The limit of traces for this month is reached.'),
  shutting_down: retryable(503, 'The server is stopping. Try again shortly.'),
  internal: kind(500, 'Internal error'),
  config_invalid: kind(500, 'The configuration is not valid.'),
  sweep_failing: retryable(503, 'What has expired is not deleted, because a sweep fails again and again.'),
  store_changed: kind(500, 'A store is not the one that this server used before.'),
  data_dir_unusable: kind(500, 'DATA_DIR cannot be used.'),
  backup_unusable: kind(500, 'The folder cannot be used as a backup.'),
  store_not_empty: kind(500, 'A backup is restored into empty stores only.'),

  invalid_run_id: kind(422, 'The id is not a UUID.'),
  trace_deleted: kind(409, 'The trace was deleted. It cannot be sent again within a day of that.'),
  invalid_trace_id: kind(422, 'The trace_id is not a UUID or does not fit the run.'),
  invalid_parent_run_id: kind(422, 'The parent_run_id is not a UUID or does not fit the run.'),
  invalid_dotted_order: kind(400, 'The dotted_order is not valid.'),
  invalid_timestamp: kind(422, 'The time must be an ISO 8601 timestamp or epoch milliseconds.'),
  invalid_field: kind(422, 'A field has the wrong type or value.'),
  missing_field: kind(422, 'A required field is missing.'),
  incomplete_run: kind(422, 'The run arrived incomplete.'),
  run_too_large: kind(413, 'The run is larger than the limit.'),
  too_many_parts: kind(413, 'The request has more parts than the limit.'),
  unknown_part: kind(422, 'A part of the request has a name that is not known here.'),
} as const satisfies Record<string, ErrorKind>

/** The name of an error, stable across releases: clients and dashboards may match on it. */
export type ErrorCode = keyof typeof ERRORS

/**
 * The only error class of the product: a code from ERRORS, and further fields of the response. The message is meant for
 * the caller and never contains a payload or a key; `cause` is for the log only.
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

  /** Whether the same request may succeed later; such responses have Retry-After. */
  get retryable(): boolean {
    return ERRORS[this.code].retryable
  }
}

/** Returns an AppError unchanged, and any other thrown value as `internal` with the value as its cause. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('internal', { cause: thrown })
}
