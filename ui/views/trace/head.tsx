import { lazy, type ReactNode, Suspense, useState } from 'react'
import { type Outline, totalTokens } from '../../data/outline.ts'
import { useProject } from '../../data/projects/projects.ts'
import type { ReadRun } from '../../data/runs.ts'
import { usePermission } from '../../data/session.ts'
import { Button, Chip, IconButton, Tabs } from '../../parts/controls.tsx'
import { countText, durationText } from '../../parts/format/numbers.ts'
import { StatusIcon } from '../../parts/icon.tsx'
import { Money } from '../../parts/money.tsx'
import { Time } from '../../parts/time.tsx'
import { PageHead, Place } from '../../parts/page/page-head.tsx'
import { Link } from '../../router/link.tsx'
import { currentPath, setParams, useParam } from '../../router/location.ts'
import { textParam, withParams, wordParam } from '../../router/params.ts'
import css from './trace.module.css'

const DeleteTrace = lazy(() => import('./delete-trace.tsx').then((file) => ({ default: file.DeleteTrace })))
const ShareDialog = lazy(() => import('./share-dialog.tsx').then((file) => ({ default: file.ShareDialog })))

const RUN = textParam('run')
/** Whether the failed runs are listed instead of the tree. */
export const ONLY_FAILED = wordParam('failed', ['off', 'on'])

function numberIn(totals: Outline['totals'], name: string): number | undefined {
  const value = totals[name]
  return typeof value === 'number' ? value : undefined
}

function textIn(totals: Outline['totals'], name: string): string | undefined {
  const value = totals[name]
  return typeof value === 'string' ? value : undefined
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span>
      {name} <b>{children}</b>
    </span>
  )
}

/** The number of failed runs; a click lists them instead of the tree. */
function FailedButton({ count }: { count: number }) {
  const isOn = useParam(ONLY_FAILED) === 'on'
  return (
    <button
      type="button"
      className={css['failures']}
      aria-pressed={isOn}
      title={isOn ? 'Show all runs' : 'List the failed runs; e goes to the next one'}
      onClick={() => setParams({ failed: isOn ? undefined : 'on', view: undefined })}
    >
      {count} failed
    </button>
  )
}

function Totals({ outline }: { outline: Outline }) {
  const { totals } = outline
  const unpriced = numberIn(totals, 'unpriced_runs') ?? 0
  const errors = numberIn(totals, 'error_runs') ?? 0
  return (
    <>
      <Fact name="tokens">{countText(totalTokens(outline))}</Fact>
      <Fact name="cost">
        <Money
          value={textIn(totals, 'total_cost')}
          estimated={textIn(totals, 'estimated_cost')}
          unpriced={unpriced}
          unknown="No model call of this trace has a known cost"
        />
      </Fact>
      <Fact name="runs">{countText(outline.run_count)}</Fact>
      <Fact name="model calls">{countText(numberIn(totals, 'llm_runs'))}</Fact>
      {errors > 0 && <FailedButton count={errors} />}
    </>
  )
}

function Origin({ root, share }: { root: ReadRun; share: string | undefined }) {
  const { thread_id, session_id = '' } = root
  const hasThread = thread_id !== null && thread_id !== undefined
  const thread = `/threads/${encodeURIComponent(thread_id ?? '')}?project=${session_id}`
  return (
    <>
      <Fact name="started">
        <Time time={root.start_time} />
      </Fact>
      {hasThread && (
        <Fact name="thread">{share === undefined ? <Link to={thread}>{thread_id}</Link> : thread_id}</Fact>
      )}
    </>
  )
}

/** The path of the list from which a trace was opened; without one, that of the traces of its project. */
export function listPath({ session_id = '' }: ReadRun, list: string): string {
  return `/projects/${session_id}${list === '' ? '' : `?${list}`}`
}

/** Where the trace is: a link back to the list, by the name of the project. */
function PlaceOfTrace({ root, list }: { root: ReadRun; list: string }) {
  const { data } = useProject(root.session_id ?? '')
  const part = new URLSearchParams(list)
  return (
    <Place label="Place of the trace">
      <Link to={listPath(root, list)} title="Back to the list (Esc)">
        {data?.name ?? 'Project'}
        {part.get('view') === 'runs' && ', all runs'}
        {part.has('q') && ', filtered'}
      </Link>
    </Place>
  )
}

function Actions({
  rootId,
  root,
  list,
  step,
}: {
  rootId: string
  root: ReadRun | undefined
  list: string
  step(to: 'older' | 'newer'): void
}) {
  const [isSharing, setSharing] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const { isAllowed, reason } = usePermission('runs:delete')
  return (
    <>
      <Button look="plain" icon="share" onClick={() => setSharing(true)}>
        Share
      </Button>
      <IconButton
        icon="remove"
        label={reason ?? 'Delete the trace'}
        disabled={!isAllowed || root === undefined}
        onClick={() => setDeleting(true)}
      />
      <IconButton icon="back" label="Older trace  [" onClick={() => step('older')} />
      <IconButton icon="open" label="Newer trace  ]" onClick={() => step('newer')} />
      <Suspense>
        {isDeleting && root !== undefined && (
          <DeleteTrace root={root} after={listPath(root, list)} close={() => setDeleting(false)} />
        )}
      </Suspense>
      <Suspense>{isSharing && <ShareDialog runId={rootId} close={() => setSharing(false)} />}</Suspense>
    </>
  )
}

const VIEWS = [
  ['tree', 'Tree'],
  ['messages', 'Messages'],
] as const

/** Name and figures of a trace, its views, and buttons for the trace before and after it. */
export function TraceHead({
  outline,
  root,
  view,
  share,
  list,
  step,
}: {
  outline: Outline
  root: ReadRun | undefined
  view: 'tree' | 'messages'
  share: string | undefined
  /** The list from which the trace was opened, as in its address; '' for all traces of the project. */
  list: string
  step(to: 'older' | 'newer'): void
}) {
  const rootPlace = Math.max(0, outline.parents.indexOf(-1))
  const isRunning = outline.statuses.includes('pending')
  const run = useParam(RUN)
  const tabs = VIEWS.map(([name, text]) => ({
    to: `${currentPath()}${withParams(location.search, { run: run || undefined, view: name === 'tree' ? undefined : name })}`,
    text,
    isCurrent: view === name,
  }))
  return (
    <PageHead className={css['head']}>
      <div className={css['title']}>
        {root !== undefined && share === undefined && <PlaceOfTrace root={root} list={list} />}
        <StatusIcon status={isRunning ? 'pending' : outline.statuses[rootPlace]} />
        <h1>{outline.names[rootPlace]}</h1>
        {share !== undefined && <Chip>shared</Chip>}
      </div>
      <p className={css['facts']}>
        <Fact name="took">{durationText(outline.span)}</Fact>
        <Totals outline={outline} />
        {root !== undefined && <Origin root={root} share={share} />}
        {outline.is_truncated && <span>The first {countText(outline.ids.length)} runs are shown</span>}
      </p>
      <div className={css['views']}>
        <Tabs label="Views of the trace" tabs={tabs} />
        {share === undefined && <Actions rootId={outline.ids[rootPlace] ?? ''} {...{ root, list, step }} />}
      </div>
    </PageHead>
  )
}
