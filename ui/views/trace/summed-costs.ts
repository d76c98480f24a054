import type { Outline } from '../../data/outline.ts'
import { buildTree } from '../../data/tree.ts'
import { addDecimals } from '../../parts/format/decimal.ts'

/** The costs of the runs directly below a run; undefined if none is known. */
function sumOf(costs: readonly string[] | undefined): string | undefined {
  return costs === undefined ? undefined : addDecimals(costs)
}

/**
 * The outline of a shared trace, in which only model calls have a cost: every other run gets the sum of those directly
 * below it. A run with a cost of its own keeps it. Pure.
 */
export function withSummedCosts(outline: Outline): Outline {
  const { order, above } = buildTree(outline.parents)
  const costs = [...outline.costs]
  const below = new Map<number, string[]>()
  for (let position = order.length - 1; position >= 0; position -= 1) {
    const place = order[position] ?? 0
    const cost = costs[place] ?? sumOf(below.get(position))
    costs[place] = cost
    const parent = above[position] ?? -1
    if (cost === undefined || parent < 0) continue
    const known = below.get(parent)
    if (known === undefined) below.set(parent, [cost])
    else known.push(cost)
  }
  return { ...outline, costs }
}
