import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../test/support/properties.ts'
import { buildTree, isParent, slowestChild, visibleRows } from './tree.ts'

const ALL = { folded: new Set<number>(), focus: undefined, found: undefined }
//       0
//      / \
//     1   3        4 (orphan)
//     |
//     2
const PARENTS = Int32Array.from([-1, 0, 1, 0, -2])

describe('the tree of a trace', () => {
  it('is drawn depth first, with depths, ends and numbers among siblings', () => {
    const tree = buildTree(PARENTS)
    expect([...tree.order]).toEqual([0, 1, 2, 3, 4])
    expect([...tree.depths]).toEqual([0, 1, 2, 1, 0])
    expect([...tree.ends]).toEqual([4, 3, 3, 4, 5])
    expect([...tree.numbers]).toEqual([1, 1, 1, 2, 2])
    expect([...tree.siblings]).toEqual([2, 2, 1, 2, 2])
    expect([isParent(tree, 1), isParent(tree, 2)]).toEqual([true, false])
  })

  it('hides rows that are folded, outside of the focus, or not found; ancestors of found rows stay', () => {
    const tree = buildTree(PARENTS)
    expect(visibleRows(tree, ALL)).toEqual([0, 1, 2, 3, 4])
    expect(visibleRows(tree, { ...ALL, folded: new Set([1]) })).toEqual([0, 1, 3, 4])
    expect(visibleRows(tree, { ...ALL, focus: 1 })).toEqual([1, 2])
    expect(visibleRows(tree, { ...ALL, found: new Set([2]) })).toEqual([0, 1, 2])
    expect(visibleRows(tree, { ...ALL, found: new Set() })).toEqual([])
  })

  it('finds the slowest child; children that have not ended are ignored', () => {
    const tree = buildTree(PARENTS)
    expect(slowestChild(tree, 0, Float64Array.from([9, 1, 50, 4, 0]))).toBe(3)
    expect(slowestChild(tree, 0, Float64Array.from([9, Number.NaN, 50, Number.NaN, 0]))).toBeUndefined()
    expect(slowestChild(tree, 2, Float64Array.from([9, 1, 50, 4, 0]))).toBeUndefined()
  })

  it('shows every run once, for any parents, circles included', () => {
    const column = fc
      .integer({ min: 1, max: 60 })
      .chain((count) =>
        fc.array(fc.integer({ min: -2, max: count - 1 }), { minLength: count, maxLength: count }),
      )
    fc.assert(
      fc.property(column, (parents) => {
        const tree = buildTree(Int32Array.from(parents))
        expect([...tree.order].sort((a, b) => a - b)).toEqual(parents.map((_, place) => place))
        expect(visibleRows(tree, ALL)).toEqual(parents.map((_, position) => position))
        for (const [position, parent] of tree.above.entries())
          if (parent >= 0) expect(tree.ends[parent]).toBeGreaterThanOrEqual(tree.ends[position] ?? 0)
      }),
      tries(100),
    )
  })
})
