import { lazy, Suspense } from 'react'
import { useProject } from '../../data/projects/projects.ts'
import { Tabs } from '../../parts/controls.tsx'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { Failure, Skeleton } from '../../parts/states.tsx'
import { setParams, useParam } from '../../router/location.ts'
import type { PathParams } from '../../router/match.ts'
import { withParams, wordParam } from '../../router/params.ts'
import { useShown, ViewBar } from './bar.tsx'
import css from './project.module.css'
import { RunsView } from './runs-view.tsx'
import { ThreadTable } from './thread-table.tsx'

const ProjectOverview = lazy(() =>
  import('./overview/overview.tsx').then(({ ProjectOverview: view }) => ({ default: view })),
)

const VIEWS = ['traces', 'runs', 'threads', 'overview'] as const
type View = (typeof VIEWS)[number]
const NAMES: Readonly<Record<View, string>> = {
  traces: 'Traces',
  runs: 'All runs',
  threads: 'Threads',
  overview: 'Overview',
}
const VIEW = wordParam('view', VIEWS)
const show = (view: View): void => setParams({ view: VIEW.write(view) }, { step: true })
const KEYS = {
  '/': () => document.querySelector<HTMLElement>('#filter')?.focus(),
  'g t': () => show('traces'),
  'g r': () => show('runs'),
}

function Head({ id, view }: { id: string; view: View }) {
  const { data } = useProject(id)
  const tabs = VIEWS.map((name) => ({
    to: `/projects/${id}${withParams(location.search, { view: VIEW.write(name) })}`,
    text: NAMES[name],
    isCurrent: view === name,
  }))
  return (
    <div className={css['head']}>
      <h1>{data?.name ?? 'Project'}</h1>
      <Tabs label="Views of the project" tabs={tabs} />
    </div>
  )
}

/** A project: its traces or all of its runs, filtered; its threads; or its figures in time. */
export function Project({ params }: { params: PathParams }) {
  const id = params['id'] ?? ''
  const view = useParam(VIEW)
  const shown = useShown()
  const { filter, since, until } = shown
  useKeys(KEYS)
  const { data, error, refetch } = useProject(id)
  if (data === undefined && error !== null)
    return <Failure error={error} heading="h1" retry={() => void refetch()} />
  return (
    <div className={css['page']}>
      <Head id={id} view={view} />
      {(view === 'traces' || view === 'runs') && (
        <RunsView project={id} isRoot={view === 'traces'} shown={shown} />
      )}
      {view === 'threads' && (
        <>
          <ViewBar project={id} isRoot shown={shown} />
          <ThreadTable query={{ project: id, filter, since, until }} />
        </>
      )}
      {view === 'overview' && (
        <>
          <ViewBar project={id} isRoot={false} shown={shown} />
          <Suspense fallback={<Skeleton />}>
            <ProjectOverview project={id} {...{ filter, since, until }} />
          </Suspense>
        </>
      )}
    </div>
  )
}
