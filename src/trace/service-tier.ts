import { isObject, type JsonObject, type JsonValue, text } from '../schema/json.ts'
import { TIERS } from './price/price-formula.ts'
import type { Usage } from './usage.ts'

/** Words for the tier that prices are for without saying so. */
const STANDARD = new Set(['default', 'standard', 'standard_only', 'on_demand', 'on-demand'])
const MAX_DEPTH = 8

/** Where an answer holds what says how it was served. */
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
 * The service tier that a call was billed as, as `readTier`: what the answer says, else what was asked for. Undefined
 * for `auto` and where nothing says it. The first place that names a tier counts.
 */
export function serviceTierOf(
  outputs: JsonValue | undefined,
  requests: readonly (JsonValue | undefined)[],
): string | undefined {
  const said = tierIn(outputs, 0)
  if (said !== undefined) return said
  return requests
    .map((request) => (isObject(request) ? tierNamed(request) : undefined))
    .find((it) => it !== undefined)
}

function tierIn(answer: JsonValue | undefined, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return undefined
  // Of a list of chunks the last has it, of generations each.
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

/** OpenAI's `service_tier`, also of Anthropic's usage; Bedrock's `serviceTier: {type}`. */
function tierNamed(value: JsonObject): string | undefined {
  const sent = value['service_tier'] ?? value['serviceTier']
  return readTier(isObject(sent) ? sent['type'] : sent)
}

/** A tier as prices name it, `standard`, or undefined for what is none. */
export function readTier(value: JsonValue | undefined): string | undefined {
  const name = text(value)?.trim().toLowerCase()
  if (name === undefined) return undefined
  if (STANDARD.has(name)) return 'standard'
  return TIERS.find((tier) => tier === name)
}

/** The service tier that the counts name; undefined for none. */
export function tierOfCounts({ input_token_details, output_token_details }: Usage): string | undefined {
  const keys = [...Object.keys(input_token_details), ...Object.keys(output_token_details)]
  return TIERS.find((tier) => keys.some((key) => key === tier || key.startsWith(`${tier}_`)))
}

/** Adds the tier to the counts, as a detail that has the whole side, unless the sender split the counts by tier. */
export function addTier(usage: Usage, tier: string | undefined): void {
  if (tier === undefined || tier === 'standard' || tierOfCounts(usage) !== undefined) return
  if (usage.input_tokens) usage.input_token_details[tier] = usage.input_tokens
  if (usage.output_tokens) usage.output_token_details[tier] = usage.output_tokens
}
