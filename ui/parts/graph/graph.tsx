import { memo, type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react'
import { foldGraph } from './fold.ts'
import css from './graph.module.css'
import { type GraphDrawing, type PlacedEdge, type PlacedNode, placeGraph } from './layout.ts'
import { type NodeState, noteOf } from './node-state.ts'

/** Minimum scale of the picture. A smaller picture would have unreadable labels, so it scrolls instead. */
const LEAST_SCALE = 0.65

/** The name of a node in events: the path without the subgraphs around it. */
export function shortName(id: string): string {
  return id.split(':').at(-1) ?? id
}

interface NodeShapeProps {
  node: PlacedNode
  state: NodeState | undefined
  isChosen: boolean
  isBreak: boolean
  isFolded: boolean
  choose: ((id: string) => void) | undefined
  fold: ((id: string, isFolded: boolean) => void) | undefined
}

function NodeShape({ node, state, isChosen, isBreak, isFolded, choose, fold }: NodeShapeProps) {
  const { x, y, width, height, label, kind, note } = node
  const hasNote = state !== undefined || note !== undefined
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') choose?.(node.id)
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight')
      fold?.(node.id, event.key === 'ArrowLeft')
    else return
    event.preventDefault()
  }
  const isButton = choose !== undefined && kind === 'node'
  return (
    <g
      className={css['node']}
      data-node={node.id}
      data-kind={kind}
      data-state={state?.state ?? node.mark}
      data-folded={isFolded || undefined}
      transform={`translate(${x - width / 2},${y - height / 2})`}
      {...(isButton && {
        role: 'button',
        tabIndex: 0,
        'aria-pressed': isChosen,
        onClick: () => choose(node.id),
        onKeyDown: pressed,
      })}
    >
      {isFolded && <rect className={css['behind']} x={4} y={4} width={width} height={height} rx={4} />}
      <rect width={width} height={height} rx={kind === 'node' ? 4 : height / 2} />
      {isBreak && (
        <circle className={css['break']} cx={0} cy={height / 2} r={5}>
          <title>Breakpoint</title>
        </circle>
      )}
      <text x={width / 2} y={hasNote ? height / 2 - 2 : height / 2 + 4} textAnchor="middle">
        {label}
      </text>
      {state !== undefined && <Note state={state} x={width / 2} y={height / 2 + 12} />}
      {state === undefined && note !== undefined && (
        <text className={css['note']} x={width / 2} y={height / 2 + 12} textAnchor="middle">
          {note}
        </text>
      )}
    </g>
  )
}

const CLOCK_MS = 100

/** The note of a node; that of a running node is a clock. */
function Note({ state, x, y }: { state: NodeState; x: number; y: number }) {
  const [now, setNow] = useState(() => performance.now())
  const isRunning = state.state === 'running' && state.since !== undefined
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => setNow(performance.now()), CLOCK_MS)
    return () => clearInterval(timer)
  }, [isRunning])
  return (
    <text className={css['note']} x={x} y={y} textAnchor="middle">
      {noteOf(state, now)}
    </text>
  )
}

function Edges({ edges }: { edges: readonly PlacedEdge[] }) {
  const arrow = useId()
  return (
    <>
      <defs>
        <marker id={arrow} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path className={css['arrow']} d="M0,0L8,4L0,8z" />
        </marker>
      </defs>
      {edges.map((edge) => (
        <path
          key={edge.id}
          className={css['edge']}
          data-source={edge.source}
          data-target={edge.target}
          data-conditional={edge.isConditional || undefined}
          d={edge.path}
          markerEnd={`url(#${arrow})`}
        />
      ))}
      {edges.map(
        ({ id, label, middle }) =>
          label !== '' && (
            <text key={id} className={css['count']} x={middle.x} y={middle.y + 3} textAnchor="middle">
              {label}
            </text>
          ),
      )}
    </>
  )
}

const NONE: ReadonlySet<string> = new Set()

/**
 * A graph as a picture, from START to END; conditional edges are dashed. With `choose`, nodes are buttons. Subgraphs whose
 * paths are in `folded` are one node each; `fold` is called by the arrow keys on a node: to fold the subgraph around it,
 * or to unfold it.
 */
export const Graph = memo(function Graph({
  drawing,
  label,
  states,
  chosen,
  breakpoints,
  folded = NONE,
  choose,
  fold,
}: {
  drawing: GraphDrawing
  label: string
  states?: ReadonlyMap<string, NodeState>
  chosen?: string | undefined
  breakpoints?: ReadonlySet<string>
  folded?: ReadonlySet<string>
  choose?: (id: string) => void
  fold?: (id: string, isFolded: boolean) => void
}) {
  const placed = useMemo(() => placeGraph(foldGraph(drawing, folded)), [drawing, folded])
  return (
    <div
      className={css['frame']}
      tabIndex={0}
      role="group"
      aria-label={`${label}, scrolls`}
      data-scrolls="true"
    >
      <svg
        className={css['graph']}
        viewBox={`${placed.left} 0 ${placed.width} ${placed.height}`}
        style={{ width: placed.width, minWidth: placed.width * LEAST_SCALE, maxWidth: '100%' }}
        role={choose === undefined ? 'img' : 'group'}
        aria-label={label}
      >
        {placed.frames.map(({ id, label: name, x, y, width, height }) => (
          <g key={id} className={css['subgraph']} data-subgraph={id}>
            <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={6} />
            <text x={x - width / 2 + 8} y={y - height / 2 + 14}>
              {name}
            </text>
          </g>
        ))}
        <Edges edges={placed.edges} />
        {placed.nodes.map((node) => (
          <NodeShape
            key={node.id}
            node={node}
            state={states?.get(shortName(node.id))}
            isChosen={chosen === node.id}
            isBreak={breakpoints?.has(shortName(node.id)) === true}
            isFolded={folded.has(node.id)}
            choose={choose}
            fold={fold}
          />
        ))}
      </svg>
    </div>
  )
})
