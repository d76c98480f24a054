import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { alignLists, alignTrees, type Subtree } from './align.ts'
import { outlineOfRuns } from '../outline.ts'
import { buildTree } from '../tree.ts'

/** A tree of `[name, name of the parent]`. */
function treeOf(runs: readonly (readonly [string, string?])[]): Subtree {
  const outline = outlineOfRuns(
    runs.map(([id, parent_run_id], at) => ({
      id,
      name: id.replace(/\d+$/, ''),
      run_type: 'chain',
      start_time: new Date(at).toISOString(),
      ...(parent_run_id !== undefined && { parent_run_id }),
    })),
    {},
  )
  return { outline, tree: buildTree(outline.parents), root: 0 }
}

describe('aligned lists', () => {
  it('pair what is in both, in order', () => {
    expect(alignLists(['a', 'b', 'c'], ['b', 'x', 'c'])).toEqual([
      [0, undefined],
      [1, 0],
      [undefined, 1],
      [2, 2],
    ])
  })

  it('have every place of both lists once, in order, and pair equal keys only', () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        const pairs = alignLists(a, b)
        expect(pairs.flatMap(([i]) => i ?? [])).toEqual(a.map((_, at) => at))
        expect(pairs.flatMap(([, j]) => j ?? [])).toEqual(b.map((_, at) => at))
        for (const [i, j] of pairs) if (i !== undefined && j !== undefined) expect(a[i]).toBe(b[j])
      }),
      tries(200),
    )
  })
})

describe('aligned trees', () => {
  it('show runs of one side only where they are, with everything below them', () => {
    const a = treeOf([['agent'], ['plan1', 'agent'], ['search1', 'agent'], ['call1', 'search1']])
    const b = treeOf([['agent'], ['plan1', 'agent'], ['answer1', 'agent']])
    const nameOf = ({ outline, tree }: Subtree, at: number | undefined): string =>
      at === undefined ? '–' : (outline.names[tree.order[at] ?? 0] ?? '')
    const rows = alignTrees(a, b).map((row) => `${row.depth} ${nameOf(a, row.a)} ${nameOf(b, row.b)}`)
    expect(rows).toEqual(['0 agent agent', '1 plan plan', '1 search –', '2 call –', '1 – answer'])
  })
})
