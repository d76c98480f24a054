import { expect, it } from 'vitest'
import { createDefaultPrices } from './default-prices.ts'

const prices = createDefaultPrices()

it.each([
  ['amazon.titan-embed-text-v1', true],
  ['amazon.titan-embed-text-v2:0', true],
  ['amazon.titan-embed-text-v3:0', false],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', true],
  ['anthropic.claude-3-5-sonnet-20241022-v2:0', true],
  ['amazon.nova-lite-v1:0', true],
])('the price of another version of a model is not used for %s', (model, isKnown) => {
  const found = prices.find({
    model,
    provider: 'aws.bedrock',
    at: Date.UTC(2026, 0, 15) * 1000,
    input_tokens: 1,
  })
  expect(found !== undefined).toBe(isKnown)
})
