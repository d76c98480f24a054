import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { fromVendor } from '../../tokens/vendor-usage.ts'
import { type SpanView, asNumber } from '../span/view.ts'
import { printedUsage } from '../span/printed-usage.ts'

/** Token counts of a span in detail: the parts of its input and output, and the vendor's total. */
export interface UsageDetails {
  /** In the form of `input_token_details` and `output_token_details`. */
  input: JsonObject
  output: JsonObject
  /** Cache tokens read and written; the 5 minute and 1 hour writes are parts of the written tokens (rule N7). */
  cached: number
  /** Input tokens besides the cache, if the span separates them. */
  uncached: number | undefined
  /** The total in the vendor's own answer, used by rule N3. */
  total: JsonValue | undefined
}

/** Attributes of each detail; the first match counts. */
const INPUT: readonly (readonly [detail: string, keys: readonly string[]])[] = [
  [
    'cache_read',
    [
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.cache_read_tokens',
      'gen_ai.usage.cached_input_tokens',
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.usage.details.cached_tokens',
      'gen_ai.usage.input_cached_tokens',
      'gen_ai.usage.prompt_tokens_details.cached_tokens',
      'llm.token_count.prompt_details.cache_read',
      'ai.usage.inputTokenDetails.cacheReadTokens',
      'ai.usage.cachedInputTokens',
    ],
  ],
  [
    'cache_creation',
    [
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_write_input_tokens',
      'gen_ai.usage.cache_write_tokens',
      'gen_ai.usage.details.cache_write_tokens',
      'gen_ai.usage.details.cache_creation_input_tokens',
      'llm.token_count.prompt_details.cache_write',
      'ai.usage.inputTokenDetails.cacheWriteTokens',
    ],
  ],
  ['ephemeral_5m_input_tokens', ['anthropic.usage.cache_creation.ephemeral_5m_input_tokens']],
  ['ephemeral_1h_input_tokens', ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens']],
  ['audio', ['gen_ai.usage.details.input_audio_tokens', 'llm.token_count.prompt_details.audio']],
]
const OUTPUT: readonly (readonly [detail: string, keys: readonly string[]])[] = [
  [
    'reasoning',
    [
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'gen_ai.usage.details.reasoning_tokens',
      'gen_ai.usage.details.thoughts_tokens',
      'gen_ai.usage.experimental.reasoning_tokens',
      'gen_ai.usage.completion_tokens_details.reasoning_tokens',
      'llm.usage.reasoning_tokens',
      'llm.token_count.completion_details.reasoning',
      'ai.usage.outputTokenDetails.reasoningTokens',
      'ai.usage.reasoningTokens',
    ],
  ],
  ['audio', ['gen_ai.usage.details.output_audio_tokens', 'llm.token_count.completion_details.audio']],
]

/** The scope whose Anthropic input always excludes the cache tokens (rule N4). */
const RAW_ANTHROPIC = '@traceloop/instrumentation-anthropic'

/** The details from all attributes of the span. Those in `sent`, a usage_metadata object, take precedence. */
export function readUsageDetails(view: SpanView, sent: JsonObject | undefined): UsageDetails {
  const input: JsonObject = {}
  const output: JsonObject = {}
  addAll(input, sent?.['input_token_details'])
  addAll(output, sent?.['output_token_details'])
  addAll(input, view.json('gen_ai.usage.input_token_details'))
  addAll(output, view.json('gen_ai.usage.output_token_details'))
  addVendors(view, input, output)
  for (const [detail, keys] of INPUT) addFirst(input, detail, view, keys)
  for (const [detail, keys] of OUTPUT) addFirst(output, detail, view, keys)
  if (input['cache_read'] === undefined && output['reasoning'] === undefined) {
    const printed = printedUsage(view)
    addAll(input, printed?.['input_token_details'])
    addAll(output, printed?.['output_token_details'])
  }
  const vendor = addProviderMetadata(view, input)
  const total = addAdk(view, input, output)
  const count = (key: string): number => asNumber(input[key]) ?? 0
  const hour = count('ephemeral_1h_input_tokens') || count('ephemeral_1hr_input_tokens')
  const ephemeral = count('ephemeral_5m_input_tokens') + hour
  return {
    input,
    output,
    cached: count('cache_read') + Math.max(count('cache_creation'), ephemeral),
    uncached: view.number('ai.usage.inputTokenDetails.noCacheTokens') ?? vendor,
    total,
  }
}

/**
 * Whether the sender is known to exclude cache tokens from the input, even if the sums do not show it: the JavaScript
 * Anthropic instrumentation, and the AI SDK before version 6 with Anthropic's counts.
 */
export function isCountedBeside(view: SpanView): boolean {
  if (view.span.scope.name === RAW_ANTHROPIC) return true
  if (view.number('ai.usage.inputTokens', 'ai.usage.promptTokens') === undefined) return false
  const provider = view.text('ai.model.provider', 'gen_ai.system') ?? ''
  return /^(?:anthropic|amazon-bedrock|bedrock)\b/i.test(provider)
}

/** Attributes with the vendor's own usage object: Logfire's, and litellm's as a Python literal. */
const VENDORS = ['gen_ai.usage.raw', 'metadata.usage_object'] as const

function addVendors(view: SpanView, input: JsonObject, output: JsonObject): void {
  for (const key of VENDORS) {
    const raw = view.json(key)
    const usage = isObject(raw) ? fromVendor(raw) : undefined
    addAll(input, usage?.['input_token_details'])
    addAll(output, usage?.['output_token_details'])
  }
}

function addAll(details: JsonObject, value: JsonValue | undefined): void {
  if (!isObject(value)) return
  for (const [key, count] of Object.entries(value).slice(0, 50)) add(details, key, count)
}

function addFirst(details: JsonObject, detail: string, view: SpanView, keys: readonly string[]): void {
  for (const key of keys) {
    const value = view.get(key)
    if (value !== undefined) return add(details, detail, value)
  }
}

function add(details: JsonObject, key: string, value: JsonValue | undefined): void {
  if (key === '__proto__' || typeof value === 'object' || value === undefined) return
  // A zero is replaced by a count of another attribute.
  if (details[key] === undefined || details[key] === 0) details[key] = value
}

/**
 * Details from the parts of the vendor's answer that the AI SDK passes on; returns Anthropic's own count, which
 * excludes the cache.
 */
function addProviderMetadata(view: SpanView, input: JsonObject): number | undefined {
  const metadata = view.json('ai.response.providerMetadata', 'ai.result.providerMetadata')
  if (!isObject(metadata)) return undefined
  const openai = object(metadata['openai'])
  const anthropic = object(metadata['anthropic'])
  const raw = object(anthropic['usage'])
  const bedrock = object(object(metadata['bedrock'])['usage'])
  const written = object(raw['cache_creation'])
  for (const value of [
    openai['cachedPromptTokens'],
    raw['cache_read_input_tokens'],
    anthropic['cacheReadInputTokens'],
    bedrock['cacheReadInputTokens'],
  ])
    add(input, 'cache_read', value ?? undefined)
  for (const value of [
    raw['cache_creation_input_tokens'],
    anthropic['cacheCreationInputTokens'],
    bedrock['cacheWriteInputTokens'],
  ])
    add(input, 'cache_creation', value ?? undefined)
  add(input, 'ephemeral_5m_input_tokens', written['ephemeral_5m_input_tokens'])
  add(input, 'ephemeral_1h_input_tokens', written['ephemeral_1h_input_tokens'])
  return asNumber(raw['input_tokens'])
}

/**
 * Adds the counts of thoughts and of the cache from the vendor's answer in an attribute of the span. Google's ADK
 * sends them only there. Returns the total of that answer.
 */
function addAdk(view: SpanView, input: JsonObject, output: JsonObject): JsonValue | undefined {
  if (view.get('gcp.vertex.agent.llm_response') === undefined) return undefined
  const answer = view.json('gcp.vertex.agent.llm_response')
  const usage = object(isObject(answer) ? answer['usage_metadata'] : undefined)
  add(input, 'cache_read', usage['cached_content_token_count'] ?? undefined)
  add(output, 'reasoning', usage['thoughts_token_count'] ?? undefined)
  return usage['total_token_count'] ?? undefined
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}
