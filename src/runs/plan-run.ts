import { AppError } from '../base/errors.ts'
import { CHECKPOINT_KEYS, USER_KEYS, withoutOwnKeys } from '../schema/config-keys.ts'
import { isObject, type JsonObject, type JsonValue } from '../schema/json.ts'
import type { RunKwargs, Thread, ThreadTtl } from './model.ts'
import type { RunAdmission } from './run-store.ts'
import type { Call, RunRequest } from './runs.ts'
import { type WebhookRules, webhookTarget } from './webhooks/rules.ts'

export interface AssistantFacts {
  assistant_id: string
  graph_id: string
  config: JsonObject
  context: JsonObject
  metadata: JsonObject
}

/** A requested run with everything that its plan needs. */
export interface RunPlan {
  call: Call
  assistant: AssistantFacts
  run_id: string
  thread_id: string
  /** Whether the thread is created for this run and deleted with it. */
  temporary: boolean
  /** The ttl of a thread that this run creates, unless the thread is deleted with the run. */
  defaultTtl: ThreadTtl | null
  request: RunRequest
  /** Whether the graph reads `context` and `config.configurable` as the same values, as Python graphs do. */
  sharesContext?: boolean
  webhooks?: WebhookRules
}

/**
 * Key in the config of a temporary thread: a thread that is deleted with its run. The key is stored with the thread, so
 * that the thread is deleted even if the run was deleted before it started.
 */
const TEMPORARY = 'weir_temporary'
/** The ttl of a temporary thread, for the sweeper: servers of an earlier version leave the thread after the run. */
const LINGERING: ThreadTtl = { strategy: 'delete', ttl_minutes: 1 }
const MAX_DELAY_S = 10 * 365 * 86_400

/**
 * A request for a run as the store admits it: defaults are filled in, and the request's metadata and
 * config are merged over those of assistant and thread. @throws AppError invalid_request
 */
export function planRun(plan: RunPlan): Omit<RunAdmission, 'claim'> {
  const { call, assistant, run_id, thread_id, temporary, request } = plan
  const { assistant_id, graph_id } = assistant
  const { [TEMPORARY]: _mark, ...config } = withoutOwnKeys(request.config ?? {})
  const kwargs = requestedKwargs(plan)
  const goesWithRun = kwargs.temporary && kwargs.on_completion === 'delete'
  const compose: RunAdmission['compose'] = (thread) => {
    const metadata = {
      ...assistant.metadata,
      ...thread.metadata,
      ...request.metadata,
      assistant_id,
      graph_id,
    }
    // Limits and tags of an earlier run of the thread do not apply to this one.
    const { configurable: kept = {} } = thread.config
    const merged = standingConfig(call, assistant, { config: { configurable: kept } }, config)
    const shared = plan.sharesContext === true ? sharedContext(plan, thread) : undefined
    const configurable = {
      ...merged.configurable,
      ...(shared && {
        ...objectOf(withoutOwnKeys({ configurable: shared })['configurable']),
        ...ofCall(call),
      }),
      run_id,
      thread_id,
      graph_id,
      assistant_id,
    }
    const whole = { ...merged, configurable, metadata: { ...objectOf(merged['metadata']), ...metadata } }
    return { metadata, kwargs: { ...kwargs, config: whole, ...(shared && { context: shared }) } }
  }
  return {
    run: {
      run_id,
      thread_id,
      assistant_id,
      graph_id,
      caller: { user_id: call.caller.user_id, api_key_id: call.caller.api_key_id },
      ...compose({ metadata: {}, config: {} }),
    },
    compose,
    multitask_strategy: request.multitask_strategy ?? 'enqueue',
    delay_ms: delayOf(request.after_seconds),
    if_not_exists: temporary ? 'create' : (request.if_not_exists ?? 'reject'),
    thread_metadata: { graph_id, assistant_id },
    new_thread_metadata: request.metadata ?? {},
    ...(call.access && { visible: call.access.visible }),
    thread_config: goesWithRun ? { ...config, [TEMPORARY]: true } : config,
    ...(call.cron && { cron: call.cron }),
    ...(request.newest_run_id !== undefined && { newest_run_id: request.newest_run_id }),
    new_thread_ttl: goesWithRun ? LINGERING : plan.defaultTtl,
  }
}

/**
 * The context of a graph that reads `configurable` as context and the other way round: that of the assistant, the thread
 * and the request, each with the `configurable` beside it. Later ones override earlier ones.
 */
function sharedContext({ assistant, request }: RunPlan, thread: Pick<Thread, 'config'>): JsonObject {
  return {
    ...objectOf(withoutOwnKeys(assistant.config)['configurable']),
    ...assistant.context,
    ...objectOf(withoutOwnKeys(thread.config)['configurable']),
    ...objectOf(withoutOwnKeys(request.config ?? {})['configurable']),
    ...request.context,
  }
}

function requestedKwargs({ assistant, request, temporary, webhooks }: RunPlan): RunKwargs {
  const command = request.command ?? null
  return {
    input: command === null ? (request.input ?? null) : null,
    command,
    config: {},
    context: { ...assistant.context, ...request.context },
    stream_mode: streamModes(request.stream_mode),
    subgraphs: request.stream_subgraphs ?? false,
    resumable: request.stream_resumable ?? false,
    temporary,
    interrupt_before: request.interrupt_before ?? null,
    interrupt_after: request.interrupt_after ?? null,
    checkpoint: checkpointOf(request),
    durability: request.durability ?? (request.checkpoint_during === false ? 'exit' : 'async'),
    webhook: typeof request.webhook === 'string' ? webhookTarget(request.webhook, webhooks) : null,
    on_completion: temporary ? (request.on_completion ?? 'delete') : 'keep',
    ...(request.protocol !== undefined && { protocol: request.protocol }),
    ...(request.strict_resume !== undefined && { strict_resume: request.strict_resume }),
    ...(request.caller_trace !== undefined && { caller_trace: request.caller_trace }),
  }
}

function streamModes(asked: string | string[] | undefined): string[] {
  const modes = typeof asked === 'string' ? [asked] : (asked ?? [])
  return modes.length === 0 ? ['values'] : [...new Set(modes)]
}

/**
 * The checkpoint to start from: `checkpoint`, the older `checkpoint_id`, or LangGraph's own form, in
 * `config.configurable`.
 */
function checkpointOf({ checkpoint, checkpoint_id, config }: RunRequest): JsonObject | null {
  if (isObject(checkpoint)) return checkpoint
  if (typeof checkpoint_id === 'string') return { checkpoint_id }
  const configurable = objectOf(config?.['configurable'])
  if (typeof configurable['checkpoint_id'] !== 'string') return null
  return Object.fromEntries(
    CHECKPOINT_KEYS.flatMap((key) => (configurable[key] === undefined ? [] : [[key, configurable[key]]])),
  )
}

function delayOf(seconds: number | undefined): number {
  if (seconds === undefined) return 0
  if (seconds >= 0 && seconds <= MAX_DELAY_S) return Math.round(seconds * 1000)
  throw new AppError('invalid_request', { message: `after_seconds must lie between 0 and ${MAX_DELAY_S}.` })
}

/** Whether the thread was created for a single run and is deleted with that run. */
export function isTemporary({ config }: Pick<Thread, 'config'>): boolean {
  return config[TEMPORARY] === true
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** The config keys from which graphs read the user of the deployment's own auth file, as on the platform. */
function userConfig({ caller: { user } }: Call): JsonObject {
  if (user === undefined) return {}
  const [whole, id, permissions] = USER_KEYS
  return { [whole]: user, [id]: user.identity, [permissions]: user.permissions }
}

/** The config from the assistant, the thread, the request and the caller; later ones override earlier ones. */
export function standingConfig(
  call: Call,
  assistant: Pick<AssistantFacts, 'config'>,
  thread: Pick<Thread, 'config'>,
  own: JsonObject = {},
): JsonObject & { configurable: JsonObject } {
  const standing = mergeConfigs(withoutOwnKeys(assistant.config), withoutOwnKeys(thread.config))
  const merged = mergeConfigs(standing, own)
  return { ...merged, configurable: { ...objectOf(merged['configurable']), ...ofCall(call) } }
}

/** What a request adds to `configurable`, whatever its body says: its headers and its user. */
function ofCall(call: Call): JsonObject {
  return { ...call.headers, ...userConfig(call) }
}

/** Merges `over` over `under`. The objects `configurable` and `metadata` are merged key by key. */
function mergeConfigs(under: JsonObject, over: JsonObject): JsonObject {
  return {
    ...under,
    ...over,
    configurable: { ...objectOf(under['configurable']), ...objectOf(over['configurable']) },
    metadata: { ...objectOf(under['metadata']), ...objectOf(over['metadata']) },
  }
}
