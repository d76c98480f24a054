import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { criticalPath } from './critical-path.ts'
import { buildTree } from '../tree.ts'

/** Names of the runs on the path, in order of the tree. */
function pathOf(runs: Record<string, [parent: string, start: number, end: number]>, span = 100): string[] {
  const names = Object.keys(runs)
  const rows = Object.values(runs)
  const tree = buildTree(Int32Array.from(rows, ([parent]) => names.indexOf(parent)))
  const starts = Float64Array.from(rows, ([, start]) => start)
  const durations = Float64Array.from(rows, ([, start, end]) => end - start)
  const path = criticalPath({ starts, durations, span }, tree)
  return [...tree.order].flatMap((place, position) => (path.has(position) ? (names[place] ?? []) : []))
}

describe('the critical path of a trace', () => {
  it('has the last of parallel runs, and what had ended before it started', () => {
    const runs = { root: ['', 0, 100], plan: ['root', 0, 20], slow: ['root', 20, 90] } as const
    const parallel = { quick: ['root', 20, 40], inner: ['slow', 30, 90] } as const
    expect(pathOf({ ...runs, ...parallel } as never)).toEqual(['root', 'plan', 'slow', 'inner'])
  })

  it('goes into runs that outlive their parents and into those that have not ended', () => {
    expect(pathOf({ root: ['', 0, 10], late: ['root', 5, 80], early: ['root', 0, 9] })).toEqual([
      'root',
      'late',
    ])
    expect(pathOf({ root: ['', 0, Number.NaN], open: ['root', 50, Number.NaN] })).toEqual(['root', 'open'])
  })

  it('contains the run that ends last, no two siblings that overlap, and every parent, for any times', () => {
    const run = fc.tuple(fc.nat(9), fc.nat(100), fc.nat(100))
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 30 }), (rows) => {
        const tree = buildTree(Int32Array.from(rows, ([parent], at) => (parent < at ? parent : -1)))
        const starts = Float64Array.from(rows, ([, start]) => start)
        const durations = Float64Array.from(rows, ([, , duration]) => duration)
        const path = criticalPath({ starts, durations, span: 300 }, tree)
        const endOf = (at: number): number => {
          const place = tree.order[at] ?? 0
          return (starts[place] ?? 0) + (durations[place] ?? 0)
        }
        const lastEnd = Math.max(...rows.map((_, at) => endOf(at)))
        expect([...path].some((at) => endOf(at) === lastEnd)).toBe(true)
        for (const a of path) {
          const parent = tree.above[a] ?? -1
          expect(parent < 0 || path.has(parent)).toBe(true)
          for (const b of path)
            if (a !== b && tree.above[b] === parent)
              expect(
                endOf(a) <= (starts[tree.order[b] ?? 0] ?? 0) ||
                  endOf(b) <= (starts[tree.order[a] ?? 0] ?? 0),
              ).toBe(true)
        }
      }),
      tries(100),
    )
  })
})
