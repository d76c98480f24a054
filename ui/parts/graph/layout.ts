import { graphlib, layout } from '@dagrejs/dagre'
import { allSubgraphs, subgraphsOf } from './subgraphs.ts'

/** A graph as the deployment API describes it. */
export interface GraphDrawing {
  nodes: readonly {
    id: string | number
    data?: unknown
    /** Shown in place of the last part of the id. */
    label?: string
    /** The line below the name. */
    note?: string
    mark?: 'error'
  }[]
  edges: readonly {
    source: string | number
    target: string | number
    conditional?: boolean
    data?: unknown
  }[]
}

/** A box in the picture; x and y are its centre. The id of a node or subgraph is its path, as `outer:inner`. */
interface Box {
  id: string
  label: string
  x: number
  y: number
  width: number
  height: number
}

export interface PlacedNode extends Box {
  kind: 'start' | 'end' | 'node'
  note: string | undefined
  mark: 'error' | undefined
}

interface Point {
  x: number
  y: number
}

/** An edge in the picture, as the path of an SVG. */
export interface PlacedEdge {
  id: string
  source: string
  target: string
  path: string
  isConditional: boolean
  label: string
  /** Where the label stands. */
  middle: Point
}

/** A laid out graph. */
export interface PlacedGraph {
  nodes: PlacedNode[]
  /** The frames around the nodes of subgraphs, from the outermost to the innermost. */
  frames: Box[]
  edges: PlacedEdge[]
  /** The smallest x of the picture, at most 0. */
  left: number
  width: number
  height: number
}

const CHAR_PX = 7.2
const PADDING_PX = 44
const NOTE_CHAR_PX = 5.6
const NOTE_PADDING_PX = 16
/** The note below the name of a node, such as `✗ failed 343 ms`, has room. */
const LEAST_WIDTH = 96
const HEIGHT = 36
const MARGIN = 8
const MAX_LABEL = 28
/** Distance of the handles of a loop from its node; the curve reaches three quarters of it. */
const LOOP = { across: 32, up: 22, start: 9 }

function kindOf(id: string): PlacedNode['kind'] {
  const last = id.split(':').at(-1)
  return last === '__start__' ? 'start' : last === '__end__' ? 'end' : 'node'
}

function labelOf(id: string, label?: string): string {
  const kind = kindOf(id)
  if (kind !== 'node') return kind === 'start' ? 'START' : 'END'
  const name = label ?? id.split(':').at(-1) ?? id
  return name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name
}

function widthOf({ id, label, note = '' }: GraphDrawing['nodes'][number]): number {
  const isNamed = kindOf(String(id)) === 'node'
  return Math.max(
    labelOf(String(id), label).length * CHAR_PX + PADDING_PX,
    note.length * NOTE_CHAR_PX + NOTE_PADDING_PX,
    isNamed ? LEAST_WIDTH : 0,
  )
}

/** The key of the frame around a subgraph; no node has an empty first part in its path. */
const frameKey = (id: string): string => `:${id}`

/** Puts a node or frame into the frame of the innermost subgraph around `id`. */
function placeInside(graph: graphlib.Graph, key: string, id: string): void {
  const around = subgraphsOf(id).at(-1)
  if (around !== undefined) graph.setParent(key, frameKey(around))
}

/** Places a graph from top to bottom. END is drawn even when no edge leads to it, so that every end can be seen. */
export function placeGraph({ nodes, edges }: GraphDrawing): PlacedGraph {
  const graph = new graphlib.Graph({ multigraph: true, compound: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 40, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  const ids = nodes.map(({ id }) => String(id))
  const subgraphs = allSubgraphs(nodes)
  for (const node of nodes) graph.setNode(String(node.id), { width: widthOf(node), height: HEIGHT })
  for (const id of subgraphs) graph.setNode(frameKey(id), {})
  for (const id of ids) placeInside(graph, id, id)
  for (const id of subgraphs) placeInside(graph, frameKey(id), id)
  const known = new Set(ids)
  const drawn = onceEach(edges).filter(
    ({ source, target }) => known.has(String(source)) && known.has(String(target)),
  )
  for (const [place, { source, target }] of drawn.entries())
    graph.setEdge(String(source), String(target), {}, String(place))
  layout(graph)
  const boxOf = (key: string, id: string, label?: string): Box => {
    const { x = 0, y = 0, width = 0, height = 0 } = graph.node(key)
    return { id, label: labelOf(id, label), x, y, width, height }
  }
  const placed = nodes.map(({ id: given, label, note, mark }): PlacedNode => {
    const id = String(given)
    return { ...boxOf(id, id, label), kind: kindOf(id), note, mark }
  })
  const frames = subgraphs.map((id) => boxOf(frameKey(id), id))
  const lines: PlacedEdge[] = []
  const reached: number[] = []
  for (const [place, { source, target, conditional, data }] of drawn.entries()) {
    const looped = source === target ? placed.find(({ id }) => id === String(source)) : undefined
    const { points = [] }: { points?: readonly Point[] } = graph.edge({
      v: String(source),
      w: String(target),
      name: String(place),
    })
    const path = looped === undefined ? smooth(points) : loop(looped)
    const label = typeof data === 'string' ? data : ''
    const ends = { source: String(source), target: String(target) }
    const middle =
      looped === undefined
        ? (points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 })
        : { x: looped.x + looped.width / 2 + LOOP.across / 2, y: looped.y }
    lines.push({ id: `${place}`, ...ends, path, isConditional: conditional === true, label, middle })
    if (looped === undefined) reached.push(...points.map(({ x }) => x))
    else reached.push(looped.x + looped.width / 2 + LOOP.across)
  }
  const { width = 0, height = 0 } = graph.graph()
  // Curves may leave the box that the nodes fill.
  const left = Math.min(0, ...reached.map((x) => x - MARGIN))
  const right = Math.max(width, ...reached.map((x) => x + MARGIN))
  return { nodes: placed, frames, edges: lines, left, width: right - left, height }
}

/** One edge for each pair of nodes; graphs may declare the same edge twice. */
function onceEach(edges: GraphDrawing['edges']): GraphDrawing['edges'] {
  return [...new Map(edges.map((edge) => [JSON.stringify([edge.source, edge.target]), edge])).values()]
}

/** The edge of a node to itself, at its right. The points that dagre computes for such an edge do not form a loop. */
function loop({ x, y, width }: PlacedNode): string {
  const side = x + width / 2
  const out = side + LOOP.across
  return `M${side},${y - LOOP.start}C${out},${y - LOOP.up} ${out},${y + LOOP.up} ${side},${y + LOOP.start}`
}

/** A curve through the points: a quadratic piece around each inner point. */
function smooth(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let path = `M${first.x},${first.y}`
  for (const [place, point] of rest.entries()) {
    const next = rest[place + 1]
    if (next === undefined) path += `L${point.x},${point.y}`
    else path += `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`
  }
  return path
}
