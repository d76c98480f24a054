import { expect, it } from 'vitest'
import { MOST_SELECTED, toggled, withRange } from './selected-runs.ts'

const LISTED = Array.from({ length: 300 }, (_, at) => `r${at}`)

it('a run is selected and taken out again, and a range has both of its ends', () => {
  expect(toggled(toggled(['a'], 'b'), 'a')).toEqual(['b'])
  expect(withRange(LISTED, ['r1'], 'r5', 'r3')).toEqual(['r1', 'r3', 'r4', 'r5'])
  expect(withRange(LISTED, ['r1'], 'gone', 'r3')).toEqual(['r1', 'r3'])
})

it('a selection has at most 100 runs, the newest ones', () => {
  const all = withRange(LISTED, [], 'r0', 'r299')
  expect([all.length, all.at(-1)]).toEqual([MOST_SELECTED, 'r299'])
  expect(toggled(all, 'x').at(-1)).toBe('x')
  expect(toggled(all, 'x')).toHaveLength(MOST_SELECTED)
})
