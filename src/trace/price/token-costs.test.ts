import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDecimal, parseDecimal } from './decimal.ts'
import { reportedUsage } from '../tokens/usage/usage.ts'
import { sumOf } from './cost-details.ts'
import { createDefaultPrices } from './default/default-prices.ts'
import type { Price, Rates } from './price.ts'
import { type Counts, costOf } from './token-costs.ts'
import { SENT, completeCosts } from './complete-costs.ts'
import { tries } from '../../../test/support/properties.ts'

const usd = (amount: string | number): bigint => parseDecimal(amount)!
const shown = (amount: bigint | undefined): string | undefined =>
  amount === undefined ? undefined : formatDecimal(amount)
const perMillion = (rates: Record<string, number>, base?: number): Rates => ({
  base: base === undefined ? undefined : usd(base) / 1_000_000n,
  details: Object.fromEntries(Object.entries(rates).map(([key, rate]) => [key, usd(rate) / 1_000_000n])),
})
const price = (input: Rates, output: Rates): Price => ({
  price_model_id: 'p',
  input,
  output,
  units: {},
  request: 0n,
  conditions: [],
})
const UNPRICED = { cost: undefined, conditions: [], details: [], units: [] }
const counts = (input: number, inDetails = {}, output?: number, outDetails = {}): Counts => ({
  input_tokens: input,
  output_tokens: output,
  input_token_details: inDetails,
  output_token_details: outDetails,
})
const OPUS = { model: 'claude-opus-4-1-20250805', provider: 'anthropic', at: Date.UTC(2026, 0, 1) * 1000 }

describe('costs of known calls', () => {
  it('1: cache reads have their own price', () => {
    const cost = costOf(
      counts(20, { cache_read: 5 }, 10),
      price(perMillion({ cache_read: 1 }, 2), perMillion({}, 3)),
    )
    expect([cost.input_cost, cost.output_cost, cost.total_cost].map(shown)).toEqual([
      '0.000035',
      '0.00003',
      '0.000065',
    ])
    expect(cost.input_cost_details).toEqual({ cache_read: usd(5e-6), base: usd(30e-6) })
  })

  it('2: cache writes by lifetime, at the default prices of Opus 4.1', () => {
    const details = { cache_read: 2000, ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 }
    const found = createDefaultPrices().find({ ...OPUS, input_tokens: 2560 })!
    const cost = costOf(counts(2560, details, 75), found)
    expect([cost.input_cost, cost.output_cost, cost.total_cost].map(shown)).toEqual([
      '0.015525',
      '0.005625',
      '0.02115',
    ])
    // Rule N7: the sum of both lifetimes is a second count of the same tokens.
    expect(costOf(counts(2560, { ...details, cache_creation: 500 }, 75), found)).toEqual(cost)
  })

  it('3: text tokens that were cached are charged once', () => {
    const rates = perMillion({ cache_read: 0.1 }, 1)
    const cost = costOf(counts(1000, { text: 1000, cache_read: 800 }), price(rates, rates))
    expect(shown(cost.input_cost)).toBe('0.00028')
  })

  it('4: tokens of a cache counted beside the input cost what vector 2 costs', () => {
    const outputs = {
      usage_metadata: {
        input_tokens: 60,
        output_tokens: 75,
        input_token_details: {
          cache_read: 2000,
          ephemeral_5m_input_tokens: 300,
          ephemeral_1h_input_tokens: 200,
        },
      },
    }
    const usage = reportedUsage(outputs, {}, [], { run_type: 'llm' })
    const found = createDefaultPrices().find({ ...OPUS, input_tokens: usage.input_tokens })!
    expect(shown(costOf({ ...usage }, found).total_cost)).toBe('0.02115')
  })

  it('5: costs that were sent add up to their total', () => {
    const sent = { input_cost: usd(1.1e-6), output_cost: usd(5e-6) }
    const completed = completeCosts(sent, SENT.input_cost | SENT.output_cost, counts(9, {}, 3), UNPRICED)
    expect(shown(completed.total_cost)).toBe('0.0000061')
    expect(completed.price_model_id).toBeUndefined()
  })

  it('6: a flex call has no amount at the base price', () => {
    const found = createDefaultPrices().find({
      model: 'gpt-5-mini',
      provider: 'openai',
      at: OPUS.at,
      input_tokens: 200,
    })!
    const usage = counts(200, { flex_cache_read: 128, flex: 72 }, 120, { flex_reasoning: 64, flex: 56 })
    const cost = costOf(usage, found)
    expect(shown(cost.input_cost)).toBe(shown((128n * usd('0.0125') + 72n * usd('0.125')) / 1_000_000n))
    expect(shown(cost.output_cost)).toBe(shown((120n * usd('1')) / 1_000_000n))
  })

  it('7: a missing price is not a price of 0', () => {
    expect(createDefaultPrices().find({ ...OPUS, model: 'nobody-knows-it', input_tokens: 1 })).toBeUndefined()
    expect(completeCosts({}, 0, counts(1, {}, 1), UNPRICED)).toEqual({ issues: ['no_price'] })
    expect(completeCosts({}, 0, counts(0, {}, 0), UNPRICED)).toEqual({ issues: [] })
  })
})

describe('costOf', () => {
  it('has no cost for a side without a count, and no total for a side without a price', () => {
    const onlyInput = price(perMillion({}, 1), perMillion({}))
    expect(costOf(counts(5), onlyInput)).toMatchObject({ output_cost: undefined, total_cost: usd(5e-6) })
    expect(costOf(counts(5, {}, 0), onlyInput).total_cost).toBe(usd(5e-6))
    expect(costOf(counts(5, {}, 2), onlyInput)).toMatchObject({
      input_cost: usd(5e-6),
      total_cost: undefined,
    })
    const none = { input_token_details: {}, output_token_details: {} }
    expect(costOf(none, onlyInput).total_cost).toBeUndefined()
  })

  it('uses the prices of a tier for the details of a side when all its tokens have that tier', () => {
    const rates = perMillion({ cache_read: 1, batch: 2, batch_cache_read: 0.5 }, 4)
    const usage = counts(10, { batch: 10, cache_read: 6 })
    const cost = costOf(usage, price(rates, perMillion({}, 1)))
    expect(cost.input_cost).toBe(usd(6 * 0.5e-6) + usd(4 * 2e-6))
    expect(Object.keys(cost.input_cost_details)).toEqual(['batch_cache_read', 'batch'])
    expect(cost.tier_unknown).toBe(false)
  })

  it('uses standard prices for a tier without a price, and flags it', () => {
    const rates = perMillion({ cache_read: 1 }, 4)
    for (const details of [
      { priority: 10, cache_read: 6 },
      { priority: 4, priority_cache_read: 6 },
    ] as Record<string, number>[]) {
      const cost = costOf(counts(10, details), price(rates, perMillion({}, 1)))
      expect(cost.input_cost).toBe(usd(6e-6) + usd(16e-6))
      expect(cost.tier_unknown).toBe(true)
    }
  })

  it('gives a detail of a tier the price of the tier', () => {
    const rates = perMillion({ priority: 4, cache_read: 1 }, 2)
    const usage = counts(10, { priority: 6, priority_cache_read: 4 })
    expect(costOf(usage, price(rates, rates)).input_cost).toBe(usd(40e-6))
  })

  it('adds a price per call', () => {
    const cost = costOf(counts(0, {}, 0), {
      ...price(perMillion({}, 1), perMillion({}, 1)),
      request: usd(0.005),
    })
    expect(shown(cost.total_cost)).toBe('0.005')
    expect(cost.unit_costs).toEqual({ requests: usd(0.005) })
  })

  it('U8: has the cost of each unit, and charges the fee of a call for each request that the answer counts', () => {
    const units = { web_searches: usd(0.01), requests: usd(0.005) }
    const found = { ...price(perMillion({}, 1), perMillion({}, 1)), units, request: units.requests }
    const cost = costOf({ ...counts(0, {}, 0), units: { web_searches: 2, requests: 3 } }, found)
    expect(cost.unit_costs).toEqual({ web_searches: usd(0.02), requests: usd(0.015) })
    expect(shown(cost.total_cost)).toBe('0.035')
  })

  it('never charges more tokens than the total, for any details', () => {
    const keys = [
      'cache_read',
      'text',
      'audio',
      'flex',
      'flex_cache_read',
      'cache_creation',
      '__proto__',
      'x',
    ]
    const details = fc.dictionary(fc.constantFrom(...keys), fc.nat(2000))
    const rates = perMillion(Object.fromEntries(keys.map((key) => [key, 1])), 1)
    fc.assert(
      fc.property(fc.nat(1000), details, (tokens, sent) => {
        const { input_cost, input_cost_details } = costOf(counts(tokens, sent), price(rates, rates))
        expect(input_cost).toBe(BigInt(tokens) * usd(1e-6))
        expect(sumOf(input_cost_details)).toBe(input_cost)
      }),
      tries(),
    )
  })
})

describe('completeCosts', () => {
  const found = price(perMillion({}, 1), perMillion({}, 2))
  const priced = { ...UNPRICED, cost: costOf(counts(10, {}, 10), found) }
  const settle = (costs: Parameters<typeof completeCosts>[0], sent: number) =>
    completeCosts(costs, sent, counts(10, {}, 10), priced)

  it('computes costs that were not sent', () => {
    expect(settle({}, 0)).toEqual({
      input_cost: usd(10e-6),
      output_cost: usd(20e-6),
      total_cost: usd(30e-6),
      input_cost_details: { base: usd(10e-6) },
      output_cost_details: { base: usd(20e-6) },
      unit_costs: {},
      price_model_id: 'p',
      issues: [],
    })
  })

  it('keeps each sent cost', () => {
    expect(settle({ input_cost: 7n }, SENT.input_cost)).toMatchObject({
      input_cost: 7n,
      output_cost: usd(20e-6),
      total_cost: usd(20e-6) + 7n,
      price_model_id: 'p',
    })
  })

  it('omits computed sides that do not add up to a sent total', () => {
    const alone = settle({ total_cost: usd(30e-6) }, SENT.total_cost)
    expect(alone).toEqual({ total_cost: usd(30e-6), computed_cost: usd(30e-6), issues: [] })
    const sides = (total_cost: bigint) =>
      settle({ input_cost: 7n, total_cost }, SENT.input_cost | SENT.total_cost)
    expect(sides(usd(20e-6) + 7n)).toMatchObject({ input_cost: 7n, output_cost: usd(20e-6) })
    expect(sides(8n)).toMatchObject({ input_cost: 7n, output_cost: undefined, total_cost: 8n })
  })

  it('keeps the parts of a sent cost, and computes those of the other', () => {
    const stored = {
      input_cost: 7n,
      input_cost_details: { audio: 5n, base: 2n },
      output_cost_details: { x: 1n },
    }
    expect(settle(stored, SENT.input_cost)).toMatchObject({
      input_cost_details: { audio: 5n, base: 2n },
      output_cost_details: { base: usd(20e-6) },
    })
    expect(settle({ input_cost: 7n }, SENT.input_cost).input_cost_details).toBeUndefined()
  })

  it('U14: keeps what the prices say beside costs that were all stated', () => {
    const all = { input_cost: 1n, output_cost: 2n, total_cost: 9n }
    expect(settle(all, 7)).toEqual({
      ...all,
      computed_cost: usd(30e-6),
      price_model_id: undefined,
      issues: [],
    })
  })
})
