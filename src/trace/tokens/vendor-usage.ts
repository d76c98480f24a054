import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

/**
 * Converts a vendor's raw usage object to the shape of usage_metadata. Vendors differ in whether totals include cached
 * input and reasoning: Anthropic's input excludes cached tokens, Gemini's candidates exclude thoughts.
 */
export function fromVendor(raw: JsonObject): JsonObject | undefined {
  if (isObject(raw['inputTokens']) || isObject(raw['outputTokens'])) return fromAiSdk(raw)
  if (isGemini(raw)) return fromGemini(raw)
  if (isOllama(raw)) return fromOllama(raw)
  if (isAnthropic(raw)) return fromAnthropic(raw)
  const input = raw['prompt_tokens'] ?? raw['input_tokens'] ?? raw['promptTokens'] ?? raw['inputTokens']
  const output =
    raw['completion_tokens'] ?? raw['output_tokens'] ?? raw['completionTokens'] ?? raw['outputTokens']
  if (input === undefined && output === undefined) return undefined
  const total = raw['total_tokens'] ?? raw['totalTokens']
  const inputDetails = object(
    raw['prompt_tokens_details'] ?? raw['input_tokens_details'] ?? raw['input_token_details'],
  )
  const outputDetails = object(
    raw['completion_tokens_details'] ?? raw['output_tokens_details'] ?? raw['output_token_details'],
  )
  return {
    ...defined({ input_tokens: input, output_tokens: output, total_tokens: total }),
    input_token_details: defined({
      cache_read:
        inputDetails['cached_tokens'] ??
        inputDetails['cache_read'] ??
        raw['prompt_cache_hit_tokens'] ??
        raw['cachedInputTokens'] ??
        raw['cacheReadInputTokens'] ??
        raw['cache_read_input_tokens'],
      cache_creation:
        inputDetails['cache_creation'] ?? raw['cacheWriteInputTokens'] ?? raw['cache_creation_input_tokens'],
      audio: inputDetails['audio_tokens'] ?? inputDetails['audio'],
    }),
    output_token_details: defined({
      reasoning: outputDetails['reasoning_tokens'] ?? outputDetails['reasoning'] ?? raw['reasoningTokens'],
      audio: outputDetails['audio_tokens'] ?? outputDetails['audio'],
    }),
  }
}

function fromAnthropic(raw: JsonObject): JsonObject {
  const creation = object(raw['cache_creation'])
  const details = defined({
    cache_read: raw['cache_read_input_tokens'],
    ephemeral_5m_input_tokens: creation['ephemeral_5m_input_tokens'],
    ephemeral_1h_input_tokens: creation['ephemeral_1h_input_tokens'],
  })
  const split = count(details['ephemeral_5m_input_tokens']) + count(details['ephemeral_1h_input_tokens'])
  if (split === 0 && raw['cache_creation_input_tokens'] !== undefined)
    details['cache_creation'] = raw['cache_creation_input_tokens']
  const cached = count(raw['cache_read_input_tokens']) + (split || count(raw['cache_creation_input_tokens']))
  const input = raw['input_tokens']
  return {
    ...defined({ output_tokens: raw['output_tokens'] }),
    ...(input === undefined || input === null
      ? {}
      : { input_tokens: typeof input === 'number' ? input + cached : input }),
    input_token_details: details,
    output_token_details: {},
  }
}

/**
 * Names of Gemini's counts: camel case in REST responses, snake case in Python objects, with `response` in the live
 * API.
 */
const GEMINI = [
  'promptTokenCount',
  'candidatesTokenCount',
  'responseTokenCount',
  'prompt_token_count',
  'candidates_token_count',
  'response_token_count',
] as const

export function isGemini(raw: JsonObject): boolean {
  return GEMINI.some((key) => key in raw)
}

/** Whether this is a response of Ollama's API, whose prompt count excludes cached tokens. */
export function isOllama(raw: JsonObject): boolean {
  return typeof raw['eval_count'] === 'number' || typeof raw['prompt_eval_count'] === 'number'
}

export function fromOllama(raw: JsonObject): JsonObject {
  return defined({ input_tokens: raw['prompt_eval_count'], output_tokens: raw['eval_count'] })
}

/** Whether these are Anthropic's own counts. Gateways use OpenAI's names and include cached tokens. */
function isAnthropic(raw: JsonObject): boolean {
  if (raw['prompt_tokens'] !== undefined || raw['input_tokens'] === undefined) return false
  return (
    'cache_read_input_tokens' in raw ||
    'cache_creation_input_tokens' in raw ||
    isObject(raw['cache_creation'])
  )
}

/**
 * Converts Gemini's counts. The prompt count excludes tool results, which are billed as input; the candidates count
 * excludes thoughts, which are billed as output.
 */
function fromGemini(raw: JsonObject): JsonObject {
  const get = (camel: string, snake: string): JsonValue | undefined => raw[camel] ?? raw[snake]
  const prompt = get('promptTokenCount', 'prompt_token_count')
  const found = get('toolUsePromptTokenCount', 'tool_use_prompt_token_count')
  const thoughts = get('thoughtsTokenCount', 'thoughts_token_count')
  const answer =
    get('candidatesTokenCount', 'candidates_token_count') ?? get('responseTokenCount', 'response_token_count')
  return {
    ...defined({
      input_tokens: sum(prompt, found),
      output_tokens: sum(answer, thoughts),
      total_tokens: get('totalTokenCount', 'total_token_count'),
    }),
    input_token_details: defined({
      cache_read: get('cachedContentTokenCount', 'cached_content_token_count'),
      ...modalities(get('promptTokensDetails', 'prompt_tokens_details')),
    }),
    output_token_details: {
      ...(count(thoughts) > 0 ? { reasoning: count(thoughts) } : {}),
      ...modalities(get('candidatesTokensDetails', 'candidates_tokens_details')),
    },
  }
}

/**
 * The sum of two counts, one of which may be absent. A value that is not a number is returned unchanged, so that an
 * issue reports it.
 */
function sum(a: JsonValue | undefined, b: JsonValue | undefined): JsonValue | undefined {
  if (count(b) === 0) return a ?? b
  return a === undefined || a === null || typeof a === 'number' ? count(a) + count(b) : a
}

/** Counts by kind of content, for kinds with separate prices. */
function modalities(list: JsonValue | undefined): JsonObject {
  const found: JsonObject = {}
  for (const entry of Array.isArray(list) ? list.slice(0, 20) : []) {
    if (!isObject(entry)) continue
    const kind = String(entry['modality']).toLowerCase()
    const tokens = count(entry['tokenCount'] ?? entry['token_count'])
    if ((kind === 'audio' || kind === 'image' || kind === 'video') && tokens > 0)
      found[kind] = count(found[kind]) + tokens
  }
  return found
}

function fromAiSdk(raw: JsonObject): JsonObject {
  const input = object(raw['inputTokens'])
  const output = object(raw['outputTokens'])
  return {
    ...defined({
      input_tokens: input['total'] ?? raw['inputTokens'],
      output_tokens: output['total'] ?? raw['outputTokens'],
      total_tokens: raw['totalTokens'],
    }),
    input_token_details: defined({ cache_read: input['cacheRead'], cache_creation: input['cacheWrite'] }),
    output_token_details: defined({ reasoning: output['reasoning'] }),
  }
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

function count(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0
}

/** The entries that are present and not objects. */
function defined(entries: Record<string, JsonValue | undefined>): JsonObject {
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined && value !== null && typeof value !== 'object') out[key] = value
  }
  return out
}

/**
 * The usage under Weir's keys. Gemini sends its counts as usage_metadata too, but under other keys, which are renamed.
 */
export function inOurNames(usage: JsonObject): JsonObject {
  return isGemini(usage) ? fromGemini(usage) : usage
}
