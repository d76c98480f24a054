import { describe, expect, it } from 'vitest'
import type { Issue } from '../../schema/issue.ts'
import type { Usage } from '../tokens/usage/record.ts'
import { createDefaultPrices } from './default/default-prices.ts'
import { createPriceBook, type PriceEntry } from './book.ts'
import { priceTraceRun } from './price-trace-run.ts'

const defaults = createDefaultPrices()

function priced(provider: string | undefined, model: string | undefined, changes: Partial<Usage> = {}) {
  const usage: Usage = {
    input_tokens: 1000,
    output_tokens: 100,
    input_token_details: {},
    output_token_details: {},
    units: {},
    conditions: {},
    models: [],
    input_cost_details: {},
    output_cost_details: {},
    unit_costs: {},
    source: { input: 'client', output: 'client' },
    ...changes,
  }
  const issues: Issue[] = []
  const llm = { provider, model }
  priceTraceRun({ start_time: Date.UTC(2026, 0, 1) * 1000, usage, llm, issues }, defaults)
  return { usage, issues, provider: llm.provider }
}

it('a price sets the provider if none was sent', () => {
  expect(priced(undefined, 'gpt-4o')).toMatchObject({
    provider: 'openai',
    usage: { total_cost: expect.any(BigInt) },
  })
  expect(priced('azure', 'gpt-4o').provider).toBe('azure')
  expect(priced(undefined, 'acme-1').provider).toBeUndefined()
})

describe('issues about prices', () => {
  it('report that no price matches, with the request that adds one', () => {
    const { usage, issues } = priced('acme', 'acme.large+1')
    expect(usage.total_cost).toBeUndefined()
    expect(issues).toMatchObject([{ code: 'no_price', severity: 'info', path: 'total_cost' }])
    expect(issues[0]!.message).toContain('model acme.large+1 of provider acme')
    const [, body] =
      /curl -s "\$LANGSMITH_ENDPOINT\/api\/v1\/model-price-map" .* -d '(\{.*\})' Then POST \/api\/v1\/runs\/reprice/.exec(
        issues[0]!.fix!,
      )!
    const fields = JSON.parse(body!) as PriceEntry
    const entry = {
      ...fields,
      id: 'p',
      workspace_id: 'w',
      match_path: [],
      start_time: null,
      prompt_token_threshold: null,
      conditions: {},
      prompt_cost_details: {},
      completion_cost_details: {},
    }
    const at = Date.now() * 1000
    const own = createPriceBook([entry], { find: () => undefined })
    expect(own.find({ model: 'acme.large+1', provider: 'acme', at, input_tokens: 1 })).toBeDefined()
    expect(own.find({ model: 'acmeXlarge+1', provider: 'acme', at, input_tokens: 1 })).toBeUndefined()
  })

  it('report a missing model', () => {
    expect(priced(undefined, undefined).issues).toMatchObject([
      { code: 'no_price', fix: expect.stringContaining('ls_model_name') },
    ])
  })

  it('are absent when a price matches, costs were sent, or there are no tokens', () => {
    expect(priced('openai', 'gpt-4.1-mini').issues).toEqual([])
    expect(priced('acme', 'large', { total_cost: 1n, sent_costs: 4 }).issues).toEqual([])
    expect(priced('acme', 'large', { input_tokens: 0, output_tokens: 0 }).issues).toEqual([])
  })

  it('report a service tier without a price, which costs the standard price', () => {
    const standard = priced('openai', 'gpt-4.1-mini').usage.total_cost!
    const tier = (name: string) => ({
      input_token_details: { [name]: 1000 },
      output_token_details: { [name]: 100 },
    })
    const priority = priced('openai', 'gpt-4.1-mini', tier('priority'))
    expect(priority.usage.total_cost).toBe(standard)
    expect(priority.issues).toMatchObject([
      { code: 'condition_not_priced', message: expect.stringContaining('priority') },
    ])
    const flex = priced('openai', 'gpt-4.1-mini', tier('flex'))
    expect(flex.usage.total_cost).toBe(standard / 2n)
    expect(flex.issues).toEqual([])
  })
})
