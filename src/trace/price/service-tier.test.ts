import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../schema/json.ts'
import { addTier, serviceTierOf } from './service-tier.ts'
import type { Usage } from '../tokens/usage/record.ts'

describe('serviceTierOf', () => {
  it.each<[string, JsonValue | undefined, (JsonValue | undefined)[], string | undefined]>([
    ["OpenAI's answer", { choices: [], service_tier: 'flex' }, [], 'flex'],
    ["Anthropic's usage", { content: [], usage: { service_tier: 'batch' } }, [], 'batch'],
    ["Bedrock's answer", { serviceTier: { type: 'priority' } }, [], 'priority'],
    ['a response in a wrapper', { output: { service_tier: 'priority' } }, [], 'priority'],
    [
      "LangChain's response metadata",
      { generations: [[{ message: { kwargs: { response_metadata: { service_tier: 'flex' } } } }]] },
      [],
      'flex',
    ],
    ['a streamed answer', { outputs: [{ service_tier: null }, { service_tier: 'flex' }] }, [], 'flex'],
    ['the request, when the response has none', {}, [undefined, { service_tier: 'flex' }], 'flex'],
    ['the response before the request', { service_tier: 'default' }, [{ service_tier: 'flex' }], 'standard'],
    ['nothing of auto', {}, [{ service_tier: 'auto' }], undefined],
    ['no tier for unknown names', { service_tier: 'gold' }, ['flex', { service_tier: 7 }], undefined],
    ['no tier without a response', undefined, [], undefined],
  ])('reads %s', (_, outputs, requests, tier) => {
    expect(serviceTierOf(outputs, requests)).toBe(tier)
  })
})

describe('addTier', () => {
  const usage = (input_token_details: Record<string, number>): Usage => ({
    input_tokens: 10,
    output_tokens: 0,
    input_token_details,
    output_token_details: {},
    units: {},
    conditions: {},
    models: [],
    input_cost_details: {},
    output_cost_details: {},
    unit_costs: {},
    source: { input: 'client', output: 'client' },
  })

  it('adds the tier to the other details', () => {
    const counted = usage({ cache_read: 4 })
    addTier(counted, 'batch')
    expect(counted.input_token_details).toEqual({ cache_read: 4, batch: 10 })
    expect(counted.output_token_details).toEqual({})
  })

  it('does not change counts that are split by tier, or of the standard tier', () => {
    for (const [details, tier] of [
      [{ flex: 6, flex_cache_read: 4 }, 'flex'],
      [{ cache_read: 4 }, 'standard'],
      [{ cache_read: 4 }, undefined],
    ] as [Record<string, number>, string | undefined][]) {
      const counted = usage({ ...details })
      addTier(counted, tier)
      expect(counted.input_token_details).toEqual(details)
    }
  })
})
