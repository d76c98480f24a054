import { calcPrice } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { formatDecimal } from './decimal.ts'
import { createDefaultPrices } from './default-prices.ts'
import { type Counts, costOf } from './formula.ts'

const AT = Date.UTC(2026, 9, 1, 12) * 1000
const prices = createDefaultPrices()
const find = (model: string, provider?: string, input_tokens = 1, at = AT) =>
  prices.find({ model, provider, at, input_tokens })

const MODELS: Record<string, readonly string[]> = {
  openai: [
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4.1',
    'gpt-4.1-mini',
    'gpt-5',
    'gpt-5-mini',
    'o3',
    'o4-mini',
    'gpt-5.4',
  ],
  anthropic: [
    'claude-opus-4-1-20250805',
    'claude-sonnet-4-20250514',
    'claude-sonnet-4-5',
    'claude-haiku-4-5',
    'claude-3-5-haiku-latest',
    'claude-3-opus-20240229',
    'claude-opus-4-5',
  ],
  google: [
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.0-flash',
    'gemini-3-pro-preview',
    'gemini-2.5-flash-lite',
    'gemini-1.5-pro',
  ],
  mistral: ['mistral-large-latest', 'mistral-small-latest', 'codestral-latest', 'ministral-8b-latest'],
  deepseek: ['deepseek-chat', 'deepseek-reasoner'],
  'x-ai': ['grok-4', 'grok-3-mini', 'grok-3'],
}

/** The counts under the names of the price source. */
function asItsUsage(counts: Counts): Record<string, number> {
  const { input_token_details: details } = counts
  const write5m = details['ephemeral_5m_input_tokens'] ?? 0
  const write1h = details['ephemeral_1h_input_tokens'] ?? 0
  return {
    input_tokens: counts.input_tokens ?? 0,
    output_tokens: counts.output_tokens ?? 0,
    cache_read_tokens: details['cache_read'] ?? 0,
    cache_write_tokens: write5m + write1h,
    cache_write_5m_tokens: write5m,
    cache_write_1h_tokens: write1h,
  }
}

const USAGES: readonly Counts[] = [
  { input_tokens: 1000, output_tokens: 500, input_token_details: {}, output_token_details: {} },
  {
    input_tokens: 2560,
    output_tokens: 75,
    input_token_details: {
      cache_read: 2000,
      ephemeral_5m_input_tokens: 300,
      ephemeral_1h_input_tokens: 200,
    },
    output_token_details: { reasoning: 10 },
  },
  {
    input_tokens: 300_000,
    output_tokens: 1234,
    input_token_details: { cache_read: 100_000 },
    output_token_details: {},
  },
]

describe('default prices', () => {
  const pairs = Object.entries(MODELS).flatMap(([provider, models]) =>
    models.map((model) => [provider, model]),
  )

  it('has enough prices to compare', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(30)
    expect(Object.keys(MODELS).length).toBeGreaterThanOrEqual(5)
  })

  it.each(pairs)('%s %s costs as much as the price source computes', (provider, model) => {
    for (const usage of USAGES) {
      const theirs = calcPrice(asItsUsage(usage), model, {
        providerId: provider,
        timestamp: new Date(AT / 1000),
      })!
      const ours = costOf(usage, find(model, provider, usage.input_tokens)!)
      const asNumber = (amount: bigint | undefined) => Number(formatDecimal(amount!))
      expect(theirs.total_price).toBeGreaterThan(0)
      expect(asNumber(ours.input_cost)).toBeCloseTo(theirs.input_price, 12)
      expect(asNumber(ours.output_cost)).toBeCloseTo(theirs.output_price, 12)
      expect(asNumber(ours.total_cost)).toBeCloseTo(theirs.total_price, 12)
      expect(ours.price_model_id).toMatch(`genai-prices:${theirs.provider.id}/${theirs.model.id}`)
    }
  })

  it('charges a long prompt completely at the higher rate', () => {
    const short = find('gemini-2.5-pro', 'google', 200_000)!
    const long = find('gemini-2.5-pro', 'google', 200_001)!
    expect(long.input.base).toBe(short.input.base! * 2n)
    expect(long.output.base).toBeGreaterThan(short.output.base!)
  })

  it('finds prices by their first day and by the hour', () => {
    const o3 = (at: number) => find('o3', 'openai', 1, at * 1000)!
    const early = o3(Date.UTC(2025, 4, 1))
    const late = o3(Date.UTC(2025, 8, 1))
    expect(early.input.base).toBeGreaterThan(late.input.base!)
    expect(late.price_model_id).toBe('genai-prices:openai/o3@2025-06-10')
    const night = find('deepseek-chat', 'deepseek', 1, Date.UTC(2025, 4, 1, 17) * 1000)!
    expect(find('deepseek-chat', 'deepseek', 1, Date.UTC(2025, 4, 1, 12) * 1000)!.input.base).toBeGreaterThan(
      night.input.base!,
    )
  })

  it.each([
    ['openai/gpt-4o', undefined, 'openai/gpt-4o'],
    ['GPT-4o', 'openai', 'openai/gpt-4o'],
    ['gpt-4.1-2027-01-01', 'openai', 'openai/gpt-4.1'],
    ['openai/gpt-4o', 'openrouter', 'openrouter/openai/gpt-4o'],
    ['anthropic/claude-opus-4.1', 'openai', 'anthropic/claude-opus-4-1'],
    ['anthropic:claude-sonnet-4-0', undefined, 'anthropic/claude-sonnet-4-0'],
    ['azure/gpt-4o', 'litellm', 'azure/gpt-4o'],
    ['gpt-35-turbo', 'azure', 'azure/gpt-3.5-turbo'],
    ['deepseek-v3p2', 'fireworks', 'fireworks/deepseek-v3p2'],
    ['prod-gpt-4o-mini-eu', 'azure.ai.openai', 'azure/gpt-4o-mini'],
    ['models/gemini-2.5-pro', 'google_genai', 'google/gemini-2.5-pro'],
    ['publishers/google/models/gemini-2.5-flash', 'vertex_ai', 'google/gemini-2.5-flash'],
    ['gemini-2.0-flash-001', 'gcp.gemini', 'google/gemini-2.0-flash'],
    ['claude-sonnet-4@20250514', 'google_vertexai', 'google/claude-4-sonnet'],
    [
      'us.anthropic.claude-sonnet-4-20250514-v1:0',
      'aws.bedrock',
      'aws/regional.anthropic.claude-sonnet-4-20250514-v1:0',
    ],
    [
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-3-7-sonnet-20250219-v1:0',
      'amazon_bedrock',
      'aws/regional.anthropic.claude-3-7-sonnet-20250219-v1:0',
    ],
    ['bedrock/meta.llama3-70b-instruct-v1:0', undefined, 'aws/meta.llama3-70b-instruct-v1:0'],
    ['ft:gpt-4o-mini-2024-07-18:org::abc', 'openai', 'openai/ft:gpt-4o-mini'],
    ['ft:gpt-4.1-mini-2025-04-14:org:name:abc', undefined, 'openai/gpt-4.1-mini'],
    ['text-embedding-3-small', undefined, 'openai/text-embedding-3-small'],
    ['mistral-large-latest', 'mistralai', 'mistral/mistral-large'],
    ['xai/grok-4', undefined, 'x-ai/grok-4-0709'],
    ['llama-3.3-70b-versatile', 'groq', 'groq/llama-3.3-70b-versatile'],
  ])('finds %s of %s as %s', (model, provider, expected) => {
    expect(find(model, provider)?.price_model_id.split('@')[0]).toBe(`genai-prices:${expected}`)
  })

  it.each([
    ['my_model', 'my_provider'],
    ['llama3:8b', 'ollama'],
    ['gpt-oss-20b', 'vllm'],
    ['ollama/gpt-oss-20b', undefined],
    ['my-deployment', 'azure'],
    ['gpt-4o', 'groq'],
    ['', 'openai'],
    ['constructor', undefined],
    ['a'.repeat(10_000), undefined],
  ])('finds no price of %s of %s', (model, provider) => {
    expect(find(model, provider)).toBeUndefined()
  })
})
