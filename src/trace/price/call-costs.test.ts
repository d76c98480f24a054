import { describe, expect, it } from 'vitest'
import { formatDecimal } from './decimal.ts'
import { createDefaultPrices } from './default/default-prices.ts'
import { type CallCounts, priceCounts } from './call-costs.ts'

const prices = createDefaultPrices()
const AT = Date.UTC(2026, 10, 27, 10) * 1000
const OPUS = { model: 'claude-opus-5', answered_model: undefined, provider: 'anthropic', at: AT }

function priced(changes: Partial<CallCounts>, call: Partial<Parameters<typeof priceCounts>[0]> = {}) {
  const counts: CallCounts = {
    input_tokens: 1000,
    output_tokens: 100,
    input_token_details: {},
    output_token_details: {},
    units: {},
    conditions: {},
    models: [],
    ...changes,
  }
  const { cost, ...rest } = priceCounts({ ...OPUS, ...call }, counts, prices)
  return { total: cost?.total_cost === undefined ? undefined : formatDecimal(cost.total_cost), ...rest }
}

describe('U6: tokens are divided by cache state, lifetime and kind', () => {
  const flash = { model: 'gemini-2.5-flash', provider: 'google' }

  it('cached sound has a price of its own', () => {
    const input_token_details = { cache_read: 9000, audio: 9000, cache_read_audio: 9000 }
    const cost = priced({ input_tokens: 10_000, output_tokens: 10, input_token_details }, flash)
    // 9000 × 0.1 + 1000 × 0.3 + 10 × 2.5 per million
    expect(cost).toMatchObject({ total: '0.001225', details: [] })
  })

  it('cached tokens of an unknown kind are text first', () => {
    const input_token_details = { cache_read: 500, audio: 700 }
    // 300 cached text and 200 cached sound; 500 sound are left: 300 × 0.03 + 200 × 0.1 + 500 × 1 per million
    expect(priced({ output_tokens: 0, input_token_details }, flash).total).toBe('0.000529')
  })

  it('a lifetime without a price is charged as another write, and says so', () => {
    const input_token_details = { cache_creation: 100, ephemeral_12h_input_tokens: 100 }
    expect(priced({ input_token_details }).details).toEqual(['ephemeral_12h_input_tokens'])
  })
})

describe('U8: conditions', () => {
  it('a speed with a price changes it', () => {
    expect(priced({ conditions: { speed: 'fast' } })).toMatchObject({ total: '0.015', conditions: [] })
  })

  it('a geography with a factor changes it', () => {
    expect(priced({ conditions: { inference_geo: 'us' } })).toMatchObject({
      total: '0.00825',
      conditions: [],
    })
  })

  it.each([
    [
      'standard words',
      { service_tier: 'standard', speed: 'normal', inference_geo: 'global', byok: 'false' },
      [],
    ],
    ['an unknown tier', { service_tier: 'gold' }, ['service_tier gold']],
    [
      'a traffic without a price',
      { traffic_type: 'PROVISIONED_THROUGHPUT' },
      ['traffic_type provisioned_throughput'],
    ],
    ['a credit', { fallback_credit: 'redeemed' }, ['fallback_credit redeemed']],
  ])('%s', (_, conditions, expected) => {
    expect(priced({ conditions })).toMatchObject({ total: '0.0075', conditions: expected })
  })
})

describe('units', () => {
  it('searches are charged besides the tokens', () => {
    expect(priced({ units: { web_searches: 3 } })).toMatchObject({ total: '0.0375', units: [] })
  })

  it('a unit without a price is named; a fetched page costs nothing', () => {
    expect(priced({ units: { images: 2, web_fetches: 4 } })).toMatchObject({
      total: '0.0075',
      units: ['images'],
    })
  })

  it('a model that knows no tokens is charged by its units', () => {
    const sound = { model: 'whisper-large-v3', provider: 'groq' }
    // At least 10 seconds, at 0.111 dollars an hour.
    expect(priced({ units: { audio_seconds: 4 } }, sound).total).toBe('0.00030833333333333')
  })
})

describe('U15 and U16: other models', () => {
  it('each part of a call has the price of its model', () => {
    const part = { input_tokens: 500, output_tokens: 50, input_token_details: {}, output_token_details: {} }
    const models = [
      { model: 'claude-opus-5', ...part },
      { model: 'claude-haiku-4-5', ...part },
    ]
    // 500 × 5 + 50 × 25 and 500 × 1 + 50 × 5 per million
    expect(priced({ models }).total).toBe('0.0045')
  })

  it('the model that answered is priced if it is of another family, or the requested one has no price', () => {
    const asked = (model: string, answered_model: string, provider = 'anthropic') =>
      priced({}, { model, answered_model, provider }).total
    expect(asked('claude-opus-5', 'claude-haiku-4-5-20251001')).toBe('0.0015')
    expect(asked('river-deployment', 'gpt-4.1-mini-2025-04-14', 'azure')).toBe('0.00056')
    expect(asked('claude-opus-5', 'claude-opus-5-20260701')).toBe('0.0075')
  })
})
