import { useTraceDeletion } from '../../data/list/many-runs.ts'
import type { ReadRun } from '../../data/runs.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { notify } from '../../parts/notice.tsx'
import { navigate } from '../../router/location.ts'

/** Asks before a trace is deleted; then the list at `after` is opened. */
export function DeleteTrace({ root, after, close }: { root: ReadRun; after: string; close(): void }) {
  const change = useTraceDeletion(root.session_id ?? '')
  return (
    <Confirm
      title="Delete the trace"
      action="Delete"
      change={change}
      confirm={() =>
        change.mutate([root.trace_id], {
          onSuccess: () => {
            navigate(after)
            notify('The trace is being deleted.')
          },
        })
      }
      close={close}
    >
      All runs of {root.name} are deleted, with feedback and attachments. This cannot be undone. Usage counts
      stay.
    </Confirm>
  )
}
