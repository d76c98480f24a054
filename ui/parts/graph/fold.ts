import type { GraphDrawing } from './layout.ts'
import { subgraphsOf } from './subgraphs.ts'

/** Names of the nodes of the graph itself, without START, END and the nodes in its subgraphs. */
export function ownNodes({ nodes }: GraphDrawing): string[] {
  const names = nodes.map(({ id }) => String(id).split(':')[0] ?? '')
  return [...new Set(names)].filter((name) => name !== '__start__' && name !== '__end__')
}

/** The drawing with each folded subgraph as one node that has the edges of all nodes in it. */
export function foldGraph(drawing: GraphDrawing, folded: ReadonlySet<string>): GraphDrawing {
  if (folded.size === 0) return drawing
  const shown = (id: string | number): string =>
    subgraphsOf(String(id)).find((path) => folded.has(path)) ?? String(id)
  const nodes = new Map(drawing.nodes.map((node) => [shown(node.id), { ...node, id: shown(node.id) }]))
  const edges = drawing.edges.flatMap((edge) => {
    const [source, target] = [shown(edge.source), shown(edge.target)]
    const isInside = source === target && String(edge.source) !== source
    return isInside ? [] : { ...edge, source, target }
  })
  return { nodes: [...nodes.values()], edges }
}
