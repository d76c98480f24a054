import { type JsonObject, type JsonValue, isObject } from '../../../../schema/json.ts'
import { readUsage } from '../../../tokens/usage/read-usage.ts'
import { type FoundUsage, vendorUsage } from '../../../tokens/usage/places.ts'
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
  const own: FoundUsage = {
    reading: readUsage(usage, `${PATH}.usage`),
    path: `${PATH}.usage`,
    source: 'client',
  }
  if (!own.reading.isKnown) return undefined
  for (const key of ANSWERS) {
    for (const found of vendorUsage(output[key] ?? null, `${PATH}.${key}`))
      if (isSame(own.reading.value, found.reading.value)) return { ...found, source: 'client' }
  }
  return own
}

function isSame(own: JsonObject, vendors: JsonObject): boolean {
  return (['output_tokens', 'total_tokens'] as const).some((key) => {
    const count = asNumber(own[key])
    return count !== undefined && count === asNumber(vendors[key])
  })
}
