import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'

/**
 * For each position, the time at which the last run of its subtree ended; a run that has not ended counts to the end of
 * the trace.
 */
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
 * Positions of the runs that determine the duration of the trace. The path begins with the run that ended last. Before
 * each run of the path comes the run that was the last to end before its start. The children of each run of the path
 * are searched in the same way. The trace would not have ended earlier if another run had been shorter.
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
