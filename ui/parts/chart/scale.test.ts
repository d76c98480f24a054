import { expect, it } from 'vitest'
import { topOf } from './scale.ts'

it('the highest line of a chart is a round number that no bar exceeds', () => {
  expect([0, 1, 3, 5, 7, 10, 11, 4999, 0.0031].map(topOf)).toEqual([1, 1, 4, 6, 8, 10, 12, 5000, 0.0032])
})
