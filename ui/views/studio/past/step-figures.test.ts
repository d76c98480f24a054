import { describe, expect, it } from 'vitest'
import type { TracedNode } from '../../../data/studio/step-traces.ts'
import { figuresOf, stepFiguresText } from './step-figures.ts'

function ran(
  start: number,
  end: number | undefined,
  tokens?: number,
  cost?: string,
  unpriced = 0,
): TracedNode {
  return { id: 'x', trace_id: 't', step: 1, node: 'n', status: 'success', start, end, tokens, cost, unpriced }
}

describe('the figures of a step', () => {
  it('are the sums of tokens and exact costs, and the time from the first start to the last end', () => {
    const figures = figuresOf([ran(0, 40, 30, '0.00003'), ran(10, 70, 5, '0.0000000004')])
    expect(figures).toEqual({ micros: 70_000, tokens: 35, cost: '0.0000300004', unpriced: 0 })
    expect(figures && stepFiguresText(figures)).toBe('70 ms · 35 tokens · $0.00003')
    expect(figuresOf([])).toBeUndefined()
  })

  it('leave out what is not known', () => {
    const running = figuresOf([ran(0, 5), ran(0, undefined)])
    expect(running).toEqual({ micros: undefined, tokens: undefined, cost: undefined, unpriced: 0 })
    expect(running && stepFiguresText(running)).toBe('running')
    expect(stepFiguresText({ micros: 0, tokens: 1, cost: undefined, unpriced: 0 })).toBe('< 1 ms · 1 token')
  })

  it('mark a cost that leaves out calls without a price', () => {
    const partial = figuresOf([ran(0, 40, 30, '0.02', 1), ran(0, 40, 30, undefined, 1)])
    expect(partial?.unpriced).toBe(2)
    expect(partial && stepFiguresText(partial)).toBe('40 ms · 60 tokens · ≥ $0.02')
    const unknown = figuresOf([ran(0, 40, 30, undefined, 1)])
    expect(unknown && stepFiguresText(unknown)).toBe('40 ms · 30 tokens · no price')
  })
})
