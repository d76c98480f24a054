import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { type PriceEntry, createPriceBook, createPriceBooks } from './book.ts'
import type { Price, PriceSource } from './price.ts'

const DEFAULT: Price = {
  price_model_id: 'default',
  input: { base: 1n, details: {} },
  output: { base: 1n, details: {} },
  units: {},
  request: 0n,
  conditions: [],
}
const defaults: PriceSource = { find: ({ model }) => (model === 'known' ? DEFAULT : undefined) }

let next = 1
function entry(fields: Partial<PriceEntry>): PriceEntry {
  return {
    id: `e${next++}`,
    workspace_id: 'w',
    name: 'n',
    match_pattern: '^m$',
    match_path: ['model'],
    provider: null,
    start_time: null,
    prompt_token_threshold: null,
    conditions: {},
    prompt_cost: '0.000002',
    completion_cost: '0.000003',
    prompt_cost_details: {},
    completion_cost_details: {},
    ...fields,
  }
}

function ask(entries: PriceEntry[], fields: Partial<Parameters<PriceSource['find']>[0]> = {}) {
  const query = { model: 'm', provider: undefined, at: 1000, input_tokens: 10, ...fields }
  return createPriceBook(entries, defaults).find(query)?.price_model_id
}

describe('price book', () => {
  it('puts own entries before the defaults', () => {
    const entries = [entry({ id: 'own', match_pattern: 'know' })]
    expect(ask(entries, { model: 'known' })).toBe('own')
    expect(ask([], { model: 'known' })).toBe('default')
    expect(ask(entries, { model: 'm' })).toBeUndefined()
    expect(ask(entries, { model: undefined })).toBeUndefined()
  })

  it('reads costs per token, details too', () => {
    const book = createPriceBook([entry({ prompt_cost_details: { cache_read: '1e-7' } })], defaults)
    expect(book.find({ model: 'm', provider: undefined, at: 0, input_tokens: 1 })).toMatchObject({
      input: { base: 2_000_000_000_000n, details: { cache_read: 100_000_000_000n } },
      output: { base: 3_000_000_000_000n },
    })
  })

  it('reads the price of a detail under any spelling that clients use, its proper name first', () => {
    const rates = (prompt_cost_details: Record<string, string>) =>
      createPriceBook([entry({ prompt_cost_details })], defaults).find({
        model: 'm',
        provider: undefined,
        at: 0,
        input_tokens: 1,
      })?.input.details
    expect(
      rates({ cache_write: '1e-7', ephemeral_1hr_input_tokens: '2e-7', flex_cache_write: '3e-7' }),
    ).toEqual({
      cache_creation: 100_000_000_000n,
      ephemeral_1h_input_tokens: 200_000_000_000n,
      flex_cache_creation: 300_000_000_000n,
    })
    const both = { cache_creation: '1e-7', cache_write: '5e-7' }
    expect(rates(both)).toEqual({ cache_creation: 100_000_000_000n })
  })

  it('U8: uses an entry with conditions only for calls that have them all, and before one without', () => {
    const entries = [
      entry({ id: 'any' }),
      entry({ id: 'fast', conditions: { speed: 'Fast' } }),
      entry({ id: 'fast-us', conditions: { speed: 'fast', inference_geo: 'us' } }),
    ]
    expect(ask(entries)).toBe('any')
    expect(ask(entries, { conditions: { speed: 'standard' } })).toBe('any')
    expect(ask(entries, { conditions: { speed: 'fast' } })).toBe('fast')
    expect(ask(entries, { conditions: { speed: 'FAST', inference_geo: 'us', latency: 'x' } })).toBe('fast-us')
    const query = { model: 'm', provider: undefined, at: 0, input_tokens: 1, conditions: { speed: 'fast' } }
    expect(createPriceBook(entries, defaults).find(query)?.conditions).toEqual(['speed'])
  })

  it('reads a fee for each call', () => {
    const book = createPriceBook([entry({ prompt_cost_details: { requests: '0.005' } })], defaults)
    expect(book.find({ model: 'm', provider: undefined, at: 0, input_tokens: 1 })?.request).toBe(
      5_000_000_000_000_000n,
    )
  })

  it('limits an entry to its provider, under any of its names', () => {
    const entries = [entry({ id: 'any' }), entry({ id: 'google', provider: 'Google' })]
    expect(ask(entries, { provider: 'google_genai' })).toBe('google')
    expect(ask(entries, { provider: 'openai' })).toBe('any')
    expect(ask(entries)).toBe('any')
    const own = [entry({ id: 'mine', provider: 'my_gateway' })]
    expect(ask(own, { provider: 'my_gateway' })).toBe('mine')
    expect(ask(own, { provider: 'other_gateway' })).toBeUndefined()
  })

  it('matches a pattern with the prefix of the provider, which models are shown without', () => {
    const prefixed = [entry({ id: 'own', match_pattern: '^openai/my-finetune$', provider: 'openai' })]
    expect(ask(prefixed, { model: 'my-finetune', provider: 'openai' })).toBe('own')
    expect(ask(prefixed, { model: 'openai/my-finetune', provider: 'openai' })).toBe('own')
    expect(ask(prefixed, { model: 'my-finetune', provider: 'groq' })).toBeUndefined()
    expect(ask(prefixed, { model: 'my-finetune' })).toBeUndefined()
    const gemini = [entry({ id: 'own', match_pattern: '^gemini/tuned$' })]
    expect(ask(gemini, { model: 'tuned', provider: 'google' })).toBe('own')
    const plain = [entry({ id: 'own', match_pattern: '^my-finetune$' })]
    expect(ask(plain, { model: 'openai/my-finetune', provider: 'openai' })).toBe('own')
  })

  it('applies a pattern without a slash to models, not to all of a provider', () => {
    const entries = [entry({ id: 'own', match_pattern: 'mistral' })]
    expect(ask(entries, { model: 'mistral-large', provider: 'mistral' })).toBe('own')
    expect(ask(entries, { model: 'codestral', provider: 'mistral' })).toBeUndefined()
  })

  it('treats the name of a framework as no provider, because calls have another or none', () => {
    const entries = [entry({ id: 'litellm', provider: 'LiteLLM' })]
    expect(ask(entries, { provider: 'openai' })).toBe('litellm')
    expect(ask(entries)).toBe('litellm')
    expect(ask([...entries, entry({ id: 'exact', provider: 'openai' })], { provider: 'openai' })).toBe(
      'exact',
    )
  })

  it('uses the entry that began last before the call', () => {
    const entries = [
      entry({ id: 'ever' }),
      entry({ id: 'b', start_time: 500 }),
      entry({ id: 'c', start_time: 900 }),
    ]
    expect(ask(entries, { at: 499 })).toBe('ever')
    expect(ask(entries, { at: 500 })).toBe('b')
    expect(ask(entries, { at: 5000 })).toBe('c')
  })

  it('uses the highest threshold that the prompt exceeds', () => {
    const entries = [
      entry({ id: 'short' }),
      entry({ id: 'long', prompt_token_threshold: 200_000 }),
      entry({ id: 'longer', prompt_token_threshold: 500_000 }),
    ]
    expect(ask(entries, { input_tokens: 200_000 })).toBe('short')
    expect(ask(entries, { input_tokens: 200_001 })).toBe('long')
    expect(ask(entries, { input_tokens: 600_000 })).toBe('longer')
    expect(ask(entries, { input_tokens: undefined })).toBe('short')
  })

  it('keeps workspaces apart and skips a pattern that does not compile', () => {
    const books = createPriceBooks([entry({ id: 'w1' }), entry({ id: 'bad', match_pattern: '(' })], defaults)
    const query = { model: 'm', provider: undefined, at: 0, input_tokens: 0 }
    expect(books('w').find(query)?.price_model_id).toBe('w1')
    expect(books('other').find(query)).toBeUndefined()
  })

  it('matches many names with catastrophic patterns quickly', () => {
    const entries = Array.from({ length: 50 }, () => entry({ match_pattern: '^(a+)+$' }))
    expectCpuBelow(2, () => {
      const book = createPriceBook(entries, defaults)
      for (let i = 0; i < 20; i++)
        book.find({ model: `${'a'.repeat(5000)}!${i}`, provider: undefined, at: 0, input_tokens: 0 })
    })
  })
})
