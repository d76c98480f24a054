import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { searchedTexts } from '../../data/filter/filter.ts'
import type { LiveRuns } from '../../data/live/live-runs.ts'
import { MOST_SELECTED, toggled, withRange } from '../../data/list/selected-runs.ts'
import type { ListedRun, RunQuery } from '../../data/run-pages.ts'
import { useRuns } from '../../data/runs.ts'
import { Button } from '../../parts/controls.tsx'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { placeAfter } from '../../parts/keyboard/place-after.ts'
import { rowHeight } from '../../parts/row-height.ts'
import { Empty, Failure, Skeleton, StillReading } from '../../parts/states.tsx'
import { SortButton } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { currentPath, navigate, setParam, useParam } from '../../router/location.ts'
import { withParams } from '../../router/params.ts'
import { layoutOf, pathOf, type RunColumn } from './columns.tsx'
import css from './project.module.css'
import { NoRun } from './no-run.tsx'
import { RunRow } from './run-row.tsx'
import { PEEK, SORT } from './bar.tsx'

const SelectionBar = lazy(() =>
  import('./many/selection-bar.tsx').then((file) => ({ default: file.SelectionBar })),
)
const Peek = lazy(() => import('./peek/peek.tsx').then(({ Peek: panel }) => ({ default: panel })))

/** Columns that a list has beside the panel, which shows the others. */
const BESIDE_PANEL = ['status', 'name', 'input', 'failed', 'start', 'latency']

const OVERSCAN = 12
const MOST_COUNTED = 100

/** The button "12 new ↑", which shows the new runs that are held back. */
function NewRuns({ live, show }: { live: LiveRuns; show(): void }) {
  if (live.waiting === 0) return null
  const count = live.waiting >= MOST_COUNTED ? `${MOST_COUNTED} or more` : live.waiting
  return (
    <div className={css['news']} role="status">
      <Button onClick={show}>{count} new ↑</Button>
    </div>
  )
}

function NoRuns({ query }: { query: RunQuery }) {
  const { filter, since, until, isRoot } = query
  const isLimited = since !== '' || until !== ''
  const isSearch = searchedTexts(filter).length > 0
  if (filter !== '' || isLimited)
    return (
      <Empty title={isRoot ? 'No trace fits the filter' : 'No run fits the filter'}>
        <p>
          {isLimited && filter === '' ? 'Choose a longer range.' : 'Remove a part of the filter'}
          {filter !== '' && (isLimited ? ', or choose a longer range.' : '.')}
        </p>
        {isRoot && isSearch && (
          <p>
            Words are looked for in the first run of each trace.{' '}
            <Link to={`${currentPath()}${withParams(location.search, { view: 'runs' })}`}>
              Search all runs
            </Link>
          </p>
        )}
      </Empty>
    )
  return <NoRun {...(isRoot && { title: 'No trace has arrived yet' })} />
}

interface RunTableProps {
  query: RunQuery
  columns: readonly RunColumn[]
  live: LiveRuns
}

/** The runs of a project; scrolling near the end loads the next page. */
export function RunTable({ query, columns, ...shared }: RunTableProps) {
  const list = useRuns(query)
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, isPlaceholderData, refetch } = list
  const runs = useMemo(() => data?.pages.flatMap((page) => page.runs) ?? [], [data])
  if (data === undefined || (isPlaceholderData && runs.length === 0))
    return error === null ? <Skeleton /> : <Failure error={error} retry={() => void refetch()} />
  if (runs.length === 0) return <NoRuns query={query} />
  return (
    <Rows
      {...shared}
      columns={columns.filter(({ has }) => has === undefined || runs.some(has))}
      query={query}
      runs={runs}
      isOld={isPlaceholderData}
      isMore={hasNextPage && !isPlaceholderData}
      more={() => {
        if (!isFetchingNextPage) void fetchNextPage()
      }}
    />
  )
}

/**
 * The head of a column. Clicks on the head of some columns order the list: largest first, smallest first, and by time
 * again.
 */
function ColumnHead({ column, sort }: { column: RunColumn; sort: RunQuery['sort'] }) {
  const { name, title, isNumber = false, orders } = column
  const isSorted = orders !== undefined && orders === sort?.by
  const next = !isSorted ? `${orders}` : sort?.order === 'desc' ? `-${orders}` : ''
  const order = isSorted && sort ? ({ desc: 'descending', asc: 'ascending' } as const)[sort.order] : undefined
  return (
    <span
      role="columnheader"
      title={title}
      className={isNumber ? css['number'] : undefined}
      aria-sort={order}
    >
      {orders === undefined ? (
        name === '' ? (
          <span className="out-of-sight">{title}</span>
        ) : (
          name
        )
      ) : (
        <SortButton order={order} change={() => setParam(SORT, next, { step: true })}>
          {name}
        </SortButton>
      )}
    </span>
  )
}

function Columns({
  columns,
  sort,
  selection,
}: {
  columns: readonly RunColumn[]
  sort: RunQuery['sort']
  selection: Selection
}) {
  return (
    <div role="row" className={`${css['row']} ${css['columns']}`}>
      <span role="columnheader">
        <label className={css['tick']}>
          <input
            type="checkbox"
            aria-label={`Select the first ${MOST_SELECTED} of the list`}
            ref={(box) => {
              if (box !== null) box.indeterminate = selection.ids.length > 0 && !selection.isWhole
            }}
            checked={selection.isWhole}
            onChange={selection.all}
          />
        </label>
      </span>
      {columns.map((column) => (
        <ColumnHead key={column.id} column={column} sort={sort} />
      ))}
    </div>
  )
}

interface RowsProps extends RunTableProps {
  runs: readonly ListedRun[]
  /** Whether the runs are those of the query before, until those of this query have been read. */
  isOld: boolean
  isMore: boolean
  more(): void
}

interface Selection {
  /** Ids of the selected runs that the list has, in its order. */
  ids: readonly string[]
  /** Whether all runs are selected that can be. */
  isWhole: boolean
  /** Selects a run, or takes it out; with `isRange` all runs between it and the one before. */
  tick(id: string, isRange?: boolean): void
  /** Selects the first runs of the list; none if all of them are selected. */
  all(): void
  clear(): void
}

function useSelection(runs: readonly ListedRun[]): Selection {
  const [chosen, choose] = useState<readonly string[]>([])
  const [last, setLast] = useState('')
  const listed = useMemo(() => runs.map(({ id }) => id), [runs])
  const ids = useMemo(() => {
    const known = new Set(chosen)
    return known.size === 0 ? [] : listed.filter((id) => known.has(id))
  }, [listed, chosen])
  const isWhole = ids.length > 0 && ids.length >= Math.min(listed.length, MOST_SELECTED)
  return {
    ids,
    isWhole,
    tick(id, isRange = false) {
      setLast(id)
      choose(isRange ? withRange(listed, chosen, last, id) : toggled(chosen, id))
    },
    all: () => choose(isWhole ? [] : listed.slice(0, MOST_SELECTED)),
    clear: () => choose([]),
  }
}

/**
 * The marked row, and the keys of the list. While the panel is open, the run in it is the marked one, and the address
 * names it.
 */
function useMark(
  runs: readonly ListedRun[],
  { scrollTo, tick }: { scrollTo(place: number): void; tick(id: string): void },
) {
  const [own, markOwn] = useState<string | undefined>()
  const peeked = useParam(PEEK)
  const isPeeking = peeked !== ''
  // A run that the list does not have, or no longer, gives its place to the first one.
  const shown = isPeeking ? (runs.find(({ id }) => id === peeked) ?? runs[0]) : undefined
  const marked = isPeeking ? shown?.id : own
  const mark = (id: string | undefined): void => (isPeeking ? setParam(PEEK, id ?? '') : markOwn(id))
  const peek = (id: string | undefined): void => setParam(PEEK, id ?? '')
  const leave = (): void => {
    markOwn(marked)
    peek('')
  }
  const place = marked === undefined ? -1 : runs.findIndex(({ id }) => id === marked)
  const step = (by: number): void => {
    const next = placeAfter(place, by, runs.length)
    mark(runs[next]?.id)
    scrollTo(next)
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => {
      const run = runs[place]
      if (run !== undefined) navigate(pathOf(run))
    },
    ' ': () => (isPeeking ? leave() : peek(marked ?? runs[0]?.id)),
    x: () => marked !== undefined && tick(marked),
    Escape: () => (isPeeking ? leave() : mark(undefined)),
  })
  return {
    marked,
    shown,
    peek,
    step,
    leave,
    unmark: () => mark(undefined),
  }
}

/** Whether the list is in use: the pointer or the focus is in it, it is scrolled, or a row is marked. */
export function isListUsed(): boolean {
  const list = document.querySelector('#runs')
  if (list === null) return false
  const isMarked = list.querySelector('[data-marked="true"]') !== null
  return list.matches(':hover') || list.contains(document.activeElement) || list.scrollTop > 0 || isMarked
}

function DrawnRows({
  runs,
  places,
  marked,
  ticked,
  ...rest
}: Pick<RowsProps, 'runs' | 'columns'> & {
  ticked: readonly string[]
  tick(id: string, isRange: boolean): void
  places: readonly number[]
  marked: string | undefined
  /** Shows a run in the panel; undefined while there is none. */
  peek: ((id: string) => void) | undefined
}) {
  return places.map((index) => {
    const run = runs[index]
    if (run === undefined) return null
    const [isMarked, isTicked] = [run.id === marked, ticked.includes(run.id)]
    return <RunRow key={run.id} {...rest} {...{ run, index, isMarked, isTicked }} />
  })
}

/** The bar of the selected runs; nothing without any. */
function SelectedRuns({
  query,
  runs,
  selection: { ids, clear },
}: Pick<RowsProps, 'query' | 'runs'> & { selection: Selection }) {
  if (ids.length === 0) return null
  return (
    <Suspense>
      <SelectionBar query={query} runs={runs.filter(({ id }) => ids.includes(id))} clear={clear} />
    </Suspense>
  )
}

function Rows({ query, runs, isOld, columns: chosen, live, isMore, more }: RowsProps) {
  const selection = useSelection(runs)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    overscan: OVERSCAN,
    paddingStart: rowHeight(),
  })
  const { marked, unmark, shown, peek, step, leave } = useMark(runs, {
    scrollTo: (place) => virtual.scrollToIndex(place),
    tick: selection.tick,
  })
  const rows = virtual.getVirtualItems()
  const last = rows.at(-1)?.index ?? 0
  useEffect(() => {
    if (isMore && last >= runs.length - OVERSCAN * 2) more()
  })
  const show = (): void => {
    live.show()
    unmark()
    scroller.current?.scrollTo({ top: 0 })
  }
  const columns = shown !== undefined ? chosen.filter(({ id }) => BESIDE_PANEL.includes(id)) : chosen
  const { template, minWidth } = layoutOf(columns)
  const style = { '--columns': template, '--width': minWidth } as CSSProperties
  return (
    <>
      <div className={css['list']}>
        <NewRuns live={live} show={show} />
        <SelectedRuns query={query} runs={runs} selection={selection} />
        {isOld && <StillReading />}
        <div
          id="runs"
          ref={scroller}
          className={css['table']}
          style={style}
          tabIndex={0}
          role="region"
          aria-label="Runs"
          aria-busy={isOld}
        >
          <div
            role="table"
            aria-label="Runs"
            aria-rowcount={isMore ? -1 : runs.length + 1}
            style={{ height: virtual.getTotalSize(), position: 'relative' }}
          >
            <Columns columns={columns} sort={query.sort} selection={selection} />
            <div
              role="rowgroup"
              style={{ position: 'absolute', inset: 0, top: rows[0]?.start ?? 0, bottom: 'auto' }}
            >
              <DrawnRows
                {...{ runs, columns, marked }}
                ticked={selection.ids}
                tick={selection.tick}
                peek={shown && peek}
                places={rows.map(({ index }) => index)}
              />
            </div>
          </div>
        </div>
      </div>
      {shown !== undefined && (
        <Suspense>
          <Peek run={shown} step={step} close={leave} />
        </Suspense>
      )}
    </>
  )
}
