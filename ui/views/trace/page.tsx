import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  type ComponentProps,
  type CSSProperties,
  lazy,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { criticalPath } from '../../data/trace/critical-path.ts'
import { nodeKey } from '../../data/trace/node-key.ts'
import { searchOrder, type SearchOrder } from '../../data/trace/search-order.ts'
import { firstFailed } from '../../data/trace/failed-runs.ts'
import type { Outline } from '../../data/outline.ts'
import { type ReadRun, runOptions } from '../../data/runs.ts'
import { type TraceSearch, useFoundPaths, useTraceSearch } from '../../data/trace/trace-search.ts'
import { unpricedRuns } from '../../data/trace/unpriced.ts'
import { buildTree, isParent, type Tree, visibleRows } from '../../data/tree.ts'
import { Button, Field, IconButton } from '../../parts/controls.tsx'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { notify } from '../../parts/notice.tsx'
import { Splitter, useKeptShare } from '../../parts/splitter/splitter.tsx'
import { Empty, PanelBoundary, Skeleton } from '../../parts/states.tsx'
import { navigate, setParam, setParams, useParam } from '../../router/location.ts'
import { textParam, wordParam } from '../../router/params.ts'
import { modelCalls } from './messages/calls.ts'
import { type FoundIn, RunPanel } from './run/run-panel.tsx'
import css from './trace.module.css'
import { listPath, ONLY_FAILED, TraceHead } from './head.tsx'
import { Axis } from './tree/axis.tsx'
import { TreeGrid } from './tree/grid.tsx'
import { treeKeys } from './tree/keys.ts'
import { zoomed, type ZoomRange } from './zoom.ts'

const AgentGraph = lazy(() =>
  import('./agents/agent-graph.tsx').then((file) => ({ default: file.AgentGraph })),
)
const FailedRuns = lazy(() => import('./tree/failed-runs.tsx').then((file) => ({ default: file.FailedRuns })))
const MessagesView = lazy(() =>
  import('./messages/messages-view.tsx').then((file) => ({ default: file.MessagesView })),
)
const Minimap = lazy(() => import('./minimap.tsx').then((file) => ({ default: file.Minimap })))
const RUN = textParam('run')
const FIND = textParam('find')
const LIST = textParam('list')
const VIEW = wordParam('view', ['tree', 'messages'])
const PATH = wordParam('path', ['off', 'on'])
const GRAPH = wordParam('graph', ['off', 'on'])
const NODE = textParam('node')
const NEIGHBOURS = [-1, 1]

/** Positions of the runs that contain a text in their name, type, model, status or contents. */
function findRuns(
  outline: Outline,
  tree: Tree,
  text: string,
  { ids: byContents, isSearching }: TraceSearch,
): Set<number> | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return undefined
  const found = new Set<number>()
  for (const [position, place] of tree.order.entries()) {
    const words = [outline.names[place], outline.types[place], outline.models[place], outline.statuses[place]]
    const isNamed = words.some((word) => word?.toLowerCase().includes(wanted) === true)
    if (isNamed || byContents.has(outline.ids[place] ?? '')) found.add(position)
  }
  return found.size === 0 && isSearching ? undefined : found
}

/** Positions of the runs that match all of these: a text, a failure, a node of the graph. */
function useFound(outline: Outline, tree: Tree, matches: ReadonlySet<number> | undefined) {
  const isOnlyFailed = useParam(ONLY_FAILED) === 'on'
  const node = useParam(NODE)
  return useMemo(() => {
    if (!isOnlyFailed && node === '') return matches
    const found = new Set<number>()
    for (const [position, place] of tree.order.entries()) {
      if (isOnlyFailed && outline.statuses[place] !== 'error') continue
      if (node !== '' && nodeKey(outline, place) !== node) continue
      if (matches?.has(position) !== false) found.add(position)
    }
    return found
  }, [isOnlyFailed, node, outline, tree, matches])
}

/** Filter, selection and zoom; everything that a copied link needs is in the address. */
function useTreeState(outline: Outline, trace: string) {
  const tree = useMemo(() => buildTree(outline.parents), [outline.parents])
  const [foldedIds, setFolded] = useState<ReadonlySet<string>>(new Set())
  const [focusId, setFocusId] = useState<string | undefined>()
  const [zoom, setZoom] = useState<ZoomRange | undefined>()
  const text = useParam(FIND)
  const byContents = useTraceSearch(trace, text)
  const matches = useMemo(() => findRuns(outline, tree, text, byContents), [outline, tree, text, byContents])
  const found = useFound(outline, tree, matches)
  const paths = useFoundPaths(trace, text)
  const foundIn = (id: string): FoundIn => ({ text: text.trim(), paths: paths.get(id) ?? [] })
  const steps = useMemo(() => searchOrder(outline, tree, found, paths), [outline, tree, found, paths])
  // Positions change when runs are added to a live trace; ids do not.
  const positionOf = useCallback(
    (id: string) => tree.positions[outline.ids.indexOf(id)],
    [outline.ids, tree.positions],
  )
  const folded = useMemo(
    () => new Set([...foldedIds].flatMap((id) => positionOf(id) ?? [])),
    [foldedIds, positionOf],
  )
  /** Folds the runs below each root, or unfolds everything if something is folded. */
  const foldAll = (): void =>
    setFolded(
      folded.size > 0
        ? new Set()
        : new Set(
            outline.ids.filter((_, place) => isParent(tree, tree.positions[place] ?? 0) && !isRoot(place)),
          ),
    )
  const isRoot = (place: number): boolean => (tree.above[tree.positions[place] ?? 0] ?? -1) < 0
  const focus = focusId === undefined ? undefined : positionOf(focusId)
  const isOnlyFailed = useParam(ONLY_FAILED) === 'on'
  const rows = useMemo(
    () =>
      isOnlyFailed
        ? [...(found ?? [])].toSorted((a, b) => a - b)
        : visibleRows(tree, { folded, focus, found }),
    [isOnlyFailed, tree, folded, focus, found],
  )
  const wanted = useParam(RUN)
  const named = positionOf(wanted)
  const selected = useMemo(() => {
    const of = named ?? 0
    if (!isOnlyFailed || found?.has(of) !== false) return of
    return firstFailed(outline, tree, of) ?? rows[0] ?? of
  }, [named, isOnlyFailed, found, outline, tree, rows])
  const isMarked = useParam(PATH) === 'on'
  const path = useMemo(() => (isMarked ? criticalPath(outline, tree) : undefined), [isMarked, outline, tree])
  const mark = (): void => setParam(PATH, isMarked ? 'off' : 'on')
  const range = useMemo(() => zoom ?? { from: 0, to: outline.span }, [zoom, outline.span])
  const idAt = useCallback(
    (position: number) => outline.ids[tree.order[position] ?? -1] ?? '',
    [outline.ids, tree.order],
  )
  const setFocus = (position: number | undefined): void =>
    setFocusId(position === undefined ? undefined : idAt(position))
  return {
    tree,
    folded,
    setFolded,
    foldAll,
    focus,
    setFocus,
    range,
    setZoom,
    found,
    foundIn,
    steps,
    path,
    mark,
    isOnlyFailed,
    rows,
    selected,
    /** The id in the address, if no run of the trace has it; '' otherwise. */
    unknown: named === undefined ? wanted : '',
    text,
    idAt,
  }
}

/** Reads runs before they are opened: the run under the pointer, and the runs next to the selected one. */
function usePrefetch(
  { idAt, rows, selected }: Pick<ReturnType<typeof useTreeState>, 'idAt' | 'rows' | 'selected'>,
  share: string | undefined,
) {
  const queries = useQueryClient()
  const prefetch = useCallback(
    (position: number) => {
      const id = idAt(position)
      if (id !== '') void queries.prefetchQuery(runOptions(id, share))
    },
    [queries, idAt, share],
  )
  useEffect(() => {
    const row = rows.indexOf(selected)
    for (const step of NEIGHBOURS) prefetch(rows[row + step] ?? -1)
  }, [rows, selected, prefetch])
  return prefetch
}

/**
 * The id of the last model call that started before the one at a position. '' for the first model call and for other
 * runs.
 */
function useCallsBefore(outline: Outline, tree: Tree): (position: number) => string {
  const calls = useMemo(() => modelCalls(outline, tree), [outline, tree])
  return (position) => {
    const call = calls[calls.indexOf(position) - 1]
    return call === undefined ? '' : (outline.ids[tree.order[call] ?? -1] ?? '')
  }
}

/** Does something with the root of a trace once it has been read; shows a message if that fails. */
async function withRoot(
  queries: QueryClient,
  id: string,
  act: (root: ReadRun) => void | Promise<void>,
): Promise<void> {
  try {
    await act(await queries.ensureQueryData(runOptions(id)))
  } catch (error) {
    notify(`The list cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The widths that the reader has set: of the tree beside the panel, and of the names beside the bars. */
function useWidths() {
  const left = useKeptShare('trace-left', 55)
  const names = useKeptShare('trace-names', 64)
  const style = {
    '--left': left.share,
    '--names': `${names.share}fr`,
    '--bars': `${100 - names.share}fr`,
  } as CSSProperties
  return { left, names, style }
}

/** The outline of a trace as a tree or as messages, and the selected run. `share` is the token of a shared trace. */
export function TracePage({ outline, share }: { outline: Outline; share?: string }) {
  // Readers of a shared trace may not search.
  const state = useTreeState(outline, share === undefined ? outline.trace_id : '')
  const { tree, folded, setFolded, setFocus, range, setZoom, rows, selected, idAt } = state
  const view = useParam(VIEW)
  const hover = usePrefetch(state, share)
  const select = useCallback((position: number) => setParam(RUN, idAt(position)), [idAt])
  const fold = useCallback(
    (position: number) =>
      setFolded((known) => {
        const next = new Set(known)
        const id = idAt(position)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    [setFolded, idAt],
  )
  const before = useCallsBefore(outline, tree)
  const unpriced = useMemo(() => unpricedRuns(outline, tree), [outline, tree])
  const widths = useWidths()
  const root = useQuery(runOptions(idAt(0), share)).data
  const queries = useQueryClient()
  const list = useParam(LIST)
  const step = (to: 'older' | 'newer'): void => {
    if (share === undefined)
      void withRoot(queries, idAt(0), async (read) => {
        const { openNeighbour } = await import('./neighbour.ts')
        await openNeighbour(queries, read, list, to)
      })
  }
  const leave = (): void => {
    if (state.focus !== undefined) setFocus(undefined)
    else if (share === undefined) void withRoot(queries, idAt(0), (read) => navigate(listPath(read, list)))
  }
  const zoom = (direction: 'in' | 'out' | 'all'): void =>
    setZoom(direction === 'all' ? undefined : zoomed(range, direction, outline.span))
  const actions = { select, fold, focus: setFocus, zoom, mark: state.mark }
  useKeys({
    ...treeKeys({ outline, tree, rows, folded, selected }, actions),
    Escape: leave,
    '[': () => step('older'),
    ']': () => step('newer'),
    m: () => setParam(VIEW, view === 'tree' ? 'messages' : 'tree'),
    '/': () => document.querySelector<HTMLElement>('#find')?.focus(),
    Enter: () => document.querySelector<HTMLElement>('#run')?.focus(),
  })
  return (
    <div className={css['page']} style={widths.style}>
      <TraceHead {...{ outline, root, view, share, list, step }} />
      <UnknownRun id={state.unknown} isPart={outline.is_truncated} />
      <div className={css['body']}>
        {view === 'messages' ? (
          <div className={css['left']}>
            <Suspense fallback={<Skeleton />}>
              <MessagesView {...{ outline, tree, selected, select, share }} />
            </Suspense>
          </div>
        ) : (
          <Runs
            trace={share === undefined ? outline.trace_id : ''}
            names={widths.names}
            {...{ outline, unpriced, state, select, fold, hover }}
          />
        )}
        <Splitter label="Width of the tree" share={widths.left} className={css['between']} />
        <SelectedRun
          {...{ id: idAt(selected), previous: before(selected), share }}
          unpriced={unpriced[tree.order[selected] ?? 0] ?? 0}
          foundIn={state.foundIn(idAt(selected))}
        />
      </div>
    </div>
  )
}

/** Shows that the trace, or the part of it that the outline has, lacks the run of the address; nothing for ''. */
function UnknownRun({ id, isPart }: { id: string; isPart: boolean }) {
  if (id === '') return null
  return (
    <p className={css['unknown']} role="status">
      {isPart ? 'The shown part of this trace' : 'This trace'} has no run <code>{id}</code>, which the address
      names. Its first run is shown.
    </p>
  )
}

function SelectedRun(shown: ComponentProps<typeof RunPanel>) {
  return (
    <section id="run" className={css['right']} tabIndex={0} aria-label="The selected run" data-scrolls="true">
      <PanelBoundary key={shown.id}>
        <RunPanel {...shown} />
      </PanelBoundary>
    </section>
  )
}

/** The matches of a search: which of them is selected, and steps to the others. */
function matchesOf({ order, repeated }: SearchOrder, selected: number, select: (position: number) => void) {
  const at = order.indexOf(selected)
  const step = (by: 1 | -1): void => {
    const from = at < 0 && by === -1 ? 0 : at
    // After the last match comes the first one, and before the first one the last.
    const to = order[(from + by + order.length) % order.length]
    if (to !== undefined) select(to)
  }
  return { count: order.length, repeated, place: at < 0 ? undefined : at + 1, step }
}

/** How many runs a search found, which of them is selected, and buttons to the others. */
function MatchLine({ matches: { count, repeated, place, step } }: { matches: ReturnType<typeof matchesOf> }) {
  const title =
    repeated === 0
      ? undefined
      : `${repeated} of them only repeat the text in their input; they come after the others`
  return (
    <span className={css['match']} role="status" title={title}>
      {place === undefined ? `${count} found` : `${place} of ${count}`}
      {repeated > 0 && ` (${repeated} repeat)`}
      <IconButton icon="up" label="Previous match  Shift+Enter" onClick={() => step(-1)} />
      <IconButton icon="fold" label="Next match  Enter" onClick={() => step(1)} />
    </span>
  )
}

/** The graph of the trace above its tree, while it is wanted. */
function GraphOfTrace({ outline, tree }: { outline: Outline; tree: Tree }) {
  const node = useParam(NODE)
  if (useParam(GRAPH) === 'off') return null
  const choose = (key: string): void => setParam(NODE, key)
  return (
    <Suspense fallback={<Skeleton />}>
      <PanelBoundary>
        <AgentGraph {...{ outline, tree, node, choose }} />
      </PanelBoundary>
    </Suspense>
  )
}

/** What the tree shows: buttons for its graph, its critical path, folding, and for leaving a part of it. */
function TreeButtons({ state }: { state: ReturnType<typeof useTreeState> }) {
  const { tree, folded, foldAll, focus, setFocus, path, mark, isOnlyFailed } = state
  const hasGraph = useParam(GRAPH) === 'on'
  const node = useParam(NODE)
  const showGraph = (): void => setParams({ graph: hasGraph ? undefined : 'on', node: undefined })
  return (
    <>
      <Button
        look="plain"
        aria-pressed={hasGraph}
        title="Show the names of the trace as a graph"
        onClick={showGraph}
      >
        Graph
      </Button>
      {!isOnlyFailed && (
        <Button
          look="plain"
          aria-pressed={path !== undefined}
          title="Mark the runs that decide how long the trace took"
          onClick={mark}
        >
          Critical path
        </Button>
      )}
      {!isOnlyFailed && tree.order.length > 1 && (
        <Button look="plain" onClick={foldAll}>
          {folded.size > 0 ? 'Unfold all' : 'Fold all'}
        </Button>
      )}
      {node !== '' && !hasGraph && <Button onClick={() => setParam(NODE, '')}>Show all names</Button>}
      {focus !== undefined && <Button onClick={() => setFocus(undefined)}>Show the whole trace</Button>}
    </>
  )
}

function Runs({
  trace,
  names,
  outline,
  unpriced,
  state,
  ...acts
}: {
  trace: string
  names: ReturnType<typeof useKeptShare>
  outline: Outline
  /** For each place, the calls without a price. */
  unpriced: Int32Array
  state: ReturnType<typeof useTreeState>
  select(position: number): void
  fold(position: number): void
  hover(position: number): void
}) {
  const { tree, folded, range, setZoom, found, path, rows, selected, text, steps, isOnlyFailed } = state
  const matches = matchesOf(steps, selected, acts.select)
  return (
    <div className={css['left']}>
      <div className={css['bar']}>
        <Field
          id="find"
          type="search"
          aria-label="Find in the trace"
          placeholder="Find in names, types, models and contents"
          defaultValue={text}
          onChange={({ target }) => setParam(FIND, target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            matches.step(event.shiftKey ? -1 : 1)
          }}
        />
        {found !== undefined && !isOnlyFailed && <MatchLine matches={matches} />}
        <TreeButtons state={state} />
      </div>
      <GraphOfTrace outline={outline} tree={tree} />
      {!isOnlyFailed && (
        <Suspense fallback={<div className={css['map']} />}>
          <Minimap outline={outline} tree={tree} range={range} change={setZoom} />
        </Suspense>
      )}
      {rows.length === 0 ? (
        <Empty
          title={text === '' ? 'No run fits' : `No run has “${text}” in name, type, model or contents`}
        />
      ) : isOnlyFailed ? (
        <Suspense fallback={<Skeleton />}>
          <FailedRuns
            {...{ trace, outline, tree, rows, selected }}
            select={acts.select}
            leave={() => setParams({ failed: undefined, run: state.idAt(selected) })}
          />
        </Suspense>
      ) : (
        <>
          <Axis range={range} names={names} />
          <TreeGrid
            {...{ trace, outline, unpriced, tree, rows, folded, found, path, range, selected }}
            {...acts}
          />
        </>
      )}
    </div>
  )
}
