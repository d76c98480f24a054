import { useTraceDeletion } from '../../../data/list/many-runs.ts'
import type { ListedRun, RunQuery } from '../../../data/run-pages.ts'
import { Confirm } from '../../../parts/forms/confirm.tsx'
import { notify } from '../../../parts/notice.tsx'

/** Asks before the traces of the selected runs are deleted. */
export function DeleteDialog({
  query,
  runs,
  done,
  close,
}: {
  query: RunQuery
  runs: readonly ListedRun[]
  done(): void
  close(): void
}) {
  const change = useTraceDeletion(query.project, query)
  const traces = [...new Set(runs.map(({ trace_id }) => trace_id))]
  const what = traces.length === 1 ? 'the trace' : `${traces.length} traces`
  const all = runs.every(({ parent_run_id }) => parent_run_id === null)
  return (
    <Confirm
      title={`Delete ${what}`}
      action="Delete"
      change={change}
      confirm={() =>
        change.mutate(traces, {
          onSuccess: () => {
            done()
            notify(traces.length === 1 ? 'The trace is being deleted.' : `${what} are being deleted.`)
          },
        })
      }
      close={close}
    >
      {all
        ? 'All of their runs are deleted'
        : 'Whole traces are deleted, also their runs that are not selected'}
      , with feedback and attachments. This cannot be undone. Usage counts stay.
    </Confirm>
  )
}
