import { describe, expect, it } from 'vitest'
import { SENT } from '../price/complete-costs.ts'
import { type EstimatedRow, estimatedPart } from './estimated-part.ts'

const ROW: EstimatedRow = {
  input_tokens: 10,
  output_tokens: 5,
  input_source: 'vendor',
  output_source: 'estimate',
  input_cost: 3n,
  output_cost: 4n,
  total_cost: 7n,
  sent_costs: 0,
}

describe('the estimated part of a TraceRun', () => {
  it.each<[string, Partial<EstimatedRow>, [number, number, bigint | null]]>([
    ['is the side without a count, and its cost', {}, [0, 5, 4n]],
    ['is both sides', { input_source: 'estimate' }, [10, 5, 7n]],
    ['is nothing where both sides were reported', { output_source: 'client' }, [0, 0, 0n]],
    ['is nothing of a cost that was sent', { sent_costs: SENT.output_cost }, [0, 5, 0n]],
    ['is nothing of a total that was sent', { sent_costs: SENT.total_cost, total_cost: 9n }, [0, 5, 0n]],
    ['has no cost where none is known', { output_cost: null, total_cost: null }, [0, 5, null]],
    ['is nothing of a run without tokens', { output_tokens: null, output_source: '' }, [0, 0, 0n]],
  ])('%s', (_name, fields, [prompt, completion, cost]) => {
    expect(estimatedPart({ ...ROW, ...fields })).toEqual({
      estimated_prompt_tokens: prompt,
      estimated_completion_tokens: completion,
      estimated_cost: cost,
    })
  })
})
