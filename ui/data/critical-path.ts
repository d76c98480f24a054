import type { Outline } from './outline.ts'
import type { Tree } from './tree.ts'

/** For each position, when the last run of its subtree ended; a run that has not ended counts to the end of the trace. */
export function subtreeEnds({ starts, durations, span }: Times, { order, above }: Tree): Float64Array {
  const ends = Float64Array.from(order, (place) => {
    const duration = durations[place] ?? Number.NaN
    return Number.isNaN(duration) ? span : (starts[place] ?? 0) + duration
  })
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const parent = above[at] ?? -1
    if (parent >= 0) ends[parent] = Math.max(ends[parent] ?? 0, ends[at] ?? 0)
  }
  return ends
}

type Times = Pick<Outline, 'starts' | 'durations' | 'span'>

/**
 * Positions of the runs that decide how long the trace took: the run that ended last, the one that had ended last
 * when that one started, and so on back to the start, and the same for the children of each. A shorter run in another
 * place would not have ended the trace earlier.
 */
export function criticalPath(times: Times, tree: Tree): Set<number> {
  const ends = subtreeEnds(times, tree)
  const path = new Set<number>()
  const waiting = [{ first: 0, last: tree.order.length }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const runs: number[] = []
    for (let at = next.first; at < next.last; at = tree.ends[at] ?? next.last) runs.push(at)
    runs.sort((a, b) => (ends[b] ?? 0) - (ends[a] ?? 0))
    let until = Number.POSITIVE_INFINITY
    for (const at of runs) {
      if ((ends[at] ?? 0) > until) continue
      path.add(at)
      until = times.starts[tree.order[at] ?? 0] ?? 0
      waiting.push({ first: at + 1, last: tree.ends[at] ?? at + 1 })
    }
  }
  return path
}
