import { useMemo } from 'react'
import { agentGraph, type AgentNode } from '../../../data/trace/agent-graph.ts'
import type { Outline } from '../../../data/outline.ts'
import type { Tree } from '../../../data/tree.ts'
import { addDecimals } from '../../../parts/format/decimal.ts'
import { leastShort } from '../../../parts/format/least-money.ts'
import { countText, durationText } from '../../../parts/format/numbers.ts'
import { Graph } from '../../../parts/graph/graph.tsx'
import type { GraphDrawing } from '../../../parts/graph/layout.ts'
import css from './agent-graph.module.css'

function noteOf({ count, failed, duration, costs, unpriced }: AgentNode): string {
  const cost = costs.length === 0 ? undefined : addDecimals(costs)
  return [
    `× ${countText(count)}`,
    failed > 0 && `${countText(failed)} failed`,
    durationText(duration),
    (cost !== undefined || unpriced > 0) && leastShort(cost, unpriced),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The picture that the graph of a trace is drawn from; ids are places of nodes. */
function drawingOf(graph: ReturnType<typeof agentGraph>): GraphDrawing {
  return {
    nodes: graph.nodes.map((node, place) => ({
      id: place,
      label: node.key === '' ? `${graph.others} other names` : node.name,
      note: noteOf(node),
      ...(node.failed > 0 && { mark: 'error' as const }),
    })),
    edges: graph.edges.map(({ source, target, kind, count }) => ({
      source,
      target,
      conditional: kind === 'calls',
      data: count > 1 ? `× ${countText(count)}` : '',
    })),
  }
}

/** The names of a trace as a graph: how often, how long and for how much they ran, and in which order. */
export function AgentGraph({
  outline,
  tree,
  node,
  choose,
}: {
  outline: Outline
  tree: Tree
  /** The key of the node whose runs the tree shows; '' for all runs. */
  node: string
  choose(key: string): void
}) {
  const graph = useMemo(() => agentGraph(outline, tree), [outline, tree])
  const drawing = useMemo(() => drawingOf(graph), [graph])
  const chosen = graph.nodes.findIndex(({ key }) => key !== '' && key === node)
  const pressed = (id: string): void => {
    const key = graph.nodes[Number(id)]?.key ?? ''
    choose(key === node ? '' : key)
  }
  return (
    <section className={css['graph']} aria-label="Graph of the trace">
      <p className={css['note']}>
        Dashed lines lead to what a run calls first, others to what comes next. Select a name to see only its
        runs.
      </p>
      <Graph
        drawing={drawing}
        label="The names of this trace in their order"
        chosen={chosen < 0 ? undefined : String(chosen)}
        choose={pressed}
      />
    </section>
  )
}
