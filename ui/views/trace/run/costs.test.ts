import { describe, expect, it } from 'vitest'
import type { TraceRunRead as ReadRun } from '../../../api/platform.gen.ts'
import { type CostPart, costTable } from './costs.ts'

/** The call of docs/using/costs.md: writes of two lifetimes, searches, a fast model. */
const CALL: Partial<ReadRun> & Record<string, unknown> = {
  prompt_tokens: 5535,
  completion_tokens: 307,
  prompt_token_details: {
    cache_read: 4007,
    ephemeral_5m_input_tokens: 1009,
    ephemeral_1h_input_tokens: 502,
  },
  completion_token_details: { reasoning: 100 },
  prompt_cost: '0.01341475',
  completion_cost: '0.007675',
  total_cost: '0.04108975',
  prompt_cost_details: {
    cache_read: '0.0020035',
    ephemeral_5m_input_tokens: '0.00630625',
    ephemeral_1h_input_tokens: '0.00502',
    base: '0.000085',
  },
  completion_cost_details: { base: '0.007675' },
  usage_units: { web_searches: 2 },
  unit_costs: { web_searches: '0.02' },
  cost_source: 'computed',
}

const tableOf = (more: object = {}) => costTable({ ...CALL, ...more } as ReadRun)
const linesOf = (parts: readonly CostPart[], side: CostPart['side']) =>
  parts
    .filter((part) => part.side === side)
    .map(({ name, tokens, perMillion, amount }) => [name, tokens, perMillion, amount])

describe('the cost table of a run', () => {
  it('U6: has the parts of a side below it, whose tokens and amounts add up', () => {
    const { parts, addsUp } = tableOf()
    expect(linesOf(parts, 'input')).toEqual([
      [undefined, 5535, undefined, '0.01341475'],
      ['cache_read', 4007, '0.5', '0.0020035'],
      ['ephemeral_5m_input_tokens', 1009, '6.25', '0.00630625'],
      ['ephemeral_1h_input_tokens', 502, '10', '0.00502'],
      ['base', 17, '5', '0.000085'],
    ])
    expect(addsUp).toBe(true)
  })

  it('has a part without a price of its own as told, in the side with its price', () => {
    const { parts } = tableOf()
    expect(linesOf(parts, 'output')).toEqual([
      [undefined, 307, '25', '0.007675'],
      ['reasoning', 100, undefined, undefined],
    ])
    expect(parts.filter(({ isTold }) => isTold).map(({ name }) => name)).toEqual(['reasoning'])
  })

  it('U6: counts cached sound once, although three counts have it', () => {
    const { parts, addsUp } = tableOf({
      prompt_tokens: 1000,
      prompt_token_details: { cache_read: 400, audio: 300, cache_read_audio: 100 },
      prompt_cost: '0.0037',
      prompt_cost_details: {
        cache_read_audio: '0.0001',
        cache_read: '0.0003',
        audio: '0.0012',
        base: '0.0021',
      },
      total_cost: '0.031375',
    })
    expect(linesOf(parts, 'input').slice(1)).toEqual([
      ['cache_read_audio', 100, '1', '0.0001'],
      ['cache_read', 300, '1', '0.0003'],
      ['audio', 200, '6', '0.0012'],
      ['base', 400, '5.25', '0.0021'],
    ])
    expect(addsUp).toBe(true)
  })

  it('has what the client did not divide as the rest', () => {
    const { parts, addsUp } = tableOf({
      prompt_tokens: 10,
      prompt_token_details: { audio: 1, foo: 2 },
      prompt_cost: '0.000001',
      prompt_cost_details: { audio: '0.0000001', foo: '0.0000002' },
      completion_tokens: 20,
      completion_cost: '0.000002',
      completion_cost_details: {},
      total_cost: '0.000003',
      cost_source: 'client',
      usage_units: {},
      unit_costs: {},
    })
    expect(linesOf(parts, 'input')).toEqual([
      [undefined, 10, undefined, '0.000001'],
      ['audio', 1, '0.1', '0.0000001'],
      ['foo', 2, '0.1', '0.0000002'],
      ['base', 7, '0.1', '0.0000007'],
    ])
    expect(addsUp).toBe(true)
  })

  it('divides the tokens of a service tier, told beside the cached ones or split by the client', () => {
    const amounts = {
      prompt_tokens: 1000,
      prompt_cost: '0.0008',
      prompt_cost_details: { flex_cache_read: '0.0002', flex: '0.0006' },
    }
    const lines = [
      ['flex_cache_read', 400, '0.5', '0.0002'],
      ['flex', 600, '1', '0.0006'],
    ]
    const beside = tableOf({ ...amounts, prompt_token_details: { flex: 1000, cache_read: 400 } })
    expect(linesOf(beside.parts, 'input').slice(1)).toEqual(lines)
    const split = tableOf({ ...amounts, prompt_token_details: { flex: 600, flex_cache_read: 400 } })
    expect(linesOf(split.parts, 'input').slice(1)).toEqual(lines)
  })

  it('has the told parts and the rest of a side whose cost is unknown', () => {
    const unpriced = {
      prompt_cost: null,
      completion_cost: null,
      total_cost: null,
      prompt_cost_details: null,
      completion_cost_details: null,
      cost_source: null,
    }
    const { parts, units, addsUp } = tableOf({ ...unpriced, unit_costs: {} })
    expect(linesOf(parts, 'input').map(([name, tokens]) => [name, tokens])).toEqual([
      [undefined, 5535],
      ['cache_read', 4007],
      ['ephemeral_5m_input_tokens', 1009],
      ['ephemeral_1h_input_tokens', 502],
      ['base', 17],
    ])
    expect(units).toEqual([{ name: 'web_searches', count: 2, each: undefined, amount: undefined }])
    expect(addsUp).toBeUndefined()
  })

  it('U14: has the cost of each unit and of the call in a computed total', () => {
    expect(tableOf().units).toEqual([{ name: 'web_searches', count: 2, each: '0.01', amount: '0.02' }])
    const several = tableOf({
      usage_units: { web_searches: 2, code_executions: 3 },
      unit_costs: { web_searches: '0.02', requests: '0.005' },
      total_cost: '0.04608975',
    })
    expect(several.units).toEqual([
      { name: 'web_searches', count: 2, each: '0.01', amount: '0.02' },
      { name: 'code_executions', count: 3, each: undefined, amount: undefined },
      { name: 'requests', count: undefined, each: undefined, amount: '0.005' },
    ])
    expect(several.addsUp).toBe(true)
  })

  it('has only the sum of the units when an earlier release priced the run', () => {
    const { units, addsUp } = tableOf({ unit_costs: undefined })
    expect(units.map(({ name, amount }) => [name, amount])).toEqual([
      ['web_searches', undefined],
      [undefined, '0.02'],
    ])
    expect(addsUp).toBe(true)
  })

  it('U14: has no cost of units in a stated total', () => {
    const stated = { cost_source: 'vendor', total_cost: '0.05', computed_cost: '0.04108975', unit_costs: {} }
    const { units, addsUp, computed } = tableOf(stated)
    expect(units.map(({ amount }) => amount)).toEqual([undefined])
    expect([addsUp, computed]).toEqual([undefined, '0.04108975'])
  })

  it('U8: names the conditions, and the models of a call that several served', () => {
    const conditions = { service_tier: 'flex', models: [{ model: 'a-1' }, { model: 'b-2' }] }
    const llm = { usage_metadata: { conditions } }
    expect(tableOf({ llm }).conditions).toEqual(['service tier flex', 'models a-1 and b-2'])
  })
})
