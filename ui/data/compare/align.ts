import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'

/** Positions of one item in two lists; undefined if a list does not have it. */
export type Pair = readonly [a: number | undefined, b: number | undefined]

/**
 * Lists whose lengths have a larger product are aligned by position, because the table of the algorithm would be too
 * large.
 */
const MOST_CELLS = 4_000_000

function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j
      lengths[at] =
        a[i] === b[j]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0)
    }
  return lengths
}

function byPlace(a: readonly string[], b: readonly string[]): Pair[] {
  const count = Math.max(a.length, b.length)
  return Array.from({ length: count }, (_, at) => [
    at < a.length ? at : undefined,
    at < b.length ? at : undefined,
  ])
}

/** Aligns two lists of keys by their longest common subsequence. */
export function alignLists(a: readonly string[], b: readonly string[]): Pair[] {
  if (a.length * b.length > MOST_CELLS) return byPlace(a, b)
  const lengths = commonLengths(a, b)
  const width = b.length + 1
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const at = i * width + j
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pairs.push([i, j])
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && (lengths[at + width] ?? 0) >= (lengths[at + 1] ?? 0))) {
      pairs.push([i, undefined])
      i += 1
    } else {
      pairs.push([undefined, j])
      j += 1
    }
  }
  return pairs
}

/** A run with its descendants. */
export interface Subtree {
  outline: Outline
  tree: Tree
  /** Position of the run. */
  root: number
}

/** One line of two aligned trees: the position of its run on each side; undefined on a side without such a run. */
export interface AlignedRow {
  depth: number
  a: number | undefined
  b: number | undefined
}

function childrenOf({ tree }: Subtree, position: number | undefined): number[] {
  if (position === undefined) return []
  const children: number[] = []
  for (let at = position + 1; at < (tree.ends[position] ?? 0); at = tree.ends[at] ?? at + 1) children.push(at)
  return children
}

function keysOf({ outline, tree }: Subtree, positions: readonly number[]): string[] {
  return positions.map((position) => {
    const place = tree.order[position] ?? 0
    return `${outline.types[place]} ${outline.names[place]}`
  })
}

/** Aligns two trees from their roots: children of aligned runs are aligned by type and name, in their order. */
export function alignTrees(a: Subtree, b: Subtree): AlignedRow[] {
  const rows: AlignedRow[] = []
  const stack: AlignedRow[] = [{ depth: 0, a: a.root, b: b.root }]
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    rows.push(row)
    const [left, right] = [childrenOf(a, row.a), childrenOf(b, row.b)]
    const below = alignLists(keysOf(a, left), keysOf(b, right)).map(([i, j]) => ({
      depth: (row?.depth ?? 0) + 1,
      a: i === undefined ? undefined : left[i],
      b: j === undefined ? undefined : right[j],
    }))
    stack.push(...below.reverse())
  }
  return rows
}
