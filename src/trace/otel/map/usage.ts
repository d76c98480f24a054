import type { Issue } from '../../../schema/issue.ts'
import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { readingOf, readUsage, readUsageMetadata, type UsageReading } from '../../tokens/usage/read-usage.ts'
import { reconcile, restCounted } from '../../tokens/usage/reconcile.ts'
import { type FoundUsage, vendorUsage } from '../../tokens/usage/places.ts'
import { genkitUsage } from './frameworks/genkit.ts'
import { langfuseUsage } from './frameworks/langfuse-usage.ts'
import { haystackUsage } from './frameworks/haystack.ts'
import { mlflowUsage } from './frameworks/mlflow.ts'
import {
  chooseInputCount,
  chooseOutputCount,
  type SentCounts,
  countConflict,
  countsInOne,
} from './choose-counts.ts'
import { type SpanView, asNumber } from '../span/view.ts'
import { isClaudeCode, isOfModel, isSum } from './kind.ts'
import { isCountedBeside, readUsageDetails, type UsageDetails } from './usage-details.ts'

const ATTRIBUTES = 'extra.otel_span.attributes'

/** Names of counts in each convention; the first present name of a convention counts. */
const CONVENTIONS = [
  {
    input: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
    output: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
    total: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
  },
  {
    input: ['llm.token_count.prompt', 'llm.usage.prompt_tokens'],
    output: ['llm.token_count.completion', 'llm.usage.completion_tokens'],
    total: ['llm.token_count.total'],
  },
  {
    input: ['decision.token_count.input', 'decision.token_count.prompt'],
    output: ['decision.token_count.output', 'decision.token_count.completion'],
    total: ['decision.token_count.total'],
  },
  {
    input: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens'],
    output: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    total: ['ai.usage.totalTokens'],
  },
  {
    input: ['llm.token.counts.prompt'],
    output: ['llm.token.counts.completion'],
    total: ['llm.token.counts.total'],
  },
  {
    input: ['gen_ai.response.prompt_tokens', 'gen_ai.response.input_tokens'],
    output: ['gen_ai.response.completion_tokens', 'gen_ai.response.output_tokens'],
    total: ['gen_ai.response.total_tokens'],
  },
  {
    input: ['gen_ai.aggregated_usage.input_tokens'],
    output: ['gen_ai.aggregated_usage.output_tokens'],
    total: [],
  },
] as const

const COSTS = [
  [
    'input_cost',
    ['llm.cost.prompt', 'gen_ai.usage.input_cost', 'gen_ai.cost.input_cost', 'litellm.cost.input_cost'],
  ],
  [
    'output_cost',
    [
      'llm.cost.completion',
      'gen_ai.usage.output_cost',
      'gen_ai.cost.output_cost',
      'litellm.cost.output_cost',
    ],
  ],
  [
    'total_cost',
    [
      'llm.cost.total',
      'operation.cost',
      'gen_ai.usage.cost',
      'gen_ai.usage.total_cost',
      'gen_ai.cost.total_cost',
      'litellm.cost.total_cost',
    ],
  ],
] as const

/**
 * The counts and costs of a span, best source first, in the shape of usage_metadata. Rule N5 decides between sources
 * that disagree, and N4 adds cache tokens that the input excludes; `issues` reports both. A chain has only a sum of the
 * calls below it (N6), or nothing.
 */
export function usageOfSpan(view: SpanView, runType: string, issues: Issue[]): FoundUsage[] {
  if (runType === 'chain' && !isSum(view)) return []
  const found: FoundUsage[] = []
  const sent = ['langsmith.usage_metadata', 'langsmith.metadata.usage_metadata'].flatMap((key) => {
    const value = view.json(key)
    return isObject(value) ? [{ key, value }] : []
  })
  const details = readUsageDetails(view, sent[0]?.value)
  const claims: SentCounts[] = sent.map(({ key, value }) => ({
    path: `${ATTRIBUTES}.${key}`,
    input: value['input_tokens'],
    output: value['output_tokens'],
    total: value['total_tokens'],
  }))
  claims.push(...claimsOf(view, details.names))
  const value = combineClaims(view, claims, details, sent[0]?.value, issues)
  const sentReadings = sent.map((it) => readUsageMetadata(it.value, `${ATTRIBUTES}.${it.key}`))
  const reading = withReadings(value, [...details.readings, ...sentReadings])
  if (reading.costs.vendor === undefined) addCosts(value, view, details.names)
  reading.isKnown ||= Object.keys(value).length > 0
  if (reading.isKnown || reading.unread.length > 0)
    found.push({ reading, path: 'usage_metadata', source: 'client' })
  // The vendor's answer is searched only if needed, since answers are large. What a tool answers is no usage of its own.
  if (value['input_tokens'] !== undefined && value['output_tokens'] !== undefined)
    completeFromAnswer(view, value, issues)
  else if (isOfModel(runType)) found.push(...answerUsage(view))
  found.push(...objectUsage(view))
  found.unshift(...mlflowUsage(view))
  const genkit = genkitUsage(view)
  if (genkit !== undefined) found.unshift(genkit)
  const haystack = haystackUsage(view)
  if (haystack !== undefined) found.push(haystack)
  const langfuse = langfuseUsage(view)
  if (langfuse !== undefined) found.push(langfuse)
  return found
}

/** What an attribute has: a side of a convention, or a cost. Of several names for one, that of the lowest rank counts. */
interface Slot {
  of: number | (typeof COSTS)[number][0]
  side: 'input' | 'output' | 'total'
  rank: number
}

const SLOTS: ReadonlyMap<string, Slot> = new Map([
  ...CONVENTIONS.flatMap((names, of) =>
    (['input', 'output', 'total'] as const).flatMap((side) =>
      names[side].map((name, rank): [string, Slot] => [name, { of, side, rank }]),
    ),
  ),
  ...COSTS.flatMap(([of, names]) =>
    names.map((name, rank): [string, Slot] => [name, { of, side: 'total', rank }]),
  ),
])

/** The counts under the names of each convention; `names` are the attributes about usage. */
function claimsOf(view: SpanView, names: readonly string[]): SentCounts[] {
  const found: ({ [side in Slot['side']]?: { name: string; rank: number } } | undefined)[] = []
  for (const name of names) {
    const slot = SLOTS.get(name)
    if (slot === undefined || typeof slot.of !== 'number' || view.get(name) === undefined) continue
    const claim = (found[slot.of] ??= {})
    const known = claim[slot.side]
    if (known === undefined || slot.rank < known.rank) claim[slot.side] = { name, rank: slot.rank }
  }
  const get = (it: { name: string } | undefined) => (it === undefined ? undefined : view.get(it.name))
  const claims: SentCounts[] = []
  for (const claim of found) {
    if (claim === undefined) continue
    const { input, output, total } = claim
    const path = `${ATTRIBUTES}.${(input ?? output ?? total)!.name}`
    claims.push({ path, input: get(input), output: get(output), total: get(total) })
  }
  return claims
}

/** Adds the costs that no usage_metadata has. */
function addCosts(value: JsonObject, view: SpanView, names: readonly string[]): void {
  const ranks: Partial<Record<(typeof COSTS)[number][0], number>> = {}
  for (const name of names) {
    const slot = SLOTS.get(name)
    const cost = slot === undefined || typeof slot.of === 'number' ? undefined : view.get(name)
    if (cost === undefined) continue
    const { of, rank } = slot as Slot & { of: (typeof COSTS)[number][0] }
    const isSent = value[of] !== undefined && ranks[of] === undefined
    if (isSent || rank > (ranks[of] ?? rank)) continue
    value[of] = cost
    ranks[of] = rank
  }
}

/** The counts, with the units, conditions, vendor's cost and unread numbers of all attributes. */
function withReadings(value: JsonObject, readings: readonly UsageReading[]): UsageReading {
  const reading = readingOf(value)
  const [own] = readings
  if (own) {
    reading.beside = own.beside
    reading.isCut = own.isCut
  }
  const cost = readings.map(({ costs }) => costs.vendor).find((it) => it !== undefined)
  if (cost !== undefined) reading.costs.vendor = cost
  reading.isKnown = cost !== undefined
  for (const { units, unit_paths, conditions, unread } of readings) {
    addMissing(reading.units, units)
    addMissing(reading.unit_paths, unit_paths)
    addMissing(reading.conditions, conditions)
    if (unread.length > 0) reading.unread.push(...unread)
  }
  for (const _ in reading.units) reading.isKnown = true
  for (const _ in reading.conditions) reading.isKnown = true
  return reading
}

function addMissing<T>(known: Record<string, T>, more: Readonly<Record<string, T>>): void {
  for (const key in more) if (!Object.hasOwn(known, key)) known[key] = more[key]!
}

/** Attributes with a usage object of a framework. */
const OBJECTS = ['braintrust.metrics', 'lk.llm_metrics', 'lk.realtime_model_metrics'] as const

/** Braintrust's metrics, each in an attribute of its own; undefined if there are none. */
function flatMetrics(view: SpanView): JsonObject | undefined {
  const metrics = view.group('braintrust.metrics')
  return metrics.length === 0 ? undefined : Object.fromEntries(metrics)
}

function objectUsage(view: SpanView): FoundUsage[] {
  const found = OBJECTS.flatMap((key): FoundUsage[] => {
    const sent = view.get(key) === undefined ? undefined : view.json(key)
    const value = sent ?? (key === 'braintrust.metrics' ? flatMetrics(view) : undefined)
    if (!isObject(value)) return []
    const path = `${ATTRIBUTES}.${key}`
    return [{ reading: readUsage(value, path), path, source: 'client' }]
  })
  if (!isClaudeCode(view)) return found
  const { attributes } = view.span
  const bare = Object.fromEntries(BARE.map((name) => [name, attributes[name] ?? null]))
  return [{ reading: readUsage(bare, ATTRIBUTES), path: ATTRIBUTES, source: 'vendor' }, ...found]
}

/** Claude Code's names, which have no prefix. */
const BARE = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_creation_tokens', 'speed'] as const

/** One usage from all usage attributes of a span: counts from the attributes that agree, details from each. */
function combineClaims(
  view: SpanView,
  claims: readonly SentCounts[],
  details: UsageDetails,
  sent: JsonObject | undefined,
  issues: Issue[],
): JsonObject {
  const value: JsonObject = { ...sent }
  if (Object.keys(details.input).length > 0) value['input_token_details'] = details.input
  if (Object.keys(details.output).length > 0) value['output_token_details'] = details.output
  const input = chooseInputCount(claims, details)
  const output = chooseOutputCount(claims)
  const total = claims.find(({ total: it }) => it !== undefined)?.total
  for (const winner of [input, output]) if (winner?.rival) issues.push(countConflict(winner))
  const whole = wholeInput(view, input?.value, details.cached, details.uncached)
  if (input !== undefined) value['input_tokens'] = whole ?? input.value
  if (output !== undefined) value['output_tokens'] = output.value
  if (whole !== undefined) {
    issues.push(cacheAdded(details.cached, input!.value, input!.path))
    delete value['total_tokens']
  } else if (input?.rival || output?.rival) {
    const agreed = claims.find((claim) => countsInOne(claim, value))
    if (agreed?.total === undefined) delete value['total_tokens']
    else value['total_tokens'] = agreed.total
  } else if (total !== undefined) value['total_tokens'] = total
  else if (details.total !== undefined) value['total_tokens'] = details.total
  return value
}

/**
 * The input count plus the cache tokens, if the sent count is known to exclude them; undefined if the count needs no
 * change.
 */
function wholeInput(
  view: SpanView,
  sent: JsonValue | undefined,
  cached: number,
  uncached: number | undefined,
): number | undefined {
  const count = asNumber(sent)
  if (count === undefined || cached === 0) return undefined
  const beside = uncached === undefined ? isCountedBeside(view) : count === uncached
  return beside ? count + cached : undefined
}

function cacheAdded(cached: number, input: JsonValue | undefined, path: string): Issue {
  return {
    code: 'cache_added',
    severity: 'info',
    path,
    message: `This sender counts ${cached} cache tokens beside the ${String(input)} input tokens, so they have been added.`,
    fix: 'Send input_tokens with cache tokens included.',
  }
}

/** Attributes that may contain a vendor's complete response. */
const ANSWERS = [
  'gcp.vertex.agent.llm_response',
  'response_data',
  'output.value',
  'traceloop.entity.output',
  'langfuse.observation.output',
  'mlflow.spanOutputs',
] as const

/** Raw usage of a vendor in an attribute, for spans with missing or incomplete counts. */
function answerUsage(view: SpanView): FoundUsage[] {
  return ANSWERS.flatMap((key) => {
    if (key === 'output.value' && view.text('output.mime_type') === 'text/plain') return []
    const answer = view.json(key)
    return answer === undefined ? [] : [...vendorUsage(answer, `${ATTRIBUTES}.${key}`)]
  })
}

/** The counts of an answer with all their details inside, in the shape of usage_metadata. */
function wholeCounts({ reading, path }: FoundUsage): JsonObject {
  const { value } = reading
  const count = (key: string): number => asNumber(value[key]) ?? 0
  const details = (key: string): Record<string, number> =>
    isObject(value[key]) ? (value[key] as Record<string, number>) : {}
  const counts = {
    input_tokens: count('input_tokens'),
    output_tokens: count('output_tokens'),
    total: asNumber(value['total_tokens']),
    input_token_details: { ...details('input_token_details') },
    output_token_details: { ...details('output_token_details') },
  }
  reconcile(counts, { ...reading, path }, [])
  const { total, ...whole } = counts
  return { ...whole, ...(total === undefined ? {} : { total_tokens: total }) }
}

/** Tokens of the total beyond input and output. */
function restOf(value: JsonObject): number {
  const count = (key: string): number => asNumber(value[key]) ?? 0
  return count('total_tokens') - count('input_tokens') - count('output_tokens')
}

/** Adds tokens that are in the total but not in the count attributes, if the vendor's response shows their kind. */
function completeFromAnswer(view: SpanView, value: JsonObject, issues: Issue[]): void {
  const rest = restOf(value)
  const { output_token_details: details } = value
  // Reasoning tokens that have a count of their own are added by rule N3.
  if (rest <= 0 || (isObject(details) && asNumber(details['reasoning']) === rest)) return
  for (const answer of answerUsage(view)) {
    const counts = wholeCounts(answer)
    if (asNumber(counts['total_tokens']) !== asNumber(value['total_tokens'])) continue
    if (restOf(counts) !== 0) continue
    for (const key of ['input_tokens', 'output_tokens'] as const) value[key] = counts[key]
    for (const key of ['input_token_details', 'output_token_details'] as const) {
      const [theirs, ours] = [counts[key], value[key]]
      value[key] = { ...(isObject(theirs) ? theirs : {}), ...(isObject(ours) ? ours : {}) }
    }
    issues.push(restCounted(rest, 'as in the response next to the counts', answer.path))
    return
  }
}
