import type { Outline } from '../../../data/outline.ts'
import { isParent, slowestChild, type Tree } from '../../../data/tree.ts'
import type { KeyMap } from '../../../parts/keyboard/keys.ts'

interface TreeState {
  outline: Outline
  tree: Tree
  rows: readonly number[]
  folded: ReadonlySet<number>
  selected: number
}

interface TreeActions {
  select(position: number): void
  fold(position: number): void
  focus(position: number | undefined): void
  zoom(direction: 'in' | 'out' | 'all'): void
  /** Marks the critical path, or removes the mark. */
  mark(): void
}

/** The position of the next run that failed, after the selected one or from the top. */
function nextError({ outline, tree, selected }: TreeState): number | undefined {
  const count = tree.order.length
  for (let step = 1; step <= count; step += 1) {
    const position = (selected + step) % count
    if (outline.statuses[tree.order[position] ?? 0] === 'error') return position
  }
  return undefined
}

export function treeKeys(state: TreeState, { select, fold, focus, zoom, mark }: TreeActions): KeyMap {
  const { outline, tree, rows, folded, selected } = state
  const row = rows.indexOf(selected)
  const to = (position: number | undefined): void => {
    if (position !== undefined && position >= 0) select(position)
  }
  const down = (): void => to(rows[Math.min(row + 1, rows.length - 1)])
  const up = (): void => to(rows[Math.max(row - 1, 0)])
  const isOpen = isParent(tree, selected) && !folded.has(selected)
  return {
    j: down,
    ArrowDown: down,
    k: up,
    ArrowUp: up,
    Home: () => to(rows[0]),
    End: () => to(rows.at(-1)),
    ArrowLeft: () => (isOpen ? fold(selected) : to(tree.above[selected])),
    ArrowRight: () => {
      if (!isParent(tree, selected)) return
      if (isOpen) to(selected + 1)
      else fold(selected)
    },
    e: () => to(nextError(state)),
    s: () => to(slowestChild(tree, selected, outline.durations)),
    f: () => focus(selected),
    c: mark,
    '+': () => zoom('in'),
    '=': () => zoom('in'),
    '-': () => zoom('out'),
    '0': () => zoom('all'),
  }
}
