import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Issue } from '../../../schema/issue.ts'
import { tries } from '../../../../test/support/properties.ts'
import { reconcile, type SentCounts } from './reconcile.ts'

function settle(sent: Partial<SentCounts>, beside: string[] = [], billsGap = false) {
  const issues: Issue[] = []
  const counts: SentCounts = {
    input_tokens: 100,
    output_tokens: 50,
    total: undefined,
    input_token_details: {},
    output_token_details: {},
    ...sent,
  }
  reconcile(counts, { beside: new Set(beside), billsGap, path: 'usage' }, issues)
  return [counts.input_tokens, counts.output_tokens, ...issues.map(({ code }) => code)]
}

describe('U3: a total decides what a side includes', () => {
  const details = { input_token_details: { cache_read: 40 }, output_token_details: { reasoning: 30 } }
  const beside = ['input.cache_read', 'output.reasoning']

  it.each<[string, number, string[], unknown[]]>([
    ['the sum: all inside, against the habit', 150, beside, [100, 50]],
    ['more by the cache: the cache is beside', 190, [], [140, 50, 'cache_added']],
    ['more by the cache, as by habit', 190, ['input.cache_read'], [140, 50]],
    ['more by both', 220, beside, [140, 80]],
    ['more by reasoning', 180, [], [100, 80, 'reasoning_added']],
    ['more by what no detail explains', 163, [], [100, 50, 'total_mismatch']],
    ['less than the sum', 120, [], [100, 50, 'total_mismatch']],
  ])('%s', (_, total, habit, expected) => {
    expect(settle({ ...details, total }, habit)).toEqual(expected)
  })

  it('U5: Gemini bills what no detail explains', () => {
    expect(settle({ total: 163 }, [], true)).toEqual([100, 63, 'rest_counted'])
  })
})

describe('U4: without a total the habit decides', () => {
  it.each<[string, Record<string, number>, string[], unknown[]]>([
    ['inside', { cache_read: 40 }, [], [100, 50]],
    ['beside', { cache_read: 40 }, ['input.cache_read'], [140, 50]],
    ['more than the side is always beside', { cache_read: 400 }, [], [500, 50, 'cache_added']],
    ['a kind of content that is more than the side is beside', { text: 30, image: 400 }, [], [500, 50]],
    ['kinds of content within the side are inside', { text: 40, image: 60 }, [], [100, 50]],
    [
      'writes and their lifetimes are the same tokens',
      { cache_creation: 60, ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 20 },
      ['input.cache_creation'],
      [160, 50],
    ],
  ])('%s', (_, input_token_details, habit, expected) => {
    expect(settle({ input_token_details }, habit)).toEqual(expected)
  })
})

it('U3: with a total that some details explain, both sides add up to it', () => {
  const detail = fc.integer({ min: 1, max: 50 })
  fc.assert(
    fc.property(
      detail,
      detail,
      fc.subarray(['cache', 'reasoning']),
      fc.boolean(),
      (cache_read, reasoning, beside, habit) => {
        const total =
          150 + (beside.includes('cache') ? cache_read : 0) + (beside.includes('reasoning') ? reasoning : 0)
        const [input, output] = settle(
          { input_token_details: { cache_read }, output_token_details: { reasoning }, total },
          habit ? ['input.cache_read', 'output.reasoning'] : [],
        )
        expect(Number(input) + Number(output)).toBe(total)
      },
    ),
    tries(),
  )
})
