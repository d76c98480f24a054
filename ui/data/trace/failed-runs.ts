import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'

type Names = Pick<Outline, 'names' | 'types' | 'statuses'>

/** Failed tools say more than what fails above them, so they come first, then model calls. */
function rankOf(type: string | undefined): number {
  return type === 'tool' ? 0 : type === 'llm' ? 1 : 2
}

/** The failed run that explains the most, at or below a position: as the list of traces names it. */
export function firstFailed(
  { types, statuses }: Names,
  { order, ends }: Pick<Tree, 'order' | 'ends'>,
  from: number,
): number | undefined {
  let [best, rank] = [undefined as number | undefined, Number.POSITIVE_INFINITY]
  for (let position = from; position < (ends[from] ?? 0); position += 1) {
    const place = order[position] ?? 0
    if (statuses[place] !== 'error' || rankOf(types[place]) >= rank) continue
    best = position
    rank = rankOf(types[place])
  }
  return best
}

/** Names that a path shows of its end; the first one is always shown. */
const MOST_NAMED = 3

/** The names from the root to the run above a position: `agent › … › step`; '' for a root. */
export function pathAbove({ names }: Pick<Names, 'names'>, { order, above }: Tree, position: number): string {
  const path: string[] = []
  for (let at = above[position] ?? -1; at >= 0; at = above[at] ?? -1)
    path.unshift(names[order[at] ?? 0] ?? '')
  const shown = path.length > MOST_NAMED + 1 ? [path[0] ?? '', '…', ...path.slice(-MOST_NAMED)] : path
  return shown.join(' › ')
}
