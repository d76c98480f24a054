import { isObject } from '../../../schema/json.ts'
import { readTier, serviceTierOf } from '../../price/service-tier.ts'
import type { SpanView } from '../span/view.ts'

/** Attributes with the service tier of a response, and with the requested one. */
const RESPONSE = [
  'openai.response.service_tier',
  'gen_ai.openai.response.service_tier',
  'gen_ai.response.service_tier',
  'gen_ai.usage.service_tier',
  'anthropic.response.service_tier',
  'aws.bedrock.response.service_tier',
] as const
const REQUEST = [
  'openai.request.service_tier',
  'gen_ai.openai.request.service_tier',
  'gen_ai.request.service_tier',
  'anthropic.request.service_tier',
  'aws.bedrock.request.service_tier',
  'llm.request.service_tier',
] as const

/** The requested service tier of a span's call, as sent. */
export function requestedTier(view: SpanView): string | undefined {
  return view.text(...REQUEST)
}

/** The service tier of a span's response, as `readTier` returns it; undefined when no attribute has one. */
export function serviceTierOfSpan(view: SpanView): string | undefined {
  for (const key of RESPONSE) {
    const tier = readTier(view.get(key))
    if (tier !== undefined) return tier
  }
  // The AI SDK's copy of parts of the vendor's response.
  const metadata = view.json('ai.response.providerMetadata', 'ai.result.providerMetadata')
  if (!isObject(metadata)) return undefined
  return Object.values(metadata)
    .map((vendor) => serviceTierOf(vendor, []))
    .find((tier) => tier !== undefined)
}
