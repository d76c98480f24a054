import { expect, it } from 'vitest'
import { buildTree } from '../tree.ts'
import { unpricedRuns } from './unpriced.ts'

it('counts calls with tokens and without a cost, for each run with those below it', () => {
  // root: (agent: (priced, unpriced), tool, unpriced)
  const parents = Int32Array.from([-1, 0, 1, 1, 0, 0])
  const tokens = Float64Array.from([60, 30, 10, 20, Number.NaN, 30])
  const costs = ['0.1', '0.1', '0.1', undefined, undefined, undefined]
  expect([...unpricedRuns({ tokens, costs }, buildTree(parents))]).toEqual([2, 1, 0, 1, 0, 1])
})
