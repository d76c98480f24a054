/* Generated from schemas/*.schema.json by `npm run generate`. Do not edit. */

/**
 * Feedback records, newest first.
 */
export type FeedbackList = FeedbackRead[]
/**
 * One typed piece of a message's content.
 */
export type ContentBlock =
  | TextBlock
  | ReasoningBlock
  | ImageBlock
  | FileBlock
  | AudioBlock
  | VideoBlock
  | ToolCallBlock
  | ServerToolCallBlock
  | ServerToolResultBlock
/**
 * Own prices by name.
 */
export type ModelPriceList = ModelPrice[]
/**
 * Projects, newest first.
 */
export type SessionList = Session[]
/**
 * Workspaces that the key may use, oldest first.
 */
export type WorkspaceList = WorkspaceRead[]

/**
 * The type of a value that passes the check of the schema with that name.
 */
export interface SchemaTypes {
  checks: ChecksRecord
  config: Settings
  'feedback-create': FeedbackCreate
  'feedback-list': FeedbackList
  'feedback-read': FeedbackRead
  info: Info
  'ingest-answer': IngestAnswer
  'ingest-health': IngestHealthRead
  issue: IssueRecord
  liveness: Liveness
  message: Message
  'model-price': ModelPrice
  'model-price-list': ModelPriceList
  'model-price-lookup': ModelPriceLookup
  'model-price-write': ModelPriceWrite
  organization: OrganizationRead
  problem: Problem
  'reprice-job': RepriceJob
  'reprice-request': RepriceRequest
  session: Session
  'session-create': SessionCreate
  'session-list': SessionList
  'session-update': SessionUpdate
  'tenant-settings': TenantSettings
  'trace-batch': TraceBatch
  'trace-read': TraceRead
  'trace-run': TraceRunRecord
  'trace-run-page': TraceRunPage
  'trace-run-query': TraceRunQueryBody
  'trace-run-read': TraceRunRead
  'usage-metadata': UsageMetadata
  'validation-report': ValidationReport
  workspace: WorkspaceRead
  'workspace-list': WorkspaceList
}
/**
 * The four requirements for a fully functional llm run, judged independently.
 */
export interface ChecksRecord {
  run_type: VerdictRecord
  format: VerdictRecord
  model: VerdictRecord
  usage: VerdictRecord
}
export interface VerdictRecord {
  ok: boolean
  /**
   * Why not, present when ok is false.
   */
  reason?: string
}
/**
 * Every environment variable that Weir reads, after parsing. An empty value counts as unset.
 */
export interface Settings {
  /**
   * Address to listen on. Use `0.0.0.0` inside a container.
   */
  HOST: string
  /**
   * Port of the platform API: trace ingest, reads, usage, health. 0 takes any free port, which is then printed.
   */
  PORT: number
  /**
   * Port of the threads and runs API of the hosted deployment. 0 takes any free port, which is then printed.
   */
  DEPLOYMENT_PORT: number
  /**
   * Directory of everything that is kept on this machine: ingest log, embedded ClickHouse, SQLite, attachments.
   */
  DATA_DIR: string
  /**
   * ClickHouse server or cluster, over HTTP, with user, password and database in the URL. Unset: an embedded ClickHouse in `DATA_DIR`.
   */
  CLICKHOUSE_URL?: string
  /**
   * The first admin key, on an empty data directory. Unset: one is generated, printed once and kept in `DATA_DIR/api-key`.
   */
  BOOTSTRAP_API_KEY?: string
  /**
   * `off` answers every request without a key; accepted on a loopback `HOST` only.
   */
  AUTH: 'on' | 'off'
  /**
   * When a submitted run is acknowledged: `log` once it is on this machine's disk, `store` once ClickHouse has confirmed it (for machines that may vanish).
   */
  INGEST_ACK: 'log' | 'store'
  /**
   * How much the ingest log may hold while ClickHouse is away; then ingest answers 503 with Retry-After.
   */
  INGEST_LOG_MAX_BYTES: number
  /**
   * Largest request body, counted after decompression; beyond it ingest answers 413.
   */
  INGEST_MAX_BODY_BYTES: number
  /**
   * Bodies held in memory at the same time over all requests; beyond it ingest answers 503 with Retry-After.
   */
  INGEST_MAX_INFLIGHT_BYTES: number
  /**
   * Your own message formats: paths of modules that export processors, separated by commas, tried before the built-in ones.
   */
  PROCESSORS: string[]
  /**
   * Where Weir sends OpenTelemetry traces and metrics of itself, over OTLP/HTTP. Unset: nothing is exported.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  /**
   * `normal` survives the death of the process, `full` a power cut as well, at the price of slower writes.
   */
  SQLITE_SYNCHRONOUS: 'normal' | 'full'
  /**
   * Least important log line that is written; lines are JSON on standard output.
   */
  LOG_LEVEL: 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
}
/**
 * A judgement on a run. Further fields are kept as sent.
 */
export interface FeedbackCreate {
  /**
   * Of your choice; made if absent. Sending it again replaces the record.
   */
  id?: string | null
  /**
   * The run it speaks of; null for feedback on a whole session.
   */
  run_id?: string | null
  trace_id?: string | null
  session_id?: string | null
  /**
   * What was judged, e.g. correctness.
   */
  key: string
  score?: number | boolean | null
  value?: string | number | boolean | {} | unknown[] | null
  correction?: string | number | boolean | {} | unknown[] | null
  comment?: string | null
  feedback_source?: {
    [k: string]: unknown | undefined
  } | null
  [k: string]: unknown | undefined
}
/**
 * A feedback record as kept.
 */
export interface FeedbackRead {
  id: string
  /**
   * The run it speaks of; null for feedback on a whole session.
   */
  run_id?: string | null
  trace_id?: string | null
  session_id?: string | null
  /**
   * What was judged, e.g. correctness.
   */
  key: string
  score?: number | boolean | null
  value?: string | number | boolean | {} | unknown[] | null
  correction?: string | number | boolean | {} | unknown[] | null
  comment?: string | null
  feedback_source?: {
    [k: string]: unknown | undefined
  } | null
  created_at?: string
  modified_at?: string
  [k: string]: unknown | undefined
}
/**
 * What clients ask before they send; static.
 */
export interface Info {
  /**
   * The LangSmith version whose behaviour clients may expect; ours is weir.version.
   */
  version: string
  license_expiration_time: null
  customer_info: null
  batch_ingest_config: {
    use_multipart_endpoint: boolean
    scale_up_qsize_trigger: number
    scale_up_nthreads_limit: number
    scale_down_nempty_trigger: number
    size_limit: number
    size_limit_bytes: number
  }
  instance_flags: {
    zstd_compression_enabled: boolean
    gzip_body_enabled: boolean
    dataset_examples_multipart_enabled: boolean
  }
  weir: {
    version: string
    limits: {
      /**
       * Body of an ingest request, after decompression. Larger: 413.
       */
      max_body_bytes: number
      /**
       * Parts of a multipart body, operations of a batch. More: 413.
       */
      max_parts: number
      /**
       * One part or field. Larger: that run is rejected, the others are stored.
       */
      max_part_bytes: number
      /**
       * Bodies in memory over all requests. More: 503 with Retry-After.
       */
      max_inflight_bytes: number
      /**
       * A sender silent for longer is answered 408.
       */
      body_idle_ms: number
      /**
       * Body of every other request.
       */
      max_json_body_bytes: number
    }
  }
}
/**
 * What became of one ingest request. Everything accepted is durable.
 */
export interface IngestAnswer {
  message: string
  /**
   * Creates, updates and feedback records that were stored.
   */
  accepted: number
  /**
   * Items that were not stored, and why. The others were.
   */
  rejected: {
    /**
     * As sent; null when there was none.
     */
    run_id: string | null
    /**
     * Stable name of the fault; docs/errors.md has all.
     */
    code: string
    field: string | null
    reason: string
  }[]
  /**
   * The body stopped early; what had arrived whole is stored.
   */
  truncated?: boolean
}
/**
 * How ingestion does, for its users.
 */
export interface IngestHealthRead {
  status: 'ok' | 'behind' | 'store_unavailable'
  /**
   * Since the process started.
   */
  accepted: number
  stored: number
  derived: number
  /**
   * Items by error code.
   */
  rejected: {
    [k: string]: number | undefined
  }
  truncated_requests: number
  /**
   * Acknowledged and not yet confirmed by the store.
   */
  waiting: number
  oldest_waiting_at: string | null
  /**
   * The ingest log; `last_recovery` tells what the last start found in it.
   */
  log: {
    bytes: number
    max_bytes: number
    segments: number
    [k: string]: unknown | undefined
  }
  store: {
    up: boolean
    last_error: string | null
    last_confirmed_at: string | null
  }
  /**
   * Worker threads by what they do.
   */
  lanes: {
    [k: string]:
      | {
          queued: number
        }
      | undefined
  }
}
/**
 * One thing that is wrong, doubtful or worth knowing about a run.
 */
export interface IssueRecord {
  /**
   * Stable snake_case code.
   */
  code: string
  severity: 'error' | 'warning' | 'info'
  /**
   * JSON path from the run's top, e.g. outputs.choices[0].message.role.
   */
  path: string
  message: string
  /**
   * How to mend it.
   */
  fix?: string
}
/**
 * Whether the server, and its stores if asked, answer.
 */
export interface Liveness {
  ok: boolean
  /**
   * With check_db=1: each store.
   */
  checks?: {
    [k: string]: 'up' | 'down' | undefined
  }
}
/**
 * One message in the interface's LangChain-style format. Keys beyond those listed are allowed and kept.
 */
export interface Message {
  /**
   * Who speaks.
   */
  role: 'system' | 'reasoning' | 'user' | 'assistant' | 'tool'
  /**
   * What is said, piece by piece, in order; empty when a message says nothing.
   */
  content: ContentBlock[]
  /**
   * Name of the speaker or of the tool that answers.
   */
  name?: string
  /**
   * Only on role tool: id of the tool call of an earlier assistant message that this answers.
   */
  tool_call_id?: string
  /**
   * Token counts and costs, as they were sent.
   */
  usage_metadata?: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * Plain text.
 */
export interface TextBlock {
  type: 'text'
  text: string
  annotations?: {
    [k: string]: unknown | undefined
  }[]
  extras?: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * What the model thought, as far as the vendor shows it.
 */
export interface ReasoningBlock {
  type: 'reasoning'
  text: string
  extras?: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * An image; one of base64, url and id is there.
 */
export interface ImageBlock {
  type: 'image'
  url?: string
  base64?: string
  /**
   * Reference to externally stored data.
   */
  id?: string
  mime_type?: string
  [k: string]: unknown | undefined
}
/**
 * A file; one of base64, url and id is there.
 */
export interface FileBlock {
  type: 'file'
  url?: string
  base64?: string
  /**
   * Reference to externally stored data.
   */
  id?: string
  mime_type?: string
  [k: string]: unknown | undefined
}
/**
 * A piece of sound; one of base64, url and id is there.
 */
export interface AudioBlock {
  type: 'audio'
  url?: string
  base64?: string
  /**
   * Reference to externally stored data.
   */
  id?: string
  mime_type?: string
  [k: string]: unknown | undefined
}
/**
 * A film; one of base64, url and id is there.
 */
export interface VideoBlock {
  type: 'video'
  url?: string
  base64?: string
  /**
   * Reference to externally stored data.
   */
  id?: string
  mime_type?: string
  [k: string]: unknown | undefined
}
/**
 * A call that the model asks its caller to make.
 */
export interface ToolCallBlock {
  type: 'tool_call'
  name?: string
  args: {
    [k: string]: unknown | undefined
  }
  id?: string
  [k: string]: unknown | undefined
}
/**
 * A call that the vendor made by itself.
 */
export interface ServerToolCallBlock {
  type: 'server_tool_call'
  id: string
  name: string
  args: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * The answer to a call that the vendor made by itself.
 */
export interface ServerToolResultBlock {
  type: 'server_tool_result'
  tool_call_id: string
  id?: string
  status: 'success' | 'error'
  /**
   * Whatever the tool gave back.
   */
  output?: {} | unknown[] | string | number | boolean | null
  [k: string]: unknown | undefined
}
/**
 * A price of your own, in the shape of LangSmith. Costs are decimal strings of US dollars per token.
 */
export interface ModelPrice {
  id: string
  /**
   * The workspace.
   */
  tenant_id: string
  name: string
  match_pattern: string
  match_path: string[]
  provider: string | null
  start_time: string | null
  prompt_token_threshold: number | null
  /**
   * US dollars per token.
   */
  prompt_cost: string
  /**
   * US dollars per token.
   */
  completion_cost: string
  prompt_cost_details: {
    [k: string]: string | undefined
  }
  completion_cost_details: {
    [k: string]: string | undefined
  }
}
/**
 * The price that a run would be costed with, and where it comes from. Null when none is known.
 */
export interface ModelPriceLookup {
  price: {
    price_model_id: string
    source: 'own' | 'default'
    prompt_cost: string | null
    completion_cost: string | null
    prompt_cost_details: {
      [k: string]: string | undefined
    }
    completion_cost_details: {
      [k: string]: string | undefined
    }
    /**
     * US dollars per call.
     */
    request_cost: string
  } | null
  /**
   * The price data that this release holds.
   */
  default_prices: {
    package: string
    version: string
    /**
     * Date of its newest price.
     */
    newest_price: string
  }
}
/**
 * A price of your own. Unknown keys are ignored; null counts as not said.
 */
export interface ModelPriceWrite {
  name: string
  /**
   * Must occur in the model name. Literals, ., ^, $, \b, classes, groups, |, *, +, ?, {n,m} and a leading (?i); it never backtracks.
   */
  match_pattern: string
  /**
   * Kept for LangSmith's clients; the model name is that of the run's llm.model.
   *
   * @maxItems 20
   */
  match_path?: string[] | null
  /**
   * Only for runs of this provider, under any of its names.
   */
  provider?: string | null
  /**
   * Counts for runs that start then or later. ISO 8601.
   */
  start_time?: string | null
  /**
   * Counts for runs with more prompt tokens than this, for all of their tokens.
   */
  prompt_token_threshold?: number | null
  /**
   * US dollars per token, as a number or a decimal string.
   */
  prompt_cost: number | string
  /**
   * US dollars per token, as a number or a decimal string.
   */
  completion_cost: number | string
  /**
   * Prices of parts of the tokens by their key in usage_metadata: cache_read, cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, audio, reasoning, flex, flex_cache_read, priority, …
   */
  prompt_cost_details?: {
    [k: string]: number | string | undefined
  } | null
  /**
   * Prices of parts of the tokens by their key in usage_metadata: cache_read, cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, audio, reasoning, flex, flex_cache_read, priority, …
   */
  completion_cost_details?: {
    [k: string]: number | string | undefined
  } | null
}
/**
 * The payer: owns the workspaces.
 */
export interface OrganizationRead {
  id: string
  display_name: string
  plan: 'developer' | 'plus' | 'enterprise'
}
/**
 * Body of every error answer.
 */
export interface Problem {
  /**
   * What is wrong, in one sentence, or fault by fault.
   */
  detail:
    | string
    | {
        /**
         * Where: body, query, path or header, then keys and indexes.
         */
        loc: (string | number)[]
        msg: string
        type: string
      }[]
  /**
   * Stable name of the error; docs/errors.md has all.
   */
  code: string
  /**
   * The same in LangSmith's wording.
   */
  error: string
  /**
   * Of a 5xx: find it in the log.
   */
  request_id?: string
}
/**
 * A job that computes stored costs again.
 */
export interface RepriceJob {
  job_id: string
  status: 'queued' | 'running' | 'done' | 'failed'
  start_time: string
  end_time: string
  session: string[] | null
  /**
   * By projects and time.
   */
  progress: number
  /**
   * Runs looked at.
   */
  examined: number
  /**
   * Runs whose costs became others.
   */
  changed: number
  error: string | null
  created_at: string
  finished_at: string | null
}
/**
 * Which runs to compute the costs of again: those that start in [start_time, end_time).
 */
export interface RepriceRequest {
  /**
   * ISO 8601.
   */
  start_time: string
  /**
   * ISO 8601.
   */
  end_time: string
  /**
   * Project id, or several; all projects if absent.
   *
   * @minItems 1
   * @maxItems 1000
   */
  session?: string | string[] | null
}
/**
 * A project; LangSmith calls it a session. Figures that are not kept are null.
 */
export interface Session {
  id: string
  /**
   * The workspace.
   */
  tenant_id: string
  name: string
  description: string | null
  start_time: string
  end_time: string | null
  extra: {
    [k: string]: unknown | undefined
  }
  default_dataset_id: string | null
  reference_dataset_id: string | null
  trace_tier: string | null
  run_count: number | null
  last_run_start_time: string | null
  last_run_start_time_live: string | null
  latency_p50: number | null
  latency_p99: number | null
  first_token_p50: number | null
  first_token_p99: number | null
  total_tokens: number | null
  prompt_tokens: number | null
  completion_tokens: number | null
  total_cost: string | null
  prompt_cost: string | null
  completion_cost: string | null
  error_rate: number | null
  streaming_rate: number | null
  feedback_stats: {
    [k: string]: unknown | undefined
  } | null
  session_feedback_stats: {
    [k: string]: unknown | undefined
  } | null
  run_facets:
    | {
        [k: string]: unknown | undefined
      }[]
    | null
  test_run_number: number | null
}
/**
 * A new project. Null counts as not said; unknown keys are ignored.
 */
export interface SessionCreate {
  /**
   * Of your choice; made if absent.
   */
  id?: string | null
  /**
   * Unique in the workspace.
   */
  name?: string | null
  description?: string | null
  extra?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Kept, not used yet.
   */
  reference_dataset_id?: string | null
  /**
   * ISO 8601.
   */
  start_time?: string | null
  /**
   * ISO 8601.
   */
  end_time?: string | null
}
/**
 * What to change of a project. Null counts as not said; unknown keys are ignored.
 */
export interface SessionUpdate {
  /**
   * Unique in the workspace.
   */
  name?: string | null
  description?: string | null
  extra?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Kept, not used yet.
   */
  reference_dataset_id?: string | null
  /**
   * ISO 8601.
   */
  start_time?: string | null
  /**
   * ISO 8601.
   */
  end_time?: string | null
}
/**
 * What LangSmith's SDKs read of the workspace.
 */
export interface TenantSettings {
  /**
   * The workspace.
   */
  id: string
  display_name: string
  created_at: string
  /**
   * Of a prompt hub, which there is none of.
   */
  tenant_handle: string | null
}
/**
 * Body of POST /runs/batch. A record that is not valid is rejected by itself.
 */
export interface TraceBatch {
  /**
   * Creates.
   */
  post?: TraceRunRecord[] | null
  /**
   * Updates.
   */
  patch?: TraceRunRecord[] | null
  [k: string]: unknown | undefined
}
/**
 * One create or update of a TraceRun as clients send it. Only what is needed to store and place it is checked here; the rest is kept as it came and judged when the TraceRun is read. Further fields are kept.
 */
export interface TraceRunRecord {
  /**
   * UUID with dashes or as 32 hex digits, like all ids here; null or an empty text stands for none. Required, except where the path or the part name has it.
   */
  id?: string | null
  /**
   * The root of its trace; its own id on a root. Derived when absent.
   */
  trace_id?: string | null
  /**
   * Absent or null on a root.
   */
  parent_run_id?: string | null
  /**
   * Start time and id of every TraceRun from the root down to this one, joined by dots. Derived when absent; rejected when it contradicts the ids.
   */
  dotted_order?: string | null
  /**
   * The project by id.
   */
  session_id?: string | null
  /**
   * The project by name, at most 512 characters; `default` when a create names none.
   */
  session_name?: {
    [k: string]: unknown | undefined
  }
  /**
   * What is shown; `unnamed` when absent.
   */
  name?: {
    [k: string]: unknown | undefined
  }
  /**
   * tool, chain, llm, retriever, embedding, prompt, parser or any other word; `chain` when absent.
   */
  run_type?: {
    [k: string]: unknown | undefined
  }
  /**
   * When it began. ISO 8601 (UTC unless it has an offset), or epoch milliseconds; below 1e11 it is seconds. A real date between 1900 and 2255.
   */
  start_time?: string | null | number
  /**
   * When it ended; absent or null while it runs. ISO 8601 (UTC unless it has an offset), or epoch milliseconds; below 1e11 it is seconds. A real date between 1900 and 2255.
   */
  end_time?: string | null | number
  /**
   * What went in; an object.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * What came out; an object.
   */
  outputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * What went wrong; text.
   */
  error?: {
    [k: string]: unknown | undefined
  }
  /**
   * Things that happened on the way: `{name, time, kwargs, message}`.
   */
  events?: {
    [k: string]: unknown | undefined
  }
  /**
   * `metadata`, `runtime`, `invocation_params` and more.
   */
  extra?: {
    [k: string]: unknown | undefined
  }
  /**
   * LangChain's description of the object that ran.
   */
  serialized?: {
    [k: string]: unknown | undefined
  }
  /**
   * A list of words.
   */
  tags?: {
    [k: string]: unknown | undefined
  }
  /**
   * The example of a dataset that it was run on.
   */
  reference_example_id?: {
    [k: string]: unknown | undefined
  }
  /**
   * Ignored: every TraceRun is sent by itself.
   */
  child_runs?: {
    [k: string]: unknown | undefined
  }
  /**
   * Ignored.
   */
  replicas?: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * A whole trace; works also when its root never came.
 */
export interface TraceRead {
  trace_id: string
  /**
   * The root run; null while it has not come.
   */
  root: TraceRunRead | null
  /**
   * In dotted order, up to 1,000.
   */
  runs: TraceRunRead[]
  totals: {
    prompt_tokens: number | null
    completion_tokens: number | null
    total_tokens: number | null
    /**
     * Decimal in US dollars; null when unknown, never 0 for unknown.
     */
    prompt_cost: string | null
    /**
     * Decimal in US dollars; null when unknown, never 0 for unknown.
     */
    completion_cost: string | null
    /**
     * Decimal in US dollars; null when unknown, never 0 for unknown.
     */
    total_cost: string | null
    llm_runs: number
    error_runs: number
    [k: string]: unknown | undefined
  }
  duration_ms?: number | null
  [k: string]: unknown | undefined
}
/**
 * A logged run as read. Reads of one run or trace carry every field; lists carry the required fields and what `select` names, or, without `select`, all but the payloads, with previews of inputs and outputs.
 */
export interface TraceRunRead {
  id: string
  trace_id: string
  parent_run_id?: string | null
  /**
   * One segment per level, joined by dots; sorts a trace depth first.
   */
  dotted_order?: string
  /**
   * The project.
   */
  session_id?: string
  name: string
  /**
   * llm, chain, tool, retriever, embedding, prompt, parser, or the client's own.
   */
  run_type: string
  status?: 'pending' | 'success' | 'error'
  start_time: string | null
  end_time?: string | null
  first_token_time?: string | null
  /**
   * When the server first had it.
   */
  received_at?: string
  /**
   * As sent.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * As sent.
   */
  outputs?: {
    [k: string]: unknown | undefined
  }
  error?: string | null
  /**
   * metadata, runtime, invocation_params.
   */
  extra?: {
    [k: string]: unknown | undefined
  } | null
  tags?: string[] | null
  events?: unknown[] | null
  serialized?: unknown
  /**
   * Of a run that is not an llm or embedding run: the sum of its descendants, double counts excluded.
   */
  prompt_tokens?: number | null
  completion_tokens?: number | null
  total_tokens?: number | null
  /**
   * Decimal in US dollars; null when unknown, never 0 for unknown.
   */
  prompt_cost?: string | null
  /**
   * Decimal in US dollars; null when unknown, never 0 for unknown.
   */
  completion_cost?: string | null
  /**
   * Decimal in US dollars; null when unknown, never 0 for unknown.
   */
  total_cost?: string | null
  thread_id?: string | null
  attachments?: {
    [k: string]:
      | {
          mime_type: string
          size: number
          url: string
        }
      | undefined
  } | null
  /**
   * Of llm and embedding runs: provider, model, messages in one format, usage with its sources, time to first token, the four checks and every issue.
   */
  llm?: {
    [k: string]: unknown | undefined
  } | null
  [k: string]: unknown | undefined
}
/**
 * One page of runs, newest first unless asked otherwise.
 */
export interface TraceRunPage {
  runs: TraceRunRead[]
  cursors: {
    /**
     * Null on the last page.
     */
    next: string | null
    prev?: string | null
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * Which runs to list. Null counts as not said; unknown keys are ignored.
 */
export interface TraceRunQueryBody {
  /**
   * Projects.
   *
   * @maxItems 1000
   */
  session?: string[] | null
  /**
   * Runs.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  /**
   * Runs of one trace.
   */
  trace?: string | null
  /**
   * Children of one run.
   */
  parent_run?: string | null
  is_root?: boolean | null
  run_type?: string | null
  /**
   * Runs that started at or after it, ISO 8601.
   */
  start_time?: string | null
  /**
   * Runs that started before it, ISO 8601.
   */
  end_time?: string | null
  /**
   * true: only runs with an error; false: only runs without.
   */
  error?: boolean | null
  /**
   * LangSmith filter expression, e.g. and(eq(run_type, "llm"), gt(total_tokens, 10)).
   */
  filter?: string | null
  /**
   * Fields to return; absent: all that lists carry.
   *
   * @maxItems 200
   */
  select?: string[] | null
  limit?: number | null
  /**
   * cursors.next of the page before.
   */
  cursor?: string | null
  /**
   * By start time.
   */
  order?: 'asc' | 'desc' | null
  /**
   * Not supported yet.
   */
  trace_filter?: null
  /**
   * Not supported yet.
   */
  tree_filter?: null
  /**
   * Not supported yet.
   */
  query?: null
  /**
   * Not supported yet.
   */
  reference_example?: null | unknown[]
}
/**
 * Token counts and costs of one llm call. input_tokens and output_tokens are whole counts: cached and reasoning tokens are inside them.
 */
export interface UsageMetadata {
  input_tokens?: number
  output_tokens?: number
  total_tokens?: number
  /**
   * Parts of input_tokens, e.g. cache_read, cache_creation, audio, text, image.
   */
  input_token_details?: {
    [k: string]: number | undefined
  }
  /**
   * Parts of output_tokens, e.g. reasoning, audio, text, image.
   */
  output_token_details?: {
    [k: string]: number | undefined
  }
  /**
   * US dollars.
   */
  input_cost?: number | string | null
  /**
   * US dollars.
   */
  output_cost?: number | string | null
  /**
   * US dollars.
   */
  total_cost?: number | string | null
  input_cost_details?: {
    [k: string]: number | string | undefined
  }
  output_cost_details?: {
    [k: string]: number | string | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * What ingest would make of the submitted runs, judged against the four requirements.
 */
export interface ValidationReport {
  /**
   * False when a run would be rejected or an llm run fails a verdict.
   */
  valid: boolean
  summary: {
    runs: number
    llm_runs: number
    valid: number
    invalid: number
    rejected: number
    /**
     * How many llm runs fail each verdict.
     */
    failed_checks: {
      run_type: number
      format: number
      model: number
      usage: number
    }
    issues: {
      error: number
      warning: number
      info: number
    }
  }
  runs: {
    run_id: string
    name: string
    run_type: string
    valid: boolean
    checks: ChecksRecord
    provider: string | null
    model: string | null
    model_source: string | null
    input_format: string | null
    output_format: string | null
    input_tokens: number | null
    output_tokens: number | null
    usage_source: {
      input: 'client' | 'vendor' | 'estimate' | null
      output: 'client' | 'vendor' | 'estimate' | null
    }
    issues: IssueRecord[]
  }[]
  rejected: {
    run_id: string | null
    code: string
    field: string | null
    reason: string
  }[]
}
/**
 * A tenant: nothing of one workspace is seen from another.
 */
export interface WorkspaceRead {
  id: string
  organization_id: string
  display_name: string
  created_at: string
}
