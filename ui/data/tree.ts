/** The runs of a trace as a tree. Places are those of the columns of an outline. */
export interface Tree {
  /** Places in the order in which the tree is drawn: each run before those below it. */
  order: Int32Array
  /** For each place, its position in `order`. */
  positions: Int32Array
  /** For each position, the number of levels above it; 0 for roots. */
  depths: Int32Array
  /** For each position, the position after its last descendant. */
  ends: Int32Array
  /** For each position, the position of its parent; -1 for roots. */
  above: Int32Array
  /**
   * For each position, its number among the children of its parent, from 1, and the number of these children.
   */
  numbers: Int32Array
  siblings: Int32Array
}

/** Children of each place as a linked list, in the order of the places. */
function childLists(parents: Int32Array): { first: Int32Array; next: Int32Array; roots: number[] } {
  const count = parents.length
  const first = new Int32Array(count).fill(-1)
  const next = new Int32Array(count).fill(-1)
  const roots: number[] = []
  for (let place = count - 1; place >= 0; place -= 1) {
    const parent = parents[place] ?? -1
    if (parent < 0 || parent >= count) roots.push(place)
    else {
      next[place] = first[parent] ?? -1
      first[parent] = place
    }
  }
  return { first, next, roots }
}

/** Makes the tree of a column of parents. Runs whose parents form a circle are roots. */
export function buildTree(parents: Int32Array): Tree {
  const count = parents.length
  const { first, next, roots } = childLists(parents)
  const order = new Int32Array(count)
  const positions = new Int32Array(count).fill(-1)
  const [depths, ends, above] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)]
  let position = 0
  // The next place to visit is on top: the first child before the next sibling.
  const stack: number[] = []
  const visit = (place: number, parent: number): void => {
    positions[place] = position
    order[position] = place
    above[position] = parent
    depths[position] = parent < 0 ? 0 : (depths[parent] ?? 0) + 1
    position += 1
    const child = first[place] ?? -1
    if (child >= 0) stack.push(child)
  }
  const walk = (root: number): void => {
    visit(root, -1)
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      const sibling = next[place] ?? -1
      if (sibling >= 0) stack.push(sibling)
      if (positions[place] === -1) visit(place, positions[parents[place] ?? -1] ?? -1)
    }
  }
  for (const root of roots.reverse()) walk(root)
  for (let place = 0; place < count; place += 1) if (positions[place] === -1) walk(place)
  for (let at = count - 1; at >= 0; at -= 1) {
    ends[at] = Math.max(ends[at] ?? 0, at + 1)
    const parent = above[at] ?? -1
    if (parent >= 0) ends[parent] = Math.max(ends[parent] ?? 0, ends[at] ?? 0)
  }
  return { order, positions, depths, ends, above, ...numbersOf(above) }
}

function numbersOf(above: Int32Array): Pick<Tree, 'numbers' | 'siblings'> {
  const numbers = new Int32Array(above.length)
  const siblings = new Int32Array(above.length)
  // Number of children of each position, at the index after the position. The first element is the number of roots.
  const counts = new Int32Array(above.length + 1)
  for (let at = 0; at < above.length; at += 1) {
    const parent = (above[at] ?? -1) + 1
    const number = (counts[parent] ?? 0) + 1
    counts[parent] = number
    numbers[at] = number
  }
  for (let at = 0; at < above.length; at += 1) siblings[at] = counts[(above[at] ?? -1) + 1] ?? 1
  return { numbers, siblings }
}

/** True for a run that has others below it. */
export function isParent(tree: Tree, position: number): boolean {
  return (tree.ends[position] ?? 0) > position + 1
}

/** Conditions that hide rows of a tree. */
export interface Hiding {
  /** Positions whose children are not shown. */
  folded: ReadonlySet<number>
  /** Position of the only subtree that is shown; undefined: all. */
  focus: number | undefined
  /** Positions that are shown, with all above them; undefined: all. */
  found: ReadonlySet<number> | undefined
}

/** The positions that are shown, in order. */
export function visibleRows(tree: Tree, { folded, focus, found }: Hiding): number[] {
  const rows: number[] = []
  const kept = found && withAncestors(tree, found)
  const last = focus === undefined ? tree.order.length : (tree.ends[focus] ?? 0)
  for (let at = focus ?? 0; at < last; ) {
    const isShown = kept === undefined || kept.has(at)
    if (isShown) rows.push(at)
    at = !isShown || folded.has(at) ? (tree.ends[at] ?? at + 1) : at + 1
  }
  return rows
}

function withAncestors(tree: Tree, found: ReadonlySet<number>): Set<number> {
  const kept = new Set<number>()
  for (const position of found)
    for (let at = position; at >= 0 && !kept.has(at); at = tree.above[at] ?? -1) kept.add(at)
  return kept
}

/** The child of a position that took longest, by `durations` of places; undefined if no child has ended. */
export function slowestChild(tree: Tree, position: number, durations: Float64Array): number | undefined {
  let slowest: number | undefined
  let most = -1
  for (let at = position + 1; at < (tree.ends[position] ?? 0); at = tree.ends[at] ?? at + 1) {
    const duration = durations[tree.order[at] ?? 0] ?? 0
    if (duration > most) [slowest, most] = [at, duration]
  }
  return slowest
}
