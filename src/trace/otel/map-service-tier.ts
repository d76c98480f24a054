import { isObject } from '../../schema/json.ts'
import { readTier, serviceTierOf } from '../service-tier.ts'
import type { SpanView } from './span-view.ts'

/** Attributes that name the service tier that a call had, and the one that was asked for. */
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

/** The service tier that a span's call was asked for with, as sent. */
export function requestedTier(view: SpanView): string | undefined {
  return view.text(...REQUEST)
}

/** The service tier that a span's call had, as `readTier`; undefined where no attribute names one. */
export function serviceTierOfSpan(view: SpanView): string | undefined {
  for (const key of RESPONSE) {
    const tier = readTier(view.get(key))
    if (tier !== undefined) return tier
  }
  // What the AI SDK passes on of the vendor's answer.
  const metadata = view.json('ai.response.providerMetadata', 'ai.result.providerMetadata')
  if (!isObject(metadata)) return undefined
  return Object.values(metadata)
    .map((vendor) => serviceTierOf(vendor, []))
    .find((tier) => tier !== undefined)
}
