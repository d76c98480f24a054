import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import { type Counts, TIERS } from './token-costs.ts'
import type { Usage } from '../tokens/usage/record.ts'

const STANDARD = new Set(['default', 'standard', 'standard_only', 'on_demand', 'on-demand'])
const MAX_DEPTH = 8

/** Keys of a response that may contain its service tier. */
const ANSWER_PLACES = [
  'usage',
  'response_metadata',
  'llm_output',
  'llmOutput',
  'kwargs',
  'message',
  'response',
  'output',
  'outputs',
  'generations',
] as const

/**
 * The billed service tier of a call, as `readTier` returns it: that of the response, otherwise the requested one. The
 * first key with a tier counts. Undefined for `auto`, and if there is no tier.
 */
export function serviceTierOf(
  outputs: JsonValue | undefined,
  requests: readonly (JsonValue | undefined)[],
): string | undefined {
  const tier = tierIn(outputs, 0)
  if (tier !== undefined) return tier
  return requests
    .map((request) => (isObject(request) ? tierNamed(request) : undefined))
    .find((it) => it !== undefined)
}

function tierIn(answer: JsonValue | undefined, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return undefined
  // The last chunk of a stream has the tier; in a list of generations, each has it.
  if (Array.isArray(answer)) return tierIn(answer[answer.length - 1], depth + 1)
  if (!isObject(answer)) return undefined
  const own = tierNamed(answer)
  if (own !== undefined) return own
  for (const place of ANSWER_PLACES) {
    const found = answer[place] === undefined ? undefined : tierIn(answer[place], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** The tier in `service_tier` (OpenAI, Anthropic's usage) or in `serviceTier: {type}` (Bedrock). */
function tierNamed(value: JsonObject): string | undefined {
  const sent = value['service_tier'] ?? value['serviceTier']
  return readTier(isObject(sent) ? sent['type'] : sent)
}

/** The name of the tier in prices; `standard` for the standard tier, undefined for any other value. */
export function readTier(value: JsonValue | undefined): string | undefined {
  const name = text(value)?.trim().toLowerCase()
  if (name === undefined) return undefined
  if (STANDARD.has(name)) return 'standard'
  return TIERS.find((tier) => tier === name)
}

/** The service tier in the counts; undefined without one. */
export function tierOfCounts({
  input_token_details,
  output_token_details,
}: Pick<Counts, 'input_token_details' | 'output_token_details'>): string | undefined {
  const keys = [...Object.keys(input_token_details), ...Object.keys(output_token_details)]
  return TIERS.find((tier) => keys.some((key) => key === tier || key.startsWith(`${tier}_`)))
}

/** Adds the tier to the counts as a detail with all tokens of the side, unless the sender split the counts by tier. */
export function addTier(usage: Usage, tier: string | undefined): void {
  if (tier === undefined || !TIERS.includes(tier) || tierOfCounts(usage) !== undefined) return
  if (usage.input_tokens) usage.input_token_details[tier] = usage.input_tokens
  if (usage.output_tokens) usage.output_token_details[tier] = usage.output_tokens
}
