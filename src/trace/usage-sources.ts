import { type JsonObject, type JsonValue, isObject } from '../schema/json.ts'
import { joinPath } from '../schema/issue.ts'
import type { ReportedUsage, UsageSource } from './usage.ts'

/** One place of a TraceRun that holds counts, in the shape of usage_metadata. */
export interface FoundUsage {
  value: JsonObject
  path: string
  source: UsageSource
}

/** Every source of counts in the precedence of contract §2.3, lazily: the first is mostly enough. */
export function* findUsageSources(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
  format: ReportedUsage | undefined,
  span: readonly FoundUsage[],
): Generator<FoundUsage> {
  yield* span
  const out = isObject(outputs) ? outputs : undefined
  if (isObject(out?.['usage_metadata']))
    yield { value: inOurNames(out['usage_metadata']), path: 'outputs.usage_metadata', source: 'client' }
  if (isObject(metadata['usage_metadata']))
    yield { value: metadata['usage_metadata'], path: 'extra.metadata.usage_metadata', source: 'client' }
  if (out) {
    yield* nestedUsage(out)
    yield* generationUsage(out)
  }
  if (format) yield { value: format as JsonObject, path: 'outputs', source: 'vendor' }
  if (out) yield* vendorUsage(out, 'outputs', 0)
}

/** Steps 3: `outputs.<key>.usage_metadata`, also inside a LangChain constructor's kwargs or a list's messages. */
function* nestedUsage(out: JsonObject): Generator<FoundUsage> {
  for (const [key, entry] of Object.entries(out).slice(0, 50)) {
    const candidates = Array.isArray(entry)
      ? entry
          .slice(-3)
          .map((item, i, all) => [item, `outputs.${key}[${entry.length - all.length + i}]`] as const)
      : [[entry, `outputs.${key}`] as const]
    for (const [item, path] of candidates) {
      const found = messageUsage(item, path)
      if (found) yield found
    }
  }
}

/** Step 4: the first of `generations[][].message` that carries usage. */
function* generationUsage(out: JsonObject): Generator<FoundUsage> {
  if (!Array.isArray(out['generations'])) return
  for (const [i, row] of out['generations'].slice(0, 10).entries()) {
    for (const [k, generation] of (Array.isArray(row) ? row.slice(0, 10) : [row]).entries()) {
      if (!isObject(generation)) continue
      const path = Array.isArray(row)
        ? `outputs.generations[${i}][${k}].message`
        : `outputs.generations[${i}].message`
      const found = messageUsage(generation['message'], path)
      if (found) return yield found
    }
  }
}

function messageUsage(item: JsonValue | undefined, path: string): FoundUsage | undefined {
  if (!isObject(item)) return undefined
  if (isObject(item['usage_metadata']))
    return { value: item['usage_metadata'], path: `${path}.usage_metadata`, source: 'client' }
  const kwargs = item['kwargs']
  if (isObject(kwargs) && isObject(kwargs['usage_metadata']))
    return { value: kwargs['usage_metadata'], path: `${path}.kwargs.usage_metadata`, source: 'client' }
  return undefined
}

/** Places where vendors put raw usage, relative to the outputs. */
const VENDOR_PLACES: readonly (readonly string[])[] = [
  ['usage'],
  ['usage', 'tokens'],
  ['llmOutput', 'tokenUsage'],
  ['llm_output', 'token_usage'],
  ['llm_output', 'usage'],
  ['usageMetadata'],
  ['response_metadata', 'token_usage'],
  ['response_metadata', 'tokenUsage'],
  ['response_metadata', 'usage'],
  ['llmOutput', 'estimatedTokenUsage'],
]

/** Step 5: raw vendor usage, also inside wrappers, LangChain's constructors and the first of its generations. */
function* vendorUsage(out: JsonObject, path: string, depth: number): Generator<FoundUsage> {
  for (const place of VENDOR_PLACES) {
    let at: JsonValue | undefined = out
    for (const key of place) at = isObject(at) ? at[key] : undefined
    const value = isObject(at) ? fromVendor(at) : undefined
    const source = place[1] === 'estimatedTokenUsage' ? 'estimate' : 'vendor'
    if (value) yield { value, path: joinPath(path, place.join('.')), source }
  }
  if (depth > 1) return
  for (const key of ['output', 'outputs', 'message', 'response', 'kwargs']) {
    const inner = out[key]
    if (isObject(inner)) yield* vendorUsage(inner, `${path}.${key}`, depth + 1)
  }
  const row = Array.isArray(out['generations']) ? out['generations'][0] : undefined
  const first = Array.isArray(row) ? row[0] : row
  const said = isObject(first) ? first['message'] : undefined
  if (isObject(said)) {
    const place = Array.isArray(row) ? 'generations[0][0].message' : 'generations[0].message'
    yield* vendorUsage(said, `${path}.${place}`, depth + 1)
  }
}

/**
 * A vendor's raw usage object in the shape of usage_metadata. Vendors differ in whether cached input and reasoning
 * are inside the totals: Anthropic counts cache beside its input, Gemini counts thoughts beside its candidates.
 */
export function fromVendor(raw: JsonObject): JsonObject | undefined {
  if (isObject(raw['inputTokens']) || isObject(raw['outputTokens'])) return fromAiSdk(raw)
  if (isGemini(raw)) return fromGemini(raw)
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

/** Gemini's REST answers are in camel case, its Python objects in snake case. */
function isGemini(raw: JsonObject): boolean {
  return ['promptTokenCount', 'candidatesTokenCount', 'prompt_token_count', 'candidates_token_count'].some(
    (key) => key in raw,
  )
}

/** Anthropic's own counts; gateways give them OpenAI's names and count the cache inside. */
function isAnthropic(raw: JsonObject): boolean {
  if (raw['prompt_tokens'] !== undefined || raw['input_tokens'] === undefined) return false
  return (
    'cache_read_input_tokens' in raw ||
    'cache_creation_input_tokens' in raw ||
    isObject(raw['cache_creation'])
  )
}

function fromGemini(raw: JsonObject): JsonObject {
  const thoughts = count(raw['thoughtsTokenCount'] ?? raw['thoughts_token_count'])
  const candidates = raw['candidatesTokenCount'] ?? raw['candidates_token_count']
  return {
    ...defined({ input_tokens: raw['promptTokenCount'] ?? raw['prompt_token_count'] }),
    ...(candidates === undefined && thoughts === 0 ? {} : { output_tokens: count(candidates) + thoughts }),
    input_token_details: defined({
      cache_read: raw['cachedContentTokenCount'] ?? raw['cached_content_token_count'],
    }),
    output_token_details: thoughts > 0 ? { reasoning: thoughts } : {},
  }
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

/** The entries that are present and are not objects. */
function defined(entries: Record<string, JsonValue | undefined>): JsonObject {
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined && value !== null && typeof value !== 'object') out[key] = value
  }
  return out
}

/** usage_metadata is also what Gemini calls its own counts. */
function inOurNames(usage: JsonObject): JsonObject {
  return isGemini(usage) ? fromGemini(usage) : usage
}
