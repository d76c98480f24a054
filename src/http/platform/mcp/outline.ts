import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { cutText } from './budget.ts'

/** A TraceRun of an outline. Times are milliseconds; null where they, tokens or cost are unknown. */
export interface OutlineNode {
  id: string
  name: string
  run_type: string
  status: string
  model: string | null
  start_ms: number
  duration_ms: number | null
  tokens: number | null
  cost: number | null
  depth: number
  /** Indexes in the list of nodes. */
  parent: number | undefined
  children: number[]
  error?: string
}

/** The nodes of an outline, depth first and in order of start. */
export function readOutlineNodes({
  names,
  run_types,
  statuses,
  models,
  columns,
}: SchemaTypes['trace-outline']): OutlineNode[] {
  const { id, parent, name, run_type, status, model, start, duration, tokens, cost } = columns
  const children = new Map<number, number[]>()
  for (const [place, above] of parent.entries()) {
    const list = children.get(Math.max(above, -1))
    if (list === undefined) children.set(Math.max(above, -1), [place])
    else list.push(place)
  }
  const nodes: OutlineNode[] = []
  const waiting = (children.get(-1) ?? []).toReversed().map((place) => ({ place, depth: 0, above: -1 }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { place, depth, above } = next
    const at = nodes.length
    const length = duration[place] ?? null
    nodes.push({
      id: id[place] ?? '',
      name: names[name[place] ?? -1] ?? '',
      run_type: run_types[run_type[place] ?? -1] ?? '',
      status: statuses[status[place] ?? -1] ?? '',
      model: models[model[place] ?? -1] ?? null,
      start_ms: (start[place] ?? 0) / 1000,
      duration_ms: length === null ? null : length / 1000,
      tokens: tokens[place] ?? null,
      cost: cost[place] ?? null,
      depth,
      parent: above === -1 ? undefined : above,
      children: [],
    })
    nodes[above]?.children.push(at)
    const below = (children.get(place) ?? []).toReversed()
    // A call with a child an argument would overflow the stack.
    for (const child of below) waiting.push({ place: child, depth: depth + 1, above: at })
  }
  return nodes
}

const ERROR_CHARS = 160

/** One line about a TraceRun: `  name [type] status 12 ms 34 tok $0.5 id:1a2b3c4d ! error`. */
export function nodeLine(node: OutlineNode, times = 1): string {
  const { name, run_type, status, duration_ms, tokens, cost, id, error, depth, model } = node
  const parts = [
    `${'  '.repeat(Math.min(depth, 20))}${cutText(oneLine(name), 80)} [${run_type}${model === null ? '' : ` ${model}`}]`,
    ...(status === 'success' ? [] : [status]),
    duration_ms === null ? 'running' : `${Math.round(duration_ms)} ms`,
    ...(tokens === null ? [] : [`${tokens} tok`]),
    ...(cost === null ? [] : [`$${shortCost(cost)}`]),
    times > 1 ? `×${times}` : `id:${id.slice(-8)}`,
    ...(error === undefined ? [] : [`! ${cutText(oneLine(error), ERROR_CHARS)}`]),
  ]
  return parts.join(' ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Dollars with four significant digits. */
export function shortCost(cost: number): string {
  return cost === 0 ? '0' : String(Number(cost.toPrecision(4)))
}

const FOLD_FROM = 3

/**
 * Lines of the nodes at `places`, in this order. With `fold`, nodes that are equal but for time, tokens and cost (same
 * parent, name, type, model and status, nothing below, no error) become one line with `×N` at the place of the first.
 */
export function outlineLines(
  nodes: readonly OutlineNode[],
  places: readonly number[],
  fold: boolean,
): string[] {
  if (!fold) return places.map((place) => nodeLine(nodes[place]!))
  const groups = new Map<string, OutlineNode[]>()
  for (const place of places) {
    const node = nodes[place]!
    const { parent, name, run_type, model, status } = node
    const isPlain = node.children.length === 0 && status !== 'error'
    const key = isPlain ? JSON.stringify([parent, name, run_type, model, status]) : String(place)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [node])
    else group.push(node)
  }
  return [...groups.values()].flatMap((group) =>
    group.length < FOLD_FROM ? group.map((node) => nodeLine(node)) : nodeLine(together(group), group.length),
  )
}

function together(group: readonly OutlineNode[]): OutlineNode {
  const sum = (key: 'duration_ms' | 'tokens' | 'cost'): number | null => {
    const known = group.flatMap((node) => node[key] ?? [])
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
  }
  return { ...group[0]!, duration_ms: sum('duration_ms'), tokens: sum('tokens'), cost: sum('cost') }
}

/**
 * Those of `places`, at most `most`, that matter most: errors, then the slowest and the dearest by turns, each with all
 * above it; in the order of the outline.
 */
export function mostTelling(
  nodes: readonly OutlineNode[],
  places: readonly number[],
  most: number,
): number[] {
  const wanted = new Set(places)
  const kept = new Set<number>()
  const keep = (place: number): boolean => {
    const path: number[] = []
    for (
      let at: number | undefined = place;
      at !== undefined && wanted.has(at) && !kept.has(at);
      at = nodes[at]?.parent
    ) {
      path.push(at)
      if (kept.size + path.length > most) return false
    }
    for (const at of path) kept.add(at)
    return true
  }
  const by = (of: (node: OutlineNode) => number): number[] =>
    places.toSorted((a, b) => of(nodes[b]!) - of(nodes[a]!))
  for (const place of places) if (nodes[place]!.status === 'error') keep(place)
  const slow = by((node) => node.duration_ms ?? 0)
  const dear = by((node) => node.cost ?? 0)
  for (const [i, place] of slow.entries()) {
    const both = [keep(place), keep(dear[i]!)]
    if (!both.some(Boolean) && kept.size >= most) break
  }
  return [...kept].toSorted((a, b) => a - b)
}
