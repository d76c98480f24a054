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
/**
 * When to run what. Null counts as not said; unknown keys are ignored.
 */
export type CronCreate = CronOptions & {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id: string
  /**
   * Five fields (minute, hour, day, month, weekday), six with seconds first, or a name such as `@daily`.
   */
  schedule: string
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
}
/**
 * Fields of a cron that its creation and its change share.
 */
export type CronOptions = RunOptions & {
  /**
   * IANA name; null for UTC.
   */
  timezone?: string | null
  /**
   * ISO 8601; no runs after it.
   */
  end_time?: string | null
  config?: {
    [k: string]: unknown | undefined
  } | null
  webhook?: string | null
  interrupt_before?: '*' | string[] | null
  interrupt_after?: '*' | string[] | null
}
export type RunCommandTarget =
  | string
  | {
      node: string
      input?: unknown
      [k: string]: unknown | undefined
    }
export type StreamMode =
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
 * What is to be different. Null takes away `timezone`, `end_time`, `webhook` and `input`; elsewhere it counts as not said.
 */
export type CronUpdate = CronOptions & {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  /**
   * Five fields (minute, hour, day, month, weekday), six with seconds first, or a name such as `@daily`.
   */
  schedule?: string | null
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
}
/**
 * What deployed graphs can run in.
 */
export type DeploymentRuntimes = {
  runtime: 'process' | 'container' | 'kubernetes'
  /**
   * DEPLOY_RUNTIME names it.
   */
  in_use: boolean
  usable: boolean
  isolation: string | null
  /**
   * Why it cannot be used, or why its code is not isolated.
   */
  reason: string | null
}[]
/**
 * Feedback configs by key.
 */
export type FeedbackConfigList = FeedbackConfig[]
/**
 * Feedback records, newest first.
 */
export type FeedbackList = FeedbackRead[]
/**
 * For which run and key a token is, or an array of such.
 */
export type FeedbackTokenCreate = FeedbackTokenRequest | FeedbackTokenRequest[]
/**
 * The token, or an array for an array.
 */
export type FeedbackTokenCreated = FeedbackToken | FeedbackTokenList
/**
 * Tokens of a run.
 */
export type FeedbackTokenList = FeedbackToken[]
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
 * A run to be made. Null counts as not said; unknown keys are ignored.
 */
export type RunCreate = RunOptions & {
  /**
   * Id of an assistant, or name of a graph.
   */
  assistant_id: string
  /**
   * Of your choice; made if absent. The same id on the same thread is the same run.
   */
  run_id?: string | null
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
   * Called when the run has ended: a URL, or a path of the deployment's custom HTTP app.
   */
  webhook?: string | null
  interrupt_before?: '*' | string[] | null
  interrupt_after?: '*' | string[] | null
  /**
   * Accepted, not used.
   */
  feedback_keys?: string[] | null
  /**
   * continue, unless said: what becomes of a run whose client leaves.
   */
  on_disconnect?: 'cancel' | 'continue' | null
  /**
   * reject, unless said: what becomes of a run for a thread that is not there.
   */
  if_not_exists?: 'create' | 'reject' | null
  /**
   * Not before so much time has passed.
   */
  after_seconds?: number | null
  /**
   * delete, unless said: what becomes of the thread of a stateless run. complete and continue are other names of delete and keep, which an SDK uses.
   */
  on_completion?: 'delete' | 'keep' | 'complete' | 'continue' | null
}
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
/**
 * Null for a run whose trace is not shared.
 */
export type ShareOfRun = {
  /**
   * The root of the trace, which is shared as a whole.
   */
  run_id?: string
  /**
   * Opens the trace, or the thread, without a key.
   */
  share_token: string
} | null
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
 * A field of a run in API v2; in answers its name is in lower case.
 */
export type TraceRunSelect =
  | 'ID'
  | 'NAME'
  | 'RUN_TYPE'
  | 'STATUS'
  | 'START_TIME'
  | 'END_TIME'
  | 'LATENCY_SECONDS'
  | 'FIRST_TOKEN_TIME'
  | 'ERROR'
  | 'ERROR_PREVIEW'
  | 'EXTRA'
  | 'METADATA'
  | 'EVENTS'
  | 'INPUTS'
  | 'INPUTS_PREVIEW'
  | 'OUTPUTS'
  | 'OUTPUTS_PREVIEW'
  | 'MANIFEST'
  | 'PARENT_RUN_IDS'
  | 'PROJECT_ID'
  | 'TRACE_ID'
  | 'THREAD_ID'
  | 'DOTTED_ORDER'
  | 'IS_ROOT'
  | 'REFERENCE_EXAMPLE_ID'
  | 'REFERENCE_DATASET_ID'
  | 'TOTAL_TOKENS'
  | 'PROMPT_TOKENS'
  | 'COMPLETION_TOKENS'
  | 'TOTAL_COST'
  | 'PROMPT_COST'
  | 'COMPLETION_COST'
  | 'PROMPT_TOKEN_DETAILS'
  | 'COMPLETION_TOKEN_DETAILS'
  | 'PROMPT_COST_DETAILS'
  | 'COMPLETION_COST_DETAILS'
  | 'PRICE_MODEL_ID'
  | 'TAGS'
  | 'APP_PATH'
  | 'ATTACHMENTS'
  | 'THREAD_EVALUATION_TIME'
  | 'IS_IN_DATASET'
  | 'LAST_QUEUED_AT'
  | 'SHARE_URL'
  | 'FEEDBACK_STATS'
  | 'LS_USER_ID'
/**
 * A field of a shared run in API v2; in answers its name is in lower case.
 */
export type TraceRunPublicSelect =
  | 'ID'
  | 'NAME'
  | 'RUN_TYPE'
  | 'STATUS'
  | 'START_TIME'
  | 'END_TIME'
  | 'LATENCY_SECONDS'
  | 'FIRST_TOKEN_TIME'
  | 'ERROR'
  | 'ERROR_PREVIEW'
  | 'EXTRA'
  | 'METADATA'
  | 'INPUTS_PREVIEW'
  | 'OUTPUTS_PREVIEW'
  | 'PARENT_RUN_IDS'
  | 'PARENT_RUN_ID'
  | 'PROJECT_ID'
  | 'TRACE_ID'
  | 'THREAD_ID'
  | 'DOTTED_ORDER'
  | 'IS_ROOT'
  | 'REFERENCE_DATASET_ID'
  | 'TOTAL_TOKENS'
  | 'PROMPT_TOKENS'
  | 'COMPLETION_TOKENS'
  | 'TOTAL_COST'
  | 'PROMPT_COST'
  | 'COMPLETION_COST'
  | 'PROMPT_TOKEN_DETAILS'
  | 'COMPLETION_TOKEN_DETAILS'
  | 'PROMPT_COST_DETAILS'
  | 'COMPLETION_COST_DETAILS'
  | 'PRICE_MODEL_ID'
  | 'TAGS'
  | 'THREAD_EVALUATION_TIME'
  | 'FEEDBACK_STATS'
/**
 * Figures of all runs asked for; with group_by, those of each group under its value, the largest first; with interval, those of each bucket that has runs.
 */
export type TraceRunStats = TraceRunFiguresRead | TraceRunStatsByGroup | TraceRunStatsByTime
/**
 * A field of a trace of a thread; in answers its name is in lower case.
 */
export type TraceTurnSelect =
  | 'THREAD_ID'
  | 'TRACE_ID'
  | 'OP'
  | 'NAME'
  | 'TURN_NUMBER'
  | 'START_TIME'
  | 'END_TIME'
  | 'LATENCY'
  | 'FIRST_TOKEN_TIME'
  | 'ERROR'
  | 'ERROR_PREVIEW'
  | 'INPUTS'
  | 'OUTPUTS'
  | 'INPUTS_PREVIEW'
  | 'OUTPUTS_PREVIEW'
  | 'PROMPT_TOKENS'
  | 'COMPLETION_TOKENS'
  | 'TOTAL_TOKENS'
  | 'PROMPT_COST'
  | 'COMPLETION_COST'
  | 'TOTAL_COST'
  | 'PROMPT_TOKEN_DETAILS'
  | 'COMPLETION_TOKEN_DETAILS'
  | 'PROMPT_COST_DETAILS'
  | 'COMPLETION_COST_DETAILS'
/**
 * A trace in the view asked for.
 */
export type TraceView = TraceRead | TraceOutline
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
  'auth-session': AuthSession
  'auth-sign-in': AuthSignIn
  'auth-ticket': AuthTicket
  checkpoint: Checkpoint
  checks: ChecksRecord
  config: Settings
  count: Count
  cron: Cron
  'cron-count': CronCountBody
  'cron-create': CronCreate
  'cron-list': CronList
  'cron-options': CronOptions
  'cron-search': CronSearchBody
  'cron-update': CronUpdate
  'deletion-job': DeletionJob
  deployment: Deployment
  'deployment-create': DeploymentCreate
  'deployment-info': DeploymentInfo
  'deployment-listeners': DeploymentListeners
  'deployment-log-page': DeploymentLogPage
  'deployment-log-query': DeploymentLogQuery
  'deployment-page': DeploymentPage
  'deployment-problem': DeploymentProblem
  'deployment-revision': DeploymentRevision
  'deployment-revision-page': DeploymentRevisionPage
  'deployment-runtimes': DeploymentRuntimes
  'deployment-update': DeploymentUpdate
  'deployment-upload': DeploymentUpload
  'deployment-uploaded': DeploymentUploaded
  'empty-object': EmptyObject
  'feedback-by-token': FeedbackByToken
  'feedback-config': FeedbackConfig
  'feedback-config-create': FeedbackConfigCreate
  'feedback-config-list': FeedbackConfigList
  'feedback-config-update': FeedbackConfigUpdate
  'feedback-create': FeedbackCreate
  'feedback-list': FeedbackList
  'feedback-read': FeedbackRead
  'feedback-stats': FeedbackStatsRead
  'feedback-token': FeedbackToken
  'feedback-token-create': FeedbackTokenCreate
  'feedback-token-created': FeedbackTokenCreated
  'feedback-token-list': FeedbackTokenList
  'feedback-token-request': FeedbackTokenRequest
  'feedback-update': FeedbackUpdate
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
  'model-price-preview': ModelPricePreview
  'model-price-preview-request': ModelPricePreviewRequest
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
  'run-deletion': RunDeletion
  'run-fields': RunFields
  'run-list': RunList
  'run-options': RunOptions
  'run-result': RunResult
  'run-share-delete': RunShareDelete
  'run-share-write': RunShareWrite
  'run-url': RunUrl
  'service-key-create': ServiceKeyCreate
  session: Session
  'session-address': SessionAddress
  'session-create': SessionCreate
  'session-create-v2': SessionCreateV2
  'session-dashboard': SessionDashboard
  'session-list': SessionList
  'session-page-v2': SessionPageV2
  'session-update': SessionUpdate
  'session-update-v2': SessionUpdateV2
  'session-v2': SessionV2
  share: Share
  'share-of-run': ShareOfRun
  'share-of-thread': ShareOfThread
  'share-write': ShareWrite
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
  'thread-share-write': ThreadShareWrite
  'thread-state': ThreadState
  'thread-state-patch': ThreadStatePatch
  'thread-state-query': ThreadStateQuery
  'thread-state-update': ThreadStateUpdate
  'thread-state-updated': ThreadStateUpdated
  'thread-ttl-write': ThreadTtlWrite
  'thread-update': ThreadUpdate
  'threads-pruned': ThreadsPruned
  'trace-batch': TraceBatch
  'trace-outline': TraceOutline
  'trace-page-v2': TracePageV2
  'trace-query-v2': TraceQueryV2
  'trace-read': TraceRead
  'trace-run': TraceRunRecord
  'trace-run-facet-query': TraceRunFacetQueryBody
  'trace-run-facets': TraceRunFacets
  'trace-run-figures': TraceRunFiguresRead
  'trace-run-group-query': TraceRunGroupQuery
  'trace-run-groups': TraceRunGroups
  'trace-run-list-v2': TraceRunListV2
  'trace-run-page': TraceRunPage
  'trace-run-page-v2': TraceRunPageV2
  'trace-run-public-query': TraceRunPublicQuery
  'trace-run-public-query-v2': TraceRunPublicQueryV2
  'trace-run-public-select': TraceRunPublicSelect
  'trace-run-query': TraceRunQueryBody
  'trace-run-query-v2': TraceRunQueryV2
  'trace-run-read': TraceRunRead
  'trace-run-select': TraceRunSelect
  'trace-run-stats': TraceRunStats
  'trace-run-stats-query': TraceRunStatsQueryBody
  'trace-run-v2': TraceRunV2
  'trace-search': TraceSearchBody
  'trace-thread': TraceThread
  'trace-thread-figures': TraceThreadFigures
  'trace-thread-figures-query': TraceThreadFiguresQuery
  'trace-thread-page': TraceThreadPage
  'trace-thread-query': TraceThreadQuery
  'trace-thread-stats': TraceThreadStats
  'trace-turn-page': TraceTurnPage
  'trace-turn-select': TraceTurnSelect
  'trace-view': TraceView
  'ui-request': UiRequest
  'usage-details': UsageDetails
  'usage-dimensions': UsageDimensions
  'usage-limit': UsageLimit
  'usage-limit-list': UsageLimitList
  'usage-limit-write': UsageLimitWrite
  'usage-metadata': UsageMetadata
  'usage-rebuild': UsageRebuild
  'usage-stride': UsageStride
  'usage-traces': UsageTraces
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
   * Present only while its graph cannot be loaded.
   */
  weir?: {
    /**
     * Why its graph cannot be loaded, with file and line. Its runs fail with this message.
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
 * The caller, what it may do, and what this server offers.
 */
export interface AuthSession {
  /**
   * `off`: the server needs no sign-in.
   */
  auth: 'on' | 'off'
  /**
   * Null for a request with a key, and with `AUTH=off`.
   */
  session_id: string | null
  /**
   * When the session ends if it is not used again; for a key, when the key expires. Null = never.
   */
  expires_at: string | null
  /**
   * Null for a service key.
   */
  user: {
    id: string
    email: string
    full_name: string | null
  } | null
  /**
   * The key of the request or of the session.
   */
  api_key: {
    id: string
    short_key: string
    /**
     * Null = never.
     */
    expires_at: string | null
  }
  role: 'admin' | 'operator' | 'user' | 'viewer'
  read_only: boolean
  /**
   * What the caller may do: names as in docs/permissions.md.
   */
  permissions: string[]
  /**
   * The caller may use every workspace of the organization, also later ones.
   */
  all_workspaces: boolean
  organization: {
    id: string
    display_name: string
  }
  /**
   * The workspaces that the caller may use, oldest first.
   */
  workspaces: {
    id: string
    display_name: string
  }[]
  /**
   * The workspace of requests without X-Tenant-Id, or the one that this request named. Null: requests must name one.
   */
  default_workspace_id: string | null
  features: {
    /**
     * Traces are counted and the usage API is available.
     */
    usage: boolean
    /**
     * Names of the hosted deployments; each is served under `/deployments/{name}`.
     */
    deployments: string[]
  }
  /**
   * Version of the server.
   */
  version: string
}
/**
 * An API key, or a ticket of a sign-in link.
 */
export interface AuthSignIn {
  /**
   * An API key. It counts when both are sent.
   */
  key?: string
  /**
   * What follows `#ticket=` in the link. It can be used once.
   */
  ticket?: string
  [k: string]: unknown | undefined
}
/**
 * A link that signs a browser in, once.
 */
export interface AuthTicket {
  /**
   * Null with `AUTH=off`, where no sign-in is needed.
   */
  ticket: string | null
  /**
   * Address of the web interface, with the ticket in its fragment.
   */
  url: string
  expires_at: string | null
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
   * Port of the platform API, which has trace ingest, reads, usage and health. With 0 the system chooses a free port. When the variable is not set and the default is taken, the next free port is used. The start prints the address and stores it in `DATA_DIR/server.json`, where commands find it.
   */
  PORT: number
  /**
   * Port of the threads and runs API of the hosted deployment. 0 and a port that is taken are treated as for `PORT`.
   */
  DEPLOYMENT_PORT: number
  /**
   * Port of OTLP over gRPC. The default is the port that OpenTelemetry exporters use. With 0 the system chooses a free port, and `off` disables OTLP over gRPC. When the variable is not set and the default is taken, OTLP over gRPC is disabled, and the start reports this.
   */
  OTLP_GRPC_PORT?: number
  /**
   * Directory of everything that is stored on this machine: the ingest log, the embedded ClickHouse, the SQLite databases and attachments.
   */
  DATA_DIR: string
  /**
   * ClickHouse server or cluster, over HTTP, with user, password and database in the URL. When it is not set, a ClickHouse that is embedded in Weir stores its data in `DATA_DIR`.
   */
  CLICKHOUSE_URL?: string
  /**
   * Postgres database of organizations, members, keys, projects, prices, threads and runs. Several servers that work as one need it. When it is not set, these are stored in SQLite databases in `DATA_DIR`.
   */
  DATABASE_URL?: string
  /**
   * Redis 7 for the events that streams are read from. When it is not set, events are stored in the run database. With several servers, Redis takes the load of streaming off Postgres. How much Redis keeps after a crash depends on its own persistence settings (`appendonly yes`).
   */
  REDIS_URL?: string
  /**
   * Name of the cluster of replicas (one shard) that `CLICKHOUSE_URL` leads to. Tables are created on all replicas, inserts wait for a quorum, and reads see every confirmed insert.
   */
  CLICKHOUSE_CLUSTER?: string
  /**
   * The first admin key. It is used when the data directory is empty. When it is not set, a key is generated, printed once and stored in `DATA_DIR/api-key`.
   */
  BOOTSTRAP_API_KEY?: string
  /**
   * With `off` no request needs a key, and requests from web pages of other sites are refused. `off` is allowed only when `HOST` is a loopback address.
   */
  AUTH: 'on' | 'off'
  /**
   * URL under which browsers reach the platform API when it is behind a proxy. With `AUTH=off`, and for browser sessions, only requests to this host name, to `HOST` or to a loopback name are accepted.
   */
  PUBLIC_URL?: string
  /**
   * When the server acknowledges a run: with `log` when the run is on the disk of this machine, with `store` when ClickHouse has confirmed it. Use `store` on machines whose disk may be lost.
   */
  INGEST_ACK: 'log' | 'store'
  /**
   * Maximum size of the ingest log, which grows while ClickHouse is away. When it is reached, ingest answers 503 with `Retry-After`.
   */
  INGEST_LOG_MAX_BYTES: number
  /**
   * With less free space on the disk of `DATA_DIR`, health reports `disk_full`, `/ok?check_db=1` returns 503, and new runs of graphs are refused with 503. Other writes are still tried.
   */
  DISK_MIN_FREE_BYTES: number
  /**
   * Maximum size of a request body after decompression. Larger bodies are refused with 413.
   */
  INGEST_MAX_BODY_BYTES: number
  /**
   * Memory for the bodies of all requests together. One key can use at most 7/8 of it. When it is used up, incomplete requests of the key that uses the most get 503 with Retry-After.
   */
  INGEST_MAX_INFLIGHT_BYTES: number
  /**
   * Paths of modules that export processors for your own message formats, separated by commas. Weir tries them before the built-in processors.
   */
  PROCESSORS: string[]
  /**
   * Where Weir sends OpenTelemetry traces and metrics about itself, over OTLP/HTTP. When it is not set, nothing is sent.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  /**
   * How threads and runs are written to SQLite. With `normal` they survive the death of the process. With `full` they also survive a loss of power, and writes are slower. Traces, keys and projects survive both with either value.
   */
  SQLITE_SYNCHRONOUS: 'normal' | 'full'
  /**
   * Counts traces for the usage API, together with `GRANULAR_USAGE_TABLE_ENABLED`. When either is `false`, nothing is counted and the usage API answers 404. Traces that arrive in that time are never counted.
   */
  DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING: boolean
  /**
   * The second switch of the usage API; see `DEFAULT_ORG_FEATURE_ENABLE_GRANULAR_USAGE_REPORTING`.
   */
  GRANULAR_USAGE_TABLE_ENABLED: boolean
  /**
   * Path of the langgraph.json of the deployment that is hosted on `DEPLOYMENT_PORT`. When it is not set, Weir hosts the example that comes with it. When it is set to an empty value (`GRAPHS=`), no graphs are hosted.
   */
  GRAPHS?: string
  /**
   * Name of the hosted deployment. It is part of the path `/deployments/{name}`, and the name of the project to which the deployment's runs are traced. When it is not set, the name of the folder of `GRAPHS` is used.
   */
  DEPLOYMENT_NAME?: string
  /**
   * With `on` every run of the deployment is recorded as a trace in Weir.
   */
  RUN_TRACING: 'on' | 'off'
  /**
   * Maximum number of runs of a deployment that one server executes at a time. Further runs wait in the order of their creation.
   */
  RUN_CONCURRENCY: number
  /**
   * Maximum duration of an attempt of a run, in seconds. After that the run ends with the status `timeout`.
   */
  BG_JOB_TIMEOUT_SECS: number
  /**
   * Seconds after which a graph host that a node blocks is killed. The run of that node fails, and other runs of the host are tried again.
   */
  HOST_STALL_SECONDS: number
  /**
   * Seconds within which a new revision of a deployment must load its graphs and answer a check of each. If it does not, the active revision stays in use.
   */
  DEPLOY_START_SECONDS: number
  /**
   * Seconds for which runs continue on a revision that a newer one has replaced. Runs that have not ended by then continue from their last checkpoint on the new revision, as a further attempt.
   */
  DEPLOY_DRAIN_SECONDS: number
  /**
   * What deployed graphs run in. `process`: processes of this machine, isolated as DEPLOY_ISOLATION says. `container` needs docker or podman.
   */
  DEPLOY_RUNTIME: 'process' | 'container'
  /**
   * What isolates the builds and the processes of deployments from the server. `sandbox`: bubblewrap (`bwrap`, 0.8 or newer) on Linux; the start fails when it does not work. `none`: nothing, so whoever deploys is trusted like the administrator of the server. `auto`: `sandbox` where it works, otherwise `none`. The graphs of GRAPHS are not isolated.
   */
  DEPLOY_ISOLATION: 'auto' | 'none' | 'sandbox'
  /**
   * Maximum number of revisions that are built at a time.
   */
  DEPLOY_BUILDS: number
  /**
   * Maximum size of the archive of a deployment's source. Larger archives are refused with 413.
   */
  DEPLOY_MAX_SOURCE_BYTES: number
  /**
   * Key that encrypts the secrets of deployments. When it is not set, a key is generated and stored in `DATA_DIR/secrets-key`. The server does not start with a key that does not decrypt the stored secrets.
   */
  SECRETS_KEY?: string
  /**
   * Plan of the organization. With `developer` no deployments can be created.
   */
  ORGANIZATION_PLAN: 'developer' | 'plus' | 'startup' | 'enterprise'
  /**
   * Seconds after which a graph host is killed when a cancelled run still blocks it.
   */
  CANCEL_GRACE_SECONDS: number
  /**
   * Secret that signs the webhooks of runs (Standard Webhooks). When it is not set, a secret is generated and stored in `DATA_DIR/webhook-secret`.
   */
  WEBHOOK_SECRET?: string
  /**
   * With `on` webhooks may call addresses that are not public, such as those of this machine or of its network.
   */
  WEBHOOK_PRIVATE_ADDRESSES: 'on' | 'off'
  /**
   * Maximum number of open event streams of the deployment. Further ones get 429 `too_many_streams`.
   */
  STREAMS_MAX: number
  /**
   * Maximum number of open event streams of one API key, or of one user of a deployment's auth file. Further ones get 429 `too_many_streams`.
   */
  STREAMS_MAX_PER_KEY: number
  /**
   * Maximum size of the stored events of all threads together, from which streams resume. Beyond it the oldest events are deleted first. With `REDIS_URL` the `maxmemory` setting of Redis is the limit instead.
   */
  EVENTS_MAX_BYTES: number
  /**
   * Maximum number of threads of one workspace, over all of its deployments. Creating more gets 429 `quota_reached`. Existing threads can still be read, changed and deleted.
   */
  WORKSPACE_MAX_THREADS: number
  /**
   * Maximum number of crons of one workspace, over all of its deployments. Creating more gets 429 `quota_reached`.
   */
  WORKSPACE_MAX_CRONS: number
  /**
   * Maximum number of assistants of one workspace, over all of its deployments. Creating more gets 429 `quota_reached`. The default assistants of graphs are always created.
   */
  WORKSPACE_MAX_ASSISTANTS: number
  /**
   * Maximum size of the items in the store (long-term memory) of one workspace, as JSON. Writes beyond it get 507 `store_full`.
   */
  WORKSPACE_MAX_STORE_BYTES: number
  /**
   * Lowest level of log lines that are written. Lines are JSON on standard output. When the variable is not set and the output is a terminal, `weir serve` writes only warnings and errors, as text.
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
 * Fields that a run takes from the request that creates it or from its cron. Null counts as not said.
 */
export interface RunOptions {
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
  /**
   * Laid over the assistant's.
   */
  context?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * values, unless said.
   */
  stream_mode?: StreamMode | StreamMode[] | null
  stream_subgraphs?: boolean | null
  stream_resumable?: boolean | null
  /**
   * async, unless said: when checkpoints are written.
   */
  durability?: 'sync' | 'async' | 'exit' | null
  /**
   * The older form of durability: false is exit.
   */
  checkpoint_during?: boolean | null
  /**
   * enqueue, unless said: what becomes of active runs of the thread.
   */
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
 * A deletion in the background.
 */
export interface DeletionJob {
  job_id: string
  /**
   * What is deleted: a project, a trace, the traces of runs that match, or data of deleted traces that was stored late.
   */
  kind: 'project' | 'trace' | 'runs' | 'late'
  status: 'queued' | 'running' | 'done' | 'failed'
  /**
   * Runs deleted so far.
   */
  deleted: number
  error: string | null
  created_at: string
  finished_at: string | null
}
/**
 * A deployment of the server.
 */
export interface Deployment {
  id: string
  /**
   * Its workspace.
   */
  tenant_id: string
  name: string
  source: 'internal_source'
  source_config: {
    deployment_type: 'dev' | 'prod'
    /**
     * URL of its API.
     */
    custom_url: string
    /**
     * Shell command in place of the package manager, run in the folder of langgraph.json; null: the lock file decides, or package.json.
     */
    install_command: string | null
    /**
     * Shell command after the dependencies were installed, run in the folder of langgraph.json.
     */
    build_command: string | null
  }
  /**
   * `READY` when a revision is active.
   */
  status: 'READY' | 'NOT_READY'
  latest_revision_id: string | null
  active_revision_id: string | null
  /**
   * Names only: values are never returned.
   */
  secrets: {
    name: string
    updated_at: string
  }[]
  created_at: string
  updated_at: string
  weir: {
    runtime: 'process' | 'container' | 'kubernetes'
    /**
     * What isolates its code from the server.
     */
    isolation: 'none' | 'sandbox'
    studio_url: string
    /**
     * `server`: it is the deployment of GRAPHS, and cannot be changed here.
     */
    managed_by: 'api' | 'server'
    /**
     * Number of the revision that serves now.
     */
    active_revision: number | null
    /**
     * Runs that the active revision executes now.
     */
    runs: number
    /**
     * Replaced revisions whose runs have not ended.
     */
    draining: {
      number: number
      runs: number
    }[]
  }
}
/**
 * A deployment to be made.
 */
export interface DeploymentCreate {
  /**
   * 1 to 63 of a-z, 0-9 and `-`; unique on the server, because it is in the path of its API.
   */
  name?: string
  /**
   * `internal_source`: an uploaded archive.
   */
  source: string
  source_config?: {
    /**
     * `dev` or `prod`, or a name of LangSmith's: `dev_zero`, `dev_free` and `serverless` are `dev`, `dedicated` is `prod`.
     */
    deployment_type?: string | null
    /**
     * Shell command in place of the package manager, run in the folder of langgraph.json; null: the lock file decides, or package.json.
     */
    install_command?: string | null
    /**
     * Shell command after the dependencies were installed, run in the folder of langgraph.json.
     */
    build_command?: string | null
  }
  source_revision_config?: {}
  /**
   * Environment variables of its processes.
   *
   * @maxItems 500
   */
  secrets?:
    | {
        name: string
        value: string
        [k: string]: unknown | undefined
      }[]
    | null
  /**
   * Refused: this server has no agents.
   */
  agent?: {} | null
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
      /**
       * Bytes of the largest body, that of a request with `input` or `command` of runs, `values` of a state, `supersteps` of a thread or `value` of a store item. The rest of such a body, and any other body, such as that of a cron with its `payload`, has at most 1 MiB (1,048,576 bytes).
       */
      max_json_body_bytes: number
    }
  }
}
/**
 * Always empty: this server has no listeners.
 */
export interface DeploymentListeners {
  resources: {}[]
  offset: number
}
/**
 * Lines of the log of a deployment.
 */
export interface DeploymentLogPage {
  logs: {
    id: string
    /**
     * Epoch milliseconds with microseconds as fraction, unique in a deployment.
     */
    timestamp: number
    level: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL'
    message: string
    /**
     * The build; states and checks; or what processes print.
     */
    kind: 'build' | 'deploy' | 'server'
    revision_id: string | null
  }[]
  /**
   * `offset` of the next page; also when this one is empty.
   */
  next_offset: string
}
/**
 * Which lines of the log of a deployment.
 */
export interface DeploymentLogQuery {
  limit?: number
  order?: 'asc' | 'desc'
  /**
   * `next_offset` of the page before.
   */
  offset?: string | null
  /**
   * DEBUG, INFO, WARNING, ERROR or CRITICAL: this level and higher ones.
   */
  level?: string | null
  /**
   * Only these of the kinds of lines that the log has. An extension of LangSmith's request.
   *
   * @maxItems 3
   */
  kinds?: ('build' | 'deploy' | 'server')[] | null
  /**
   * Text that lines have.
   */
  query?: string | null
  /**
   * ISO 8601; lines of this time are included.
   */
  start_time?: string | null
  /**
   * As `start_time`.
   */
  end_time?: string | null
}
/**
 * Deployments, newest first.
 */
export interface DeploymentPage {
  resources: Deployment[]
  /**
   * Offset of the next page.
   */
  offset: number
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
 * A revision of a deployment.
 */
export interface DeploymentRevision {
  id: string
  status:
    | 'CREATING'
    | 'QUEUED'
    | 'AWAITING_BUILD'
    | 'BUILDING'
    | 'AWAITING_DEPLOY'
    | 'DEPLOYING'
    | 'DEPLOYED'
    | 'CREATE_FAILED'
    | 'BUILD_FAILED'
    | 'DEPLOY_FAILED'
    | 'SKIPPED'
    | 'INTERRUPTED'
  source: 'internal_source'
  source_revision_config: {
    source_tarball_path: string | null
    langgraph_config_path: string
  }
  created_at: string
  updated_at: string
  weir: {
    /**
     * 1, 2, … within the deployment.
     */
    number: number
    /**
     * True for the revision that handles requests now.
     */
    is_active: boolean
    source_sha256: string | null
    artifact_sha256: string | null
    /**
     * Why it has failed.
     */
    error: {
      code: string
      message: string
      file?: string
      line?: number
    } | null
    /**
     * Short form of the key that made it.
     */
    created_by: string
    graphs: string[] | null
    /**
     * Number of the revision whose build it uses.
     */
    rolled_back_from: number | null
    /**
     * Milliseconds by step.
     */
    timings: {
      [k: string]: number | undefined
    }
  }
}
/**
 * Revisions, newest first.
 */
export interface DeploymentRevisionPage {
  resources: DeploymentRevision[]
  /**
   * Offset of the next page.
   */
  offset: number
}
/**
 * What a new revision of a deployment has.
 */
export interface DeploymentUpdate {
  /**
   * `internal_source`: an uploaded archive.
   */
  revision_source?: string | null
  source_config?: {
    /**
     * `dev` or `prod`, or a name of LangSmith's: `dev_zero`, `dev_free` and `serverless` are `dev`, `dedicated` is `prod`.
     */
    deployment_type?: string | null
    /**
     * Shell command in place of the package manager, run in the folder of langgraph.json; null: the lock file decides, or package.json.
     */
    install_command?: string | null
    /**
     * Shell command after the dependencies were installed, run in the folder of langgraph.json.
     */
    build_command?: string | null
  } | null
  source_revision_config?: {
    /**
     * `object_path` of an upload.
     */
    source_tarball_path?: string | null
    /**
     * Path of langgraph.json in the archive; default `langgraph.json`.
     */
    langgraph_config_path?: string | null
    /**
     * Refused: this server takes source.
     */
    image_uri?: string | null
  } | null
  /**
   * Replaces all; an empty list, which `langgraph deploy` sends where there is no `.env`, keeps what is there.
   *
   * @maxItems 500
   */
  secrets?:
    | {
        name: string
        value: string
        [k: string]: unknown | undefined
      }[]
    | null
}
/**
 * Where an archive can be uploaded, once and within 15 minutes.
 */
export interface DeploymentUpload {
  /**
   * PUT the archive there; no key is needed.
   */
  upload_url: string
  /**
   * `source_tarball_path` of the update that uses the archive.
   */
  object_path: string
  upload_headers: {
    [k: string]: string | undefined
  }
}
/**
 * An archive that has arrived.
 */
export interface DeploymentUploaded {
  sha256: string
  bytes: number
}
/**
 * An object without fields.
 */
export interface EmptyObject {}
/**
 * A judgement sent with a token.
 */
export interface FeedbackByToken {
  score?: number | boolean | null
  value?: string | number | boolean | {} | unknown[] | null
  correction?: string | number | boolean | {} | unknown[] | null
  comment?: string | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  [k: string]: unknown | undefined
}
/**
 * How feedback of a key is meant.
 */
export interface FeedbackConfig {
  feedback_key: string
  /**
   * E.g. {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config: {
    [k: string]: unknown | undefined
  }
  tenant_id: string
  modified_at: string
  /**
   * Null: higher is better.
   */
  is_lower_score_better: boolean | null
  /**
   * Kept for clients: any score is taken.
   */
  is_enforced: boolean
}
/**
 * How feedback of a key is meant.
 */
export interface FeedbackConfigCreate {
  feedback_key: string
  /**
   * E.g. {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config: {
    [k: string]: unknown | undefined
  }
  is_lower_score_better?: boolean | null
  is_enforced?: boolean | null
  [k: string]: unknown | undefined
}
/**
 * What to change of a feedback config; null and absent keep.
 */
export interface FeedbackConfigUpdate {
  feedback_key: string
  /**
   * E.g. {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config?: {
    [k: string]: unknown | undefined
  } | null
  is_lower_score_better?: boolean | null
  is_enforced?: boolean | null
  /**
   * @maxItems 1000
   */
  add_categories?: {
    value: number
    label?: string | null
    [k: string]: unknown | undefined
  }[]
  /**
   * Values, not labels.
   *
   * @maxItems 1000
   */
  remove_categories?: number[]
  [k: string]: unknown | undefined
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
 * Figures of feedback by key.
 */
export interface FeedbackStatsRead {
  [k: string]: FeedbackFiguresRead | undefined
}
export interface FeedbackFiguresRead {
  n: number
  /**
   * Of the scores; null where there are none.
   */
  avg: number | null
  min: number | null
  max: number | null
  /**
   * Of the scores as a whole population.
   */
  stdev: number | null
  errors: number
  /**
   * How often each text value was given; the 50 most frequent.
   */
  values: {
    [k: string]: number | undefined
  }
  /**
   * The newest 5, cut off at 200 characters.
   */
  comments: string[]
  /**
   * Types of the sources.
   */
  sources: string[]
  contains_thread_feedback: boolean
  [k: string]: unknown | undefined
}
/**
 * A URL that takes feedback of one key on one run without an API key.
 */
export interface FeedbackToken {
  id: string
  url: string
  expires_at: string
  feedback_key: string
}
/**
 * For which run and key a token is.
 */
export interface FeedbackTokenRequest {
  /**
   * Of your choice; made if absent.
   */
  id?: string | null
  run_id: string
  feedback_key: string
  /**
   * E.g. {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * 3 hours if neither this nor expires_at is given; a year at the most.
   */
  expires_in?: {
    days?: number
    hours?: number
    minutes?: number
  } | null
  expires_at?: string | null
  [k: string]: unknown | undefined
}
/**
 * What to change of a feedback record: absent keeps, null clears.
 */
export interface FeedbackUpdate {
  score?: number | boolean | null
  value?: string | number | boolean | {} | unknown[] | null
  correction?: string | number | boolean | {} | unknown[] | null
  comment?: string | null
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
       * Interval in milliseconds in which a request body must arrive at `min_body_bytes_per_second` on average. Slower requests get 408.
       */
      body_window_ms: number
      /**
       * Minimum rate of a request body.
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
   * Number of stored operations: run creates, run updates and feedback records.
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
   * The first condition that is true: the disk of DATA_DIR is full or not writable (nothing is accepted), the store is unavailable (accepted data waits in the log), the oldest waiting data is older than 5 s (behind).
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
     * DISK_MIN_FREE_BYTES: with less free space the disk counts as full.
     */
    min_free_bytes: number
    /**
     * Why the disk is not writable; null when it is.
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
   * Problems of the checks that failed, by the same names: a code of docs/errors.md and a message.
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
 * What computing costs again would change. The costs and numbers of unpriced runs are those of the changed runs. Costs are decimal strings of US dollars.
 */
export interface ModelPricePreview {
  /**
   * LLM and embedding runs that were compared.
   */
  examined: number
  /**
   * Runs whose total cost would be another.
   */
  changed: number
  cost_before: string
  cost_after: string
  /**
   * Runs without a total cost now.
   */
  unpriced_before: number
  /**
   * Runs that would have none.
   */
  unpriced_after: number
  /**
   * Start of the oldest run that was compared, where there are more than 100,000; null when all were.
   */
  examined_from: string | null
}
/**
 * A change of own prices that has not been made, and the runs to compare. With a price only, it is added; with replaces only, that price is removed; with both, it is replaced; with neither, the prices are those of now.
 */
export interface ModelPricePreviewRequest {
  /**
   * ISO 8601. Runs that start in [start_time, end_time) are compared.
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
  /**
   * The new or changed price.
   */
  price?: ModelPriceWrite | null
  /**
   * Id of the own price that is replaced or removed.
   */
  replaces?: string | null
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
    /**
     * The revision of the deployment that executes the last attempt; null before it, and for a deployment without revisions.
     */
    revision_id: string | null
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
     * The run stopped at an interrupt: interrupt(), interrupt_before or interrupt_after. Its status is success; its thread is interrupted until another run resumes it.
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
 * Which traces to delete: those that have a run which matches all that is given.
 */
export interface RunDeletion {
  /**
   * The project.
   */
  session: string
  /**
   * A filter as in POST /runs/query. Without one every run of the time matches.
   */
  filter?: string | null
  /**
   * Runs that start at this time or later, ISO 8601.
   */
  start_time?: string | null
  /**
   * Runs that start before this time, and before the request.
   */
  end_time?: string | null
}
/**
 * The last values of a run, after any newlines; with __interrupt__ when it waits for a human, __error__ when it failed.
 */
export interface RunResult {
  [k: string]: unknown | undefined
}
export interface RunShareDelete {
  /**
   * The project of the trace.
   */
  session_id: string
}
export interface RunShareWrite {
  /**
   * The project of the run.
   */
  session_id: string
  /**
   * The trace of the run.
   */
  trace_id: string
}
export interface RunUrl {
  /**
   * Where people look at the run.
   */
  url: string
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
  trace_tier: 'longlived' | 'shortlived' | null
  /**
   * All runs, of every type.
   */
  run_count: number | null
  /**
   * Roots.
   */
  trace_count: number | null
  /**
   * Model calls. A call that several runs show counts once.
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
   * How many of prompt_tokens are estimates, because nobody reported a count.
   */
  estimated_prompt_tokens: number | null
  /**
   * The same of completion_tokens.
   */
  estimated_completion_tokens: number | null
  /**
   * How much of total_cost was computed from estimates; null when total_cost is.
   */
  estimated_cost: string | null
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
  /**
   * Runs are deleted so many days after they were received; null: never.
   */
  retention_days: number | null
}
export interface SessionAddress {
  session_id: string
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
  /**
   * Runs are deleted so many days after they were received; 0 keeps them forever.
   */
  retention_days?: number | null
  /**
   * Sets retention_days where that is not said: 14 for short-lived, 400 for long-lived.
   */
  trace_tier?: 'longlived' | 'shortlived' | 'LONG_LIVED' | 'SHORT_LIVED' | null
}
/**
 * A new project. Null counts as not said; unknown keys are ignored.
 */
export interface SessionCreateV2 {
  type: 'PROJECT' | 'AGENT' | 'EXPERIMENT'
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
   * ISO 8601.
   */
  end_time?: string | null
  /**
   * Kept, not used yet.
   */
  default_dataset_id?: string | null
  /**
   * SHORT_LIVED keeps runs for 14 days, LONG_LIVED for 400 or longlived_ttl_days.
   */
  trace_tier?: 'LONG_LIVED' | 'SHORT_LIVED' | null
  /**
   * Days that runs are kept while the tier is LONG_LIVED; null: 400.
   */
  longlived_ttl_days?: number | null
  /**
   * Kept, not used yet.
   */
  reference_dataset_id?: string | null
  /**
   * ISO 8601.
   */
  start_time?: string | null
}
/**
 * Not supported: 501.
 */
export interface SessionDashboard {}
export interface SessionPageV2 {
  items: SessionV2[]
  /**
   * For the next page, with the same parameters; null on the last one.
   */
  next_cursor: string | null
}
/**
 * A project in API v2. Figures that are not kept or were not asked for are null.
 */
export interface SessionV2 {
  id: string
  /**
   * The workspace.
   */
  tenant_id: string
  name: string
  /**
   * A project that nobody gave a type is an EXPERIMENT if it has a reference dataset, else a PROJECT.
   */
  type: 'PROJECT' | 'AGENT' | 'EXPERIMENT'
  description: string | null
  start_time: string
  end_time: string | null
  extra: {
    [k: string]: unknown | undefined
  }
  default_dataset_id: string | null
  reference_dataset_id: string | null
  trace_tier: 'LONG_LIVED' | 'SHORT_LIVED' | null
  /**
   * Days that runs are kept while the tier is LONG_LIVED.
   */
  longlived_ttl_days: number | null
  /**
   * All runs, of every type.
   */
  run_count: number | null
  /**
   * Roots.
   */
  trace_count: number | null
  /**
   * Model calls. A call that several runs show counts once.
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
   * Dollars; null while no cost is known.
   */
  total_cost: number | null
  /**
   * Dollars; null while no cost is known.
   */
  prompt_cost: number | null
  /**
   * Dollars; null while no cost is known.
   */
  completion_cost: number | null
  /**
   * How many of prompt_tokens are estimates, because nobody reported a count.
   */
  estimated_prompt_tokens: number | null
  /**
   * The same of completion_tokens.
   */
  estimated_completion_tokens: number | null
  /**
   * How much of total_cost was computed from estimates; null when total_cost is.
   */
  estimated_cost: number | null
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
  /**
   * Runs are deleted so many days after they were received; 0 keeps them forever.
   */
  retention_days?: number | null
  /**
   * Sets retention_days where that is not said: 14 for short-lived, 400 for long-lived.
   */
  trace_tier?: 'longlived' | 'shortlived' | 'LONG_LIVED' | 'SHORT_LIVED' | null
}
/**
 * What to change of a project; absent keys keep what there is, unknown keys are ignored.
 */
export interface SessionUpdateV2 {
  /**
   * Unique in the workspace.
   */
  name?: string | null
  /**
   * Null clears it.
   */
  description?: string | null
  /**
   * Its keys replace those that there are; a key with null removes that one, null instead of the object removes all.
   */
  extra?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * ISO 8601; null clears it.
   */
  end_time?: string | null
  /**
   * Null clears it.
   */
  default_dataset_id?: string | null
  /**
   * SHORT_LIVED keeps runs for 14 days, LONG_LIVED for 400 or longlived_ttl_days.
   */
  trace_tier?: 'LONG_LIVED' | 'SHORT_LIVED' | null
  /**
   * Days that runs are kept while the tier is LONG_LIVED; null: 400.
   */
  longlived_ttl_days?: number | null
}
export interface Share {
  /**
   * Opens the trace, or the thread, without a key.
   */
  share_token: string
}
/**
 * Without a token for a thread that is not shared.
 */
export interface ShareOfThread {
  /**
   * Opens the trace, or the thread, without a key.
   */
  share_token?: string
}
/**
 * Unknown keys are ignored.
 */
export interface ShareWrite {
  /**
   * A token of your choice, taken unless the trace is shared already or the token is in use; choose one that cannot be guessed.
   */
  share_token?: string | null
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
export interface ThreadShareWrite {
  /**
   * The project of the thread.
   */
  project_id: string
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
 * A trace as columns in order of start: one array for each field, with an element for each run.
 */
export interface TraceOutline {
  trace_id: string
  /**
   * For `after` of the next question.
   */
  version: string
  /**
   * false: the columns have only what has changed, with all above it; some of it may be as before.
   */
  is_whole: boolean
  /**
   * Of the whole trace. Where it is not that of the runs known, some have left the trace: ask without `after`.
   */
  run_count: number
  /**
   * The trace has more runs than an outline holds.
   */
  is_truncated: boolean
  /**
   * Of the first run in the columns; null without any.
   */
  start_time: string | null
  /**
   * Of the whole trace, as in its full view; null where nothing has changed.
   */
  totals: null | {
    [k: string]: unknown | undefined
  }
  names: string[]
  run_types: string[]
  statuses: string[]
  models: string[]
  columns: TraceOutlineColumns
  [k: string]: unknown | undefined
}
export interface TraceOutlineColumns {
  id: string[]
  /**
   * Place of the parent in these columns; -1 of a root, -2 where the parent is not there.
   */
  parent: number[]
  /**
   * Place in names.
   */
  name: number[]
  /**
   * Place in run_types.
   */
  run_type: number[]
  /**
   * Place in statuses.
   */
  status: number[]
  /**
   * Place in models.
   */
  model: (number | null)[]
  /**
   * Microseconds from start_time.
   */
  start: number[]
  /**
   * Microseconds; null of a run that has not ended.
   */
  duration: (number | null)[]
  /**
   * Microseconds from the start of the run.
   */
  first_token: (number | null)[]
  /**
   * As total_tokens of the run.
   */
  tokens: number[]
  /**
   * Of llm runs, bits: run type 1, format 2, model 4, usage 8.
   */
  checks: (number | null)[]
  /**
   * Dollars, as total_cost of the run, with all digits.
   */
  cost: (number | null)[]
  [k: string]: unknown | undefined
}
export interface TracePageV2 {
  items: {
    root_run: TraceRunV2
    /**
     * Over all runs of the trace, if one of them was selected.
     */
    trace_aggregates?: {
      total_tokens?: number | null
      /**
       * Dollars; null while none is known.
       */
      total_cost?: number | null
      first_token_time?: string | null
    }
    query_metadata: null
  }[]
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * A run in API v2: the selected fields, and no others.
 */
export interface TraceRunV2 {
  id?: string
  name?: string
  /**
   * LLM, CHAIN, TOOL, RETRIEVER, EMBEDDING, PROMPT or PARSER; another one as it was sent, in upper case.
   */
  run_type?: string
  status?: 'SUCCESS' | 'ERROR' | 'PENDING'
  start_time?: string
  end_time?: string | null
  /**
   * From start to end.
   */
  latency_seconds?: number | null
  first_token_time?: string | null
  error?: string | null
  /**
   * Its first 500 characters.
   */
  error_preview?: string | null
  extra?: {
    [k: string]: unknown | undefined
  } | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  events?: unknown[]
  /**
   * As sent.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  inputs_preview?: string | null
  /**
   * As sent.
   */
  outputs?: {
    [k: string]: unknown | undefined
  }
  outputs_preview?: string | null
  /**
   * The serialized object that ran.
   */
  manifest?: {
    [k: string]: unknown | undefined
  }
  /**
   * From the root to the direct parent.
   */
  parent_run_ids?: string[]
  /**
   * In public reads only.
   */
  parent_run_id?: string | null
  project_id?: string
  trace_id?: string
  thread_id?: string | null
  dotted_order?: string
  is_root?: boolean
  reference_example_id?: string | null
  reference_dataset_id?: string | null
  total_tokens?: number | null
  prompt_tokens?: number | null
  completion_tokens?: number | null
  /**
   * Dollars; null while none is known.
   */
  total_cost?: number | null
  /**
   * Dollars.
   */
  prompt_cost?: number | null
  /**
   * Dollars.
   */
  completion_cost?: number | null
  /**
   * Tokens by category.
   */
  prompt_token_details?: {
    raw: {
      [k: string]: number | undefined
    }
  } | null
  /**
   * Tokens by category.
   */
  completion_token_details?: {
    raw: {
      [k: string]: number | undefined
    }
  } | null
  /**
   * Dollars by category.
   */
  prompt_cost_details?: {
    raw: {
      [k: string]: number | undefined
    }
  } | null
  /**
   * Dollars by category.
   */
  completion_cost_details?: {
    raw: {
      [k: string]: number | undefined
    }
  } | null
  price_model_id?: string | null
  tags?: string[]
  app_path?: string | null
  /**
   * Links that need no key, by name; they expire within two hours.
   */
  attachments?: {
    [k: string]: string | undefined
  } | null
  /**
   * Not kept: null.
   */
  thread_evaluation_time?: string | null
  /**
   * There are no datasets: false.
   */
  is_in_dataset?: boolean | null
  /**
   * Not kept: null.
   */
  last_queued_at?: string | null
  /**
   * Where people look at the trace without a key; null unless it is shared.
   */
  share_url?: string | null
  feedback_stats?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Not kept: null.
   */
  ls_user_id?: string | null
  /**
   * In pages only.
   */
  query_metadata?: null
}
/**
 * Which traces to list. Null counts as not said; unknown keys are ignored.
 */
export interface TraceQueryV2 {
  project_id: string
  /**
   * Only these; within the times as all others.
   *
   * @maxItems 1000
   */
  trace_ids?: string[] | null
  /**
   * Traces that started at or after it, ISO 8601. Default: 24 hours ago.
   */
  min_start_time?: string | null
  /**
   * Traces that started before it, ISO 8601. Default: now.
   */
  max_start_time?: string | null
  /**
   * LangSmith filter expression on the root of the trace.
   */
  filter?: string | null
  /**
   * The same.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Conditions on feedback look at what was modified at or after it, ISO 8601.
   */
  min_feedback_modified_at?: string | null
  /**
   * Conditions on feedback look at what was modified before it, ISO 8601.
   */
  max_feedback_modified_at?: string | null
  /**
   * Fields of the root to answer; absent: its id only. TOTAL_TOKENS, TOTAL_COST and FIRST_TOKEN_TIME are those of the whole trace.
   *
   * @maxItems 100
   */
  selects?: TraceRunSelect[] | null
  page_size?: number | null
  /**
   * next_cursor of the page before, with all other parameters as there.
   */
  cursor?: string | null
  /**
   * Not supported: 501.
   */
  ai_search?: {
    [k: string]: unknown | undefined
  }
  /**
   * Not supported: 501.
   */
  sem_filter?: {
    [k: string]: unknown | undefined
  }
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
    /**
     * How many of prompt_tokens are estimates, because nobody reported a count.
     */
    estimated_prompt_tokens: number
    /**
     * The same of completion_tokens.
     */
    estimated_completion_tokens: number
    /**
     * How much of total_cost was computed from estimates; null when total_cost is.
     */
    estimated_cost: string | null
    /**
     * Model calls. A call that several runs show counts once.
     */
    llm_runs: number
    error_runs: number
    /**
     * LLM and embedding calls with tokens but without a price (issue no_price); the costs do not include them.
     */
    unpriced_runs: number
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
   * When the server first received data of this run.
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
  thread_id?: string | null
  /**
   * Another run that shows the same model call with more details; this run adds nothing to totals.
   */
  same_call_as?: string | null
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
   * How many of prompt_tokens are estimates, because nobody reported a count.
   */
  estimated_prompt_tokens?: number | null
  /**
   * The same of completion_tokens.
   */
  estimated_completion_tokens?: number | null
  /**
   * How much of total_cost was computed from estimates; null when total_cost is.
   */
  estimated_cost?: string | null
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
 * A field whose values to list, and which runs to look at, as for the list of runs. Null counts as not said; unknown keys are ignored.
 */
export interface TraceRunFacetQueryBody {
  /**
   * What to list the values of. A run with several tags, issues or keys counts for each of them.
   */
  field:
    | 'name'
    | 'run_type'
    | 'status'
    | 'model'
    | 'provider'
    | 'tag'
    | 'issue'
    | 'metadata_key'
    | 'metadata_value'
    | 'input_source'
    | 'output_source'
    | 'price_model_id'
    | 'user'
    | 'api_key'
  /**
   * Key of the metadata; required with metadata_value.
   */
  key?: string | null
  /**
   * Only values that begin with it, in upper or lower case.
   */
  prefix?: string | null
  limit?: number | null
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
   * LangSmith filter expression on the root of the run's trace.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Text that the run contains, as search("text") in a filter.
   */
  query?: string | null
}
/**
 * Values of a field, those of most runs first.
 */
export interface TraceRunFacets {
  /**
   * @maxItems 100
   */
  values: TraceRunFacetValue[]
  /**
   * There are further values.
   */
  has_more: boolean
  /**
   * False: only the newest 200,000 runs were looked at, or there are more than 100,000 values.
   */
  is_whole: boolean
  [k: string]: unknown | undefined
}
export interface TraceRunFacetValue {
  value: string
  /**
   * Runs with the value.
   */
  count: number
  [k: string]: unknown | undefined
}
/**
 * Figures of some runs; null where no run has a value.
 */
export interface TraceRunFiguresRead {
  run_count: number
  /**
   * Seconds, of the runs that have ended.
   */
  latency_p50: number | null
  latency_p90: number | null
  latency_p99: number | null
  /**
   * Seconds to the first token; with is_root, to the first one of the trace.
   */
  first_token_p50: number | null
  first_token_p90: number | null
  first_token_p99: number | null
  /**
   * The number of runs by latency. Classes without runs are left out; null unless `histograms` was asked for.
   */
  latency_histogram:
    | null
    | {
        /**
         * Least seconds of the class, which ends where the next of 0, 0.001, 0.002, 0.005, 0.01 … begins.
         */
        from: number
        run_count: number
      }[]
  /**
   * The number of runs, or with is_root of traces, by the time to the first token. Classes without runs are left out; null unless `histograms` was asked for.
   */
  first_token_histogram:
    | null
    | {
        /**
         * Least seconds of the class, which ends where the next of 0, 0.001, 0.002, 0.005, 0.01 … begins.
         */
        from: number
        run_count: number
      }[]
  /**
   * Each call of a model counts once. Of whole traces with is_root; of the runs alone with group_by; else of the runs and what is below them.
   */
  total_tokens: number | null
  prompt_tokens: number | null
  completion_tokens: number | null
  /**
   * Percentiles of tokens and costs are those of the runs that have any.
   */
  median_tokens: number | null
  tokens_p99: number | null
  prompt_tokens_p50: number | null
  prompt_tokens_p99: number | null
  completion_tokens_p50: number | null
  completion_tokens_p99: number | null
  /**
   * Dollars; null where none is known.
   */
  total_cost: string | null
  /**
   * Dollars; null where none is known.
   */
  prompt_cost: string | null
  /**
   * Dollars; null where none is known.
   */
  completion_cost: string | null
  cost_p50: string | null
  cost_p99: string | null
  prompt_token_details: {
    [k: string]: number | undefined
  } | null
  completion_token_details: {
    [k: string]: number | undefined
  } | null
  prompt_cost_details: {
    [k: string]: string | undefined
  } | null
  completion_cost_details: {
    [k: string]: string | undefined
  } | null
  /**
   * Share of the runs that have ended, 0 to 1.
   */
  error_rate: number | null
  /**
   * Share of the llm runs that have ended, or of such traces, with a first token.
   */
  streaming_rate: number | null
  /**
   * For how many llm runs each check holds; of the runs themselves, also with is_root.
   */
  checks: {
    /**
     * The llm runs among those that are looked at.
     */
    llm_runs: number
    /**
     * Those of them for which all four checks hold.
     */
    all: number
    run_type: number
    format: number
    model: number
    usage: number
  }
  last_run_start_time: string | null
  /**
   * Null with group_by or interval.
   */
  feedback_stats: null | FeedbackStatsRead
  run_facets: null
  /**
   * Approximate ones are from sketches, beyond 2,000,000 runs.
   */
  percentiles: 'exact' | 'approximate'
  [k: string]: unknown | undefined
}
/**
 * Runs of a project in groups. Null counts as not said; unknown keys are ignored.
 */
export interface TraceRunGroupQuery {
  session_id: string
  /**
   * By thread.
   */
  group_by: 'conversation'
  /**
   * LangSmith filter expression on the root of some trace of the thread.
   */
  filter?: string | null
  /**
   * Traces that started at or after it, ISO 8601. Default: all.
   */
  start_time?: string | null
  /**
   * Traces that started before it, ISO 8601. Default: now.
   */
  end_time?: string | null
  limit?: number | null
  offset?: number | null
}
/**
 * Groups of runs, latest activity first.
 */
export interface TraceRunGroups {
  groups: TraceRunGroup[]
  /**
   * All groups.
   */
  total: number
}
export interface TraceRunGroup {
  /**
   * The same as thread_id.
   */
  group_key: string
  thread_id: string
  /**
   * Filter expression for the runs of the thread.
   */
  filter: string
  count: number
  total_tokens: number
  total_cost: number | null
  min_start_time: string
  max_start_time: string
  latency_p50: number | null
  latency_p99: number | null
  feedback_stats: FeedbackStatsRead | null
  first_inputs: string
  last_outputs: string
  last_error: string | null
}
/**
 * All that there are.
 */
export interface TraceRunListV2 {
  items: TraceRunV2[]
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
export interface TraceRunPageV2 {
  items: TraceRunV2[]
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * Which of the shared runs to list. Unknown keys are ignored.
 */
export interface TraceRunPublicQuery {
  /**
   * Only these.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  limit?: number | null
  /**
   * cursors.next of the page before.
   */
  cursor?: string | null
}
/**
 * Which fields of the shared runs to answer. Unknown keys are ignored.
 */
export interface TraceRunPublicQueryV2 {
  /**
   * Absent: the id only.
   *
   * @maxItems 100
   */
  selects?: TraceRunPublicSelect[] | null
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
   * cursors.next of the page before, with the same order.
   */
  cursor?: string | null
  /**
   * Of the starts, or of what `order_by` names.
   */
  order?: 'asc' | 'desc' | null
  /**
   * Tokens and costs include those of the runs below. Runs without a value come last. But for start_time, pages are those of the moment they are read, and the list ends after 10,000 runs.
   */
  order_by?: 'start_time' | 'latency' | 'total_tokens' | 'total_cost' | null
  /**
   * LangSmith filter expression on the root of the run's trace.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Text that the run contains, as search("text") in a filter.
   */
  query?: string | null
  /**
   * Not supported yet.
   */
  reference_example?: null | unknown[]
}
/**
 * Which runs to list. Either project_ids or reference_dataset_id is needed. Null counts as not said; unknown keys are ignored.
 */
export interface TraceRunQueryV2 {
  /**
   * @maxItems 1000
   */
  project_ids?: string[] | null
  /**
   * Runs of the projects that belong to this dataset.
   */
  reference_dataset_id?: string | null
  /**
   * Runs that started at or after it, ISO 8601. Default: 24 hours ago.
   */
  min_start_time?: string | null
  /**
   * Runs that started before it, ISO 8601. Default: now.
   */
  max_start_time?: string | null
  /**
   * Only these; within the times as all others.
   *
   * @maxItems 1000
   */
  ids?: string[] | null
  /**
   * Only the runs of this trace; within the times as all others.
   */
  trace_id?: string | null
  has_error?: boolean | null
  is_root?: boolean | null
  run_type?: null | ('LLM' | 'CHAIN' | 'TOOL' | 'RETRIEVER' | 'EMBEDDING' | 'PROMPT' | 'PARSER')
  /**
   * LangSmith filter expression on each run.
   */
  filter?: string | null
  /**
   * The same on the root of the run's trace.
   */
  trace_filter?: string | null
  /**
   * The same on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Only runs of these examples.
   *
   * @maxItems 1000
   */
  reference_examples?: string[] | null
  /**
   * Conditions on feedback look at what was modified at or after it, ISO 8601.
   */
  min_feedback_modified_at?: string | null
  /**
   * Conditions on feedback look at what was modified before it, ISO 8601.
   */
  max_feedback_modified_at?: string | null
  /**
   * Tokens, costs and first token of each run with those of all runs below it.
   */
  include_subtree_usage?: boolean | null
  /**
   * Fields to answer; absent: the id only.
   *
   * @maxItems 100
   */
  selects?: TraceRunSelect[] | null
  page_size?: number | null
  /**
   * next_cursor of the page before, with all other parameters as there.
   */
  cursor?: string | null
  /**
   * Not supported: 501.
   */
  ai_search?: {
    [k: string]: unknown | undefined
  }
  /**
   * Not supported: 501.
   */
  sem_filter?: {
    [k: string]: unknown | undefined
  }
}
export interface TraceRunStatsByGroup {
  [k: string]: TraceRunFiguresRead | undefined
}
export interface TraceRunStatsByTime {
  interval_seconds: number
  buckets: TraceRunStatsBucket[]
  [k: string]: unknown | undefined
}
export interface TraceRunStatsBucket {
  start_time: string
  group: string | null
  figures: TraceRunFiguresRead
  [k: string]: unknown | undefined
}
/**
 * Which runs to make figures of, as for the list of runs, and how to group them. Null counts as not said; unknown keys are ignored.
 */
export interface TraceRunStatsQueryBody {
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
  /**
   * true: tokens, costs and first tokens are those of the whole traces.
   */
  is_root?: boolean | null
  run_type?: string | null
  /**
   * Runs that started at or after it, ISO 8601. Required with interval.
   */
  start_time?: string | null
  /**
   * Runs that started before it, ISO 8601. With interval, now if it is absent.
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
   * LangSmith filter expression on the root of the run's trace.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Text that the run contains, as search("text") in a filter.
   */
  query?: string | null
  /**
   * Makes figures of each group; those with most runs are answered.
   */
  group_by?: null | {
    /**
     * A run with several tags is in several groups; one without a value is in none. Groups of `session` are named by ids.
     */
    attribute: 'model' | 'provider' | 'run_type' | 'status' | 'session' | 'name' | 'tag' | 'metadata'
    /**
     * Key of the metadata; required with it.
     */
    path?: string | null
    max_groups?: number | null
    [k: string]: unknown | undefined
  }
  /**
   * Length of a time bucket, e.g. 30s, 5m, 1h, 1d; buckets begin at its multiples in UTC. At most 1,500 buckets.
   */
  interval?: string | null
  /**
   * Also count the runs by classes of their latency and of the time to the first token.
   */
  histograms?: boolean | null
}
/**
 * What to search for in a trace. Null counts as not said; unknown keys are ignored.
 */
export interface TraceSearchBody {
  /**
   * Text that runs contain in name, inputs, outputs, error or metadata, in any case.
   */
  query: string
  limit?: number | null
  /**
   * cursors.next of the page before.
   */
  cursor?: string | null
}
/**
 * A thread of traces, with figures of its traces in the window of the query. Each call of a model counts once.
 */
export interface TraceThread {
  thread_id: string
  /**
   * Traces in the window.
   */
  count: number
  /**
   * The latest trace.
   */
  trace_id: string
  first_trace_id: string
  last_trace_id: string
  /**
   * Start of the latest trace, by which threads are in order.
   */
  start_time: string
  min_start_time: string
  max_start_time: string
  /**
   * Preview of the inputs of the first trace.
   */
  first_inputs: string
  /**
   * Preview of the outputs of the latest trace.
   */
  last_outputs: string
  /**
   * Of the latest trace that failed; left out when none did.
   */
  last_error?: string
  num_errored_turns: number
  latency_p50: number | null
  /**
   * Seconds, as latency_p50; null while no trace has ended.
   */
  latency_p99: number | null
  total_tokens: number
  /**
   * Dollars; null while none is known.
   */
  total_cost: number | null
  total_token_details: {
    [k: string]: number | null | undefined
  }
  total_cost_details: {
    [k: string]: number | null | undefined
  }
  feedback_stats: FeedbackStatsRead
  query_metadata: null
}
/**
 * Figures of all traces of the threads in the window: the selected ones, and no others.
 */
export interface TraceThreadFigures {
  thread_count?: number
  trace_count?: number
  /**
   * Share of the ended traces that failed, 0 to 1.
   */
  error_rate?: number | null
  /**
   * Share of the traces with calls of models in which one streamed.
   */
  streaming_rate?: number | null
  latency_p50_seconds?: number | null
  latency_p99_seconds?: number | null
  first_token_p50_seconds?: number | null
  first_token_p99_seconds?: number | null
  median_tokens?: number | null
  prompt_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  prompt_cost?: number | null
  completion_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  completion_cost?: number | null
  total_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  total_cost?: number | null
  prompt_token_details?: {
    [k: string]: number | null | undefined
  }
  prompt_cost_details?: {
    [k: string]: number | null | undefined
  }
  completion_token_details?: {
    [k: string]: number | null | undefined
  }
  completion_cost_details?: {
    [k: string]: number | null | undefined
  }
  thread_feedback_stats?: FeedbackStatsRead
}
/**
 * Which threads of a project to make figures of, and which figures.
 */
export interface TraceThreadFiguresQuery {
  project_id: string
  /**
   * @minItems 1
   * @maxItems 100
   */
  select: (
    | 'THREAD_COUNT'
    | 'TRACE_COUNT'
    | 'TOTAL_TOKENS'
    | 'TOTAL_COST'
    | 'ERROR_RATE'
    | 'STREAMING_RATE'
    | 'LATENCY_P50'
    | 'LATENCY_P99'
    | 'MEDIAN_TOKENS'
    | 'FIRST_TOKEN_P50'
    | 'FIRST_TOKEN_P99'
    | 'PROMPT_TOKENS'
    | 'COMPLETION_TOKENS'
    | 'PROMPT_COST'
    | 'COMPLETION_COST'
    | 'PROMPT_TOKEN_DETAILS'
    | 'COMPLETION_TOKEN_DETAILS'
    | 'PROMPT_COST_DETAILS'
    | 'COMPLETION_COST_DETAILS'
    | 'THREAD_FEEDBACK_STATS'
  )[]
  /**
   * Traces that started at or after it, ISO 8601. Default: 24 hours ago.
   */
  min_start_time?: string | null
  /**
   * Traces that started before it, ISO 8601. Default: now.
   */
  max_start_time?: string | null
  /**
   * LangSmith filter expression on the root of some trace of the thread.
   */
  filter?: string | null
  /**
   * The same; another trace may satisfy it.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on some run of some trace of the thread.
   */
  tree_filter?: string | null
  /**
   * Filter expression on the figures of the thread in the window: thread_id, count, num_errored_turns, min_start_time, max_start_time, start_time, first_inputs, last_outputs, last_error, latency_p50, latency_p99, total_tokens, total_cost.
   */
  thread_filter?: string | null
}
export interface TraceThreadPage {
  items: TraceThread[]
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * Which threads of a project to list. Null counts as not said; unknown keys are ignored.
 */
export interface TraceThreadQuery {
  project_id: string
  /**
   * Traces that started at or after it, ISO 8601. Default: 24 hours ago.
   */
  min_start_time?: string | null
  /**
   * Traces that started before it, ISO 8601. Default: now.
   */
  max_start_time?: string | null
  /**
   * LangSmith filter expression on the root of some trace of the thread.
   */
  filter?: string | null
  /**
   * The same; another trace may satisfy it.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on some run of some trace of the thread.
   */
  tree_filter?: string | null
  /**
   * Filter expression on the figures of the thread in the window: thread_id, count, num_errored_turns, min_start_time, max_start_time, start_time, first_inputs, last_outputs, last_error, latency_p50, latency_p99, total_tokens, total_cost.
   */
  thread_filter?: string | null
  page_size?: number | null
  /**
   * next_cursor of the page before, with all other parameters as there.
   */
  cursor?: string | null
  /**
   * Not supported: 501.
   */
  ai_search?: {
    [k: string]: unknown | undefined
  }
  /**
   * Not supported: 501.
   */
  sem_filter?: {
    [k: string]: unknown | undefined
  }
}
/**
 * Figures of one thread: the selected ones, and no others.
 */
export interface TraceThreadStats {
  turns?: number
  first_start_time?: string | null
  last_start_time?: string | null
  last_end_time?: string | null
  latency_p50_seconds?: number | null
  latency_p99_seconds?: number | null
  prompt_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  prompt_cost?: number | null
  completion_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  completion_cost?: number | null
  total_tokens?: number
  /**
   * Dollars; null while none is known.
   */
  total_cost?: number | null
  prompt_token_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  prompt_cost_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  completion_token_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  completion_cost_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  feedback_stats?: FeedbackStatsRead
}
export interface TraceTurnPage {
  items: TraceTurn[]
  /**
   * For the next page; null on the last one.
   */
  next_cursor: string | null
}
export interface TraceTurn {
  thread_id?: string
  trace_id: string
  /**
   * The run type of the root: 1 llm, 2 chain, 3 tool, 4 retriever, 5 embedding, 6 prompt, 7 parser, 0 another.
   */
  op?: number
  name?: string
  /**
   * Place in the whole thread, the first trace is 1.
   */
  turn_number?: number
  start_time?: string
  end_time?: string | null
  /**
   * Seconds.
   */
  latency?: number | null
  first_token_time?: string | null
  error?: string | null
  error_preview?: string | null
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
  inputs_preview?: string
  outputs_preview?: string
  /**
   * Of the whole trace.
   */
  prompt_tokens?: number
  /**
   * Dollars, of the whole trace; null while none is known.
   */
  prompt_cost?: number | null
  /**
   * Of the whole trace.
   */
  completion_tokens?: number
  /**
   * Dollars, of the whole trace; null while none is known.
   */
  completion_cost?: number | null
  /**
   * Of the whole trace.
   */
  total_tokens?: number
  /**
   * Dollars, of the whole trace; null while none is known.
   */
  total_cost?: number | null
  prompt_token_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  prompt_cost_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  completion_token_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
  completion_cost_details?: {
    raw: {
      [k: string]: number | null | undefined
    }
  }
}
/**
 * Requests a UI component of a graph.
 */
export interface UiRequest {
  /**
   * Name of the component, as the graph pushed it.
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
     * Model calls, including those with unknown usage. A call that several runs show counts once.
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
    /**
     * How many of prompt_tokens are estimates, because nobody reported a count.
     */
    estimated_prompt_tokens: number
    /**
     * The same of completion_tokens.
     */
    estimated_completion_tokens: number
    /**
     * How much of total_cost was computed from estimates; null when total_cost is.
     */
    estimated_cost: string | null
    /**
     * Calls with tokens that no price matches: their cost is unknown, and total_cost does not include it.
     */
    unpriced_runs: number
    /**
     * The tokens of these calls.
     */
    unpriced_tokens: number
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
 * Traces that a number of the usage report counts, newest first.
 */
export interface UsageTraces {
  items: {
    trace_id: string
    workspace_id: string
    workspace_name: string
    project_id: string
    /**
     * Its id when the project is deleted.
     */
    project_name: string
    /**
     * Null when a service key sent it.
     */
    user_id: string | null
    user_email: string | null
    api_key_short_key: string
    /**
     * The time at which it counts; it lies in its bucket.
     */
    counted_at: string
    /**
     * What decided where it counts: an operation of its root, of another of its runs, of a run without a place of its own, or of one below a parent whose trace is not known.
     */
    counted_by: 'root' | 'child' | 'unplaced' | 'under_parent'
    /**
     * `counted_at` is the start that this operation named, or, without one or with one more than a day ahead, when it was received.
     */
    time_source: 'start_time' | 'received'
    /**
     * When this operation was received.
     */
    received_at: string
    /**
     * Its page in the web interface. The trace itself may have been deleted; it still counts.
     */
    app_path: string
  }[]
  /**
   * For the next page; null after the last one.
   */
  next_cursor: string | null
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
