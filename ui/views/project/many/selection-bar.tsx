import { lazy, Suspense, useState } from 'react'
import type { ListedRun, RunQuery } from '../../../data/run-pages.ts'
import { usePermission } from '../../../data/session.ts'
import { Button, IconButton } from '../../../parts/controls.tsx'
import { navigate } from '../../../router/location.ts'
import css from './many.module.css'

const DeleteDialog = lazy(() =>
  import('./delete-dialog.tsx').then((file) => ({ default: file.DeleteDialog })),
)
const FeedbackDialog = lazy(() =>
  import('./feedback-dialog.tsx').then((file) => ({ default: file.FeedbackDialog })),
)
const Differences = lazy(() => import('./differences.tsx').then((file) => ({ default: file.Differences })))
const ExportDialog = lazy(() =>
  import('./export-dialog.tsx').then((file) => ({ default: file.ExportDialog })),
)

/** What can be done with the selected runs of a list. */
export function SelectionBar({
  query,
  runs,
  clear,
}: {
  query: RunQuery
  runs: readonly ListedRun[]
  clear(): void
}) {
  const [open, setOpen] = useState<'delete' | 'feedback' | 'export' | 'differences'>()
  const close = (): void => setOpen(undefined)
  const done = (): void => {
    close()
    clear()
  }
  const deleting = usePermission('runs:delete')
  const judging = usePermission('runs:create')
  const [a, b] = runs
  if (a === undefined) return null
  const isPair = runs.length === 2 && b !== undefined
  return (
    <div className={css['bar']} role="region" aria-label="Selected runs">
      <span role="status">{runs.length} selected</span>
      <Button
        look={isPair ? 'primary' : 'usual'}
        disabled={!isPair}
        title={isPair ? undefined : 'Two runs can be compared'}
        onClick={() => navigate(`/compare?a=${a.id}&b=${b?.id}`)}
      >
        {isPair ? 'Compare the two' : 'Compare'}
      </Button>
      <Button
        disabled={b === undefined}
        title={b === undefined ? 'Two or more runs can be compared with the others' : undefined}
        onClick={() => setOpen('differences')}
      >
        What differs
      </Button>
      <Button disabled={!judging.isAllowed} title={judging.reason} onClick={() => setOpen('feedback')}>
        Add feedback
      </Button>
      <Button onClick={() => setOpen('export')}>Export</Button>
      <Button disabled={!deleting.isAllowed} title={deleting.reason} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <IconButton icon="close" label="Clear the selection" onClick={clear} />
      <Suspense>
        {open === 'differences' && (
          <Differences {...{ query, close }} compared={{ ids: runs.map(({ id }) => id) }} />
        )}
        {open === 'delete' && <DeleteDialog {...{ query, runs, close, done }} />}
        {open === 'feedback' && <FeedbackDialog {...{ runs, close, done }} />}
        {open === 'export' && <ExportDialog {...{ query, runs, close }} />}
      </Suspense>
    </div>
  )
}
