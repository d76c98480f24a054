import { expect, it } from 'vitest'
import { chunksOf } from './chunks.ts'

it('splits a list into parts of at most one size, in order', () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(chunksOf([1, 2], 2)).toEqual([[1, 2]])
  expect(chunksOf([], 2)).toEqual([])
})
