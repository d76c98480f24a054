import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'

/**
 * For each place, the number of calls with tokens and without a known cost, of the run and of those below it. The tokens
 * of a run above others with tokens are the sum of theirs.
 */
export function unpricedRuns(
  { tokens, costs }: Pick<Outline, 'tokens' | 'costs'>,
  { order, above }: Pick<Tree, 'order' | 'above'>,
): Int32Array {
  const counts = new Int32Array(order.length)
  const hasUsageBelow = new Uint8Array(order.length)
  for (let position = order.length - 1; position >= 0; position -= 1) {
    const place = order[position] ?? 0
    const hasTokens = (tokens[place] ?? 0) > 0
    if (hasUsageBelow[position] === 0 && hasTokens && costs[place] === undefined) counts[place] = 1
    const parent = above[position] ?? -1
    if (parent < 0) continue
    const placeAbove = order[parent] ?? 0
    counts[placeAbove] = (counts[placeAbove] ?? 0) + (counts[place] ?? 0)
    if (hasTokens || costs[place] !== undefined || hasUsageBelow[position] === 1) hasUsageBelow[parent] = 1
  }
  return counts
}
