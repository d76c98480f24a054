import { type JsonObject, type JsonValue, idText, isObject, text } from '../../../schema/json.ts'
import { providerOfModel } from '../../price/model-name.ts'
import { isFramework } from '../../price/provider-name.ts'
import { genkitProvider } from './frameworks/genkit.ts'
import { haystackModel, haystackProvider } from './frameworks/haystack.ts'
import { isMlflow, mlflowText } from './frameworks/mlflow.ts'
import { requestedTier } from './service-tier.ts'
import { type SpanView, listOf, nested, readJson, unflatten } from '../span/view.ts'

/** Attributes that name the provider; the first match counts. */
const PROVIDER = [
  'gen_ai.provider.name',
  'gen_ai.system',
  'llm.provider',
  'decision.provider',
  'llm.system',
  'ai.model.provider',
  'aisdk.model.provider',
  'langtrace.service.name',
] as const

/** Attributes that name the model; the requested model is before the model that answered (D-15). */
const MODEL = [
  'langsmith.metadata.ls_model_name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'llm.model_name',
  'decision.request.model_name',
  'decision.model_name',
  'embedding.model_name',
  'reranker.model_name',
  'ai.model.id',
  'aisdk.model.id',
  'llm.request.model',
  'llm.response.model',
  'ai.response.model',
  'langfuse.observation.model.name',
  'llm.model',
  'model',
  'model_name',
  'genkit:name',
] as const

const SESSION = ['session.id', 'langfuse.session.id', 'gcp.vertex.agent.session_id'] as const
const USER = ['user.id', 'enduser.id', 'langfuse.user.id'] as const

/**
 * Metadata of a span's TraceRun: the sender's own first, then values of attributes (provider, model, thread, user), the
 * span's ids, and the resource. Lists show the first entries, so their order matters.
 */
export function metadataOfSpan(view: SpanView, runType: string): JsonObject {
  const metadata: JsonObject = {}
  const add = (key: string, value: JsonValue | undefined): void => {
    if (value !== undefined && value !== null && key !== '__proto__' && !Object.hasOwn(metadata, key))
      metadata[key] = value
  }
  for (const [key, value] of view.group('langsmith.metadata')) add(key, readJson(value))
  for (const family of ['traceloop.association.properties', 'ai.telemetry.metadata'] as const)
    for (const [key, value] of view.group(family)) add(key, readJson(value))
  for (const key of ['metadata', 'langfuse.trace.metadata', 'langfuse.observation.metadata']) {
    const value = view.json(key)
    if (isObject(value)) for (const [name, entry] of Object.entries(value)) add(name, entry)
  }
  for (const family of ['langfuse.trace.metadata', 'langfuse.observation.metadata'] as const)
    for (const [key, value] of view.group(family)) add(key, readJson(value))
  if (runType === 'llm' || runType === 'embedding') {
    const { model, provider } = calledModel(view)
    add('ls_provider', provider)
    add('ls_model_name', model)
    addFrameworks(view, add)
  }
  addThread(view, metadata)
  add('user_id', idAt(view, ...USER) ?? mlflowText(view, 'mlflow.trace.user'))
  add('OTEL_TRACE_ID', text(view.span.trace_id))
  add('OTEL_SPAN_ID', text(view.span.span_id))
  for (const [key, value] of Object.entries(view.span.resource)) add(key, value)
  return metadata
}

/** The model that a span names, and who serves it. */
export function calledModel(view: SpanView): { model: string | undefined; provider: string | undefined } {
  const model = modelOf(view)
  const provider =
    providerOf(view) ?? providerOfModel(model) ?? genkitProvider(view) ?? haystackProvider(view)
  return { model, provider: provider ?? providerOfClient(view) }
}

function providerOf(view: SpanView): string | undefined {
  const named = PROVIDER.map((key) => view.text(key)).find((it) => it !== undefined && !isFramework(it))
  return named ?? mlflowText(view, 'mlflow.llm.provider') ?? braintrustText(view, 'provider')
}

/** A field of the metadata that Braintrust's SDK writes as JSON. */
function braintrustText(view: SpanView, key: 'model' | 'provider'): string | undefined {
  const metadata =
    view.get('braintrust.metadata') === undefined ? undefined : view.json('braintrust.metadata')
  return isObject(metadata) ? text(metadata[key]) : undefined
}

/** Providers by the Python module of their SDK; the type of an exception begins with this module. */
const SDKS: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  'google.genai': 'google',
  groq: 'groq',
  cohere: 'cohere',
  ollama: 'ollama',
  botocore: 'aws.bedrock',
}

/**
 * The provider whose SDK made the call. It is used if nothing else names a provider, which is usual for
 * refused calls.
 */
function providerOfClient({ span }: SpanView): string | undefined {
  // The name that Langfuse's OpenAI client gives its calls.
  if (span.scope.name === 'langfuse-sdk' && span.name === 'OpenAI-generation') return 'openai'
  for (const { attributes } of span.events) {
    const type = text(attributes['exception.type'])
    const module = type && /^(google\.genai|[a-z]+)\./.exec(type)?.[1]
    if (module && Object.hasOwn(SDKS, module)) return SDKS[module]
  }
  return undefined
}

/** Adds the attributes that should name the provider but name a framework, each under its own name. */
function addFrameworks(view: SpanView, add: (key: string, value: JsonValue | undefined) => void): void {
  for (const key of PROVIDER) {
    const found = view.text(key)
    if (found !== undefined && isFramework(found)) add(key, found)
  }
}

/** The model of a span. For a failed call, OpenInference names it only in the parameters. */
function modelOf(view: SpanView): string | undefined {
  const named = isMlflow(view) ? mlflowModel(view) : (view.text(...MODEL) ?? braintrustText(view, 'model'))
  if (named !== undefined) return named
  const params = view.json('llm.invocation_parameters')
  const given = isObject(params) ? (text(params['model']) ?? text(params['model_name'])) : undefined
  return given ?? haystackModel(view)
}

/**
 * The model in MLflow's attributes, which have precedence. MLflow writes each attribute as JSON text; other senders add
 * plain attributes to its spans.
 */
function mlflowModel(view: SpanView): string | undefined {
  for (const key of ['model', 'mlflow.llm.model', ...MODEL]) {
    const found = mlflowText(view, key)
    if (found !== undefined) return found
  }
  return undefined
}

/** The first of these attributes that is an id. */
function idAt(view: SpanView, ...keys: readonly string[]): string | undefined {
  return keys.map((key) => idText(view.get(key))).find((id) => id !== undefined)
}

/** The sender's own thread keys take precedence; the attributes are used if there are none. */
function addThread(view: SpanView, metadata: JsonObject): void {
  const named = ['session_id', 'thread_id', 'conversation_id'].some(
    (key) => idText(metadata[key]) !== undefined,
  )
  if (named) return
  const session = idAt(view, ...SESSION) ?? mlflowText(view, 'mlflow.trace.session')
  const conversation = idAt(view, 'gen_ai.conversation.id')
  if (session !== undefined) metadata['session_id'] = session
  if (conversation !== undefined) metadata['conversation_id'] = conversation
}

/** `langsmith.span.tags` is text like "a, b"; other attributes are lists. */
export function tagsOfSpan(view: SpanView): string[] {
  const tags: string[] = []
  const lists = [
    view.get('langsmith.span.tags'),
    view.json('tag.tags'),
    view.json('langfuse.trace.tags'),
    view.json('ai.telemetry.metadata.tags'),
    view.json('logfire.tags'),
  ]
  for (const value of lists) {
    const found = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
    for (const tag of found) {
      if (typeof tag !== 'string') continue
      const clean = tag.trim()
      if (clean !== '' && !tags.includes(clean)) tags.push(clean)
      if (tags.length === 100) return tags
    }
  }
  return tags
}

/** The parameters of the call besides the messages: sampling settings, and under `tools` the tools offered. */
export function invocationParamsOf(view: SpanView): JsonObject | undefined {
  const params: JsonObject = {}
  const add = (key: string, value: JsonValue | undefined): void => {
    if (value !== undefined && key !== '__proto__' && !Object.hasOwn(params, key)) params[key] = value
  }
  for (const [key, value] of view.group('gen_ai.request')) if (key !== 'model') add(key, value)
  const sent = view.json('llm.invocation_parameters')
  if (isObject(sent)) for (const [key, value] of Object.entries(sent)) if (key !== 'model') add(key, value)
  for (const [key, value] of view.group('ai.settings')) add(key, value)
  add('service_tier', requestedTier(view))
  const tools = toolsOf(view)
  if (tools !== undefined) params['tools'] = tools
  add('tool_choice', view.json('ai.prompt.toolChoice'))
  add('tool_arguments', view.json('tool_arguments'))
  return Object.keys(params).length === 0 ? undefined : params
}

/** OpenInference wraps the definition of a tool. */
function toolOf(entry: JsonValue): JsonValue {
  const whole = nested(entry)
  const tool = isObject(whole) ? whole['tool'] : undefined
  return isObject(tool) ? readJson(tool['json_schema'] ?? tool) : readJson(entry)
}

function toolsOf(view: SpanView): JsonValue | undefined {
  const whole = view.json(
    'gen_ai.tool.definitions',
    'ai.prompt.tools',
    'llm.tools',
    'mlflow.chat.tools',
    'tools',
  )
  if (Array.isArray(whole))
    return whole.length === 0 ? undefined : whole.map((entry) => toolOf(readJson(entry)))
  const listed = listOf(view, 'llm.tools').map(toolOf)
  if (listed.length > 0) return listed
  const functions = view.group('llm.request.functions')
  if (functions.length === 0) return undefined
  const list = unflatten(functions)
  if (!Array.isArray(list)) return undefined
  return list.map((entry) =>
    isObject(entry)
      ? { type: 'function', function: { ...entry, parameters: readJson(entry['parameters'] ?? {}) } }
      : entry,
  )
}
