import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { useLiveRuns } from '../../data/live/live-runs.ts'
import { sortOf } from '../../data/filter/list-address.ts'
import { useFirstStart } from '../../data/overview/queries.ts'
import { runsOf, type RunQuery } from '../../data/run-pages.ts'
import { cachedPages, readAgain, useEarlyRuns, useRuns } from '../../data/runs.ts'
import { Button, IconButton } from '../../parts/controls.tsx'
import { readKept, usePreference, writeKept, writePreference } from '../../parts/preferences.ts'
import { LiveMark } from '../../parts/states.tsx'
import { navigate, setParam, setParams, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { PEEK, setRange, type Shown, SORT, ViewBar } from './bar.tsx'
import { ColumnDialog } from './column-dialog.tsx'
import { readColumns, writeColumns } from './column-ids.ts'
import { columnOf } from './columns.tsx'
import css from './project.module.css'
import { ListTotals } from './list-totals.tsx'
import { isListUsed, RunTable } from './run-table.tsx'

const RunsTimeline = lazy(() =>
  import('./timeline/timeline.tsx').then(({ RunsTimeline: view }) => ({ default: view })),
)

const COLUMNS = textParam('cols')

/**
 * The columns that the address names. If it names none, the columns that were last chosen in this browser are written
 * into it.
 */
function useColumnIds(): readonly string[] {
  const text = useParam(COLUMNS)
  useEffect(() => {
    const kept = readKept('columns')
    if (text === '' && kept !== '') setParam(COLUMNS, kept)
  }, [text])
  return useMemo(() => readColumns(text), [text])
}

function ColumnButton({ query, ids }: { query: RunQuery; ids: readonly string[] }) {
  const [isOpen, setOpen] = useState(false)
  const queries = useQueryClient()
  const metadataKeys = (): string[] => {
    const runs = runsOf(cachedPages(queries, query))
    return [...new Set(runs.flatMap(({ extra }) => Object.keys(extra?.['metadata'] ?? {})))].sort()
  }
  return (
    <>
      <Button look="plain" icon="columns" onClick={() => setOpen(true)}>
        Columns
      </Button>
      {isOpen && (
        <ColumnDialog
          ids={ids}
          metadataKeys={metadataKeys()}
          change={(next) => {
            const text = writeColumns(next)
            writeKept('columns', text ?? '')
            setParams({ cols: text })
          }}
          close={() => setOpen(false)}
        />
      )}
    </>
  )
}

const MOST_TICKED = 2

/** The actions on ticked runs: comparing two. */
function TickedRuns({ ticked, clear }: { ticked: readonly string[]; clear(): void }) {
  const [a, b] = ticked
  if (a === undefined) return null
  return (
    <span className={css['ticked']} role="status">
      {b === undefined ? (
        'Tick another run to compare'
      ) : (
        <Button look="primary" onClick={() => navigate(`/compare?a=${a}&b=${b}`)}>
          Compare the two
        </Button>
      )}
      <IconButton icon="close" label="Clear the ticks" onClick={clear} />
    </span>
  )
}

/** A list that is not ordered by time has no live updates: a button reads it again. */
function Reread({ query }: { query: RunQuery }) {
  const queries = useQueryClient()
  return (
    <Button look="plain" icon="refresh" onClick={() => readAgain(queries, query)}>
      Read again
    </Button>
  )
}

/** Opens the panel beside the list, with the first run, or closes it. */
function PanelButton({ query }: { query: RunQuery }) {
  const queries = useQueryClient()
  const isOpen = useParam(PEEK) !== ''
  const first = (): string => runsOf(cachedPages(queries, query))[0]?.id ?? ''
  return (
    <Button
      look="plain"
      icon="panel"
      aria-pressed={isOpen}
      title="The marked run beside the list  Space"
      onClick={() => setParam(PEEK, isOpen ? '' : first())}
    >
      Panel
    </Button>
  )
}

function TimelineButton() {
  const isShown = usePreference('timeline') === 'shown'
  return (
    <Button
      look="plain"
      icon="timeline"
      aria-pressed={isShown}
      onClick={() => writePreference('timeline', isShown ? 'hidden' : 'shown')}
    >
      Timeline
    </Button>
  )
}

/**
 * The timeline, unless it is hidden or the project has no run. It is read after the list, so that it does not delay the
 * list.
 */
function TimelineStrip({ query }: { query: RunQuery }) {
  const { project, filter, isRoot, since, until } = query
  const isShown = usePreference('timeline') === 'shown'
  const isListed = !useRuns(query).isPending
  const { data: first } = useFirstStart(project, isListed)
  if (!isShown || first === null) return null
  return (
    <div className={css['timeline']}>
      <Suspense>
        {isListed && (
          <RunsTimeline
            {...{ project, filter, isRoot, since, until }}
            narrow={(chosen) => setRange(undefined, chosen)}
          />
        )}
      </Suspense>
    </div>
  )
}

/** The traces of a project, or all of its runs. */
export function RunsView({ project, isRoot, shown }: { project: string; isRoot: boolean; shown: Shown }) {
  const { filter, since, until } = shown
  const sort = useParam(SORT)
  const query: RunQuery = useMemo(
    () => ({ project, filter, isRoot, since, until, sort: sortOf(sort) }),
    [project, filter, isRoot, since, until, sort],
  )
  useEarlyRuns(query)
  const ids = useColumnIds()
  const columns = useMemo(() => ids.map(columnOf), [ids])
  const [ticked, setTicked] = useState<readonly string[]>([])
  const tick = (run: string): void =>
    setTicked(
      ticked.includes(run) ? ticked.filter((one) => one !== run) : [...ticked, run].slice(-MOST_TICKED),
    )
  const live = useLiveRuns(query, isListUsed)
  return (
    <>
      <ViewBar project={project} isRoot={isRoot} shown={shown}>
        <TickedRuns ticked={ticked} clear={() => setTicked([])} />
        <PanelButton query={query} />
        <TimelineButton />
        <ColumnButton query={query} ids={ids} />
        {query.sort === undefined ? <LiveMark state={live.state} /> : <Reread query={query} />}
      </ViewBar>
      <TimelineStrip query={query} />
      <ListTotals query={query} />
      <RunTable {...{ query, columns, live, ticked, tick }} />
    </>
  )
}
