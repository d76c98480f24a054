import { type JsonObject, type JsonValue, isObject } from '../../../../schema/json.ts'
import { type FoundUsage, vendorUsage } from '../../../tokens/usage-sources.ts'
import { fromVendor } from '../../../tokens/vendor-usage.ts'
import { type Found, filled, messages } from '../side-source.ts'
import { type SpanView, asNumber } from '../../span/view.ts'

const OUTPUT = 'genkit:output'
const PATH = `extra.otel_span.attributes.${OUTPUT}`
/** Attributes in which plugins put the vendor's own answer. Genkit has used two names for it. */
const ANSWERS = ['raw', 'custom'] as const

/** Reads a side of Genkit: the request has several messages, the answer has one. */
export function genkitSide(value: JsonValue | undefined): Found {
  if (!isObject(value)) return filled(value)
  if (isObject(value['message'])) return messages([value['message']])
  return Array.isArray(value['messages']) ? { side: { value, dialect: 'otel-genai' } } : filled(value)
}

/** The provider in the name of a model, which begins with the name of its plugin: `openai/gpt-4o`. */
export function genkitProvider(view: SpanView): string | undefined {
  const name = view.text('genkit:name') ?? ''
  const slash = name.indexOf('/')
  return slash > 0 ? name.slice(0, slash) : undefined
}

/**
 * The counts of an answer of Genkit. Genkit's own counts may lack cache and reasoning tokens. If the vendor's answer
 * beside them has the same output or total, the vendor's counts are used.
 */
export function genkitUsage(view: SpanView): FoundUsage | undefined {
  if (view.get(OUTPUT) === undefined) return undefined
  const output = view.json(OUTPUT)
  const usage = isObject(output) ? output['usage'] : undefined
  if (!isObject(output) || !isObject(usage)) return undefined
  const own = ownCounts(usage)
  if (own === undefined) return undefined
  for (const key of ANSWERS) {
    for (const { value, path } of vendorUsage(output[key] ?? null, `${PATH}.${key}`))
      if (isSame(own, value)) return { value, path, source: 'client' }
  }
  return { value: own, path: `${PATH}.usage`, source: 'client' }
}

function ownCounts(usage: JsonObject): JsonObject | undefined {
  const counts = fromVendor(usage)
  if (counts === undefined) return undefined
  const { thoughtsTokens, cachedContentTokens } = usage
  return {
    ...counts,
    input_token_details: cachedContentTokens === undefined ? {} : { cache_read: cachedContentTokens },
    output_token_details: thoughtsTokens === undefined ? {} : { reasoning: thoughtsTokens },
  }
}

function isSame(own: JsonObject, vendors: JsonObject): boolean {
  return (['output_tokens', 'total_tokens'] as const).some((key) => {
    const count = asNumber(own[key])
    return count !== undefined && count === asNumber(vendors[key])
  })
}
