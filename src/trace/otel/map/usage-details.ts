import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { readSpanAttributes, readUsage, type UsageReading } from '../../tokens/usage/read-usage.ts'
import { vendorUsage } from '../../tokens/usage/places.ts'
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
  /** What the attributes say, and the vendor's objects in attributes. */
  readings: UsageReading[]
  /** The attributes about usage and costs. */
  names: readonly string[]
}

/** Scopes whose input, and whose total, never include the cache tokens (rule N4). */
const BESIDE: ReadonlySet<string | undefined> = new Set([
  '@traceloop/instrumentation-anthropic',
  'opentelemetry.instrumentation.bedrock',
])
const PATH = 'extra.otel_span.attributes'

/** The details from all attributes of the span. Those in `sent`, a usage_metadata object, take precedence. */
export function readUsageDetails(view: SpanView, sent: JsonObject | undefined): UsageDetails {
  const input: JsonObject = {}
  const output: JsonObject = {}
  addAll(input, sent?.['input_token_details'])
  addAll(output, sent?.['output_token_details'])
  const names: string[] = []
  const own = readSpanAttributes(view.span.attributes, (key) => view.json(key), PATH, names)
  const adk = answersIn(view, ['gcp.vertex.agent.llm_response'])
  const readings = [own, ...vendorObjects(view, own), ...adk]
  for (const { value } of readings) addDetails(input, output, value)
  if (input['cache_read'] === undefined && output['reasoning'] === undefined)
    addDetails(input, output, printedUsage(view) ?? {})
  const count = (key: string): number => asNumber(input[key]) ?? 0
  const hour = count('ephemeral_1h_input_tokens') || count('ephemeral_1hr_input_tokens')
  const ephemeral = count('ephemeral_5m_input_tokens') + hour
  return {
    input,
    output,
    cached: count('cache_read') + Math.max(count('cache_creation'), ephemeral),
    uncached: view.number('ai.usage.inputTokenDetails.noCacheTokens') ?? uncachedOfAnthropic(view),
    total: adk.map(({ value }) => value['total_tokens']).find((it) => it !== undefined),
    readings,
    names,
  }
}

/**
 * Whether the sender is known to exclude cache tokens from the input, even if the sums do not show it: OpenLLMetry's
 * instrumentations of Anthropic in JavaScript and of Bedrock, and the AI SDK before version 6 with Anthropic's counts.
 */
export function isCountedBeside(view: SpanView): boolean {
  if (BESIDE.has(view.span.scope.name)) return true
  if (view.number('ai.usage.inputTokens', 'ai.usage.promptTokens') === undefined) return false
  const provider = view.text('ai.model.provider', 'gen_ai.system') ?? ''
  return /^(?:anthropic|amazon-bedrock|bedrock)\b/i.test(provider)
}

/** The vendor's own usage objects in attributes: Logfire's, litellm's as a Python literal, and parts that the AI SDK passes on. */
function vendorObjects(view: SpanView, own: UsageReading): UsageReading[] {
  const litellm = view.json('metadata.usage_object')
  return [
    ...own.nested.map(({ value, path }) => readUsage(value, path)),
    ...(isObject(litellm) ? [readUsage(litellm, `${PATH}.metadata.usage_object`)] : []),
    ...answersIn(view, PROVIDER_METADATA),
  ]
}

const PROVIDER_METADATA = ['ai.response.providerMetadata', 'ai.result.providerMetadata'] as const

function answersIn(view: SpanView, keys: readonly string[]): UsageReading[] {
  return keys.flatMap((key) => {
    const answer = view.get(key) === undefined ? undefined : view.json(key)
    return answer === undefined ? [] : vendorUsage(answer, `${PATH}.${key}`).map(({ reading }) => reading)
  })
}

/** Anthropic's own count of input tokens, which excludes the cache, in the parts of its answer that the AI SDK passes on. */
function uncachedOfAnthropic(view: SpanView): number | undefined {
  if (!PROVIDER_METADATA.some((key) => view.get(key) !== undefined)) return undefined
  const metadata = object(view.json(...PROVIDER_METADATA))
  return asNumber(object(object(metadata['anthropic'])['usage'])['input_tokens'])
}

function addDetails(input: JsonObject, output: JsonObject, value: JsonObject): void {
  addAll(input, value['input_token_details'])
  addAll(output, value['output_token_details'])
}

/** Number of details of a side that are read. */
const MOST_DETAILS = 50

function addAll(details: JsonObject, value: JsonValue | undefined): void {
  if (!isObject(value)) return
  let left = MOST_DETAILS
  for (const key in value) {
    const count = value[key]
    if (left-- <= 0) break
    if (key === '__proto__' || typeof count === 'object' || count === undefined) continue
    // A zero is replaced by a count of another attribute.
    if (details[key] === undefined || details[key] === 0) details[key] = count
  }
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}
