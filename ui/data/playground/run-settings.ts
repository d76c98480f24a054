import { ExactNumber } from '../../api/exact-json.ts'
import { type DraftColumn, namedTool, type ProviderName } from './draft.ts'

export interface CallSettings {
  column: Pick<
    DraftColumn,
    'temperature' | 'top_p' | 'max_tokens' | 'stop' | 'seed' | 'extra' | 'tool_choice' | 'base_url'
  >
  /** JSON Schema of the answer; '' for none. */
  output_schema: string
  /** Names of settings that the playground cannot send. */
  left_out: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/** Fields of clients, and fields that the playground always sets itself. */
const OF_CLIENTS = new Set([
  ...[
    'model',
    'model_name',
    'model_id',
    'modelName',
    'stream',
    'streaming',
    'stream_options',
    'stream_usage',
  ],
  ...['_type', 'timeout', 'max_retries', 'request_timeout', 'http_options', 'httpOptions', 'base_url'],
  ...['api_base', 'extra_headers', 'headers', 'signal', 'callbacks', 'tags', 'name', 'run_name'],
  ...['ls_structured_output_format', 'system', 'systemInstruction', 'tools', 'functions'],
])
const OF_OPENAI = [
  ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'verbosity'],
  ...['parallel_tool_calls', 'reasoning_effort', 'service_tier', 'response_format', 'prediction', 'user'],
  ...['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'modalities', 'audio'],
  ...['web_search_options'],
]
/** Further fields of the request of each API, which are sent as they were. */
const SENT: Readonly<Record<ProviderName, ReadonlySet<string>>> = {
  openai: new Set(OF_OPENAI),
  'openai-compatible': new Set([
    ...[...OF_OPENAI, 'top_k', 'min_p', 'top_a', 'repetition_penalty', 'reasoning', 'thinking', 'think'],
    ...['chat_template_kwargs', 'guided_json', 'guided_choice', 'guided_regex', 'guided_grammar'],
    ...['structured_outputs', 'reasoning_format', 'include_reasoning', 'provider', 'transforms', 'format'],
  ]),
  anthropic: new Set([
    ...['top_k', 'thinking', 'metadata', 'service_tier', 'output_config', 'container', 'inference_geo'],
  ]),
  google: new Set(['safetySettings', 'cachedContent', 'labels']),
}
/** Fields of `generationConfig` in requests of Gemini's API. */
const OF_GENERATION = new Set([
  ...['topK', 'presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'responseMimeType'],
  ...[
    'responseModalities',
    'speechConfig',
    'thinkingConfig',
    'mediaResolution',
    'enableEnhancedCivicAnswers',
  ],
  ...['imageConfig'],
])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2)

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
    ? (value as Fields)
    : {}
}

function camelCase(name: string): string {
  return name.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/**
 * Settings of a run by name; a setting that was read is removed. Gemini's are nested in `generationConfig`, or in `config`
 * from its SDK, and their names are converted to camel case.
 */
function openSettings(parameters: Iterable<readonly [string, unknown]>, provider: ProviderName) {
  const left = new Map<string, unknown>()
  for (const [name, value] of parameters) {
    if (value === null || value === undefined) continue
    if (provider !== 'google') left.set(name, value)
    else if (['generationConfig', 'generation_config', 'config'].includes(name))
      for (const [inner, one] of Object.entries(fieldsOf(value))) left.set(camelCase(inner), one)
    else left.set(camelCase(name), value)
  }
  return {
    left,
    /** Removes these settings; returns the first that has a value. */
    take(...names: string[]): unknown {
      const found = names.map((name) => left.get(name)).find((value) => value !== undefined)
      for (const name of names) left.delete(name)
      return found
    },
  }
}

type Settings = ReturnType<typeof openSettings>

function numberOf(value: unknown): string {
  return typeof value === 'number' || value instanceof ExactNumber ? value.toString() : ''
}

function stopsOf(value: unknown): string {
  return (Array.isArray(value) ? (value as unknown[]) : [value]).map(textOf).filter(Boolean).join('\n')
}

const CHOICES: Readonly<Record<string, DraftColumn['tool_choice']>> = {
  auto: 'auto',
  none: 'none',
  required: 'required',
  any: 'required',
  validated: 'auto',
}

/**
 * Reads and removes the choice of tools. A word that no API defines is the name of a tool, as in LangChain's clients.
 */
function toolChoiceOf({ take, left }: Settings): DraftColumn['tool_choice'] {
  const { functionCallingConfig } = fieldsOf(take('toolConfig'))
  const { mode, allowedFunctionNames } = fieldsOf(functionCallingConfig)
  const [allowed, ...others] = Array.isArray(allowedFunctionNames) ? (allowedFunctionNames as unknown[]) : []
  if (typeof allowed === 'string' && others.length === 0) return namedTool(allowed)
  if (others.length > 0) left.set('toolConfig.allowedFunctionNames', allowedFunctionNames)
  const found = take('tool_choice', 'toolChoice') ?? mode
  const { type, name, function: called, ...more } = fieldsOf(found)
  const named = textOf(name) || textOf(fieldsOf(called)['name'])
  for (const field of Object.keys(more)) left.set(`tool_choice.${field}`, more[field])
  if (named !== '') return namedTool(named)
  const word = textOf(found)
  const known = CHOICES[(word || textOf(type)).toLowerCase()]
  return known ?? (word === '' ? 'auto' : namedTool(word))
}

/**
 * Reads and removes the JSON Schema of the answer, from the fields of each API. Other content of these fields stays in
 * the settings.
 */
function schemaOf({ take, left }: Settings): string {
  const { format: format_of_text, ...rest_of_text } = fieldsOf(take('text'))
  for (const [name, value] of Object.entries(rest_of_text)) left.set(name, value)
  const { format: of_config, ...rest_of_config } = fieldsOf(take('output_config'))
  if (Object.keys(rest_of_config).length > 0) left.set('output_config', rest_of_config)
  const format = take('response_format') ?? format_of_text ?? of_config ?? take('output_format')
  const { type, schema: flat, json_schema } = fieldsOf(format)
  const { schema, strict } = fieldsOf(json_schema)
  const found = schema ?? flat ?? take('responseJsonSchema', 'responseSchema')
  if (strict === false) left.set('response_format.json_schema.strict', strict)
  if (typeof found === 'object' && found !== null) {
    left.delete('responseMimeType')
    return jsonOf(found)
  }
  // `json_object` asks for any JSON object, without a schema.
  if (type === 'json_object') left.set('response_format', format)
  else if (type !== undefined && type !== 'text') left.set(`response_format.${textOf(type)}`, format)
  return ''
}

/**
 * Reads and removes `reasoning` of OpenAI's Responses API; its effort becomes `reasoning_effort`, the field of chat
 * completions.
 */
function takeReasoning({ take, left }: Settings): void {
  const reasoning = take('reasoning')
  const { effort, ...rest } = fieldsOf(reasoning)
  if (typeof effort === 'string' && !left.has('reasoning_effort')) left.set('reasoning_effort', effort)
  for (const [name, value] of Object.entries(rest))
    if (value !== null && value !== undefined) left.set(`reasoning.${name}`, value)
}

/** The settings of a model call, converted for an API, and the names of the settings that cannot be converted. */
export function settingsOfRun(
  parameters: Iterable<readonly [string, unknown]>,
  provider: ProviderName,
): CallSettings {
  const settings = openSettings(parameters, provider)
  const { take, left } = settings
  const base_url = textOf(take('base_url'))
  for (const name of OF_CLIENTS) left.delete(name)
  if (provider === 'openai') takeReasoning(settings)
  const column = {
    base_url,
    temperature: numberOf(take('temperature')),
    top_p: numberOf(take('top_p', 'topP')),
    max_tokens: numberOf(
      take('max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens', 'maxTokens'),
    ),
    stop: stopsOf(take('stop', 'stop_sequences', 'stopSequences')),
    seed: numberOf(take('seed')),
    tool_choice: toolChoiceOf(settings),
  }
  const output_schema = schemaOf(settings)
  const entries = [...left]
  const extra = Object.fromEntries(entries.filter(([name]) => SENT[provider].has(name)))
  const generation =
    provider === 'google' ? Object.fromEntries(entries.filter(([name]) => OF_GENERATION.has(name))) : {}
  const sent = { ...extra, ...(Object.keys(generation).length > 0 && { generationConfig: generation }) }
  return {
    column: { ...column, extra: Object.keys(sent).length === 0 ? '' : jsonOf(sent) },
    output_schema,
    left_out: entries.map(([name]) => name).filter((name) => !(name in extra) && !(name in generation)),
  }
}
