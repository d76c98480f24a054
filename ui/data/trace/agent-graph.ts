import type { Outline } from '../outline.ts'
import type { Tree } from '../tree.ts'
import { nodeKey } from './node-key.ts'
import { unpricedRuns } from './unpriced.ts'

/** The runs of one name and type. */
export interface AgentNode {
  /** The key of its runs; '' for the runs of all further names. */
  key: string
  name: string
  type: string
  count: number
  failed: number
  /** Microseconds of all its runs, including the runs below them. */
  duration: number
  /** Dollars of those of its runs whose cost is known, with all digits. */
  costs: string[]
  /** Calls without a price among its runs and those below them. */
  unpriced: number
}

/** How often runs of one node came after those of another, or were called by them. */
export interface AgentEdge {
  /** Places in `nodes`. */
  source: number
  target: number
  /** `then`: the run before it in the same parent had ended. `calls`: it was the first below its parent. */
  kind: 'then' | 'calls'
  count: number
}

export interface InferredGraph {
  nodes: AgentNode[]
  edges: AgentEdge[]
  /** Names that are summed up in the node with the key ''. */
  others: number
}

/** More names, and more edges, could not be read in a picture. */
const MOST_NODES = 40
const MOST_EDGES = 120

type Runs = Pick<Outline, 'names' | 'types' | 'statuses' | 'starts' | 'durations' | 'costs' | 'tokens'>

/** The most frequent keys, in the order in which they first appear in the tree. */
function shownKeys(runs: Runs, { order }: Tree): { keys: string[]; others: number } {
  const counts = new Map<string, number>()
  for (const place of order) {
    const key = nodeKey(runs, place)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const frequent = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, MOST_NODES)
  const shown = new Set(frequent.map(([key]) => key))
  return { keys: [...counts.keys()].filter((key) => shown.has(key)), others: counts.size - shown.size }
}

function nodesOf(runs: Runs, tree: Tree, keys: readonly string[]): { nodes: AgentNode[]; of: Int32Array } {
  const { order } = tree
  const unpriced = unpricedRuns(runs, tree)
  const places = new Map(keys.map((key, at) => [key, at]))
  const of = new Int32Array(order.length)
  const members: number[][] = Array.from({ length: keys.length + 1 }, () => [])
  for (const [position, place] of order.entries()) {
    const at = places.get(nodeKey(runs, place)) ?? keys.length
    of[position] = at
    members[at]?.push(place)
  }
  const nodes = members.flatMap((own, at): AgentNode[] => {
    const [first] = own
    if (first === undefined) return []
    const isNamed = at < keys.length
    return [
      {
        key: keys[at] ?? '',
        name: isNamed ? (runs.names[first] ?? '') : 'others',
        type: isNamed ? (runs.types[first] ?? '') : '',
        count: own.length,
        failed: own.filter((place) => runs.statuses[place] === 'error').length,
        duration: own.reduce((sum, place) => sum + (runs.durations[place] || 0), 0),
        costs: own.flatMap((place) => runs.costs[place] ?? []),
        unpriced: own.reduce((sum, place) => sum + (unpriced[place] ?? 0), 0),
      },
    ]
  })
  return { nodes, of }
}

/** The positions of the runs directly below each position, and those of the roots under -1. */
function childrenOf({ above }: Tree): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const [position, parent] of above.entries()) {
    const known = children.get(parent)
    if (known === undefined) children.set(parent, [position])
    else known.push(position)
  }
  return children
}

/**
 * For each of the runs of one parent, the run that was the last to end before it started; undefined if none had ended.
 */
function runsBefore(runs: Runs, { order }: Tree, siblings: readonly number[]): (number | undefined)[] {
  const startOf = (position: number): number => runs.starts[order[position] ?? 0] ?? 0
  const endOf = (position: number): number => startOf(position) + (runs.durations[order[position] ?? 0] ?? 0)
  const ended = siblings.filter((at) => !Number.isNaN(endOf(at))).toSorted((a, b) => endOf(a) - endOf(b))
  const before = new Map<number, number | undefined>()
  let next = 0
  let last: number | undefined
  for (const position of siblings.toSorted((a, b) => startOf(a) - startOf(b))) {
    for (; next < ended.length && endOf(ended[next] ?? 0) <= startOf(position); next += 1) {
      // A run without a duration may end where it starts, and does not come before itself.
      if (ended[next] === position) break
      last = ended[next]
    }
    before.set(position, last)
  }
  return siblings.map((position) => before.get(position))
}

/**
 * The graph of an agent as its trace shows it: one node for each name, an edge to what came next, and one from a run to
 * the first runs below it. Pure; at most 41 nodes and 120 edges, the most frequent ones.
 */
export function agentGraph(runs: Runs, tree: Tree): InferredGraph {
  const { keys, others } = shownKeys(runs, tree)
  const { nodes, of } = nodesOf(runs, tree, keys)
  const edges = new Map<string, AgentEdge>()
  const add = (from: number, to: number, kind: AgentEdge['kind']): void => {
    const [source, target] = [of[from] ?? 0, of[to] ?? 0]
    const id = `${source} ${target} ${kind}`
    const known = edges.get(id)
    if (known === undefined) edges.set(id, { source, target, kind, count: 1 })
    else known.count += 1
  }
  for (const [parent, siblings] of childrenOf(tree)) {
    for (const [at, before] of runsBefore(runs, tree, siblings).entries()) {
      const position = siblings[at] ?? 0
      if (before !== undefined) add(before, position, 'then')
      else if (parent >= 0) add(parent, position, 'calls')
    }
  }
  const frequent = [...edges.values()].toSorted((a, b) => b.count - a.count).slice(0, MOST_EDGES)
  return { nodes, edges: frequent, others }
}
