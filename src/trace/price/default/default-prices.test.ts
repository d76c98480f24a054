import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatDecimal } from '../decimal.ts'
import { createDefaultPrices } from './default-prices.ts'
import { type Counts, costOf } from '../token-costs.ts'

const AT = Date.UTC(2026, 9, 1, 12) * 1000
const prices = createDefaultPrices()
const find = (model: string, provider?: string, input_tokens = 1, at = AT) =>
  prices.find({ model, provider, at, input_tokens })

/** What the calculator of genai-prices says, under its own names. */
interface PricedByThem {
  provider: string
  model: string
  id: string
  counts: Record<string, number>
  input: string
  output: string
  total: string
}

const THEIRS = JSON.parse(
  readFileSync(new URL('../../../../test/golden/default-prices.json', import.meta.url), 'utf8'),
) as { at: string; cases: PricedByThem[] }

function asOurCounts(theirs: Record<string, number>): Counts {
  const details = {
    cache_read: theirs['cache_read_tokens'] ?? 0,
    cache_creation: theirs['cache_write_tokens'] ?? 0,
    ephemeral_1h_input_tokens: theirs['cache_write_1h_tokens'] ?? 0,
  }
  const { input_tokens, output_tokens } = theirs
  return { input_tokens, output_tokens, input_token_details: details, output_token_details: {} }
}

describe('default prices', () => {
  it('has enough prices to compare', () => {
    expect(THEIRS.cases.length).toBeGreaterThanOrEqual(90)
    expect(new Set(THEIRS.cases.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(5)
  })

  it.each(THEIRS.cases)('$provider $model costs as much as the price source computes: $counts', (theirs) => {
    const counts = asOurCounts(theirs.counts)
    const price = find(theirs.model, theirs.provider, counts.input_tokens, Date.parse(THEIRS.at) * 1000)!
    const ours = costOf(counts, price)
    const asNumber = (amount: bigint | undefined): number => Number(formatDecimal(amount!))
    expect(Number(theirs.total)).toBeGreaterThan(0)
    expect(asNumber(ours.input_cost)).toBeCloseTo(Number(theirs.input), 12)
    expect(asNumber(ours.output_cost)).toBeCloseTo(Number(theirs.output), 12)
    expect(asNumber(ours.total_cost)).toBeCloseTo(Number(theirs.total), 12)
    expect(ours.price_model_id.split('@')[0]).toBe(`genai-prices:${theirs.provider}/${theirs.id}`)
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
