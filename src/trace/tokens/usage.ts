import { type JsonObject, type JsonValue, isObject } from '../../schema/json.ts'
import type { Issue } from '../../schema/issue.ts'
import { type Decimal, parseDecimal } from '../price/decimal.ts'
import { type CostDetails, completeDetails } from '../price/cost-details.ts'
import { SENT } from '../price/complete-costs.ts'
import { type FoundUsage, findUsageSources, type ReportedUsage, type UsageSource } from './usage-sources.ts'

/** Tokens and costs of one TraceRun after normalisation; an unknown value is absent, never 0. */
export interface Usage {
  input_tokens?: number
  output_tokens?: number
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
  input_cost?: Decimal
  output_cost?: Decimal
  total_cost?: Decimal
  /** Bits of SENT for costs that a client sent; the others are computed from these or from prices. */
  sent_costs?: number
  /** The price of the computed costs. */
  price_model_id?: string
  input_cost_details: CostDetails
  output_cost_details: CostDetails
  source: { input: UsageSource | null; output: UsageSource | null }
}

type Detail = 'input_token_details' | 'output_token_details'

/**
 * The reported tokens and costs of a TraceRun, normalised by the rules N1 to N4 and N7 of §2.5. The sources are read in
 * order, attributes of a span (`span`) first. Counts are those of the first source with counts; if it lacks input or
 * output, the next source with that side is used. Costs are those of the first source with costs. `billsThoughts`: the
 * vendor bills tokens of its total beyond input and output (see `restCounted`).
 */
export function reportedUsage(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
  format: ReportedUsage | undefined,
  issues: Issue[],
  span: readonly FoundUsage[] = [],
  billsThoughts = false,
): Usage {
  const usage: Usage = {
    input_token_details: {},
    output_token_details: {},
    input_cost_details: {},
    output_cost_details: {},
    source: { input: null, output: null },
  }
  let total: number | undefined
  let costed = false
  for (const { value, path, source } of findUsageSources(outputs, metadata, format, span)) {
    const found = readCounts(value, path, issues)
    const first = usage.source.input === null && usage.source.output === null
    if (usage.source.input === null && found.input !== undefined) {
      usage.input_tokens = found.input
      usage.input_token_details = readDetails(value, 'input_token_details', path, issues)
      usage.source.input = source
    }
    if (usage.source.output === null && found.output !== undefined) {
      usage.output_tokens = found.output
      usage.output_token_details = readDetails(value, 'output_token_details', path, issues)
      usage.source.output = source
    }
    if (first && usage.source.input !== null && usage.source.output !== null) {
      total = found.total
      reconcileTotal(usage, total, billsThoughts, path, issues)
    } else if (first && found.total !== undefined) completeFromTotal(usage, found.total, source)
    if (!costed) costed = readCosts(usage, value, path, issues)
    if (usage.source.input !== null && usage.source.output !== null) break
  }
  const sent = metadata['usage_metadata']
  if (!costed && isObject(sent)) readCosts(usage, sent, 'extra.metadata.usage_metadata', issues)
  usage.input_cost_details = completeDetails(usage.input_cost, usage.input_cost_details)
  usage.output_cost_details = completeDetails(usage.output_cost, usage.output_cost_details)
  addSeparateCache(usage, issues)
  return usage
}

/** Computes the missing side from the other one and the total. */
function completeFromTotal(usage: Usage, total: number, source: UsageSource): void {
  if (usage.input_tokens !== undefined && usage.output_tokens === undefined && total >= usage.input_tokens) {
    usage.output_tokens = total - usage.input_tokens
    usage.source.output = source
  } else if (
    usage.output_tokens !== undefined &&
    usage.input_tokens === undefined &&
    total >= usage.output_tokens
  ) {
    usage.input_tokens = total - usage.output_tokens
    usage.source.input = source
  }
}

function readCounts(
  value: JsonObject,
  path: string,
  issues: Issue[],
): { input?: number; output?: number; total?: number } {
  const out: { input?: number; output?: number; total?: number } = {}
  for (const [side, key] of [
    ['input', 'input_tokens'],
    ['output', 'output_tokens'],
    ['total', 'total_tokens'],
  ] as const) {
    const count = readCount(value[key], `${path}.${key}`, issues)
    if (count !== undefined) out[side] = count
  }
  return out
}

/**
 * Reads a count by rule N1: an integer of at least 0. Digits in a string are used and reported as an issue; any other
 * value is dropped and reported.
 */
function readCount(value: JsonValue | undefined, path: string, issues: Issue[]): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) {
    issues.push({
      code: 'count_as_string',
      severity: 'warning',
      path,
      message: `The count came as the string "${value}" and was read as a number.`,
      fix: 'Send token counts as integers.',
    })
    return Number(value)
  }
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
    const rounded = Math.round(value)
    issues.push({
      code: 'count_not_integer',
      severity: 'warning',
      path,
      message: `The count ${value} is not an integer and was rounded to ${rounded}.`,
      fix: 'Send token counts as integers.',
    })
    return rounded
  }
  issues.push({
    code: 'invalid_count',
    severity: 'warning',
    path,
    message: 'A token count must be an integer of at least 0 and below 2^53; this one was dropped.',
    fix: 'Send a non-negative integer, or leave the field out.',
  })
  return undefined
}

/** Other spellings of details: the JS client writes the one-hour cache write as 1hr. */
const DETAIL_ALIASES: ReadonlyMap<string, string> = new Map([
  ['ephemeral_1hr_input_tokens', 'ephemeral_1h_input_tokens'],
])

function readDetails(value: JsonObject, key: Detail, path: string, issues: Issue[]): Record<string, number> {
  const details: Record<string, number> = {}
  const raw = value[key]
  if (!isObject(raw)) return details
  for (const [name, count] of Object.entries(raw).slice(0, 50)) {
    const read = readCount(count, `${path}.${key}.${name}`, issues)
    if (read === undefined || !isDetailName(name)) continue
    const known = DETAIL_ALIASES.get(name) ?? name
    details[known] = Math.max(Object.hasOwn(details, known) ? details[known]! : 0, read)
  }
  return details
}

function readCosts(usage: Usage, value: JsonObject, path: string, issues: Issue[]): boolean {
  let any = false
  for (const key of ['input_cost', 'output_cost', 'total_cost'] as const) {
    if (value[key] === undefined || value[key] === null) continue
    const cost = parseDecimal(value[key])
    if (cost === undefined || cost < 0n) {
      issues.push({
        code: 'invalid_cost',
        severity: 'warning',
        path: `${path}.${key}`,
        message: 'A cost must be a number of at least 0; this one was dropped.',
        fix: 'Send US dollars as a number or a decimal string.',
      })
      continue
    }
    usage[key] = cost
    usage.sent_costs = (usage.sent_costs ?? 0) | SENT[key]
    any = true
  }
  for (const key of ['input_cost_details', 'output_cost_details'] as const) {
    const raw = value[key]
    if (!isObject(raw)) continue
    for (const [name, amount] of Object.entries(raw).slice(0, 50)) {
      const cost = parseDecimal(amount)
      if (cost !== undefined && cost >= 0n && isDetailName(name)) usage[key][name] = cost
    }
  }
  if (
    any &&
    usage.total_cost === undefined &&
    (usage.input_cost !== undefined || usage.output_cost !== undefined)
  ) {
    usage.total_cost = (usage.input_cost ?? 0n) + (usage.output_cost ?? 0n)
  }
  return any
}

/** Whether a name is allowed. Its form is restricted, because names become keys of stored rows. */
function isDetailName(name: string): boolean {
  return name !== '__proto__' && name.length <= 128
}

/**
 * Applies rules N2 and N3: if the total exceeds the sum by exactly the reasoning tokens, they are added to the
 * output.
 */
function reconcileTotal(
  usage: Usage,
  total: number | undefined,
  billsThoughts: boolean,
  path: string,
  issues: Issue[],
): void {
  if (total === undefined) return
  const gap = total - usage.input_tokens! - usage.output_tokens!
  if (gap === 0) return
  const reasoning = usage.output_token_details['reasoning'] ?? 0
  if (gap > 0 && gap === reasoning) {
    usage.output_tokens! += reasoning
    issues.push({
      code: 'reasoning_added',
      severity: 'info',
      path: `${path}.output_tokens`,
      message: `The ${reasoning} reasoning tokens were outside output_tokens and have been added.`,
    })
    return
  }
  const cached = cacheTokens(usage)
  if (gap > 0 && gap === cached) {
    usage.input_tokens! += cached
    issues.push(cacheAdded(cached, usage.input_tokens! - cached))
    return
  }
  if (gap > 0 && billsThoughts) {
    issues.push(countRest(usage, gap, reasoning, path))
    return
  }
  issues.push({
    code: 'total_mismatch',
    severity: 'warning',
    path: `${path}.total_tokens`,
    message: `total_tokens ${total} is not input plus output (${usage.input_tokens! + usage.output_tokens!}); the sum is used.`,
    fix: 'Send total_tokens as input_tokens plus output_tokens, or leave it out.',
  })
}

/**
 * Adds the tokens by which Gemini's total exceeds input plus output. They are thoughts, which are billed as output.
 * If the thoughts are already counted, they are tool results in the prompt, which are billed as input.
 */
function countRest(usage: Usage, rest: number, reasoning: number, path: string): Issue {
  const beside = reasoning > usage.output_tokens! && rest >= reasoning ? reasoning : 0
  const thoughts = reasoning === 0 ? rest : beside
  usage.output_tokens! += thoughts
  usage.input_tokens! += rest - thoughts
  if (thoughts > 0) usage.output_token_details['reasoning'] = thoughts
  const sides = [
    ...(thoughts > 0 ? [`${thoughts} as output (thoughts)`] : []),
    ...(rest > thoughts ? [`${rest - thoughts} as input (what tools found)`] : []),
  ]
  return restCounted(rest, sides.join(' and '), `${path}.total_tokens`)
}

/** The issue about tokens of a total beyond input and output; `how` describes how they are counted. */
export function restCounted(rest: number, how: string, path: string): Issue {
  return {
    code: 'rest_counted',
    severity: 'warning',
    path,
    message: `The total has ${rest} tokens more than input plus output; they are counted ${how}.`,
    fix: 'Include thoughts in output_tokens, and prompts of tools in input_tokens.',
  }
}

/** Applies rules N4 and N7: cache counts above the input count are not part of it, so they are added once. */
function addSeparateCache(usage: Usage, issues: Issue[]): void {
  const cached = cacheTokens(usage)
  if (usage.input_tokens === undefined || cached <= usage.input_tokens) return
  issues.push(cacheAdded(cached, usage.input_tokens))
  usage.input_tokens += cached
}

/** Cached input tokens. Writes that are reported both as one count and by duration count once (rule N7). */
function cacheTokens({ input_token_details: details }: Usage): number {
  const ephemeral = (details['ephemeral_5m_input_tokens'] ?? 0) + (details['ephemeral_1h_input_tokens'] ?? 0)
  const written = details['cache_creation'] ?? details['cache_write'] ?? 0
  return (details['cache_read'] ?? 0) + Math.max(written, ephemeral)
}

function cacheAdded(cached: number, input: number): Issue {
  return {
    code: 'cache_added',
    severity: 'info',
    path: 'usage_metadata.input_tokens',
    message: `The ${cached} cache tokens were counted beside the ${input} input tokens and have been added.`,
    fix: 'Send input_tokens with cache tokens included.',
  }
}
