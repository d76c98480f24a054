import { type RefObject, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import type { Reply } from '../../api/call.ts'
import {
  type ProjectOrder,
  type ProjectSort,
  useProjectDeletion,
  useProjects,
} from '../../data/projects/projects.ts'
import { type ProjectTrend, useProjectTrends } from '../../data/projects/project-trends.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Field, IconButton } from '../../parts/controls.tsx'
import { countText, durationText, shareText, shortCount } from '../../parts/format/numbers.ts'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { useRowKeys } from '../../parts/keyboard/row-keys.ts'
import { DeleteProject } from '../../parts/forms/delete-project.tsx'
import { MoneyCell } from '../../parts/money.tsx'
import { useSnippetKey } from '../../data/settings/keys.ts'
import { Snippets } from '../../parts/snippets.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { CHANGE, Table, type TableColumn } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { navigate, setParam, useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { type EditedProject, ProjectDialog } from './project-dialog.tsx'
import css from './projects.module.css'
import { GoodCalls, Sparkline } from './trend.tsx'

type ListedProject = Reply<'GET /api/v1/sessions'>[number]
type Edit = (project: EditedProject) => void
type Named = Pick<ListedProject, 'id' | 'name'>
/** What can be done with a project of the list. */
interface Acts {
  edit: Edit
  remove(project: Named): void
}

const SEARCH = textParam('q')

const SORT = textParam('sort')

/** A column, and what it sorts the projects by. */
type Column = Exclude<TableColumn, string> & { by?: ProjectOrder }

const COLUMNS: readonly Column[] = [
  { name: 'Name', by: 'name' },
  { name: 'Traces', title: 'Traces that it has', isNumber: true, by: 'trace_count' },
  { name: 'Last run', title: 'When the newest run started', isNumber: true, by: 'last_run_start_time' },
  {
    name: 'Errors',
    title: 'Share of the ended traces whose root failed',
    isNumber: true,
    by: 'error_rate',
  },
  { name: 'p50', title: 'Median of the time that a trace took', isNumber: true, by: 'latency_p50' },
  { name: 'p95', title: '95th percentile of the same', isNumber: true, by: 'latency_p95' },
  {
    name: 'First token',
    title: 'Median of the time to the first token of streamed model calls',
    isNumber: true,
  },
  {
    name: 'Tokens',
    title: 'Prompt and completion tokens of all runs, without double counts',
    isNumber: true,
    by: 'total_tokens',
  },
  { name: 'Cost', title: 'Dollars, as far as the prices are known', isNumber: true, by: 'total_cost' },
  {
    name: 'Checks',
    title: 'Share of the model calls of the last 7 days that meet all four checks',
    isNumber: true,
  },
  { name: 'Last 7 days', title: 'Traces, each bar a quarter of a day', isNumber: true },
]

/** The order of the address: `name` from the lowest, `-name` from the highest; undefined for the newest project first. */
function sortOf(text: string): ProjectSort {
  const by = COLUMNS.find((column) => column.by === text.replace(/^-/, ''))?.by
  return by && { by, isDescending: text.startsWith('-') }
}

/** The order after a click on a column: names from A, figures from the highest; then the other way; then none. */
function nextSort(by: ProjectOrder, sort: ProjectSort): string {
  const isFirstDown = by !== 'name'
  if (sort?.by !== by) return isFirstDown ? `-${by}` : by
  if (sort.isDescending !== isFirstDown) return ''
  return isFirstDown ? by : `-${by}`
}

function headsOf(sort: ProjectSort): TableColumn[] {
  const heads = COLUMNS.map(({ by, ...head }): TableColumn => {
    if (by === undefined) return head
    const order = sort?.by === by ? (sort.isDescending ? 'descending' : 'ascending') : undefined
    const change = (): void => setParam(SORT, nextSort(by, sort), { step: true })
    return { ...head, sort: { order, change } }
  })
  return [...heads, CHANGE]
}

const micros = (seconds: number | null): number | undefined =>
  seconds === null ? undefined : Math.round(seconds * 1e6)

function Row({
  project,
  trend,
  edit,
  remove,
}: Acts & {
  project: ListedProject
  trend: ProjectTrend | undefined
}) {
  const { isAllowed, reason } = usePermission('projects:create')
  const deletion = usePermission('runs:delete')
  const rate = project.error_rate
  return (
    <tr>
      <td className="name">
        <Link to={`/projects/${project.id}`} title={project.description ?? undefined}>
          {project.name}
        </Link>
      </td>
      <td className="number" title={`${countText(project.run_count)} runs`}>
        {countText(project.trace_count)}
      </td>
      <td className="number">
        <Time time={project.last_run_start_time} />
      </td>
      <td className={`number ${rate !== null && rate > 0 ? css['bad'] : ''}`}>{shareText(rate)}</td>
      <td className="number">{durationText(micros(project.latency_p50))}</td>
      <td className="number">{durationText(micros(project.latency_p95))}</td>
      <td className="number">{durationText(micros(project.first_token_p50))}</td>
      <td className="number" title={countText(project.total_tokens)}>
        {shortCount(project.total_tokens)}
      </td>
      <td className="number">
        <MoneyCell
          value={project.total_cost}
          estimated={project.estimated_cost}
          unpriced={project.unpriced_runs}
        />
      </td>
      <td className="number">
        <GoodCalls project={project.id} trend={trend} />
      </td>
      <td className="number">
        <Sparkline project={project.id} trend={trend} />
      </td>
      <td className="number">
        <IconButton
          icon="edit"
          label={reason ?? `Rename ${project.name}`}
          disabled={!isAllowed}
          onClick={() => edit({ id: project.id, name: project.name, description: project.description ?? '' })}
        />
        <IconButton
          icon="remove"
          label={deletion.reason ?? `Delete ${project.name}`}
          disabled={!deletion.isAllowed}
          onClick={() => remove(project)}
        />
      </td>
    </tr>
  )
}

function ProjectTable({
  projects,
  sort,
  ...acts
}: Acts & {
  projects: readonly ListedProject[]
  sort: ProjectSort
}) {
  const ids = useMemo(() => projects.map(({ id }) => id), [projects])
  const trends = useProjectTrends(ids)
  return (
    <Table label="Projects" columns={headsOf(sort)}>
      {projects.map((project) => (
        <Row key={project.id} project={project} trend={trends.get(project.id)} {...acts} />
      ))}
    </Table>
  )
}

function Deletion({ project, close }: { project: Named; close(): void }) {
  const change = useProjectDeletion()
  const remove = (): void => change.mutate(project.id, { onSuccess: close })
  return <DeleteProject name={project.name} {...{ change, remove, close }} />
}

/** A button that opens the form of a new project. */
function NewProject({ edit }: { edit: Edit }) {
  const { isAllowed, reason } = usePermission('projects:create')
  return (
    <Button
      icon="plus"
      disabled={!isAllowed}
      title={reason}
      onClick={() => edit({ name: '', description: '' })}
    >
      New project
    </Button>
  )
}

function FirstTrace() {
  return (
    <Empty title="No trace has arrived yet">
      <p>Send one: the project appears here with its first run.</p>
      <Snippets source={useSnippetKey()} />
    </Empty>
  )
}

const rowsOf = (page: RefObject<HTMLElement | null>): Element[] => [
  ...(page.current?.querySelectorAll('tbody tr') ?? []),
]

/**
 * A button that reads the next page. It then moves the focus to the first row of that page, because the button itself
 * may disappear.
 */
function More({
  projects: { hasNextPage, isFetchingNextPage, fetchNextPage },
  page,
}: {
  projects: ReturnType<typeof useProjects>
  page: RefObject<HTMLElement | null>
}) {
  const frame = useRef<HTMLDivElement>(null)
  /** Number of rows before the read; undefined without one. */
  const rowsBefore = useRef<number>(undefined)
  useEffect(() => {
    const before = rowsBefore.current
    if (isFetchingNextPage || before === undefined) return
    rowsBefore.current = undefined
    const { activeElement } = document
    if (activeElement !== document.body && !frame.current?.contains(activeElement)) return
    const rows = rowsOf(page)
    const row = rows[before] ?? (hasNextPage ? undefined : rows.at(-1))
    row?.querySelector('a')?.focus()
  }, [isFetchingNextPage, hasNextPage, page])
  if (!hasNextPage) return null
  const more = (): void => {
    if (isFetchingNextPage) return
    rowsBefore.current = rowsOf(page).length
    void fetchNextPage()
  }
  return (
    <div ref={frame}>
      <Button aria-disabled={isFetchingNextPage} onClick={more}>
        Show more projects
      </Button>
    </div>
  )
}

export function Projects() {
  const search = useParam(SEARCH)
  const sorting = useParam(SORT)
  const sort = useMemo(() => sortOf(sorting), [sorting])
  const projects = useProjects(useDeferredValue(search), sort)
  const [edited, edit] = useState<EditedProject>()
  const [removed, remove] = useState<Named>()
  const field = useRef<HTMLInputElement>(null)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  useKeys({ '/': () => field.current?.focus() })
  return (
    <div ref={page} className={css['page']}>
      <div className={css['head']}>
        <h1>Projects</h1>
        <div className={css['actions']}>
          <Field
            ref={field}
            type="search"
            aria-label="Name contains"
            placeholder="Name contains"
            defaultValue={search}
            onChange={({ target }) => setParam(SEARCH, target.value)}
          />
          <NewProject edit={edit} />
        </div>
      </div>
      <Loaded from={projects}>
        {(found) => {
          if (found.length > 0) return <ProjectTable projects={found} {...{ sort, edit, remove }} />
          if (search !== '') return <Empty title={`No project has “${search}” in its name`} />
          return <FirstTrace />
        }}
      </Loaded>
      <More projects={projects} page={page} />
      {removed !== undefined && <Deletion project={removed} close={() => remove(undefined)} />}
      {edited !== undefined && (
        <ProjectDialog
          project={edited}
          close={() => edit(undefined)}
          saved={(id) => {
            edit(undefined)
            if (edited.id === undefined) navigate(`/projects/${id}`)
          }}
        />
      )}
    </div>
  )
}
