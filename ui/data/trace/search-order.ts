import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'

/** The positions that a search found, in the order in which it steps through them. */
export interface SearchOrder {
  order: number[]
  /** How many at the end only repeat, in their input, what an earlier run has. */
  repeated: number
}

/** Runs of these types have nothing of earlier runs in their input. */
const OWN_INPUT: ReadonlySet<string | undefined> = new Set(['tool', 'retriever', 'embedding'])

/** Whether a text is only in the input of a run, by the paths at which the run has it. */
function isOnlyInput(paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every((path) => /^inputs\b/.test(path))
}

/**
 * Matches in the order of the tree; first the runs in which the text is new, then those whose input repeats it, such as
 * the model calls of an agent after the tool that failed. A match without known paths is a repetition if it is a model
 * call after a match. Pure.
 */
export function searchOrder(
  { ids, starts, types }: Pick<Outline, 'ids' | 'starts' | 'types'>,
  { order }: Pick<Tree, 'order'>,
  found: ReadonlySet<number> | undefined,
  paths: ReadonlyMap<string, readonly string[]>,
): SearchOrder {
  const placeOf = (position: number): number => order[position] ?? 0
  const startOf = (position: number): number => starts[placeOf(position)] ?? 0
  const positions = [...(found ?? [])].toSorted((a, b) => a - b)
  if (paths.size === 0) return { order: positions, repeated: 0 }
  const first = positions.toSorted((a, b) => startOf(a) - startOf(b) || a - b)[0]
  const isRepeated = (position: number): boolean => {
    if (position === first || OWN_INPUT.has(types[placeOf(position)])) return false
    const known = paths.get(ids[placeOf(position)] ?? '')
    return known === undefined ? types[placeOf(position)] === 'llm' : isOnlyInput(known)
  }
  const own = positions.filter((position) => !isRepeated(position))
  const repeating = positions.filter(isRepeated)
  return { order: [...own, ...repeating], repeated: repeating.length }
}
