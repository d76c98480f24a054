import { type ComponentProps, memo, useCallback, useDeferredValue, useMemo, useState } from 'react'
import { type Assistant, drawingPath, useDeploymentRead } from '../../data/deployments/contents.ts'
import { Button } from '../../parts/controls.tsx'
import { Graph, shortName } from '../../parts/graph/graph.tsx'
import type { GraphDrawing } from '../../parts/graph/layout.ts'
import type { NodeState } from '../../parts/graph/node-state.ts'
import { allSubgraphs, subgraphsOf } from '../../parts/graph/subgraphs.ts'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Loaded } from '../../parts/states.tsx'
import { statesAtEnd } from './node-states.ts'
import { type RunEvents, useFollowed } from './run-events.ts'
import { RunFailure } from './run-failure.tsx'
import type { StudioSession } from './session.ts'
import css from './studio.module.css'
import type { ShownThread } from './thread.ts'

/** States of nodes of the run that this page follows or replays; without such a run, those of the selected checkpoint. */
function useStates(
  { events, replay, isLoading }: StudioSession,
  { selected, head }: ShownThread,
): ReadonlyMap<string, NodeState> {
  const nodes = useFollowed(events.nodes)
  const isReplay = useFollowed(replay.isOn)
  return useMemo(() => {
    if (isReplay || (nodes.size > 0 && isLoading)) return nodes
    if (nodes.size > 0 && selected === head) return statesAtEnd(nodes)
    const found = new Map<string, NodeState>()
    for (const { name, error, interrupts } of selected?.tasks ?? []) {
      const count = (found.get(name)?.count ?? 0) + 1
      if (error !== null) found.set(name, { state: 'error', count })
      else if (interrupts.length > 0) found.set(name, { state: 'interrupted', count })
      else if (isLoading) found.set(name, { state: 'running', count })
    }
    return found
  }, [nodes, isReplay, isLoading, selected, head])
}

/** Keeps the paths of the folded subgraphs. */
function useFolded() {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set())
  /** Folds the innermost subgraph around a node, or unfolds the folded subgraph that the node stands for. */
  const fold = useCallback((id: string, isFolded: boolean): void => {
    const path = isFolded ? subgraphsOf(id).at(-1) : id
    if (path === undefined) return
    setFolded((before) => {
      const next = new Set(before)
      if (isFolded) next.add(path)
      else next.delete(path)
      return next
    })
  }, [])
  return { folded, fold, foldOnly: (paths: readonly string[]) => setFolded(new Set(paths)) }
}

function FoldButtons({
  drawing,
  chosen,
  folding: { folded, fold, foldOnly },
}: {
  drawing: GraphDrawing
  chosen: string | undefined
  folding: ReturnType<typeof useFolded>
}) {
  const all = allSubgraphs(drawing.nodes)
  const around = chosen === undefined ? undefined : subgraphsOf(chosen).at(-1)
  if (all.length === 0) return null
  return (
    <>
      {around !== undefined && !folded.has(around) && (
        <Button look="plain" onClick={() => fold(chosen ?? '', true)}>
          Fold {shortName(around)}
        </Button>
      )}
      {chosen !== undefined && folded.has(chosen) && (
        <Button look="plain" onClick={() => fold(chosen, false)}>
          Unfold {shortName(chosen)}
        </Button>
      )}
      <Button look="plain" onClick={() => foldOnly(folded.size > 0 ? [] : all)}>
        {folded.size > 0 ? 'Unfold all' : 'Fold subgraphs'}
      </Button>
    </>
  )
}

const EventList = memo(function EventList({ newest, first }: { newest: readonly unknown[]; first: number }) {
  return (
    <ol className={css['custom']} start={first} tabIndex={0} aria-label="Custom events" data-scrolls="true">
      {newest.map((value, at) => (
        <li key={first + at}>
          <JsonView value={value} openDepth={1} />
        </li>
      ))}
    </ol>
  )
})

/** Shows the custom events that nodes of the run wrote to its stream: their number, and when opened, the newest. */
function CustomEvents({ events }: { events: RunEvents }) {
  const tail = useFollowed(events.custom)
  const [isOpen, setOpen] = useState(false)
  // The list is drawn in pieces of some milliseconds, and again only when the previous drawing has ended.
  const { count, newest } = useDeferredValue(tail)
  if (tail.count === 0) return null
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Custom events, <span data-count={tail.count}>{tail.count.toLocaleString('en-US')}</span>
      </summary>
      {isOpen && <EventList newest={newest} first={count - newest.length + 1} />}
    </details>
  )
}

/** The graph with the states of its nodes, which change during a run. */
function LiveGraph({
  session,
  shown,
  ...drawn
}: { session: StudioSession; shown: ShownThread } & ComponentProps<typeof Graph>) {
  return <Graph {...drawn} states={useStates(session, shown)} />
}

interface GraphPanelProps {
  name: string
  assistant: Assistant
  session: StudioSession
  shown: ShownThread
  breakpoints: ReadonlySet<string>
  setBreakpoints(names: ReadonlySet<string>): void
}

/** The graph of the assistant with the states of its nodes; a node is selected to set a breakpoint before it. */
export function GraphPanel({
  name,
  assistant,
  session,
  shown,
  breakpoints,
  setBreakpoints,
}: GraphPanelProps) {
  const drawing = useDeploymentRead<GraphDrawing>(name, drawingPath(assistant.assistant_id))
  const [chosen, choose] = useState<string>()
  const folding = useFolded()
  const node = chosen === undefined ? undefined : shortName(chosen)
  const toggle = (one: string): void => {
    const next = new Set(breakpoints)
    if (!next.delete(one)) next.add(one)
    setBreakpoints(next)
  }
  return (
    <section className={css['panel']} aria-label="Graph">
      <div className={css['row']}>
        <h2>{assistant.graph_id}</h2>
        {node !== undefined && (
          <Button aria-pressed={breakpoints.has(node)} onClick={() => toggle(node)}>
            Stop before {node}
          </Button>
        )}
        {drawing.data !== undefined && (
          <FoldButtons drawing={drawing.data} chosen={chosen} folding={folding} />
        )}
        {session.gap && (
          <span className={css['warn']}>Events are missing: the server had dropped old ones.</span>
        )}
      </div>
      <RunFailure error={session.error} />
      <Loaded from={drawing}>
        {(found) => (
          <LiveGraph
            session={session}
            shown={shown}
            drawing={found}
            label={`Graph ${assistant.graph_id}`}
            chosen={chosen}
            breakpoints={breakpoints}
            folded={folding.folded}
            choose={choose}
            fold={folding.fold}
          />
        )}
      </Loaded>
      <CustomEvents events={session.events} />
    </section>
  )
}
