/* Generated from schemas/*.schema.json by `npm run generate`. Do not edit. */

/**
 * Keys of the workspaces that the caller may use, newest first.
 */
export type ApiKeyList = ApiKeyRead[]
/**
 * Assistants, or what was selected of them.
 */
export type AssistantList = {
  assistant_id?: string
  /**
   * Name of the graph in langgraph.json.
   */
  graph_id?: string
  /**
   * The version that it is at.
   */
  version?: number
  name?: string
  description?: string | null
  config?: Config
  context?: Context
  metadata?: Metadata
  created_at?: string
  updated_at?: string
}[]
/**
 * Ids of what was deleted.
 */
export type AssistantsDeleted = string[]
/**
 * How many there are.
 */
export type Count = number
export type RunCommandTarget =
  | string
  | {
      node: string
      input?: unknown
      [k: string]: unknown | undefined
    }
/**
 * Crons, or what was selected of them.
 */
export type CronList = {
  cron_id?: string
  assistant_id?: string
  /**
   * Null: each run has a thread of its own.
   */
  thread_id?: string | null
  /**
   * What becomes of threads that were made for its runs.
   */
  on_run_completed?: 'delete' | 'keep'
  schedule?: string
  /**
   * IANA name; null for UTC.
   */
  timezone?: string | null
  end_time?: string | null
  /**
   * Null when there is none: disabled, or past its end.
   */
  next_run_date?: string | null
  enabled?: boolean
  /**
   * In whose name its runs are made.
   */
  user_id?: string | null
  payload?: Payload
  metadata?: Metadata1
  created_at?: string
  updated_at?: string
  /**
   * When it was read.
   */
  now?: string
}[]
/**
 * Feedback records, newest first.
 */
export type FeedbackList = FeedbackRead[]
/**
 * What a group stands for: the keys of the chosen group_by and no others.
 */
export type UsageDimensions = WorkspaceDimensions | ProjectDimensions | UserDimensions | ApiKeyDimensions
/**
 * Members of the workspaces that the key may use, oldest first.
 */
export type MemberList = MemberRead[]
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
 * The roles and what they may do, most able first.
 */
export type RoleList = {
  name: 'admin' | 'operator' | 'user' | 'viewer'
  description: string
  permissions: string[]
}[]
/**
 * One execution of an assistant.
 */
export type Run = RunFields
/**
 * Stateless runs to be made.
 *
 * @minItems 1
 * @maxItems 1000
 */
export type RunBatch = RunCreate[]
/**
 * What a cancel came to, by run.
 */
export type RunCancelResults = {
  run_id: string
  thread_id: string
  /**
   * ended: it is no more active; requested: its worker has been told.
   */
  outcome: 'ended' | 'requested' | 'not_active' | 'not_found'
  status: 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted' | 'deleted' | null
}[]
/**
 * Runs, or what was selected of them.
 */
export type RunList = RunFields[]
/**
 * Projects, newest first.
 */
export type SessionList = Session[]
export type Namespace = string[]
/**
 * The item, or null when there is none.
 */
export type StoreItemOrNull = StoreItem | null
/**
 * A thread: a conversation, or whatever else runs share.
 */
export type Thread = ThreadFields
/**
 * When a thread ends by itself: minutes from its last write on, or null for never.
 */
export type ThreadTtlWrite =
  | number
  | {
      /**
       * Minutes.
       */
      ttl: number
      /**
       * delete, unless said; keep_latest drops all but the latest checkpoint.
       */
      strategy?: 'delete' | 'keep_latest'
    }
  | null
/**
 * States of a thread, newest first.
 */
export type ThreadHistory = ThreadState[]
/**
 * Threads, or what was selected of them.
 */
export type ThreadList = ThreadFields[]
/**
 * The limits of the organization's workspaces that the caller may use, and of keys.
 */
export type UsageLimitList = UsageLimit[]
/**
 * Workspaces that the key may use, oldest first.
 */
export type WorkspaceList = WorkspaceRead[]

/**
 * The type of a value that passes the check of the schema with that name.
 */
export interface SchemaTypes {
  'api-key': ApiKeyRead
  'api-key-created': ApiKeyCreated
  'api-key-list': ApiKeyList
  assistant: Assistant
  'assistant-count': AssistantCountBody
  'assistant-create': AssistantCreate
  'assistant-latest': AssistantLatestBody
  'assistant-list': AssistantList
  'assistant-search': AssistantSearchBody
  'assistant-update': AssistantUpdate
  'assistant-versions': AssistantVersionsBody
  'assistants-deleted': AssistantsDeleted
  'audit-log-page': AuditLogPage
  checkpoint: Checkpoint
  checks: ChecksRecord
  config: Settings
  count: Count
  cron: Cron
  'cron-count': CronCountBody
  'cron-create': CronCreate
  'cron-list': CronList
  'cron-search': CronSearchBody
  'cron-update': CronUpdate
  'deployment-info': DeploymentInfo
  'deployment-problem': DeploymentProblem
  'empty-object': EmptyObject
  'feedback-create': FeedbackCreate
  'feedback-list': FeedbackList
  'feedback-read': FeedbackRead
  'granular-usage': GranularUsage
  'graph-drawing': GraphDrawing
  'graph-schemas': GraphSchemas
  info: Info
  'ingest-answer': IngestAnswer
  'ingest-health': IngestHealthRead
  issue: IssueRecord
  liveness: Liveness
  member: MemberRead
  'member-create': MemberCreate
  'member-list': MemberList
  'member-update': MemberUpdate
  message: Message
  'model-price': ModelPrice
  'model-price-list': ModelPriceList
  'model-price-lookup': ModelPriceLookup
  'model-price-write': ModelPriceWrite
  organization: OrganizationRead
  'personal-token-create': PersonalTokenCreate
  problem: Problem
  'reprice-job': RepriceJob
  'reprice-request': RepriceRequest
  'role-list': RoleList
  run: Run
  'run-batch': RunBatch
  'run-cancel-many': RunCancelMany
  'run-cancel-results': RunCancelResults
  'run-command': RunCommand
  'run-create': RunCreate
  'run-fields': RunFields
  'run-list': RunList
  'run-result': RunResult
  'service-key-create': ServiceKeyCreate
  session: Session
  'session-create': SessionCreate
  'session-list': SessionList
  'session-update': SessionUpdate
  'store-item': StoreItem
  'store-item-found': StoreItemOrNull
  'store-item-key': StoreItemKey
  'store-item-write': StoreItemWrite
  'store-namespace-list': StoreNamespaceList
  'store-namespaces': StoreNamespacesBody
  'store-search': StoreSearchBody
  'store-search-result': StoreSearchResult
  'subgraph-schemas': SubgraphSchemas
  'tenant-settings': TenantSettings
  thread: Thread
  'thread-count': ThreadCount
  'thread-create': ThreadCreate
  'thread-fields': ThreadFields
  'thread-history': ThreadHistory
  'thread-history-query': ThreadHistoryQuery
  'thread-list': ThreadList
  'thread-prune': ThreadPrune
  'thread-search': ThreadSearch
  'thread-state': ThreadState
  'thread-state-patch': ThreadStatePatch
  'thread-state-query': ThreadStateQuery
  'thread-state-update': ThreadStateUpdate
  'thread-state-updated': ThreadStateUpdated
  'thread-ttl-write': ThreadTtlWrite
  'thread-update': ThreadUpdate
  'threads-pruned': ThreadsPruned
  'trace-batch': TraceBatch
  'trace-read': TraceRead
  'trace-run': TraceRunRecord
  'trace-run-page': TraceRunPage
  'trace-run-query': TraceRunQueryBody
  'trace-run-read': TraceRunRead
  'ui-request': UiRequest
  'usage-details': UsageDetails
  'usage-dimensions': UsageDimensions
  'usage-limit': UsageLimit
  'usage-limit-list': UsageLimitList
  'usage-limit-write': UsageLimitWrite
  'usage-metadata': UsageMetadata
  'usage-rebuild': UsageRebuild
  'usage-stride': UsageStride
  'validation-report': ValidationReport
  workspace: WorkspaceRead
  'workspace-create': WorkspaceCreate
  'workspace-list': WorkspaceList
  'workspace-update': WorkspaceUpdate
}
/**
 * A service key or personal access token as listed: without the key itself.
 */
export interface ApiKeyRead {
  id: string
  /**
   * First and last four characters; unique in the organization.
   */
  short_key: string
  description: string
  /**
   * Whom a personal token acts for; null for a service key.
   */
  user_id: string | null
  /**
   * What the key may do at most; a personal token may do no more than its owner.
   */
  role: 'admin' | 'operator' | 'user' | 'viewer'
  read_only: boolean
  /**
   * Null = every workspace, also later ones. Those that the caller may not use are left out.
   */
  workspaces: string[] | null
  /**
   * For requests without X-Tenant-Id.
   */
  default_workspace_id: string | null
  created_at: string
  /**
   * Null = never.
   */
  expires_at: string | null
  /**
   * Exact to a minute; null = not yet.
   */
  last_used_at: string | null
}
/**
 * A new key. This is the only time that the key itself is told.
 */
export interface ApiKeyCreated {
  /**
   * Keep it: only its SHA-256 is stored.
   */
  key: string
  id: string
  /**
   * First and last four characters; unique in the organization.
   */
  short_key: string
  description: string
  /**
   * Whom a personal token acts for; null for a service key.
   */
  user_id: string | null
  /**
   * What the key may do at most; a personal token may do no more than its owner.
   */
  role: 'admin' | 'operator' | 'user' | 'viewer'
  read_only: boolean
  /**
   * Null = every workspace, also later ones. Those that the caller may not use are left out.
   */
  workspaces: string[] | null
  /**
   * For requests without X-Tenant-Id.
   */
  default_workspace_id: string | null
  created_at: string
  /**
   * Null = never.
   */
  expires_at: string | null
  /**
   * Exact to a minute; null = not yet.
   */
  last_used_at: string | null
}
/**
 * A graph with a configuration of its own.
 */
export interface Assistant {
  assistant_id: string
  /**
   * Name of the graph in langgraph.json.
   */
  graph_id: string
  /**
   * The version that it is at.
   */
  version: number
  name: string
  description: string | null
  config: Config
  context: Context
  metadata: Metadata
  /**
   * There only while its graph cannot be loaded.
   */
  weir?: {
    /**
     * Why its graph cannot be loaded, with file and line. Its runs fail with these words.
     */
    unavailable: string
  }
  created_at: string
  updated_at: string
}
/**
 * Laid under the config of its runs.
 */
export interface Config {
  [k: string]: unknown | undefined
}
/**
 * Laid under the context of its runs.
 */
export interface Context {
  [k: string]: unknown | undefined
}
/**
 * Laid under the metadata of its runs.
 */
export interface Metadata {
  [k: string]: unknown | undefined
}
/**
 * Which assistants to count. Null counts as not said; unknown keys are ignored.
 */
export interface AssistantCountBody {
  graph_id?: string | null
  /**
   * Part of the name, in any case.
   */
  name?: string | null
  /**
   * What the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * A new assistant. Null counts as not said; unknown keys are ignored.
 */
export interface AssistantCreate {
  /**
   * Name of a graph of this deployment.
   */
  graph_id: string
  /**
   * Of your choice; made if absent.
   */
  assistant_id?: string | null
  name?: string | null
  description?: string | null
  /**
   * `tags`, `recursion_limit`, `configurable`.
   */
  config?: {
    [k: string]: unknown | undefined
  } | null
  context?: {
    [k: string]: unknown | undefined
  } | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * What to do when the id is taken: 409, or answer the assistant that has it.
   */
  if_exists?: 'raise' | 'do_nothing' | null
}
/**
 * The version to go to.
 */
export interface AssistantLatestBody {
  version: number
}
/**
 * Which assistants to list. Null counts as not said; unknown keys are ignored.
 */
export interface AssistantSearchBody {
  graph_id?: string | null
  /**
   * Part of the name, in any case.
   */
  name?: string | null
  /**
   * What the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  limit?: number | null
  offset?: number | null
  sort_by?: 'assistant_id' | 'graph_id' | 'name' | 'created_at' | 'updated_at' | null
  sort_order?: 'asc' | 'desc' | null
  /**
   * Fields of the answer; all if absent.
   *
   * @maxItems 50
   */
  select?:
    | (
        | 'assistant_id'
        | 'graph_id'
        | 'version'
        | 'name'
        | 'description'
        | 'config'
        | 'context'
        | 'metadata'
        | 'created_at'
        | 'updated_at'
      )[]
    | null
}
/**
 * What the next version has that is different. Null counts as not said; unknown keys are ignored.
 */
export interface AssistantUpdate {
  /**
   * Name of a graph of this deployment.
   */
  graph_id?: string | null
  name?: string | null
  description?: string | null
  /**
   * In place of the one before.
   */
  config?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * In place of the one before.
   */
  context?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Merged into what there is, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Which versions to list. Null counts as not said; unknown keys are ignored.
 */
export interface AssistantVersionsBody {
  /**
   * What the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  limit?: number | null
  offset?: number | null
}
/**
 * Changes of workspaces, members and keys, newest first.
 */
export interface AuditLogPage {
  audit_logs: {
    id: string
    time: string
    /**
     * E.g. `member.add`, `key.delete`, `workspace.rename`.
     */
    action: string
    /**
     * The workspace, member or key.
     */
    subject_id: string
    actor: {
      api_key_id: string
      short_key: string
      user_id: string | null
    }
    /**
     * What was changed to what.
     */
    details: {
      [k: string]: unknown | undefined
    }
  }[]
  cursors: {
    /**
     * `cursor` of the next page; null on the last.
     */
    next: string | null
  }
}
/**
 * One checkpoint of a thread.
 */
export interface Checkpoint {
  thread_id?: string | null
  checkpoint_ns?: string | null
  checkpoint_id?: string | null
  checkpoint_map?: {
    [k: string]: unknown | undefined
  } | null
  [k: string]: unknown | undefined
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
   * Port of the platform API: trace ingest, reads, usage, health. 0 takes any free port. Unset: the default, or the next free port where it is taken. The address is printed, and kept in `DATA_DIR/server.json` for commands.
   */
  PORT: number
  /**
   * Port of the threads and runs API of the hosted deployment. 0 takes any free port. Unset: as for `PORT`.
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
   * Postgres database of organizations, members, keys, projects and prices; needed when several servers work as one. Unset: SQLite in `DATA_DIR`.
   */
  DATABASE_URL?: string
  /**
   * Redis 7 for the events that streams are read from. Unset: they are in the run database. With several servers Redis takes the load of streaming off Postgres; what it keeps after a crash is up to its own persistence (`appendonly yes`).
   */
  REDIS_URL?: string
  /**
   * With `CLICKHOUSE_URL`: the cluster of replicas (one shard) that it leads to. Tables are made replicated on all of them, inserts wait for a quorum, and reads see every confirmed insert.
   */
  CLICKHOUSE_CLUSTER?: string
  /**
   * The first admin key, on an empty data directory. Unset: one is generated, printed once and kept in `DATA_DIR/api-key`.
   */
  BOOTSTRAP_API_KEY?: string
  /**
   * `off` answers every request without a key, unless it comes from a web page of another site; accepted on a loopback `HOST` only.
   */
  AUTH: 'on' | 'off'
  /**
   * Where browsers reach the platform API, when it is behind a proxy. With `AUTH=off` only requests to this name or to a loopback one are answered.
   */
  PUBLIC_URL?: string
  /**
   * When a submitted run is acknowledged: `log` once it is on this machine's disk, `store` once ClickHouse has confirmed it (for machines that may vanish).
   */
  INGEST_ACK: 'log' | 'store'
  /**
   * How much the ingest log may hold while ClickHouse is away; then ingest answers 503 with Retry-After.
   */
  INGEST_LOG_MAX_BYTES: number
  /**
   * With less than this free on the disk of `DATA_DIR`, health says `disk_full` and `/ok?check_db=1` answers 503. Writes are still tried.
   */
  DISK_MIN_FREE_BYTES: number
  /**
   * Largest request body, counted after decompression; beyond it ingest answers 413.
   */
  INGEST_MAX_BODY_BYTES: number
  /**
   * Bodies held in memory at the same time over all requests. One key has at most 7/8 of it. When it is used up, the key that has the most is answered 503 with Retry-After while it is still sending.
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
   * With `GRANULAR_USAGE_TABLE_ENABLED`: counts traces for the usage API. With either off nothing is counted and the API answers 404; what comes meanwhile stays uncounted.
   */
  DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING: boolean
  /**
   * The other switch of the usage API: see `DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING`.
   */
  GRANULAR_USAGE_TABLE_ENABLED: boolean
  /**
   * The langgraph.json of the deployment that is hosted on `DEPLOYMENT_PORT`. Unset: the example that comes with Weir, whatever the working directory. Set to nothing (`GRAPHS=`): no graphs are hosted.
   */
  GRAPHS?: string
  /**
   * Name of the hosted deployment: in its path `/deployments/{name}`, and the project of its runs' traces. Unset: the name of the folder of `GRAPHS`.
   */
  DEPLOYMENT_NAME?: string
  /**
   * `on` records every run of the deployment as a trace in Weir itself.
   */
  RUN_TRACING: 'on' | 'off'
  /**
   * Runs of a deployment that are executed at one time by one server; further ones wait, in order.
   */
  RUN_CONCURRENCY: number
  /**
   * Seconds that an attempt of a run may take; then it ends with status `timeout`.
   */
  BG_JOB_TIMEOUT_SECS: number
  /**
   * Seconds after which a graph host that does not answer, because a node blocks it, is killed. The run that blocked it fails, the others are tried again.
   */
  HOST_STALL_SECONDS: number
  /**
   * Seconds after which a graph host that a cancelled run keeps blocked is killed.
   */
  CANCEL_GRACE_SECONDS: number
  /**
   * Signs webhooks of runs (Standard Webhooks). Unset: one is generated and kept in `DATA_DIR/webhook-secret`.
   */
  WEBHOOK_SECRET?: string
  /**
   * `on` lets webhooks call addresses that are not public, such as those of this machine or network.
   */
  WEBHOOK_PRIVATE_ADDRESSES: 'on' | 'off'
  /**
   * Event streams of the deployment that are open at one time; beyond it new ones are answered 429 `too_many_streams`.
   */
  STREAMS_MAX: number
  /**
   * The same for one API key, or for one user of a deployment's own auth file.
   */
  STREAMS_MAX_PER_KEY: number
  /**
   * How much the events of all threads together may take that are kept for streams to come back to; beyond it the oldest are forgotten first. With `REDIS_URL` the `maxmemory` of Redis bounds them.
   */
  EVENTS_MAX_BYTES: number
  /**
   * Least important log line that is written; lines are JSON on standard output.
   */
  LOG_LEVEL: 'silent' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'
}
/**
 * A run that is made again and again.
 */
export interface Cron {
  cron_id: string
  assistant_id: string
  /**
   * Null: each run has a thread of its own.
   */
  thread_id: string | null
  /**
   * What becomes of threads that were made for its runs.
   */
  on_run_completed: 'delete' | 'keep'
  schedule: string
  /**
   * IANA name; null for UTC.
   */
  timezone: string | null
  end_time: string | null
  /**
   * Null when there is none: disabled, or past its end.
   */
  next_run_date: string | null
  enabled: boolean
  /**
   * In whose name its runs are made.
   */
  user_id: string | null
  payload: Payload
  metadata: Metadata1
  created_at: string
  updated_at: string
}
/**
 * The request of its runs.
 */
export interface Payload {
  [k: string]: unknown | undefined
}
export interface Metadata1 {
  [k: string]: unknown | undefined
}
/**
 * Which crons to count. Null counts as not said; unknown keys are ignored.
 */
export interface CronCountBody {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  thread_id?: string | null
  enabled?: boolean | null
  /**
   * What the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * When to run what. Null counts as not said; unknown keys are ignored.
 */
export interface CronCreate {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id: string
  /**
   * Five fields (minute, hour, day, month, weekday), six with seconds first, or a name such as `@daily`.
   */
  schedule: string
  /**
   * IANA name; null for UTC.
   */
  timezone?: string | null
  /**
   * ISO 8601; no runs after it.
   */
  end_time?: string | null
  enabled?: boolean | null
  /**
   * What becomes of threads that were made for its runs.
   */
  on_run_completed?: 'delete' | 'keep' | null
  /**
   * Of the cron, and of its runs.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Any JSON.
   */
  input?: {
    [k: string]: unknown | undefined
  }
  /**
   * Instead of input.
   */
  command?: RunCommand | null
  config?: {
    [k: string]: unknown | undefined
  } | null
  context?: {
    [k: string]: unknown | undefined
  } | null
  webhook?: string | null
  interrupt_before?: '*' | string[] | null
  interrupt_after?: '*' | string[] | null
  stream_mode?:
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )[]
    | null
  stream_subgraphs?: boolean | null
  stream_resumable?: boolean | null
  durability?: 'sync' | 'async' | 'exit' | null
  /**
   * Deprecated: false is `durability: exit`.
   */
  checkpoint_during?: boolean | null
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback' | null
}
/**
 * What a run begins with instead of input. Null counts as not said; unknown keys are ignored.
 */
export interface RunCommand {
  /**
   * Of the state, by key, or as pairs of key and value.
   */
  update?:
    | {
        [k: string]: unknown | undefined
      }
    | unknown[][]
    | null
  /**
   * For the open interrupt, or by interrupt id; null is no answer.
   */
  resume?: {
    [k: string]: unknown | undefined
  }
  /**
   * A node, one with input of its own, or a list of both.
   */
  goto?: RunCommandTarget | RunCommandTarget[] | null
  [k: string]: unknown | undefined
}
/**
 * Which crons to list. Null counts as not said; unknown keys are ignored.
 */
export interface CronSearchBody {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  thread_id?: string | null
  enabled?: boolean | null
  /**
   * What the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  limit?: number | null
  offset?: number | null
  sort_by?:
    | 'cron_id'
    | 'assistant_id'
    | 'thread_id'
    | 'next_run_date'
    | 'end_time'
    | 'created_at'
    | 'updated_at'
    | null
  sort_order?: 'asc' | 'desc' | null
  /**
   * Fields of the answer; all if absent.
   *
   * @maxItems 50
   */
  select?:
    | (
        | 'cron_id'
        | 'assistant_id'
        | 'thread_id'
        | 'on_run_completed'
        | 'schedule'
        | 'timezone'
        | 'end_time'
        | 'next_run_date'
        | 'enabled'
        | 'user_id'
        | 'payload'
        | 'metadata'
        | 'created_at'
        | 'updated_at'
        | 'now'
      )[]
    | null
}
/**
 * What is to be different. Null takes away `timezone`, `end_time`, `webhook` and `input`; elsewhere it counts as not said.
 */
export interface CronUpdate {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  /**
   * Five fields (minute, hour, day, month, weekday), six with seconds first, or a name such as `@daily`.
   */
  schedule?: string | null
  /**
   * IANA name; null for UTC.
   */
  timezone?: string | null
  /**
   * ISO 8601; no runs after it.
   */
  end_time?: string | null
  enabled?: boolean | null
  /**
   * What becomes of threads that were made for its runs.
   */
  on_run_completed?: 'delete' | 'keep' | null
  /**
   * Merged into what there is, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Any JSON.
   */
  input?: {
    [k: string]: unknown | undefined
  }
  /**
   * Instead of input.
   */
  command?: RunCommand | null
  config?: {
    [k: string]: unknown | undefined
  } | null
  context?: {
    [k: string]: unknown | undefined
  } | null
  webhook?: string | null
  interrupt_before?: '*' | string[] | null
  interrupt_after?: '*' | string[] | null
  stream_mode?:
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )[]
    | null
  stream_subgraphs?: boolean | null
  stream_resumable?: boolean | null
  durability?: 'sync' | 'async' | 'exit' | null
  /**
   * Deprecated: false is `durability: exit`.
   */
  checkpoint_during?: boolean | null
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback' | null
}
/**
 * What clients and Studio ask first; answers without a key.
 */
export interface DeploymentInfo {
  /**
   * The version of LangGraph's server whose behaviour clients may expect; ours is weir.version.
   */
  version: string
  langgraph_js_version: string
  context: 'js'
  flags: {
    assistants: boolean
    crons: boolean
    /**
     * Runs are recorded as traces.
     */
    langsmith: boolean
    langsmith_tracing_replicas: boolean
  }
  metadata: {
    [k: string]: unknown | undefined
  }
  weir: {
    version: string
    /**
     * Name of the deployment.
     */
    deployment: string
    /**
     * What assistant_id may name, besides ids.
     */
    graphs: string[]
    limits: {
      max_json_body_bytes: number
    }
  }
}
/**
 * Every error answer of the deployment API.
 */
export interface DeploymentProblem {
  /**
   * What is wrong, and where.
   */
  detail: string
  /**
   * Stable name of the error: docs/errors.md.
   */
  code: string
}
/**
 * Nothing to tell.
 */
export interface EmptyObject {}
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
 * Traces per time bucket and group, in this order; groups without traces are left out.
 */
export interface GranularUsage {
  stride: UsageStride
  usage: {
    /**
     * Start of the bucket, UTC; it may lie before start_time by alignment.
     */
    time_bucket: string
    dimensions: UsageDimensions
    traces: number
  }[]
}
/**
 * Size of the buckets; one of the two is 0.
 */
export interface UsageStride {
  /**
   * 0, 1, 7, 30 or 365.
   */
  days: number
  hours: number
}
export interface WorkspaceDimensions {
  workspace_id: string
  /**
   * As it is now, or was when it was deleted.
   */
  workspace_name: string
}
export interface ProjectDimensions {
  project_id: string
  /**
   * As it is now.
   */
  project_name: string
}
/**
 * Both null for what service keys sent.
 */
export interface UserDimensions {
  user_id: string | null
  user_email: string | null
}
export interface ApiKeyDimensions {
  /**
   * Stays when the key is deleted.
   */
  api_key_short_key: string
}
/**
 * A graph as nodes and edges, to be drawn.
 */
export interface GraphDrawing {
  nodes: {
    id: string | number
    /**
     * `schema` or `runnable`.
     */
    type?: string
    data?: unknown
    metadata?: unknown
  }[]
  edges: {
    source: string | number
    target: string | number
    conditional?: boolean
    data?: unknown
  }[]
}
/**
 * What a graph takes, gives and keeps.
 */
export interface GraphSchemas {
  graph_id?: string
  /**
   * JSON Schema.
   */
  input_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema.
   */
  output_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema.
   */
  state_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema.
   */
  config_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema.
   */
  context_schema?: {
    [k: string]: unknown | undefined
  } | null
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
       * In each interval of so many milliseconds the sender of a body must keep `min_body_bytes_per_second` on average. Slower: 408.
       */
      body_window_ms: number
      /**
       * The slowest that a body may be sent.
       */
      min_body_bytes_per_second: number
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
  /**
   * The first that holds of: the disk of DATA_DIR takes no writes (nothing is accepted), the store takes no rows (what is accepted waits in the log), the oldest that waits is older than 5 s.
   */
  status: 'ok' | 'behind' | 'store_unavailable' | 'disk_full' | 'disk_unwritable'
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
   * The disk of DATA_DIR.
   */
  disk: {
    free_bytes: number
    size_bytes: number
    /**
     * DISK_MIN_FREE_BYTES: with less than this free the disk counts as full.
     */
    min_free_bytes: number
    /**
     * Why it takes no writes; null when it does.
     */
    problem: {
      code: 'disk_full' | 'disk_unwritable'
      detail: string
    } | null
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
   * With check_db=1: each store, and the disk of DATA_DIR.
   */
  checks?: {
    [k: string]: 'up' | 'down' | undefined
  }
  /**
   * Why those that are down are down, by the same names: a code of docs/errors.md and words.
   */
  problems?: {
    [k: string]:
      | {
          code: string
          detail: string
        }
      | undefined
  }
}
/**
 * A user of the organization.
 */
export interface MemberRead {
  user_id: string
  email: string
  full_name: string | null
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /**
   * Null = every workspace, also later ones. Those that the caller may not use are left out.
   */
  workspace_ids: string[] | null
}
/**
 * A new member. Unknown keys are ignored.
 */
export interface MemberCreate {
  /**
   * Taken in lower case.
   */
  email: string
  full_name?: string | null
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /**
   * Absent or null = every workspace that the caller may use, and later ones if the caller may use those.
   *
   * @maxItems 1000
   */
  workspace_ids?: string[] | null
}
/**
 * What to change of a member; what is absent stays. Unknown keys are ignored.
 */
export interface MemberUpdate {
  /**
   * May be sent, and cannot be changed.
   */
  email?: string
  full_name?: string | null
  role?: 'admin' | 'operator' | 'user' | 'viewer'
  /**
   * Null = every workspace that the caller may use, and later ones if the caller may use those.
   *
   * @maxItems 1000
   */
  workspace_ids?: string[] | null
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
 * A new personal access token. Unknown keys are ignored.
 */
export interface PersonalTokenCreate {
  description: string
  /**
   * Absent or null = every workspace that the caller may use, and later ones if the caller may use those.
   *
   * @minItems 1
   * @maxItems 1000
   */
  workspaces?: string[] | null
  /**
   * One of `workspaces`, for requests without X-Tenant-Id; the only one, if there is one.
   */
  default_workspace_id?: string | null
  /**
   * Absent or null = as the key that asks, or as the member that it is for.
   */
  role?: 'admin' | 'operator' | 'user' | 'viewer' | null
  /**
   * True = the key may only read.
   */
  read_only?: boolean | null
  /**
   * ISO 8601, in the future and no later than the key that asks; absent = as that key, null = never.
   */
  expires_at?: string | null
  /**
   * Whom it acts for, the caller unless said; others need `organization:manage`.
   */
  user_id?: string | null
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
 * A run, or what was selected of it.
 */
export interface RunFields {
  run_id?: string
  thread_id?: string
  assistant_id?: string
  created_at?: string
  updated_at?: string
  status?: 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted'
  metadata?: {
    [k: string]: unknown | undefined
  }
  /**
   * What it was asked to do, with defaults.
   */
  kwargs?: {
    [k: string]: unknown | undefined
  }
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback'
  /**
   * What other servers do not have.
   */
  weir?: {
    /**
     * The trace of the last attempt; null before it, or with tracing off.
     */
    trace_id: string | null
    attempt: number
    error: {
      error?: string
      message?: string
    } | null
    /**
     * Messages streamed before a cancel.
     */
    partial_messages: {
      [k: string]: unknown | undefined
    }
    /**
     * The run stopped where its graph asks for a human, by interrupt() or interrupt_before and interrupt_after. Its status is success; its thread is interrupted until another run goes on from there.
     */
    interrupted: boolean
    /**
     * Tokens and cost of the trace, of a run that has ended; null while they are not known, which is so for its first 2 s.
     */
    totals?: {
      [k: string]: unknown | undefined
    } | null
  }
}
/**
 * A run to be made. Null counts as not said; unknown keys are ignored.
 */
export interface RunCreate {
  /**
   * Id of an assistant, or name of a graph.
   */
  assistant_id: string
  /**
   * Of your choice; made if absent. The same id on the same thread is the same run.
   */
  run_id?: string | null
  /**
   * For the graph; null goes on from the checkpoint.
   */
  input?: {
    [k: string]: unknown | undefined
  }
  /**
   * Instead of input.
   */
  command?: RunCommand | null
  checkpoint?: Checkpoint | null
  /**
   * The older form of checkpoint.
   */
  checkpoint_id?: string | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Laid over the assistant's.
   */
  config?: {
    tags?: string[] | null
    recursion_limit?: number | null
    configurable?: {
      [k: string]: unknown | undefined
    } | null
    [k: string]: unknown | undefined
  } | null
  /**
   * Laid over the assistant's.
   */
  context?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Called when the run has ended: a URL, or a path of the deployment's own HTTP app.
   */
  webhook?: string | null
  interrupt_before?: '*' | string[] | null
  interrupt_after?: '*' | string[] | null
  /**
   * values, unless said.
   */
  stream_mode?:
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )
    | (
        | 'values'
        | 'messages'
        | 'messages-tuple'
        | 'updates'
        | 'events'
        | 'debug'
        | 'tasks'
        | 'checkpoints'
        | 'custom'
        | 'tools'
      )[]
    | null
  stream_subgraphs?: boolean | null
  stream_resumable?: boolean | null
  /**
   * Accepted, not used.
   */
  feedback_keys?: string[] | null
  /**
   * continue, unless said: what becomes of a run whose client leaves.
   */
  on_disconnect?: 'cancel' | 'continue' | null
  /**
   * enqueue, unless said: what becomes of active runs of the thread.
   */
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback' | null
  /**
   * reject, unless said: what becomes of a run for a thread that is not there.
   */
  if_not_exists?: 'create' | 'reject' | null
  /**
   * Not before so much time has passed.
   */
  after_seconds?: number | null
  /**
   * async, unless said: when checkpoints are written.
   */
  durability?: 'sync' | 'async' | 'exit' | null
  /**
   * The older form of durability: false is exit.
   */
  checkpoint_during?: boolean | null
  /**
   * delete, unless said: what becomes of the thread of a stateless run. complete and continue are other names of delete and keep, which an SDK uses.
   */
  on_completion?: 'delete' | 'keep' | 'complete' | 'continue' | null
}
/**
 * Which runs to cancel: by status, or by thread and ids.
 */
export interface RunCancelMany {
  status?: 'pending' | 'running' | 'all' | null
  thread_id?: string | null
  /**
   * @maxItems 10000
   */
  run_ids?: string[] | null
}
/**
 * The last values of a run, after any newlines; with __interrupt__ when it waits for a human, __error__ when it failed.
 */
export interface RunResult {
  [k: string]: unknown | undefined
}
/**
 * A new service key. Unknown keys are ignored.
 */
export interface ServiceKeyCreate {
  description: string
  /**
   * Absent or null = every workspace that the caller may use, and later ones if the caller may use those.
   *
   * @minItems 1
   * @maxItems 1000
   */
  workspaces?: string[] | null
  /**
   * One of `workspaces`, for requests without X-Tenant-Id; the only one, if there is one.
   */
  default_workspace_id?: string | null
  /**
   * Absent or null = `user`.
   */
  role?: 'admin' | 'operator' | 'user' | 'viewer' | null
  /**
   * True = the key may only read.
   */
  read_only?: boolean | null
  /**
   * ISO 8601, in the future and no later than the key that asks; absent = as that key, null = never.
   */
  expires_at?: string | null
}
/**
 * A project; LangSmith calls it a session. Figures that are not kept or were not asked for are null. Tokens and costs are sums over its runs without double counts: an llm run does not count when a run below it has usage.
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
  /**
   * All runs, of every type.
   */
  run_count: number | null
  /**
   * Roots.
   */
  trace_count: number | null
  /**
   * Runs of type llm.
   */
  llm_runs: number | null
  /**
   * When the newest run started.
   */
  last_run_start_time: string | null
  /**
   * The same.
   */
  last_run_start_time_live: string | null
  /**
   * Median of the seconds that a trace took, from start to end of its root.
   */
  latency_p50: number | null
  /**
   * 99th percentile of the same.
   */
  latency_p99: number | null
  /**
   * Median of the seconds to the first token of an llm run that was streamed.
   */
  first_token_p50: number | null
  /**
   * 99th percentile of the same.
   */
  first_token_p99: number | null
  /**
   * prompt_tokens plus completion_tokens.
   */
  total_tokens: number | null
  prompt_tokens: number | null
  completion_tokens: number | null
  /**
   * Dollars as a decimal; null while no cost is known.
   */
  total_cost: string | null
  /**
   * Dollars as a decimal; null while no cost is known.
   */
  prompt_cost: string | null
  /**
   * Dollars as a decimal; null while no cost is known.
   */
  completion_cost: string | null
  /**
   * Share of the ended traces whose root failed, 0 to 1.
   */
  error_rate: number | null
  /**
   * Share of the ended llm runs with a first token, 0 to 1.
   */
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
 * An entry of the long-term memory.
 */
export interface StoreItem {
  namespace: Namespace
  key: string
  value: Value
  created_at: string
  updated_at: string
}
export interface Value {
  [k: string]: unknown | undefined
}
/**
 * Which item.
 */
export interface StoreItemKey {
  /**
   * Labels, none of them empty or with a period.
   *
   * @minItems 1
   * @maxItems 100
   */
  namespace: string[]
  key: string
}
/**
 * What to keep.
 */
export interface StoreItemWrite {
  /**
   * Labels, none of them empty or with a period.
   *
   * @minItems 1
   * @maxItems 100
   */
  namespace: string[]
  key: string
  value: {
    [k: string]: unknown | undefined
  }
  /**
   * Until it is gone; null for never, absent for the default of langgraph.json.
   */
  ttl?: number | null
  /**
   * Fields that a search by meaning looks at; false for none, absent or null for those of langgraph.json.
   */
  index?: false | null | string[]
}
/**
 * Namespaces that have items, in order of their labels.
 */
export interface StoreNamespaceList {
  namespaces: string[][]
}
/**
 * Which namespaces to list; `*` stands for any one label. Null counts as not said; unknown keys are ignored.
 */
export interface StoreNamespacesBody {
  /**
   * How they begin.
   *
   * @maxItems 100
   */
  prefix?: string[] | null
  /**
   * How they end.
   *
   * @maxItems 100
   */
  suffix?: string[] | null
  /**
   * Cuts namespaces to so many labels.
   */
  max_depth?: number | null
  limit?: number | null
  offset?: number | null
}
/**
 * Which items to find. Null counts as not said; unknown keys are ignored.
 */
export interface StoreSearchBody {
  /**
   * Items below it; all if absent.
   *
   * @maxItems 100
   */
  namespace_prefix?: string[] | null
  /**
   * By field of the value: what it must be or contain, or `$eq $ne $gt $gte $lt $lte $in $nin`.
   */
  filter?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Orders by nearness of meaning, where langgraph.json has a store index.
   */
  query?: string | null
  limit?: number | null
  offset?: number | null
  /**
   * Whether finding puts off the end of what is found; absent for the default of langgraph.json.
   */
  refresh_ttl?: boolean | null
}
/**
 * Items, last changed first, or nearest in meaning first.
 */
export interface StoreSearchResult {
  items: {
    namespace: Namespace
    key: string
    value: Value
    created_at: string
    updated_at: string
    /**
     * Nearness of meaning; null without a query.
     */
    score: number | null
  }[]
}
/**
 * Schemas of subgraphs by namespace.
 */
export interface SubgraphSchemas {
  [k: string]: GraphSchemas | undefined
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
 * A thread, or what was selected of it.
 */
export interface ThreadFields {
  thread_id?: string
  created_at?: string
  updated_at?: string
  /**
   * Of the last checkpoint.
   */
  state_updated_at?: string
  metadata?: {
    [k: string]: unknown | undefined
  }
  status?: 'idle' | 'busy' | 'interrupted' | 'error'
  config?: {
    [k: string]: unknown | undefined
  }
  /**
   * State as of the last finished run or update; null before.
   */
  values?: {
    [k: string]: unknown | undefined
  }
  /**
   * Open interrupts by task.
   */
  interrupts?: {
    [k: string]: unknown | undefined
  }
  /**
   * Of the last run, if it failed.
   */
  error?: {
    error: string
    message: string
  } | null
  /**
   * With include=ttl.
   */
  ttl?: {
    strategy: 'delete' | 'keep_latest'
    ttl_minutes: number
    expires_at: string | null
  } | null
  /**
   * What the search's extract asked for, by alias.
   */
  extracted?: {
    [k: string]: unknown | undefined
  }
}
/**
 * Which threads to count. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadCount {
  /**
   * Threads whose metadata contains this.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Threads whose values contain this.
   */
  values?: {
    [k: string]: unknown | undefined
  } | null
  status?: 'idle' | 'busy' | 'interrupted' | 'error' | null
}
/**
 * A new thread. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadCreate {
  /**
   * Of your choice; made if absent.
   */
  thread_id?: string | null
  /**
   * With graph_id, supersteps can be given.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * raise, unless said: 409 for an id that is taken.
   */
  if_exists?: 'raise' | 'do_nothing' | null
  ttl?: ThreadTtlWrite
  /**
   * State to begin with, step by step.
   *
   * @maxItems 10000
   */
  supersteps?:
    | {
        updates: {
          /**
           * Written as the output of as_node.
           */
          values?: {
            [k: string]: unknown | undefined
          }
          command?: RunCommand | null
          as_node?: string | null
        }[]
      }[]
    | null
}
/**
 * State of a thread at a checkpoint.
 */
export interface ThreadState {
  /**
   * The channels of the graph.
   */
  values: {
    [k: string]: unknown | undefined
  }
  /**
   * Nodes that are next.
   */
  next: string[]
  tasks: {
    [k: string]: unknown | undefined
  }[]
  checkpoint: Checkpoint | null
  metadata: {
    [k: string]: unknown | undefined
  } | null
  created_at: string | null
  parent_checkpoint: Checkpoint | null
  interrupts: {
    [k: string]: unknown | undefined
  }[]
}
/**
 * Which states to read. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadHistoryQuery {
  /**
   * 10, unless said.
   */
  limit?: number | null
  /**
   * Id of a checkpoint, a checkpoint or a config: only what is older.
   */
  before?:
    | string
    | {
        [k: string]: unknown | undefined
      }
    | null
  /**
   * Only checkpoints whose metadata has this.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  checkpoint?: Checkpoint | null
}
/**
 * Threads to be deleted, or rid of all but their latest checkpoint.
 */
export interface ThreadPrune {
  /**
   * @maxItems 10000
   */
  thread_ids: string[]
  /**
   * delete, unless said.
   */
  strategy?: 'delete' | 'keep_latest' | null
}
/**
 * Which threads to list. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadSearch {
  /**
   * @maxItems 10000
   */
  ids?: string[] | null
  /**
   * Threads whose metadata contains this.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Threads whose values contain this.
   */
  values?: {
    [k: string]: unknown | undefined
  } | null
  status?: 'idle' | 'busy' | 'interrupted' | 'error' | null
  /**
   * 10, unless said.
   */
  limit?: number | null
  offset?: number | null
  /**
   * created_at, unless said.
   */
  sort_by?: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at' | null
  /**
   * desc, unless said.
   */
  sort_order?: 'asc' | 'desc' | null
  /**
   * Only these fields; all, unless said.
   */
  select?: string[] | null
  /**
   * Alias to path, such as values.messages[-1].content: read out of each thread as extracted.
   */
  extract?: {
    [k: string]: string | undefined
  } | null
}
/**
 * Metadata for the thread.
 */
export interface ThreadStatePatch {
  /**
   * Laid over what the thread has, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Which state to read. Unknown keys are ignored.
 */
export interface ThreadStateQuery {
  checkpoint?: Checkpoint | null
  checkpoint_id?: string | null
  subgraphs?: boolean | null
}
/**
 * A change of a thread's state. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadStateUpdate {
  /**
   * Written as the output of as_node.
   */
  values?: {} | unknown[] | null
  as_node?: string | null
  checkpoint?: Checkpoint | null
  /**
   * The older form of checkpoint.
   */
  checkpoint_id?: string | null
}
/**
 * The checkpoint that was made.
 */
export interface ThreadStateUpdated {
  checkpoint: Checkpoint
  configurable?: {
    [k: string]: unknown | undefined
  }
}
/**
 * What changes of a thread. Null counts as not said; unknown keys are ignored.
 */
export interface ThreadUpdate {
  /**
   * Laid over what the thread has, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  ttl?: ThreadTtlWrite
}
/**
 * How many there were.
 */
export interface ThreadsPruned {
  pruned_count: number
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
  /**
   * Parts of prompt_cost by token detail, with the rest as `base`; they add up to it exactly. Null where they are not known: of sums over other runs, and of a cost that was sent without them.
   */
  prompt_cost_details?: {
    [k: string]: string | undefined
  } | null
  /**
   * Parts of completion_cost, likewise.
   */
  completion_cost_details?: {
    [k: string]: string | undefined
  } | null
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
   * Of llm and embedding runs: provider, model, messages in one format, usage with its sources, time to first token, speed, the four checks and every issue.
   */
  llm?: {
    time_to_first_token_ms?: number | null
    /**
     * Output tokens over the seconds from the first token, or from the start where none is known, to the end (rule LLM-11).
     */
    tokens_per_second?: number | null
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
 * Asks for a UI component of a graph.
 */
export interface UiRequest {
  /**
   * Of the component, as the graph pushed it.
   */
  name: string
}
/**
 * Tokens and costs per time bucket and group, in this order, double counts left out; groups with neither llm runs nor usage are left out.
 */
export interface UsageDetails {
  stride: UsageStride
  usage: {
    /**
     * Start of the bucket, UTC; it may lie before start_time by alignment.
     */
    time_bucket: string
    dimensions: UsageDimensions | ModelDimensions
    /**
     * All of them, also those whose usage is unknown or left out.
     */
    llm_runs: number
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    /**
     * Decimal in US dollars; null when none is known.
     */
    prompt_cost: string | null
    completion_cost: string | null
    total_cost: string | null
  }[]
}
/**
 * Null where a run does not say it.
 */
export interface ModelDimensions {
  provider: string | null
  model: string | null
}
/**
 * How many traces a workspace or a key may send in a calendar month.
 */
export interface UsageLimit {
  id: string
  workspace_id: string | null
  api_key_id: string | null
  limit_type: 'monthly_traces'
  limit_value: number
  mode: 'soft' | 'hard'
  created_at: string
  updated_at: string
}
/**
 * Sets the monthly limit of a workspace or of a key; of the request's workspace when neither is named.
 */
export interface UsageLimitWrite {
  workspace_id?: string | null
  api_key_id?: string | null
  limit_type?: 'monthly_traces'
  /**
   * Traces per calendar month, UTC.
   */
  limit_value: number
  /**
   * `soft` warns in the header `Weir-Usage-Warning` and in the log; `hard` refuses new traces with 429 until the month ends.
   */
  mode?: 'soft' | 'hard'
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
 * A rebuilding of the usage rollups from the counted traces. It changes no count.
 */
export interface UsageRebuild {
  /**
   * `none`: there was none since the server started.
   */
  status: 'none' | 'running' | 'done' | 'failed'
  started_at: string | null
  finished_at: string | null
  error: string | null
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
/**
 * A new workspace. Unknown keys are ignored.
 */
export interface WorkspaceCreate {
  display_name: string
  /**
   * Of your choice; made if absent.
   */
  id?: string | null
}
/**
 * What to change of a workspace. Unknown keys are ignored.
 */
export interface WorkspaceUpdate {
  display_name: string
}
