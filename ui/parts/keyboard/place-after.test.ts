import { expect, it } from 'vitest'
import { placeAfter } from './place-after.ts'

it('ui §5: j and k go from row to row, begin at the first one, and stay at the ends', () => {
  expect([placeAfter(-1, 1, 3), placeAfter(-1, -1, 3)]).toEqual([0, 0])
  expect([placeAfter(0, 1, 3), placeAfter(2, 1, 3)]).toEqual([1, 2])
  expect([placeAfter(2, -1, 3), placeAfter(0, -1, 3)]).toEqual([1, 0])
})
