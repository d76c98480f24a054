import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { useLiveRuns } from '../../data/live/live-runs.ts'
import { sortOf } from '../../data/filter/list-address.ts'
import type { TimeSpan } from '../../data/list/compared-range.ts'
import { useFirstStart } from '../../data/overview/queries.ts'
import { runsOf, type RunQuery } from '../../data/run-pages.ts'
import { cachedPages, readAgain, useEarlyRuns, useRuns } from '../../data/runs.ts'
import { historyText, readHistory, withFilter } from '../../data/filter/history.ts'
import { Button, IconButton } from '../../parts/controls.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { readKept, usePreference, writeKept, writePreference } from '../../parts/preferences.ts'
import { LiveMark } from '../../parts/states.tsx'
import { setParam, setParams, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { PEEK, setRange, type Shown, SORT, ViewBar } from './bar.tsx'
import { ColumnDialog } from './column-dialog.tsx'
import { readColumns, writeColumns } from './column-ids.ts'
import { columnOf } from './columns.tsx'
import css from './project.module.css'
import { ListTotals } from './totals/list-totals.tsx'
import { isListUsed, RunTable } from './run-table.tsx'

const RunsTimeline = lazy(() =>
  import('./timeline/timeline.tsx').then(({ RunsTimeline: view }) => ({ default: view })),
)

const FacetPanel = lazy(() =>
  import('./facets/facet-panel.tsx').then((file) => ({ default: file.FacetPanel })),
)
const ExportDialog = lazy(() =>
  import('./many/export-dialog.tsx').then((file) => ({ default: file.ExportDialog })),
)

const DiffersButton = lazy(() =>
  import('./many/differs-button.tsx').then((file) => ({ default: file.DiffersButton })),
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
      <IconButton icon="columns" label="Columns" onClick={() => setOpen(true)} />
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
    <IconButton
      icon="panel"
      label="Panel of the marked run  Space"
      aria-pressed={isOpen}
      onClick={() => setParam(PEEK, isOpen ? '' : first())}
    />
  )
}

/** Shows or hides a part of the page in this browser. */
function PartButton({ part, icon, label }: { part: 'timeline' | 'facets'; icon: IconName; label: string }) {
  const isShown = usePreference(part) === 'shown'
  return (
    <IconButton
      icon={icon}
      label={label}
      aria-pressed={isShown}
      onClick={() => writePreference(part, isShown ? 'hidden' : 'shown')}
    />
  )
}

function ExportButton({ query }: { query: RunQuery }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <IconButton icon="down" label="Export" onClick={() => setOpen(true)} />
      <Suspense>{isOpen && <ExportDialog query={query} close={() => setOpen(false)} />}</Suspense>
    </>
  )
}

/** Remembers the filters of a project in this browser, for the menu of views. */
function useFilterHistory(project: string, filter: string): void {
  useEffect(() => {
    if (filter === '') return
    writeKept('filters', historyText(withFilter(readHistory(readKept('filters')), project, filter)))
  }, [project, filter])
}

/**
 * The timeline, unless it is hidden or the project has no run. It is read after the list, so that it does not delay the
 * list.
 */
function TimelineStrip({ query, noteRange }: { query: RunQuery; noteRange(range: TimeSpan): void }) {
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
            narrow={(chosen) => {
              noteRange({ since, until })
              setRange(undefined, chosen)
            }}
          />
        )}
      </Suspense>
    </div>
  )
}

/** Selected runs are those of one list. */
function listKey({ project, isRoot }: RunQuery): string {
  return `${project} ${isRoot}`
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
  useFilterHistory(project, filter)
  const [before, noteRange] = useState<TimeSpan>({ since: '', until: '' })
  const hasFacets = usePreference('facets') === 'shown'
  const live = useLiveRuns(query, isListUsed)
  return (
    <>
      <ViewBar project={project} isRoot={isRoot} shown={shown}>
        <Suspense>{since !== '' && until !== '' && <DiffersButton {...{ query, before }} />}</Suspense>
        <span className={css['tools']}>
          <PartButton part="facets" icon="filter" label="Values" />
          <PartButton part="timeline" icon="timeline" label="Timeline" />
          <PanelButton query={query} />
          <ColumnButton query={query} ids={ids} />
          <ExportButton query={query} />
        </span>
        {query.sort === undefined ? <LiveMark state={live.state} /> : <Reread query={query} />}
      </ViewBar>
      <TimelineStrip query={query} noteRange={noteRange} />
      <ListTotals query={query} />
      <div className={css['split']}>
        <Suspense>{hasFacets && <FacetPanel query={query} />}</Suspense>
        <RunTable key={listKey(query)} {...{ query, columns, live }} />
      </div>
    </>
  )
}
