/* Generated from schemas/*.schema.json by `npm run generate`. Do not edit. */

/**
 * Keys of the workspaces that the caller may use, newest first.
 */
export type ApiKeyList = ApiKeyRead[]
/**
 * Assistants, with all fields or with the selected ones.
 */
export type AssistantList = {
  assistant_id?: string
  /**
   * Name of the graph in langgraph.json.
   */
  graph_id?: string
  /**
   * The current version.
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
 * Ids of the deleted assistants.
 */
export type AssistantsDeleted = string[]
/**
 * The number of matches.
 */
export type Count = number
/**
 * A new cron. Null is the same as an absent field; unknown keys are ignored.
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
   * Whether the threads that were created for its runs are deleted or kept.
   */
  on_run_completed?: 'delete' | 'keep' | null
  /**
   * Metadata of the cron and of its runs.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Fields that creating and changing a cron have in common.
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
 * Crons, with all fields or with the selected ones.
 */
export type CronList = {
  cron_id?: string
  assistant_id?: string
  /**
   * Null: each run has a thread of its own.
   */
  thread_id?: string | null
  /**
   * Whether the threads that were created for its runs are deleted or kept.
   */
  on_run_completed?: 'delete' | 'keep'
  schedule?: string
  /**
   * IANA name; null for UTC.
   */
  timezone?: string | null
  end_time?: string | null
  /**
   * Null when there is none, because the cron is disabled or past its end.
   */
  next_run_date?: string | null
  enabled?: boolean
  /**
   * The user for whom its runs are created.
   */
  user_id?: string | null
  payload?: Payload
  metadata?: Metadata1
  created_at?: string
  updated_at?: string
  /**
   * The time at which the cron was read.
   */
  now?: string
}[]
/**
 * Fields of a cron to change. Null removes `timezone`, `end_time`, `webhook` and `input`; in other fields it is the same as an absent field.
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
   * Whether the threads that were created for its runs are deleted or kept.
   */
  on_run_completed?: 'delete' | 'keep' | null
  /**
   * Merged into the metadata, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * The runtimes that can execute deployed graphs.
 */
export type DeploymentRuntimes = {
  runtime: 'process' | 'container' | 'kubernetes'
  /**
   * True for the runtime that DEPLOY_RUNTIME names.
   */
  in_use: boolean
  usable: boolean
  isolation: string | null
  /**
   * Why this runtime cannot be used, or why it does not isolate deployed code.
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
 * The run and the feedback key of a new token, or an array of these.
 */
export type FeedbackTokenCreate = FeedbackTokenRequest | FeedbackTokenRequest[]
/**
 * The token; for a request with an array, an array of tokens.
 */
export type FeedbackTokenCreated = FeedbackToken | FeedbackTokenList
/**
 * Tokens of a run.
 */
export type FeedbackTokenList = FeedbackToken[]
/**
 * The values that a group has in common, with the keys of the chosen group_by.
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
 * The roles and their permissions, from most to fewest.
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
 * A new run. Null is the same as an absent field; unknown keys are ignored.
 */
export type RunCreate = RunOptions & {
  /**
   * Id of an assistant, or name of a graph.
   */
  assistant_id: string
  /**
   * Chosen by the client; generated when absent. A request with the id of a run of the same thread returns that run.
   */
  run_id?: string | null
  checkpoint?: Checkpoint | null
  /**
   * The older form of `checkpoint`.
   */
  checkpoint_id?: string | null
  /**
   * True: the run fails with `UnknownInterruptError`, and changes nothing, if its command answers an interrupt that does not wait when the run begins.
   */
  strict_resume?: boolean | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Takes precedence over the config of the assistant.
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
   * Default: continue. What happens to a run whose client disconnects.
   */
  on_disconnect?: 'cancel' | 'continue' | null
  /**
   * Default: reject. What happens to a run for a thread that does not exist.
   */
  if_not_exists?: 'create' | 'reject' | null
  /**
   * Seconds to wait before the run starts.
   */
  after_seconds?: number | null
  /**
   * Default: delete. What happens to the thread of a stateless run. complete and continue are names for delete and keep that an SDK uses.
   */
  on_completion?: 'delete' | 'keep' | 'complete' | 'continue' | null
}
/**
 * Stateless runs to create.
 *
 * @minItems 1
 * @maxItems 1000
 */
export type RunBatch = RunCreate[]
/**
 * The result of the request for each run.
 */
export type RunCancelResults = {
  run_id: string
  thread_id: string
  /**
   * ended: the run is no longer active; requested: the request was sent to its worker.
   */
  outcome: 'ended' | 'requested' | 'not_active' | 'not_found'
  status: 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted' | 'deleted' | null
}[]
/**
 * Runs, with all fields or with the selected ones.
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
 * A thread: the state that its runs share, such as a conversation.
 */
export type Thread = ThreadFields
/**
 * When a thread expires: minutes after its last write, or null for never.
 */
export type ThreadTtlWrite =
  | number
  | {
      /**
       * Minutes.
       */
      ttl: number
      /**
       * Default: delete. keep_latest deletes all but the latest checkpoint.
       */
      strategy?: 'delete' | 'keep_latest'
    }
  | null
/**
 * States of a thread, newest first, with all fields or with the selected ones.
 */
export type ThreadHistory = ThreadStateFields[]
/**
 * Threads, with all fields or with the selected ones.
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
 * Figures of all selected runs; with group_by, an object of figures by value, the largest group first; with interval, those of each bucket that has runs.
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
 * A trace in the requested view.
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
 * The secrets of a workspace by name, without their values.
 */
export type WorkspaceSecretList = WorkspaceSecret[]
/**
 * Secrets to set, as LangSmith's clients send them. One with the value null is deleted.
 *
 * @minItems 1
 * @maxItems 100
 */
export type WorkspaceSecretsWrite = {
  /**
   * 1 to 128 letters, digits and `_`, not starting with a digit.
   */
  key: string
  /**
   * Printable ASCII without spaces. It is stored encrypted, and no response contains it.
   */
  value?: string | null
  /**
   * The hosts that may receive the value, such as `api.openai.com` or `127.0.0.1:11434`; without a port, the standard one of the protocol. Default: the stored hosts of the secret, otherwise those of the provider to which the name belongs (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GOOGLE_API_KEY`).
   *
   * @minItems 1
   * @maxItems 20
   */
  hosts?: string[] | null
}[]

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
  'backup-manifest': BackupManifest
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
  'playground-models': PlaygroundModels
  'playground-run-create': PlaygroundRunCreate
  problem: Problem
  'protocol-answer': ProtocolAnswer
  'protocol-command': ProtocolCommand
  'protocol-stream': ProtocolStream
  readiness: Readiness
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
  'run-search': RunSearch
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
  'thread-state-fields': ThreadStateFields
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
  'usage-runs': UsageRuns
  'usage-stride': UsageStride
  'usage-traces': UsageTraces
  'validation-report': ValidationReport
  workspace: WorkspaceRead
  'workspace-create': WorkspaceCreate
  'workspace-list': WorkspaceList
  'workspace-secret': WorkspaceSecret
  'workspace-secret-list': WorkspaceSecretList
  'workspace-secret-write': WorkspaceSecretWrite
  'workspace-secrets-write': WorkspaceSecretsWrite
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
   * The member that a personal token acts for; null for a service key.
   */
  user_id: string | null
  /**
   * The role whose permissions the key has. A personal token has only those of them that its owner has too.
   */
  role: 'admin' | 'operator' | 'user' | 'viewer'
  read_only: boolean
  /**
   * Null = every workspace, including later ones. Workspaces that the caller may not use are left out.
   */
  workspaces: string[] | null
  /**
   * The workspace of requests without X-Tenant-Id.
   */
  default_workspace_id: string | null
  created_at: string
  /**
   * Null = never.
   */
  expires_at: string | null
  /**
   * Exact to a minute; null = never used.
   */
  last_used_at: string | null
}
/**
 * A new key. Only this answer contains the key itself.
 */
export interface ApiKeyCreated {
  /**
   * The key itself. The server stores only its SHA-256 and cannot return it again.
   */
  key: string
  id: string
  /**
   * First and last four characters; unique in the organization.
   */
  short_key: string
  description: string
  /**
   * The member that a personal token acts for; null for a service key.
   */
  user_id: string | null
  /**
   * The role whose permissions the key has. A personal token has only those of them that its owner has too.
   */
  role: 'admin' | 'operator' | 'user' | 'viewer'
  read_only: boolean
  /**
   * Null = every workspace, including later ones. Workspaces that the caller may not use are left out.
   */
  workspaces: string[] | null
  /**
   * The workspace of requests without X-Tenant-Id.
   */
  default_workspace_id: string | null
  created_at: string
  /**
   * Null = never.
   */
  expires_at: string | null
  /**
   * Exact to a minute; null = never used.
   */
  last_used_at: string | null
}
/**
 * A graph with its own configuration.
 */
export interface Assistant {
  assistant_id: string
  /**
   * Name of the graph in langgraph.json.
   */
  graph_id: string
  /**
   * The current version.
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
 * Default config of its runs; values of a run take precedence.
 */
export interface Config {
  [k: string]: unknown | undefined
}
/**
 * Default context of its runs; values of a run take precedence.
 */
export interface Context {
  [k: string]: unknown | undefined
}
/**
 * Default metadata of its runs; values of a run take precedence.
 */
export interface Metadata {
  [k: string]: unknown | undefined
}
/**
 * Conditions on the counted assistants. Null is the same as an absent field; unknown keys are ignored.
 */
export interface AssistantCountBody {
  graph_id?: string | null
  /**
   * Part of the name, in any case.
   */
  name?: string | null
  /**
   * Keys and values that the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * A new assistant. Null is the same as an absent field; unknown keys are ignored.
 */
export interface AssistantCreate {
  /**
   * Name of a graph of this deployment.
   */
  graph_id: string
  /**
   * Chosen by the client; generated when absent.
   */
  assistant_id?: string | null
  name?: string | null
  description?: string | null
  /**
   * Object with `tags`, `recursion_limit` and `configurable`.
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
   * The answer when the id is taken: 409 (`raise`), or the assistant that has the id (`do_nothing`).
   */
  if_exists?: 'raise' | 'do_nothing' | null
}
/**
 * The version to make the current one.
 */
export interface AssistantLatestBody {
  version: number
}
/**
 * Conditions on the listed assistants. Null is the same as an absent field; unknown keys are ignored.
 */
export interface AssistantSearchBody {
  graph_id?: string | null
  /**
   * Part of the name, in any case.
   */
  name?: string | null
  /**
   * Keys and values that the metadata must contain.
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
 * Fields that change in the next version. Null is the same as an absent field; unknown keys are ignored.
 */
export interface AssistantUpdate {
  /**
   * Name of a graph of this deployment.
   */
  graph_id?: string | null
  name?: string | null
  description?: string | null
  /**
   * Replaces the stored value.
   */
  config?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Replaces the stored value.
   */
  context?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Merged into the metadata, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Conditions on the listed versions. Null is the same as an absent field; unknown keys are ignored.
 */
export interface AssistantVersionsBody {
  /**
   * Keys and values that the metadata must contain.
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
     * Details of the change; their keys depend on the action.
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
   * When the session expires unless it is used again; for a key, when the key expires. Null = never.
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
   * The caller's permissions, named as in docs/api/permissions.md.
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
   * An API key. When both are sent, the ticket is ignored.
   */
  key?: string
  /**
   * Ticket of a sign-in link: the text after `#ticket=`. It is valid for one sign-in.
   */
  ticket?: string
  [k: string]: unknown | undefined
}
/**
 * A link with which a browser can sign in once.
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
 * The file `manifest.json` of a backup. It is written last: a folder without it is not a whole backup.
 */
export interface BackupManifest {
  /**
   * Version of this layout.
   */
  format: 1
  /**
   * The version of Weir that wrote the backup.
   */
  weir_version: string
  /**
   * The id that every store of the installation contains.
   */
  installation_id: string
  /**
   * Everything that was acknowledged before this time is in the backup.
   */
  started_at: string
  finished_at: string
  /**
   * Traces that were received since this time are stored again by the restore, because rows made from them may be missing. Null when nothing was written during the backup.
   */
  late_since: string | null
  /**
   * The newest migration of each store; 0 for a store that did not exist.
   */
  versions: {
    identity: number
    runs: number
    traces: number
  }
  /**
   * The tables, in the order in which they are restored.
   *
   * @maxItems 1000
   */
  tables: {
    store: 'identity' | 'runs' | 'traces'
    table: string
    /**
     * @minItems 1
     * @maxItems 1000
     */
    columns: string[]
    rows: number
    /**
     * Size of the compressed file.
     */
    bytes: number
    /**
     * Checksum of the compressed file.
     */
    sha256: string
  }[]
  /**
   * The copied files, which `files.jsonl.zst` lists with their checksums.
   */
  files: {
    count: number
    /**
     * Size of all files together.
     */
    bytes: number
    /**
     * Checksum of `files.jsonl.zst`.
     */
    sha256: string
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
   * Why the requirement is not fulfilled; present when ok is false.
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
   * ClickHouse server or cluster, version 26.4 or later, over HTTP, with user, password and database in the URL. When it is not set, a ClickHouse that is embedded in Weir stores its data in `DATA_DIR`.
   */
  CLICKHOUSE_URL?: string
  /**
   * Postgres database of organizations, members, keys, projects, prices, threads and runs. Several servers that work as one need it. When it is not set, these are stored in SQLite databases in `DATA_DIR`.
   */
  DATABASE_URL?: string
  /**
   * Maximum number of connections to Postgres of one server and its graph hosts. The server divides them among its parts and logs the numbers at the start. It logs a warning when all servers together may open more connections than `max_connections` of Postgres allows. Work waits for a free connection. Three servers with the default fit into the 100 connections that Postgres allows by default.
   */
  DATABASE_CONNECTIONS: number
  /**
   * Redis 7 for the events that streams are read from. When it is not set, events are stored in the run database. With several servers, Redis takes the load of streaming off Postgres. How much Redis keeps after a crash depends on its own persistence settings (`appendonly yes`). With Sentinel the URL is `redis+sentinel://user:password@host:26379,host:26379/name/database`. It contains the addresses of the Sentinels and the name of the primary in their configuration. User and password are those of Redis; `?sentinel_username=` and `&sentinel_password=` are those of the Sentinels. `rediss+sentinel://` means TLS for both. Redis Cluster is refused at the start.
   */
  REDIS_URL?: string
  /**
   * Time for which a run waits while the store of its events, such as the Redis of `REDIS_URL`, does not answer. Its graph is stopped at once, because its events would be lost. When the store answers again, the run continues from its last checkpoint as a further attempt. After this time the run ends with status `error` and `EventStoreUnavailable`.
   */
  REDIS_OUTAGE_SECONDS: number
  /**
   * The store of attachments, for several servers that work as one: a bucket of S3 such as `s3://bucket/prefix?region=eu-central-1`, of a store with the same API such as `s3://bucket/prefix?endpoint=http://minio:9000`, or a folder of a shared file system (`file:///mnt/weir-blobs`). Credentials are found as in every AWS client (`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, the role of the machine or the pod), or are in the URL as `s3://key:secret@bucket`. When it is not set, attachments are stored in `DATA_DIR`, where only this server finds them.
   */
  BLOB_URL?: string
  /**
   * Name of the cluster of replicas that `CLICKHOUSE_URL` leads to. Tables are created on all replicas, inserts wait for a quorum, and reads see every confirmed insert. A cluster with several shards is refused at the start, and so is ClickHouse Cloud.
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
   * Seconds for which this server still accepts API keys and browser sessions that it has looked up before, while the SQL database does not answer. The time begins when the cached look-up expires. So ingest and reads of traces continue while Postgres is not reachable. A key that is revoked on another server in this time is accepted here until the time is over.
   */
  IDENTITY_OUTAGE_SECONDS: number
  /**
   * URL under which browsers reach the platform API when it is behind a proxy. With `AUTH=off`, and for browser sessions, only requests to this host name, to `HOST` or to a loopback name are accepted.
   */
  PUBLIC_URL?: string
  /**
   * Origin under which browsers reach `DEPLOYMENT_PORT`, where every deployment is also served under `/deployments/{name}` and no session counts. The web interface links to pages of deployed code there. With a host name that the interface does not use, these pages are not sandboxed. Default: `DEPLOYMENT_PORT` at the host name of the interface, and no links if `PUBLIC_URL` is set.
   */
  DEPLOYMENTS_ORIGIN?: string
  /**
   * Time between the signal to stop and the stop. In this time the server handles requests as usual, but `/ready` answers 503, so that a balancer sends no more requests before the server closes. Choose a little more than the interval of the balancer's checks times the number of failures after which it removes a server. A second signal ends it at once.
   */
  DRAIN_DELAY_SECONDS: number
  /**
   * When the server acknowledges a run: with `log` when the run is on the disk of this machine, with `store` when ClickHouse has confirmed it. Use `store` on machines whose disk may be lost.
   */
  INGEST_ACK: 'log' | 'store'
  /**
   * Maximum size of the ingest log, which grows while ClickHouse is not reachable. When it is reached, ingest answers 503 with `Retry-After`.
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
   * Days for which a new project keeps its runs after they were received; 0 keeps them for ever. A project that is created with `retention_days` or a trace tier has that instead, and existing projects do not change.
   */
  DEFAULT_RETENTION_DAYS: number
  /**
   * Paths of modules that export processors for your own message formats, separated by commas. Weir tries them before the built-in processors.
   */
  PROCESSORS: string[]
  /**
   * Address to which Weir sends OpenTelemetry traces and metrics about itself, over OTLP/HTTP. When it is not set, nothing is sent.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  /**
   * How threads and runs are written to SQLite. With `normal` they survive a crash of the process. With `full` they also survive a loss of power, and writes are slower. Traces, keys and projects survive both with either value.
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
   * The runtime of deployed graphs. `process`: processes of this machine, isolated according to DEPLOY_ISOLATION. `container`: containers of podman or docker, with bounds of memory, processors and processes; where neither works, deployments are refused with the reason.
   */
  DEPLOY_RUNTIME: 'process' | 'container'
  /**
   * The command that runs containers, for DEPLOY_RUNTIME=container: `podman` or `docker`, with flags that stand before its own commands, such as `podman --runtime crun`. When it is not set, the first of `podman`, `podman --runtime runc` and `docker` that works is used.
   */
  DEPLOY_CONTAINER_COMMAND?: string
  /**
   * The isolation of builds and processes of deployments from the server. `sandbox`: bubblewrap (`bwrap`, 0.8 or newer) on Linux. `uid`: a user id of its own for each deployment, for a server that runs as root on Linux. The start fails if the selected isolation does not work. `none`: no isolation, so everyone who may deploy must be trusted like the administrator of the server. `auto`: the first of `sandbox`, `uid` and `none` that works. DEPLOY_RUNTIME=container does not use this setting. The graphs of GRAPHS are not isolated.
   */
  DEPLOY_ISOLATION: 'auto' | 'none' | 'uid' | 'sandbox'
  /**
   * Maximum number of revisions that are built at a time.
   */
  DEPLOY_BUILDS: number
  /**
   * Maximum size of the archive of a deployment's source. Larger archives are refused with 413.
   */
  DEPLOY_MAX_SOURCE_BYTES: number
  /**
   * Key that encrypts the secrets of deployments and workspaces. When it is not set, a key is generated and stored in `DATA_DIR/secrets-key`. The start fails if the key cannot decrypt the stored secrets.
   */
  SECRETS_KEY?: string
  /**
   * A further key that decrypts stored secrets, while `weir secrets rotate` replaces `SECRETS_KEY`.
   */
  SECRETS_KEY_PREVIOUS?: string
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
   * Whether the playground may call model servers at addresses that are not public, and over `http:`, such as Ollama on this machine. Every call still goes only to a host that its secret names. `auto`: only if the server itself can be reached from this machine only, which means that HOST is a loopback address and PUBLIC_URL is not set.
   */
  PLAYGROUND_PRIVATE_ADDRESSES: 'auto' | 'on' | 'off'
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
 * A schedule that creates runs.
 */
export interface Cron {
  cron_id: string
  assistant_id: string
  /**
   * Null: each run has a thread of its own.
   */
  thread_id: string | null
  /**
   * Whether the threads that were created for its runs are deleted or kept.
   */
  on_run_completed: 'delete' | 'keep'
  schedule: string
  /**
   * IANA name; null for UTC.
   */
  timezone: string | null
  end_time: string | null
  /**
   * Null when there is none, because the cron is disabled or past its end.
   */
  next_run_date: string | null
  enabled: boolean
  /**
   * The user for whom its runs are created.
   */
  user_id: string | null
  payload: Payload
  metadata: Metadata1
  created_at: string
  updated_at: string
}
/**
 * The body of the requests that create its runs.
 */
export interface Payload {
  [k: string]: unknown | undefined
}
export interface Metadata1 {
  [k: string]: unknown | undefined
}
/**
 * Conditions on the counted crons. Null is the same as an absent field; unknown keys are ignored.
 */
export interface CronCountBody {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  thread_id?: string | null
  enabled?: boolean | null
  /**
   * Keys and values that the metadata must contain.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Fields that a run takes from the request that creates it or from its cron. Null is the same as an absent field.
 */
export interface RunOptions {
  /**
   * Input of the graph; with null the run continues from the checkpoint.
   */
  input?: {
    [k: string]: unknown | undefined
  }
  /**
   * A command with which the run starts instead of input.
   */
  command?: RunCommand | null
  /**
   * Takes precedence over the context of the assistant.
   */
  context?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Default: values.
   */
  stream_mode?: StreamMode | StreamMode[] | null
  stream_subgraphs?: boolean | null
  stream_resumable?: boolean | null
  /**
   * Default: async. When checkpoints are written.
   */
  durability?: 'sync' | 'async' | 'exit' | null
  /**
   * The older form of `durability`: false means exit.
   */
  checkpoint_during?: boolean | null
  /**
   * Default: enqueue. What happens to active runs of the thread.
   */
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback' | null
}
/**
 * The command with which a run starts instead of input. Null is the same as an absent field; unknown keys are ignored.
 */
export interface RunCommand {
  /**
   * Update of the state: an object by key, or a list of pairs of key and value.
   */
  update?:
    | {
        [k: string]: unknown | undefined
      }
    | unknown[][]
    | null
  /**
   * Answer to the open interrupt, or an object of answers by interrupt id; null is the same as no answer.
   */
  resume?: {
    [k: string]: unknown | undefined
  }
  /**
   * A node, a node with its own input, or a list of these.
   */
  goto?: RunCommandTarget | RunCommandTarget[] | null
  [k: string]: unknown | undefined
}
/**
 * Conditions on the listed crons. Null is the same as an absent field; unknown keys are ignored.
 */
export interface CronSearchBody {
  /**
   * Id of an assistant or name of a graph.
   */
  assistant_id?: string | null
  thread_id?: string | null
  enabled?: boolean | null
  /**
   * Keys and values that the metadata must contain.
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
   * The kind of the deletion: a project, a trace, the traces of runs that match, or data of deleted traces that was stored late.
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
   * The workspace of the deployment.
   */
  tenant_id: string
  name: string
  source: 'internal_source'
  source_config: {
    deployment_type: 'dev' | 'prod'
    /**
     * URL of the API of the deployment.
     */
    custom_url: string
    /**
     * Shell command that installs the dependencies, in the folder of langgraph.json. Null: the package manager of the lock file or of package.json installs them.
     */
    install_command: string | null
    /**
     * Shell command that is run in the folder of langgraph.json after the dependencies were installed.
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
     * The isolation of its code from the server.
     */
    isolation: 'none' | 'uid' | 'sandbox' | 'container'
    studio_url: string
    /**
     * URL for pages of `http.app`, at another origin than the web interface (`DEPLOYMENTS_ORIGIN`). Null if the server knows no such URL for browsers.
     */
    pages_url: string | null
    /**
     * `server` for the deployment of GRAPHS, which cannot be changed through this API.
     */
    managed_by: 'api' | 'server'
    /**
     * Number of the revision that handles requests now.
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
    /**
     * Processes that execute graphs of the active revision now.
     */
    hosts: number
    /**
     * Memory that these processes use now. Null where it cannot be read, such as on systems other than Linux.
     */
    memory_bytes: number | null
    /**
     * The credentials of requests of Studio. `key`: a key or session of this server. `token`: credentials that the auth file requires, because it has `disable_studio_auth`.
     */
    studio_auth: 'key' | 'token'
    /**
     * Graphs of the active revision.
     */
    graphs: {
      graph_id: string
      language: 'javascript' | 'python'
      /**
       * Why the graph cannot be loaded.
       */
      unavailable: string | null
    }[]
  }
}
/**
 * A new deployment.
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
     * `dev` or `prod`, or one of LangSmith's names: `dev_zero`, `dev_free` and `serverless` mean `dev`, `dedicated` means `prod`.
     */
    deployment_type?: string | null
    /**
     * Shell command that installs the dependencies, in the folder of langgraph.json. Null: the package manager of the lock file or of package.json installs them.
     */
    install_command?: string | null
    /**
     * Shell command that is run in the folder of langgraph.json after the dependencies were installed.
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
   * Not supported: a value is refused.
   */
  agent?: {} | null
}
/**
 * Facts about a deployment that clients and Studio read first; no key is needed.
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
     * Names of the graphs, each of which is accepted as assistant_id.
     */
    graphs: string[]
    limits: {
      /**
       * Maximum size, in bytes, of a body with `input` or `command` of runs, `values` of a state, `supersteps` of a thread or `value` of a store item. The rest of such a body may have at most 1 MiB (1,048,576 bytes). Every other body, such as that of a cron with its `payload`, may have at most 1 MiB too.
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
     * `build` for the build, `deploy` for states and checks, `server` for output of the processes.
     */
    kind: 'build' | 'deploy' | 'server'
    revision_id: string | null
  }[]
  /**
   * `offset` of the next page; present on an empty page too.
   */
  next_offset: string
}
/**
 * A selection of the lines in the log of a deployment.
 */
export interface DeploymentLogQuery {
  limit?: number
  order?: 'asc' | 'desc'
  /**
   * `next_offset` of the previous page.
   */
  offset?: string | null
  /**
   * DEBUG, INFO, WARNING, ERROR or CRITICAL: this level and higher ones.
   */
  level?: string | null
  /**
   * Only lines of these kinds. An extension of LangSmith's request.
   *
   * @maxItems 3
   */
  kinds?: ('build' | 'deploy' | 'server')[] | null
  /**
   * Only lines that contain this text.
   */
  query?: string | null
  /**
   * ISO 8601; lines from this time on.
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
   * The fault and its place.
   */
  detail: string
  /**
   * Stable name of the error, listed in docs/api/errors.md.
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
     * Why the revision failed.
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
     * Number of the revision that this rollback takes its build from.
     */
    rolled_back_from: number | null
    /**
     * Milliseconds by step: create, build and deploy; start and check are parts of deploy.
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
 * Fields of a new revision of a deployment.
 */
export interface DeploymentUpdate {
  /**
   * `internal_source`: an uploaded archive.
   */
  revision_source?: string | null
  source_config?: {
    /**
     * `dev` or `prod`, or one of LangSmith's names: `dev_zero`, `dev_free` and `serverless` mean `dev`, `dedicated` means `prod`.
     */
    deployment_type?: string | null
    /**
     * Shell command that installs the dependencies, in the folder of langgraph.json. Null: the package manager of the lock file or of package.json installs them.
     */
    install_command?: string | null
    /**
     * Shell command that is run in the folder of langgraph.json after the dependencies were installed.
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
     * Not supported: this server builds from source.
     */
    image_uri?: string | null
  } | null
  /**
   * Replaces all secrets. An empty list, which `langgraph deploy` sends when there is no `.env`, keeps the stored ones.
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
 * An address for the upload of an archive, valid once and for 15 minutes.
 */
export interface DeploymentUpload {
  /**
   * Address for a PUT of the archive; no key is needed.
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
 * An archive that was uploaded.
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
 * Feedback that is sent with a token.
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
 * The meaning of the scores and values of a feedback key.
 */
export interface FeedbackConfig {
  feedback_key: string
  /**
   * For example {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
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
   * Stored and returned, but every score is accepted.
   */
  is_enforced: boolean
}
/**
 * The meaning of the scores and values of a feedback key.
 */
export interface FeedbackConfigCreate {
  feedback_key: string
  /**
   * For example {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config: {
    [k: string]: unknown | undefined
  }
  is_lower_score_better?: boolean | null
  is_enforced?: boolean | null
  [k: string]: unknown | undefined
}
/**
 * Changes of a feedback config. A field that is null or absent is not changed.
 */
export interface FeedbackConfigUpdate {
  feedback_key: string
  /**
   * For example {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
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
   * Values of the categories to remove, not their labels.
   *
   * @maxItems 1000
   */
  remove_categories?: number[]
  [k: string]: unknown | undefined
}
/**
 * Feedback on a run. Further fields are kept as sent.
 */
export interface FeedbackCreate {
  /**
   * Chosen by the client; generated when absent. Sending it again replaces the record.
   */
  id?: string | null
  /**
   * The run that was judged; null for feedback on a whole session.
   */
  run_id?: string | null
  trace_id?: string | null
  session_id?: string | null
  /**
   * The judged quality, e.g. correctness.
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
 * A stored feedback record.
 */
export interface FeedbackRead {
  id: string
  /**
   * The run that was judged; null for feedback on a whole session.
   */
  run_id?: string | null
  trace_id?: string | null
  session_id?: string | null
  /**
   * The judged quality, e.g. correctness.
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
   * Mean of the scores; null without scores.
   */
  avg: number | null
  min: number | null
  max: number | null
  /**
   * Population standard deviation of the scores.
   */
  stdev: number | null
  errors: number
  /**
   * The 50 most frequent text values, each with its number of records.
   */
  values: {
    [k: string]: number | undefined
  }
  /**
   * The newest 5, cut off at 200 characters.
   */
  comments: string[]
  /**
   * Types of the sources of this feedback.
   */
  sources: string[]
  contains_thread_feedback: boolean
  [k: string]: unknown | undefined
}
/**
 * A URL that accepts feedback with one feedback key on one run; no API key is needed.
 */
export interface FeedbackToken {
  id: string
  url: string
  expires_at: string
  feedback_key: string
}
/**
 * The run and the feedback key of a new token.
 */
export interface FeedbackTokenRequest {
  /**
   * Chosen by the client; generated when absent.
   */
  id?: string | null
  run_id: string
  feedback_key: string
  /**
   * For example {"type": "continuous", "min": 0, "max": 1}, or categorical with categories. Kept as sent.
   */
  feedback_config?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Default, without expires_at: 3 hours. Maximum: one year.
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
 * Changes of a feedback record. An absent field is not changed, null clears it.
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
     * Start of the bucket, UTC. The first bucket can start before start_time, because buckets are aligned.
     */
    time_bucket: string
    dimensions: UsageDimensions
    traces: number
  }[]
}
/**
 * Size of the buckets in hours or days; the other of the two is 0.
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
   * The current name; for a deleted workspace, its last name.
   */
  workspace_name: string
}
export interface ProjectDimensions {
  project_id: string
  /**
   * The current name.
   */
  project_name: string
}
/**
 * Both are null for traces that service keys sent.
 */
export interface UserDimensions {
  user_id: string | null
  user_email: string | null
}
export interface ApiKeyDimensions {
  /**
   * Kept after the key is deleted.
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
 * JSON Schemas of the input, output, state, config and context of a graph.
 */
export interface GraphSchemas {
  graph_id?: string
  /**
   * JSON Schema of the input.
   */
  input_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema of the output.
   */
  output_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema of the state.
   */
  state_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema of the config.
   */
  config_schema?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * JSON Schema of the context.
   */
  context_schema?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * Facts that clients read before they send traces. They do not change while the server runs.
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
       * Maximum size of the body of an ingest request after decompression; larger ones get 413.
       */
      max_body_bytes: number
      /**
       * Maximum number of parts of a multipart body or of operations of a batch; more get 413.
       */
      max_parts: number
      /**
       * Maximum size of one part or field. A run with a larger one is rejected, the others are stored.
       */
      max_part_bytes: number
      /**
       * Maximum size of the bodies of all requests in memory; above it requests get 503 with Retry-After.
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
       * Maximum size of the body of every other request.
       */
      max_json_body_bytes: number
    }
  }
}
/**
 * Result of one ingest request. Everything accepted is durable.
 */
export interface IngestAnswer {
  message: string
  /**
   * Number of stored operations: run creates, run updates and feedback records.
   */
  accepted: number
  /**
   * Items that were not stored, and why. All others were stored.
   */
  rejected: {
    /**
     * As sent; null when there was none.
     */
    run_id: string | null
    /**
     * Stable name of the error, listed in docs/api/errors.md.
     */
    code: string
    field: string | null
    reason: string
  }[]
  /**
   * True when the body was cut off; the parts that arrived completely are stored.
   */
  truncated?: boolean
}
/**
 * State of ingestion.
 */
export interface IngestHealthRead {
  /**
   * The first condition that is true: the disk of DATA_DIR is full or not writable (nothing is accepted), the store is unavailable (accepted data waits in the log), the oldest waiting data is older than 5 s (behind).
   */
  status: 'ok' | 'behind' | 'store_unavailable' | 'disk_full' | 'disk_unwritable'
  /**
   * Accepted items since the process started.
   */
  accepted: number
  stored: number
  derived: number
  /**
   * Rejected items by error code.
   */
  rejected: {
    [k: string]: number | undefined
  }
  truncated_requests: number
  /**
   * Data that was acknowledged and that ClickHouse has not yet confirmed.
   */
  waiting: number
  oldest_waiting_at: string | null
  /**
   * The ingest log; `last_recovery` is what the last start found in it.
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
   * Worker threads by task.
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
 * An error, a warning or a note about a run.
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
   * How to fix it.
   */
  fix?: string
}
/**
 * Whether the server answers, and with check_db=1 whether its stores do and expired data is deleted.
 */
export interface Liveness {
  ok: boolean
  /**
   * With check_db=1: each store, the disk of DATA_DIR, and on the platform API `attachments`, down while a damaged one is known, and `sweeps`, down after a sweep of expired data has failed three times in a row.
   */
  checks?: {
    [k: string]: 'up' | 'down' | undefined
  }
  /**
   * Problems of the checks that failed, by the same names: a code of docs/api/errors.md and a message.
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
 * A member of the organization.
 */
export interface MemberRead {
  user_id: string
  email: string
  full_name: string | null
  role: 'admin' | 'operator' | 'user' | 'viewer'
  /**
   * Null = every workspace, including later ones. Workspaces that the caller may not use are left out.
   */
  workspace_ids: string[] | null
}
/**
 * A new member. Unknown keys are ignored.
 */
export interface MemberCreate {
  /**
   * Converted to lower case.
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
 * Changes of a member. An absent field is not changed, unknown keys are ignored.
 */
export interface MemberUpdate {
  /**
   * Accepted, but it cannot be changed.
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
 * One message in Weir's LangChain-style format. Keys beyond those listed are allowed and kept.
 */
export interface Message {
  /**
   * Author of the message.
   */
  role: 'system' | 'reasoning' | 'user' | 'assistant' | 'tool'
  /**
   * Content blocks in order; empty for a message without content.
   */
  content: ContentBlock[]
  /**
   * Name of the author, or of the tool that answers.
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
 * Reasoning of the model, as far as the vendor returns it.
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
 * An image; it has one of base64, url and id.
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
 * A file; it has one of base64, url and id.
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
 * An audio recording; it has one of base64, url and id.
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
 * A video; it has one of base64, url and id.
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
 * A tool call that the caller of the model is to execute.
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
 * A tool call that the vendor executed.
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
 * Result of a tool call that the vendor executed.
 */
export interface ServerToolResultBlock {
  type: 'server_tool_result'
  tool_call_id: string
  id?: string
  status: 'success' | 'error'
  /**
   * What the tool returned.
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
   * Conditions that a call must have.
   */
  conditions: {
    [k: string]: string | undefined
  }
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
 * The price from which the cost of a run would be computed, and its source. Null when none is known.
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
   * The price data of this release.
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
 * The changes that computing costs again would make. Costs and numbers of unpriced runs are those of the changed runs. Costs are decimal strings of US dollars.
 */
export interface ModelPricePreview {
  /**
   * LLM and embedding runs that were compared.
   */
  examined: number
  /**
   * Runs whose total cost would change.
   */
  changed: number
  cost_before: string
  cost_after: string
  /**
   * Changed runs without a total cost before the change.
   */
  unpriced_before: number
  /**
   * Changed runs without a total cost after the change.
   */
  unpriced_after: number
  /**
   * Start of the oldest run that was compared, when there are more than 100,000; null when all were compared.
   */
  examined_from: string | null
}
/**
 * A change of own prices to preview, and the runs to compare. With `price` alone a price is added, with `replaces` alone it is removed, with both it is replaced. With neither, stored costs are compared with the current prices.
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
 * A price of your own. Unknown keys are ignored; null is the same as an absent field.
 */
export interface ModelPriceWrite {
  name: string
  /**
   * Pattern that must occur in the model name. It may contain literals, ., ^, $, \b, classes, groups, |, *, +, ?, {n,m} and a leading (?i), and is matched without backtracking.
   */
  match_pattern: string
  /**
   * Stored for LangSmith's clients, but not used: the pattern is matched against llm.model of the run.
   *
   * @maxItems 20
   */
  match_path?: string[] | null
  /**
   * Only for runs of this provider, under any of its names.
   */
  provider?: string | null
  /**
   * The price applies to runs that start at this time or later. ISO 8601.
   */
  start_time?: string | null
  /**
   * The price applies to all tokens of runs that have more prompt tokens than this.
   */
  prompt_token_threshold?: number | null
  /**
   * The price applies to calls that have all these conditions, as in usage_metadata: speed, inference_geo, latency, search_context_size, traffic_type, … Service tiers are details of the costs instead.
   */
  conditions?: {
    [k: string]: string | undefined
  } | null
  /**
   * US dollars per token, as a number or a decimal string.
   */
  prompt_cost: number | string
  /**
   * US dollars per token, as a number or a decimal string.
   */
  completion_cost: number | string
  /**
   * Prices of parts of the tokens by their key in usage_metadata: cache_read, cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, audio, reasoning, flex, flex_cache_read, priority, …; and of units: web_searches, audio_seconds, …; requests is a fee for each call.
   */
  prompt_cost_details?: {
    [k: string]: number | string | undefined
  } | null
  /**
   * Prices of parts of the tokens by their key in usage_metadata: cache_read, cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, audio, reasoning, flex, flex_cache_read, priority, …; and of units: web_searches, audio_seconds, …
   */
  completion_cost_details?: {
    [k: string]: number | string | undefined
  } | null
}
/**
 * The organization that owns the workspaces.
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
   * One of `workspaces`, for requests without X-Tenant-Id. Default: the only one, if there is exactly one.
   */
  default_workspace_id?: string | null
  /**
   * Absent or null = the role of the requesting key, or of the member that the token is for.
   */
  role?: 'admin' | 'operator' | 'user' | 'viewer' | null
  /**
   * True = the key may only read.
   */
  read_only?: boolean | null
  /**
   * ISO 8601, in the future and no later than the expiry of the requesting key; absent = the expiry of that key, null = never.
   */
  expires_at?: string | null
  /**
   * The member that the token acts for. Default: the caller. Another one needs `organization:manage`.
   */
  user_id?: string | null
}
/**
 * The providers that the playground can call.
 */
export interface PlaygroundModels {
  providers: {
    /**
     * `openai`, `anthropic`, `google` or `openai-compatible`.
     */
    name: string
    /**
     * Default name of the secret whose value the provider receives.
     */
    secret: string
    has_secret: boolean
    /**
     * Default address of the provider. Null: each call must name one.
     */
    base_url: string | null
    /**
     * Names of the provider's models that have a default price. Calls may name other models too.
     */
    models: string[]
  }[]
}
/**
 * One call of a model.
 */
export interface PlaygroundRunCreate {
  provider: 'openai' | 'anthropic' | 'google' | 'openai-compatible'
  model: string
  /**
   * Address of the provider's API, such as `http://127.0.0.1:11434/v1`; required for `openai-compatible`. Its host must be one of the hosts of the secret.
   */
  base_url?: string | null
  /**
   * Name of the workspace secret to send; default: that of the provider.
   */
  secret?: string | null
  /**
   * `ls_provider` of the traced run, by which its price is found. Default: the provider; for `openai-compatible`, the host.
   */
  provider_name?: string | null
  /**
   * @minItems 1
   * @maxItems 1000
   */
  messages: Message[]
  /**
   * Offered to the model; they are not executed.
   *
   * @maxItems 128
   */
  tools?:
    | {
        name: string
        description?: string | null
        /**
         * JSON Schema of the arguments.
         */
        parameters?: {
          [k: string]: unknown | undefined
        } | null
      }[]
    | null
  /**
   * Whether tools are called: as the model decides (`auto`, the default), not at all, at least one, or the one that is named.
   */
  tool_choice?:
    | ('auto' | 'none' | 'required' | null)
    | {
        name: string
      }
  /**
   * JSON Schema that the answer must fit.
   */
  output_schema?: {
    [k: string]: unknown | undefined
  } | null
  parameters?: {
    temperature?: number | null
    top_p?: number | null
    max_tokens?: number | null
    /**
     * @maxItems 16
     */
    stop?: string[] | null
    seed?: number | null
    /**
     * Further fields of the provider's request, such as `reasoning_effort`; they are sent unchanged, except those that another field of this call sets.
     */
    extra?: {
      [k: string]: unknown | undefined
    } | null
  } | null
  /**
   * The run that was opened in the playground; stored in the metadata of the traced run.
   */
  source_run_id?: string | null
}
/**
 * Body of every error answer.
 */
export interface Problem {
  /**
   * The fault in one sentence, or a list of faults.
   */
  detail:
    | string
    | {
        /**
         * The place of the fault: body, query, path or header, then keys and indexes.
         */
        loc: (string | number)[]
        msg: string
        type: string
      }[]
  /**
   * Stable name of the error, listed in docs/api/errors.md.
   */
  code: string
  /**
   * The text of the fault in the form of LangSmith.
   */
  error: string
  /**
   * Only with a 5xx: the id under which the log has the error.
   */
  request_id?: string
}
/**
 * Result of a command of protocol v2.
 */
export interface ProtocolAnswer {
  type: 'success' | 'error'
  id: number | null
  result?: {
    [k: string]: unknown | undefined
  }
  meta?: {
    [k: string]: unknown | undefined
  }
  error?: string
  message?: string
  code?: string
}
/**
 * A command of protocol v2, as listed in docs/protocol/streams-v2.md.
 */
export interface ProtocolCommand {
  /**
   * An integer from 0 on, which the answer repeats.
   */
  id?: {
    [k: string]: unknown | undefined
  }
  /**
   * The name of the command, such as run.start.
   */
  method?: {
    [k: string]: unknown | undefined
  }
  /**
   * Parameters of the command; for run.start the fields of the new run.
   */
  params?: {
    [k: string]: unknown | undefined
  }
  [k: string]: unknown | undefined
}
/**
 * A selection of a thread's events in protocol v2. Unknown keys are ignored.
 */
export interface ProtocolStream {
  /**
   * Names of channels; at least one of them must exist.
   *
   * @minItems 1
   * @maxItems 256
   */
  channels: string[]
  /**
   * Only events in or below one of these.
   *
   * @maxItems 256
   */
  namespaces?: string[][] | null
  /**
   * Number of included levels below these namespaces.
   */
  depth?: number | null
  /**
   * Everything after the event with this seq.
   */
  since?: number | null
  [k: string]: unknown | undefined
}
/**
 * Whether a balancer should send requests to this server.
 */
export interface Readiness {
  /**
   * Whether the requested part is ready.
   */
  ready: boolean
  /**
   * The server is about to stop. No part is ready, but requests are still answered.
   */
  draining: boolean
  /**
   * Whether the stores of each part answer.
   */
  parts: {
    ingest: 'up' | 'down'
    reads: 'up' | 'down'
    runs: 'up' | 'down'
  }
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
   * Share of the work that is done, estimated from projects and time.
   */
  progress: number
  /**
   * Runs that were examined.
   */
  examined: number
  /**
   * Runs whose costs changed.
   */
  changed: number
  error: string | null
  created_at: string
  finished_at: string | null
}
/**
 * The runs whose costs are computed again: those that start in [start_time, end_time).
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
 * A run, with all fields or with the selected ones.
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
   * The request that created the run, with defaults.
   */
  kwargs?: {
    [k: string]: unknown | undefined
  }
  multitask_strategy?: 'reject' | 'enqueue' | 'interrupt' | 'rollback'
  /**
   * Fields that LangGraph's server does not have.
   */
  weir?: {
    /**
     * The trace of the last attempt; null before it, or with tracing off.
     */
    trace_id: string | null
    /**
     * The revision of the deployment that executes the last attempt; before the first attempt, the revision for which the run was made. Null for a deployment without revisions.
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
     * Tokens and cost of the trace of a run that has ended; null while they are not known, for example in the first 2 s after the end.
     */
    totals?: {
      [k: string]: unknown | undefined
    } | null
  }
}
/**
 * The runs to cancel: by status, or by thread and ids.
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
 * The traces to delete: those with a run that matches all given fields.
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
 * The last values of a run; whitespace may precede them. They contain __interrupt__ when the run was interrupted, __error__ when it failed.
 */
export interface RunResult {
  [k: string]: unknown | undefined
}
/**
 * Conditions on the listed runs, which are those of all threads. Null is the same as an absent field; unknown keys are ignored.
 */
export interface RunSearch {
  status?: 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted' | null
  /**
   * Default: 10.
   */
  limit?: number | null
  offset?: number | null
  /**
   * Only these fields. Default: all.
   */
  select?: string[] | null
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
   * Address of the run in the web interface.
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
   * One of `workspaces`, for requests without X-Tenant-Id. Default: the only one, if there is exactly one.
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
   * ISO 8601, in the future and no later than the expiry of the requesting key; absent = the expiry of that key, null = never.
   */
  expires_at?: string | null
}
/**
 * A project; LangSmith calls it a session. Figures that are not stored or not requested are null. Tokens and costs are sums over its runs without double counts: an llm run does not count when a run below it has usage.
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
   * Number of root runs.
   */
  trace_count: number | null
  /**
   * Model calls. A call that several runs describe counts once.
   */
  llm_runs: number | null
  /**
   * When the newest run started.
   */
  last_run_start_time: string | null
  /**
   * The same as last_run_start_time.
   */
  last_run_start_time_live: string | null
  /**
   * Median of the seconds that a trace took, from start to end of its root.
   */
  latency_p50: number | null
  /**
   * 99th percentile of the seconds that a trace took.
   */
  latency_p99: number | null
  /**
   * Median of the seconds to the first token of an llm run that was streamed.
   */
  first_token_p50: number | null
  /**
   * 99th percentile of the seconds to the first token of an llm run that was streamed.
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
   * Number of prompt_tokens that are estimates, because no count was sent.
   */
  estimated_prompt_tokens: number | null
  /**
   * Number of completion_tokens that are estimates.
   */
  estimated_completion_tokens: number | null
  /**
   * The part of total_cost that was computed from estimates; null when total_cost is null.
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
   * Number of days after which received runs are deleted; null: never.
   */
  retention_days: number | null
}
export interface SessionAddress {
  session_id: string
}
/**
 * A new project. Null is the same as an absent field; unknown keys are ignored.
 */
export interface SessionCreate {
  /**
   * Chosen by the client; generated when absent.
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
   * Stored, but not used yet.
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
   * Number of days after which received runs are deleted; 0 keeps them forever.
   */
  retention_days?: number | null
  /**
   * Sets retention_days when that is absent: 14 for short-lived, 400 for long-lived.
   */
  trace_tier?: 'longlived' | 'shortlived' | 'LONG_LIVED' | 'SHORT_LIVED' | null
}
/**
 * A new project. Null is the same as an absent field; unknown keys are ignored.
 */
export interface SessionCreateV2 {
  type: 'PROJECT' | 'AGENT' | 'EXPERIMENT'
  /**
   * Chosen by the client; generated when absent.
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
   * Stored, but not used yet.
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
   * Stored, but not used yet.
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
   * Cursor of the next page, for a request with the same parameters; null on the last one.
   */
  next_cursor: string | null
}
/**
 * A project in API v2. Figures that are not stored or not requested are null.
 */
export interface SessionV2 {
  id: string
  /**
   * The workspace.
   */
  tenant_id: string
  name: string
  /**
   * A project without a stored type is an EXPERIMENT if it has a reference dataset, else a PROJECT.
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
   * Number of root runs.
   */
  trace_count: number | null
  /**
   * Model calls. A call that several runs describe counts once.
   */
  llm_runs: number | null
  /**
   * When the newest run started.
   */
  last_run_start_time: string | null
  /**
   * The same as last_run_start_time.
   */
  last_run_start_time_live: string | null
  /**
   * Median of the seconds that a trace took, from start to end of its root.
   */
  latency_p50: number | null
  /**
   * 99th percentile of the seconds that a trace took.
   */
  latency_p99: number | null
  /**
   * Median of the seconds to the first token of an llm run that was streamed.
   */
  first_token_p50: number | null
  /**
   * 99th percentile of the seconds to the first token of an llm run that was streamed.
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
   * Number of prompt_tokens that are estimates, because no count was sent.
   */
  estimated_prompt_tokens: number | null
  /**
   * Number of completion_tokens that are estimates.
   */
  estimated_completion_tokens: number | null
  /**
   * The part of total_cost that was computed from estimates; null when total_cost is null.
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
 * Changes of a project. Null is the same as an absent field; unknown keys are ignored.
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
   * Stored, but not used yet.
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
   * Number of days after which received runs are deleted; 0 keeps them forever.
   */
  retention_days?: number | null
  /**
   * Sets retention_days when that is absent: 14 for short-lived, 400 for long-lived.
   */
  trace_tier?: 'longlived' | 'shortlived' | 'LONG_LIVED' | 'SHORT_LIVED' | null
}
/**
 * Changes of a project. An absent field is not changed, unknown keys are ignored.
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
   * Its keys replace the stored ones. A key with null is removed; null instead of the object removes all.
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
 * `share_token` is absent for a thread that is not shared.
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
   * A token chosen by the client, which must be hard to guess. It is not used when the trace is shared already or the token is in use.
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
 * Namespace and key of an item.
 */
export interface StoreItemKey {
  /**
   * Labels. A label is not empty and contains no period.
   *
   * @minItems 1
   * @maxItems 100
   */
  namespace: string[]
  key: string
}
/**
 * An item to store.
 */
export interface StoreItemWrite {
  /**
   * Labels. A label is not empty and contains no period.
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
   * Minutes until the item is deleted; null for never, absent for the default of langgraph.json.
   */
  ttl?: number | null
  /**
   * Fields that the semantic search uses; false for none, absent or null for those of langgraph.json.
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
 * Patterns of the listed namespaces; `*` stands for any one label. Null is the same as an absent field; unknown keys are ignored.
 */
export interface StoreNamespacesBody {
  /**
   * Labels that the namespaces begin with.
   *
   * @maxItems 100
   */
  prefix?: string[] | null
  /**
   * Labels that the namespaces end with.
   *
   * @maxItems 100
   */
  suffix?: string[] | null
  /**
   * Maximum number of labels; longer namespaces are cut to it.
   */
  max_depth?: number | null
  limit?: number | null
  offset?: number | null
}
/**
 * A search for items. Null is the same as an absent field; unknown keys are ignored.
 */
export interface StoreSearchBody {
  /**
   * Only items in or below this namespace; all when absent.
   *
   * @maxItems 100
   */
  namespace_prefix?: string[] | null
  /**
   * Conditions by field of the value: a value that it must equal or contain, or an object with `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in` or `$nin`.
   */
  filter?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Orders the items by similarity to this text, if langgraph.json has a store index.
   */
  query?: string | null
  limit?: number | null
  offset?: number | null
  /**
   * Whether the search extends the lifetime of the items that it finds; absent for the default of langgraph.json.
   */
  refresh_ttl?: boolean | null
}
/**
 * Items, the most recently changed first, or with a query the most similar first.
 */
export interface StoreSearchResult {
  items: {
    namespace: Namespace
    key: string
    value: Value
    created_at: string
    updated_at: string
    /**
     * Similarity to the query; null without a query.
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
 * The fields of the workspace that LangSmith's SDKs read.
 */
export interface TenantSettings {
  /**
   * The workspace.
   */
  id: string
  display_name: string
  created_at: string
  /**
   * Null: this server has no prompt hub.
   */
  tenant_handle: string | null
}
/**
 * A thread, with all fields or with the selected ones.
 */
export interface ThreadFields {
  thread_id?: string
  created_at?: string
  updated_at?: string
  /**
   * Time of the last checkpoint.
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
   * State after the last finished run or update; null before the first one.
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
   * Error of the last run, if it failed.
   */
  error?: {
    error: string
    message: string
  } | null
  /**
   * Present with include=ttl.
   */
  ttl?: {
    strategy: 'delete' | 'keep_latest'
    ttl_minutes: number
    expires_at: string | null
  } | null
  /**
   * The values that `extract` of the search selected, by alias.
   */
  extracted?: {
    [k: string]: unknown | undefined
  }
}
/**
 * Conditions on the counted threads. Null is the same as an absent field; unknown keys are ignored.
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
 * A new thread. Null is the same as an absent field; unknown keys are ignored.
 */
export interface ThreadCreate {
  /**
   * Chosen by the client; generated when absent.
   */
  thread_id?: string | null
  /**
   * Metadata of the thread. With `supersteps`, the key `graph_id` is required.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Default: raise, which answers 409 for an id that is taken.
   */
  if_exists?: 'raise' | 'do_nothing' | null
  ttl?: ThreadTtlWrite
  /**
   * Initial state, as a list of steps.
   *
   * @maxItems 10000
   */
  supersteps?:
    | {
        updates: {
          /**
           * Values to write as the output of `as_node`.
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
 * A state of a thread, with all fields or with the selected ones.
 */
export interface ThreadStateFields {
  /**
   * The channels of the graph.
   */
  values?: {
    [k: string]: unknown | undefined
  }
  /**
   * Nodes that are executed next.
   */
  next?: string[]
  tasks?: {
    [k: string]: unknown | undefined
  }[]
  checkpoint?: Checkpoint | null
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  created_at?: string | null
  parent_checkpoint?: Checkpoint | null
  interrupts?: {
    [k: string]: unknown | undefined
  }[]
  /**
   * Size of `values` as JSON, if selected.
   */
  values_bytes?: number
}
/**
 * The states to read. Null is the same as an absent field; unknown keys are ignored.
 */
export interface ThreadHistoryQuery {
  /**
   * Default: 10.
   */
  limit?: number | null
  /**
   * Only states older than this one, given as the id of a checkpoint, a checkpoint or a config.
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
  /**
   * Only these fields of each state. Default: all but `values_bytes`, which is the size of `values` as JSON. `values.NAME` is one field of the values, `values.NAME.FIELD` this field of it or of each item of a list. Without all of `values`, tasks have no `result`.
   *
   * @maxItems 100
   */
  select?: string[] | null
  checkpoint?: Checkpoint | null
}
/**
 * Threads to delete, or to reduce to their latest checkpoint.
 */
export interface ThreadPrune {
  /**
   * @maxItems 10000
   */
  thread_ids: string[]
  /**
   * Default: delete.
   */
  strategy?: 'delete' | 'keep_latest' | null
}
/**
 * Conditions on the listed threads. Null is the same as an absent field; unknown keys are ignored.
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
   * Default: 10.
   */
  limit?: number | null
  offset?: number | null
  /**
   * Default: created_at.
   */
  sort_by?: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at' | null
  /**
   * Default: desc.
   */
  sort_order?: 'asc' | 'desc' | null
  /**
   * Only these fields. Default: all.
   */
  select?: string[] | null
  /**
   * Paths by alias, such as values.messages[-1].content. The values are in `extracted` of each thread.
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
   * Nodes that are executed next.
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
 * Metadata for the thread.
 */
export interface ThreadStatePatch {
  /**
   * Merged into the metadata of the thread, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
}
/**
 * The state to read. Unknown keys are ignored.
 */
export interface ThreadStateQuery {
  checkpoint?: Checkpoint | null
  checkpoint_id?: string | null
  subgraphs?: boolean | null
}
/**
 * A change of a thread's state. Null is the same as an absent field; unknown keys are ignored.
 */
export interface ThreadStateUpdate {
  /**
   * Values to write as the output of `as_node`.
   */
  values?: {} | unknown[] | null
  as_node?: string | null
  checkpoint?: Checkpoint | null
  /**
   * The older form of `checkpoint`.
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
 * Changes of a thread. Null is the same as an absent field; unknown keys are ignored.
 */
export interface ThreadUpdate {
  /**
   * Merged into the metadata of the thread, key by key.
   */
  metadata?: {
    [k: string]: unknown | undefined
  } | null
  ttl?: ThreadTtlWrite
}
/**
 * The number of threads that were deleted or pruned.
 */
export interface ThreadsPruned {
  pruned_count: number
}
/**
 * Body of POST /runs/batch. A record that is not valid is rejected; the others are stored.
 */
export interface TraceBatch {
  /**
   * TraceRuns to create.
   */
  post?: TraceRunRecord[] | null
  /**
   * Updates of TraceRuns.
   */
  patch?: TraceRunRecord[] | null
  [k: string]: unknown | undefined
}
/**
 * One create or update of a TraceRun as clients send it. Only the fields that storing it needs are checked here; the others are stored as sent and checked when the TraceRun is read. Further fields are kept.
 */
export interface TraceRunRecord {
  /**
   * UUID with dashes or as 32 hex digits, like all ids here; null or an empty text is the same as no id. Required, unless the path or the part name contains it.
   */
  id?: string | null
  /**
   * Id of the root of the trace; for a root its own id. Derived when absent.
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
   * Displayed name; `unnamed` when absent.
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
   * An object.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * An object.
   */
  outputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * Text of the error.
   */
  error?: {
    [k: string]: unknown | undefined
  }
  /**
   * Events during the run: `{name, time, kwargs, message}`.
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
   * The dataset example that it was executed on.
   */
  reference_example_id?: {
    [k: string]: unknown | undefined
  }
  /**
   * Ignored: every TraceRun is sent separately.
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
   * Value for `after` of the next request.
   */
  version: string
  /**
   * False: the columns contain only runs that changed and their ancestors; some of these may be unchanged.
   */
  is_whole: boolean
  /**
   * Number of runs of the whole trace. A client that uses `after` must compare it with the number of runs that it has. If the numbers differ, runs have left the trace, and the client must request the outline again without `after`.
   */
  run_count: number
  /**
   * The trace has more runs than an outline holds.
   */
  is_truncated: boolean
  /**
   * Start of the first run in the columns; null when there is none.
   */
  start_time: string | null
  /**
   * Totals of the whole trace, as in its full view; null when nothing changed.
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
   * Index of the parent in these columns; -1 for a root, -2 when the parent is not in them.
   */
  parent: number[]
  /**
   * Index in names.
   */
  name: number[]
  /**
   * Index in run_types.
   */
  run_type: number[]
  /**
   * Index in statuses.
   */
  status: number[]
  /**
   * Index in models.
   */
  model: (number | null)[]
  /**
   * Microseconds from start_time.
   */
  start: number[]
  /**
   * Microseconds; null for a run that has not ended.
   */
  duration: (number | null)[]
  /**
   * Microseconds from the start of the run.
   */
  first_token: (number | null)[]
  /**
   * Equal to total_tokens of the run; null while no tokens of it, or of the runs below it, are known.
   */
  tokens: (number | null)[]
  /**
   * Bits of the checks that hold for an llm run: run type 1, format 2, model 4, usage 8.
   */
  checks: (number | null)[]
  /**
   * Dollars, equal to total_cost of the run, with all digits.
   */
  cost: (number | null)[]
  [k: string]: unknown | undefined
}
export interface TracePageV2 {
  items: {
    root_run: TraceRunV2
    /**
     * Figures of the whole trace, if one of them was selected.
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
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * A run in API v2, with only the selected fields.
 */
export interface TraceRunV2 {
  id?: string
  name?: string
  /**
   * LLM, CHAIN, TOOL, RETRIEVER, EMBEDDING, PROMPT or PARSER; any other type in upper case.
   */
  run_type?: string
  status?: 'SUCCESS' | 'ERROR' | 'PENDING'
  start_time?: string
  end_time?: string | null
  /**
   * Seconds from start to end.
   */
  latency_seconds?: number | null
  first_token_time?: string | null
  error?: string | null
  /**
   * The first 500 characters of the error.
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
   * The inputs as they were sent.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  inputs_preview?: string | null
  /**
   * The outputs as they were sent.
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
   * Only in reads of shared runs.
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
   * Always null.
   */
  thread_evaluation_time?: string | null
  /**
   * Always false: this server has no datasets.
   */
  is_in_dataset?: boolean | null
  /**
   * Always null.
   */
  last_queued_at?: string | null
  /**
   * Address of the shared trace in the web interface, where no key is needed; null unless it is shared.
   */
  share_url?: string | null
  feedback_stats?: {
    [k: string]: unknown | undefined
  } | null
  /**
   * Always null.
   */
  ls_user_id?: string | null
  /**
   * Only in pages of runs.
   */
  query_metadata?: null
}
/**
 * Conditions on the listed traces. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceQueryV2 {
  project_id: string
  /**
   * Only these traces; the limits of time apply to them too.
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
   * A further filter expression on the root of the trace.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Conditions on feedback use only feedback that was modified at or after it, ISO 8601.
   */
  min_feedback_modified_at?: string | null
  /**
   * Conditions on feedback use only feedback that was modified before it, ISO 8601.
   */
  max_feedback_modified_at?: string | null
  /**
   * Fields of the root to return; when absent, only its id. TOTAL_TOKENS, TOTAL_COST and FIRST_TOKEN_TIME are those of the whole trace.
   *
   * @maxItems 100
   */
  selects?: TraceRunSelect[] | null
  page_size?: number | null
  /**
   * next_cursor of the previous page; all other parameters must be the same.
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
 * A whole trace, even when its root has not been received.
 */
export interface TraceRead {
  trace_id: string
  /**
   * The root run; null while it has not been received.
   */
  root: TraceRunRead | null
  /**
   * Up to 1,000 runs in dotted order.
   */
  runs: TraceRunRead[]
  totals: {
    prompt_tokens: number | null
    completion_tokens: number | null
    total_tokens: number | null
    /**
     * Decimal in US dollars; null, not 0, when it is unknown.
     */
    prompt_cost: string | null
    /**
     * Decimal in US dollars; null, not 0, when it is unknown.
     */
    completion_cost: string | null
    /**
     * Decimal in US dollars; null, not 0, when it is unknown.
     */
    total_cost: string | null
    /**
     * Number of prompt_tokens that are estimates, because no count was sent.
     */
    estimated_prompt_tokens: number
    /**
     * Number of completion_tokens that are estimates.
     */
    estimated_completion_tokens: number
    /**
     * The part of total_cost that was computed from estimates; null when total_cost is null.
     */
    estimated_cost: string | null
    /**
     * Model calls. A call that several runs describe counts once.
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
 * A logged run as it is returned. Reads of one run or trace have every field. Lists have the required fields and those of `select`; without `select` they have all but the payloads, with previews of inputs and outputs.
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
   * The inputs as they were sent.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * The outputs as they were sent.
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
   * Another run that describes the same model call in more detail; this run is not counted in totals.
   */
  same_call_as?: string | null
  /**
   * Numbers of usage that are no tokens, by name: web_searches, audio_seconds, input_document_pages, …
   */
  usage_units?: {
    [k: string]: number | undefined
  }
  /**
   * Who says total_cost: vendor (in its answer), client (sent or estimated by it), or computed from prices.
   */
  cost_source?: string | null
  /**
   * What the prices say, beside a total_cost that was stated.
   */
  computed_cost?: string | null
  tags?: string[] | null
  events?: unknown[] | null
  serialized?: unknown
  /**
   * For a run that is not an llm or embedding run: the sum of its descendants without double counts.
   */
  prompt_tokens?: number | null
  completion_tokens?: number | null
  total_tokens?: number | null
  /**
   * Decimal in US dollars; null, not 0, when it is unknown.
   */
  prompt_cost?: string | null
  /**
   * Decimal in US dollars; null, not 0, when it is unknown.
   */
  completion_cost?: string | null
  /**
   * Decimal in US dollars; null, not 0, when it is unknown.
   */
  total_cost?: string | null
  /**
   * Number of prompt_tokens that are estimates, because no count was sent.
   */
  estimated_prompt_tokens?: number | null
  /**
   * Number of completion_tokens that are estimates.
   */
  estimated_completion_tokens?: number | null
  /**
   * The part of total_cost that was computed from estimates; null when total_cost is null.
   */
  estimated_cost?: string | null
  /**
   * Parts of prompt_cost by token detail, with the rest as `base`; they add up to prompt_cost exactly. Null for sums over other runs, and for a cost that was sent without parts.
   */
  prompt_cost_details?: {
    [k: string]: string | undefined
  } | null
  /**
   * Parts of completion_cost by token detail, in the form of prompt_cost_details.
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
   * Present for llm and embedding runs: provider, model, messages in one format, usage with its sources, time to first token, speed, the four checks and every issue.
   */
  llm?: {
    time_to_first_token_ms?: number | null
    /**
     * Output tokens divided by the seconds from the first token (from the start when it is not known) to the end (rule LLM-11).
     */
    tokens_per_second?: number | null
    [k: string]: unknown | undefined
  } | null
  [k: string]: unknown | undefined
}
/**
 * A field whose values to list, and the runs to count, selected as in the list of runs. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceRunFacetQueryBody {
  /**
   * Field whose values to list. A run with several tags, issues or keys counts for each of them.
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
   * Only runs of these projects.
   *
   * @maxItems 1000
   */
  session?: string[] | null
  /**
   * Only these runs.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  /**
   * Only runs of this trace.
   */
  trace?: string | null
  /**
   * Only children of this run.
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
   * False: only the newest 200,000 runs were read, or there are more than 100,000 values.
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
         * Lower bound of the class in seconds. Its upper bound is the next number of 0, 0.001, 0.002, 0.005, 0.01 ….
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
         * Lower bound of the class in seconds. Its upper bound is the next number of 0, 0.001, 0.002, 0.005, 0.01 ….
         */
        from: number
        run_count: number
      }[]
  /**
   * Each model call counts once. With is_root, tokens of whole traces; with group_by, of the runs alone; otherwise of the runs and all runs below them.
   */
  total_tokens: number | null
  prompt_tokens: number | null
  completion_tokens: number | null
  /**
   * Median over the runs that have tokens. Percentiles of costs likewise leave out runs without a cost.
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
   * Share of the ended llm runs with a first token; with is_root, of the traces that contain one.
   */
  streaming_rate: number | null
  /**
   * Number of llm runs for which each check holds. With is_root, runs are counted here too, and not whole traces.
   */
  checks: {
    /**
     * The llm runs among the selected runs.
     */
    llm_runs: number
    /**
     * The llm runs for which all four checks hold.
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
   * `approximate` when there are more than 2,000,000 runs: percentiles are then computed from sketches.
   */
  percentiles: 'exact' | 'approximate'
  [k: string]: unknown | undefined
}
/**
 * Runs of a project in groups. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceRunGroupQuery {
  session_id: string
  /**
   * Groups runs by thread.
   */
  group_by: 'conversation'
  /**
   * LangSmith filter expression that the root of at least one trace of the thread must satisfy.
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
   * Number of all groups.
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
 * All runs of the answer; there are no further pages.
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
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * A selection of the shared runs. Unknown keys are ignored.
 */
export interface TraceRunPublicQuery {
  /**
   * Only runs with these ids.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  limit?: number | null
  /**
   * cursors.next of the previous page.
   */
  cursor?: string | null
}
/**
 * The fields of the shared runs to return. Unknown keys are ignored.
 */
export interface TraceRunPublicQueryV2 {
  /**
   * Fields to return; when absent, only the id.
   *
   * @maxItems 100
   */
  selects?: TraceRunPublicSelect[] | null
}
/**
 * Conditions on the listed runs. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceRunQueryBody {
  /**
   * Only runs of these projects.
   *
   * @maxItems 1000
   */
  session?: string[] | null
  /**
   * Only these runs.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  /**
   * Only runs of this trace.
   */
  trace?: string | null
  /**
   * Only children of this run.
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
   * Fields to return; when absent, all fields of lists.
   *
   * @maxItems 200
   */
  select?: string[] | null
  limit?: number | null
  /**
   * cursors.next of the previous page, with the same order.
   */
  cursor?: string | null
  /**
   * Direction of the order by start, or by the field of `order_by`.
   */
  order?: 'asc' | 'desc' | null
  /**
   * Tokens and costs include those of the runs below. Runs without a value come last. With a field other than start_time, a list ends after 10,000 runs, and runs that change between two pages may be missing or be in both.
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
 * Conditions on the listed runs. Either project_ids or reference_dataset_id is needed. Null is the same as an absent field; unknown keys are ignored.
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
   * Only these runs; the limits of time apply to them too.
   *
   * @maxItems 1000
   */
  ids?: string[] | null
  /**
   * Only the runs of this trace; the limits of time apply to them too.
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
   * LangSmith filter expression on the root of the run's trace.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression on any run of the trace.
   */
  tree_filter?: string | null
  /**
   * Only runs of these examples.
   *
   * @maxItems 1000
   */
  reference_examples?: string[] | null
  /**
   * An ISO 8601 time. Conditions on feedback ignore feedback that was modified before it.
   */
  min_feedback_modified_at?: string | null
  /**
   * An ISO 8601 time. Conditions on feedback ignore feedback that was modified at this time or later.
   */
  max_feedback_modified_at?: string | null
  /**
   * Tokens, costs and first token of each run include those of all runs below it.
   */
  include_subtree_usage?: boolean | null
  /**
   * Fields to return; when absent, only the id.
   *
   * @maxItems 100
   */
  selects?: TraceRunSelect[] | null
  page_size?: number | null
  /**
   * next_cursor of the previous page; all other parameters must be the same.
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
 * The runs to compute figures of, selected as in the list of runs, and how to group them. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceRunStatsQueryBody {
  /**
   * Only runs of these projects.
   *
   * @maxItems 1000
   */
  session?: string[] | null
  /**
   * Only these runs.
   *
   * @maxItems 1000
   */
  id?: string[] | null
  /**
   * Only runs of this trace.
   */
  trace?: string | null
  /**
   * Only children of this run.
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
   * Computes figures for each group; the groups with most runs are returned.
   */
  group_by?: null | {
    /**
     * A run with several tags is in several groups; a run without a value is in no group. Groups of `session` are named by ids.
     */
    attribute: 'model' | 'provider' | 'run_type' | 'status' | 'session' | 'name' | 'tag' | 'metadata'
    /**
     * Key of the metadata; required when `attribute` is metadata.
     */
    path?: string | null
    max_groups?: number | null
    [k: string]: unknown | undefined
  }
  /**
   * Length of a time bucket, e.g. 30s, 5m, 1h, 1d. Buckets begin at multiples of it in UTC; there are at most 1,500.
   */
  interval?: string | null
  /**
   * Also count the runs by classes of their latency and of the time to the first token.
   */
  histograms?: boolean | null
}
/**
 * A search in a trace. Null is the same as an absent field; unknown keys are ignored.
 */
export interface TraceSearchBody {
  /**
   * Text that runs contain in name, inputs, outputs, error or metadata, in any case.
   */
  query: string
  limit?: number | null
  /**
   * cursors.next of the previous page.
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
   * Start of the latest trace, by which threads are sorted.
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
   * Error of the latest trace that failed; absent when none did.
   */
  last_error?: string
  num_errored_turns: number
  latency_p50: number | null
  /**
   * Seconds; null while no trace has ended.
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
 * Figures of all traces of the threads in the window, with only the selected fields.
 */
export interface TraceThreadFigures {
  thread_count?: number
  trace_count?: number
  /**
   * Share of the ended traces that failed, 0 to 1.
   */
  error_rate?: number | null
  /**
   * Share of the traces with model calls in which at least one call streamed.
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
 * The threads of a project to compute figures of, and the figures to return.
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
   * LangSmith filter expression that the root of at least one trace of the thread must satisfy.
   */
  filter?: string | null
  /**
   * A further filter expression on roots; it may be satisfied by another trace of the thread.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression that at least one run of the thread must satisfy.
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
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * Conditions on the listed threads of a project. Null is the same as an absent field; unknown keys are ignored.
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
   * LangSmith filter expression that the root of at least one trace of the thread must satisfy.
   */
  filter?: string | null
  /**
   * A further filter expression on roots; it may be satisfied by another trace of the thread.
   */
  trace_filter?: string | null
  /**
   * LangSmith filter expression that at least one run of the thread must satisfy.
   */
  tree_filter?: string | null
  /**
   * Filter expression on the figures of the thread in the window: thread_id, count, num_errored_turns, min_start_time, max_start_time, start_time, first_inputs, last_outputs, last_error, latency_p50, latency_p99, total_tokens, total_cost.
   */
  thread_filter?: string | null
  page_size?: number | null
  /**
   * next_cursor of the previous page; all other parameters must be the same.
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
 * Figures of one thread, with only the selected fields.
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
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
export interface TraceTurn {
  thread_id?: string
  trace_id: string
  /**
   * Run type of the root: 1 llm, 2 chain, 3 tool, 4 retriever, 5 embedding, 6 prompt, 7 parser, 0 any other.
   */
  op?: number
  name?: string
  /**
   * Position in the whole thread, starting at 1.
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
   * The inputs as they were sent.
   */
  inputs?: {
    [k: string]: unknown | undefined
  }
  /**
   * The outputs as they were sent.
   */
  outputs?: {
    [k: string]: unknown | undefined
  }
  inputs_preview?: string
  outputs_preview?: string
  /**
   * Tokens of the whole trace.
   */
  prompt_tokens?: number
  /**
   * Cost of the whole trace in dollars; null while none is known.
   */
  prompt_cost?: number | null
  /**
   * Tokens of the whole trace.
   */
  completion_tokens?: number
  /**
   * Cost of the whole trace in dollars; null while none is known.
   */
  completion_cost?: number | null
  /**
   * Tokens of the whole trace.
   */
  total_tokens?: number
  /**
   * Cost of the whole trace in dollars; null while none is known.
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
 * A request for UI components of a graph.
 */
export interface UiRequest {
  /**
   * Name of the component that the graph sent.
   */
  name: string
}
/**
 * Tokens and costs per time bucket and group, in this order, without double counts. Groups with neither llm runs nor usage are left out.
 */
export interface UsageDetails {
  stride: UsageStride
  usage: {
    /**
     * Start of the bucket, UTC. The first bucket can start before start_time, because buckets are aligned.
     */
    time_bucket: string
    dimensions: UsageDimensions | ModelDimensions
    /**
     * Model calls, including those with unknown usage. A call that several runs describe counts once.
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
     * Number of prompt_tokens that are estimates, because no count was sent.
     */
    estimated_prompt_tokens: number
    /**
     * Number of completion_tokens that are estimates.
     */
    estimated_completion_tokens: number
    /**
     * The part of total_cost that was computed from estimates; null when total_cost is null.
     */
    estimated_cost: string | null
    /**
     * Calls with tokens that no price matches. Their cost is unknown and not part of total_cost.
     */
    unpriced_runs: number
    /**
     * The tokens of these calls.
     */
    unpriced_tokens: number
  }[]
}
/**
 * Null when a run does not have it.
 */
export interface ModelDimensions {
  provider: string | null
  model: string | null
  /**
   * The name without region and version, which all versions of the model have in common.
   */
  base_model: string | null
}
/**
 * The number of traces that a workspace or a key may send in a calendar month.
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
 * Sets the monthly limit of a workspace or of a key. If neither is named, sets that of the request's workspace.
 */
export interface UsageLimitWrite {
  workspace_id?: string | null
  api_key_id?: string | null
  limit_type?: 'monthly_traces'
  /**
   * Maximum number of traces in a calendar month, UTC.
   */
  limit_value: number
  /**
   * `soft` warns in the header `Weir-Usage-Warning` and in the log; `hard` refuses new traces with 429 until the month ends.
   */
  mode?: 'soft' | 'hard'
}
/**
 * Token counts and costs of one llm call. input_tokens and output_tokens include cached and reasoning tokens.
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
   * Numbers that are no tokens: web_searches, audio_seconds, input_characters, input_document_pages, images, …
   */
  units?: {
    [k: string]: number | undefined
  }
  /**
   * What changes the price: service_tier, speed, inference_geo, traffic_type, latency, search_context_size, byok, fallback_credit, models (usage by model).
   */
  conditions?: {
    [k: string]: unknown | undefined
  }
  /**
   * Who says the total cost: vendor, client, or computed.
   */
  cost_source?: string | null
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
 * A job that rebuilds the usage rollups from the counted traces. It changes no count.
 */
export interface UsageRebuild {
  /**
   * `none`: no rebuild since the server started.
   */
  status: 'none' | 'running' | 'done' | 'failed'
  started_at: string | null
  finished_at: string | null
  error: string | null
}
/**
 * Logged runs whose tokens or costs are summed in one number of the usage details, newest first.
 */
export interface UsageRuns {
  items: {
    run_id: string
    trace_id: string
    name: string
    run_type: string
    workspace_id: string
    workspace_name: string
    project_id: string
    /**
     * Name of the project; its id when the project is deleted.
     */
    project_name: string
    /**
     * Null when a service key sent it.
     */
    user_id: string | null
    user_email: string | null
    api_key_short_key: string
    provider: string | null
    model: string | null
    /**
     * The time in whose bucket the run counts: its start, or when it was received if the start is not plausible.
     */
    counted_at: string
    prompt_tokens: number | null
    completion_tokens: number | null
    /**
     * prompt_tokens plus completion_tokens; an unknown count is left out.
     */
    total_tokens: number
    /**
     * US dollars at the current price; null when it is not known.
     */
    total_cost: string | null
    /**
     * The part of `total_cost` that comes from estimated tokens.
     */
    estimated_cost: string | null
    /**
     * Path of the run in the web interface.
     */
    app_path: string
  }[]
  /**
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * The traces behind one number of the usage report, newest first.
 */
export interface UsageTraces {
  items: {
    trace_id: string
    workspace_id: string
    workspace_name: string
    project_id: string
    /**
     * Name of the project; its id when the project is deleted.
     */
    project_name: string
    /**
     * Null when a service key sent it.
     */
    user_id: string | null
    user_email: string | null
    api_key_short_key: string
    /**
     * The time in whose bucket the trace counts.
     */
    counted_at: string
    /**
     * The operation that decided the bucket of the trace: one of its root, of another of its runs, of a run that has no position in a trace yet, or of a run below a parent whose trace is not known.
     */
    counted_by: 'root' | 'child' | 'unplaced' | 'under_parent'
    /**
     * The source of `counted_at`: the start time in this operation, or, when there is none or it is more than a day in the future, the time of receipt.
     */
    time_source: 'start_time' | 'received'
    /**
     * When this operation was received.
     */
    received_at: string
    /**
     * Path of the trace in the web interface. A trace that has been deleted still counts.
     */
    app_path: string
  }[]
  /**
   * Cursor of the next page; null on the last one.
   */
  next_cursor: string | null
}
/**
 * The result that ingest would have for the submitted runs, with the four checks of each llm run.
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
     * Number of llm runs that fail each verdict.
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
  /**
   * Every fault of every run that would be rejected. A run with two faults is in the list twice; summary.rejected counts runs.
   */
  rejected: {
    run_id: string | null
    code: string
    field: string | null
    reason: string
  }[]
}
/**
 * A tenant: no data of one workspace can be read from another.
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
   * Chosen by the client; generated when absent.
   */
  id?: string | null
}
/**
 * A secret of a workspace, without its value.
 */
export interface WorkspaceSecret {
  key: string
  /**
   * The only hosts that receive the value.
   */
  hosts: string[]
  created_at: string
  updated_at: string
}
/**
 * The new value of a secret, and the hosts that may receive it.
 */
export interface WorkspaceSecretWrite {
  /**
   * Printable ASCII without spaces. It is stored encrypted, and no response contains it.
   */
  value: string
  /**
   * The hosts that may receive the value, such as `api.openai.com` or `127.0.0.1:11434`; without a port, the standard one of the protocol. Default: the stored hosts of the secret, otherwise those of the provider to which the name belongs (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GOOGLE_API_KEY`).
   *
   * @minItems 1
   * @maxItems 20
   */
  hosts?: string[] | null
}
/**
 * Changes of a workspace. Unknown keys are ignored.
 */
export interface WorkspaceUpdate {
  display_name: string
}
