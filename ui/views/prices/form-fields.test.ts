import { describe, expect, it } from 'vitest'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { fieldsFor, fieldsOf, partsOf, requestOf, searched } from './form-fields.ts'

const PRICE: OwnPrice = {
  id: '0199a0de-0000-7000-8000-000000000001',
  tenant_id: '0199a0de-0000-7000-8000-000000000002',
  name: 'Tuned',
  match_pattern: '^tuned-[0-9]+$',
  match_path: ['model'],
  provider: 'acme',
  start_time: '2026-03-01T10:20:30.123456Z',
  prompt_token_threshold: 200_000,
  conditions: { speed: 'fast', inference_geo: 'us' },
  prompt_cost: '0.00000025',
  completion_cost: '0.000002',
  prompt_cost_details: { cache_read: '0.000000025' },
  completion_cost_details: {},
}

describe('the form of a price', () => {
  it('shows dollars per million tokens, and gives back exactly what it was filled with', () => {
    const fields = fieldsOf(PRICE)
    expect([fields.input, fields.output, fields.input_parts]).toEqual(['0.25', '2', 'cache_read 0.025'])
    const { id: _, tenant_id: __, ...written } = PRICE
    expect(requestOf(fields, PRICE)).toEqual({ body: written })
  })

  it('replaces a start that was edited, and removes one that was cleared', () => {
    const start = (start_time: string) => {
      const request = requestOf({ ...fieldsOf(PRICE), start_time }, PRICE)
      return 'body' in request ? request.body.start_time : request.fault
    }
    expect(start('2026-04-01T00:00:00')).toBe(new Date('2026-04-01T00:00:00').toISOString())
    expect(start('')).toBeNull()
  })

  it('says which price is no number, and which line has none', () => {
    const fault = (changed: object) => {
      const request = requestOf({ ...fieldsOf(PRICE), ...changed })
      return 'fault' in request ? request.fault : undefined
    }
    expect(fault({ input: '1,5' })).toContain('The price of input')
    expect(fault({ output_parts: 'reasoning much' })).toContain('The price of reasoning')
    expect(fault({ output_parts: 'reasoning 1\n\n audio' })).toContain('"audio"')
    expect(fault({ output_parts: ' reasoning: 1\naudio=2 ' })).toBeUndefined()
  })

  it('begins for a model with a pattern that matches exactly its name', () => {
    const { match_pattern } = fieldsFor('gpt-4.1 (eu)', 'openai')
    expect(new RegExp(match_pattern).test('gpt-4.1 (eu)')).toBe(true)
    expect(new RegExp(match_pattern).test('gpt-4x1 (eu)')).toBe(false)
    expect(fieldsFor('', '').match_pattern).toBe('')
  })
})

describe('the list of prices', () => {
  it('is searched by name, pattern and provider', () => {
    const other = {
      ...PRICE,
      name: 'Other',
      match_pattern: 'x',
      provider: null,
    }
    expect(searched([PRICE, other], ' ACME ')).toEqual([PRICE])
    expect(searched([PRICE, other], 'other')).toEqual([other])
    expect(searched([PRICE, other], '')).toHaveLength(2)
  })

  it('shows parts per million', () => {
    expect(partsOf(PRICE.prompt_cost_details)).toEqual([['cache_read', '0.025']])
  })
})
