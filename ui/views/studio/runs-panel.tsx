import { useDeploymentRead } from '../../data/deployments/contents.ts'
import { runWord, type ThreadRun } from '../../data/deployments/thread-run.ts'
import { useThreadChange } from '../../data/studio/history.ts'
import { Button } from '../../parts/controls.tsx'
import { Failure } from '../../parts/states.tsx'
import { Link } from '../../router/link.tsx'
import type { StudioSession } from './session.ts'
import css from './studio.module.css'

/**
 * The runs are read at intervals too, because the stream of the thread does not report runs that other clients have
 * queued.
 */
const EVERY_MS = 5000
const SHOWN = 5

function isActive({ status }: Pick<ThreadRun, 'status'>): boolean {
  return status === 'pending' || status === 'running'
}

type RunHead = Pick<ThreadRun, 'run_id' | 'status'>

interface ActionsProps {
  thread: string
  run: RunHead
  session: StudioSession
  change: ReturnType<typeof useThreadChange>
}

/** Ends an active run, or replays one that has ended. */
function RunActions({ thread, run: { run_id, ...run }, session, change }: ActionsProps) {
  const refusal = session.rights.cancel
  const isDisabled = change.isPending || refusal !== undefined
  if (!isActive(run))
    return (
      <Button
        look="plain"
        disabled={session.isLoading}
        title={session.isLoading ? 'A run is active' : 'Show again how it ran'}
        onClick={() => session.replay.start(thread, run_id)}
      >
        Replay
      </Button>
    )
  return (
    <span className={css['actions']}>
      <Button
        disabled={isDisabled}
        title={refusal ?? 'It ends. Its checkpoints and partial messages stay.'}
        onClick={() => change.mutate({ kind: 'cancel', run_id, action: 'interrupt' })}
      >
        Interrupt
      </Button>
      <Button
        disabled={isDisabled}
        title={refusal ?? 'It ends and is deleted with its checkpoints: the thread is as it was before.'}
        onClick={() => change.mutate({ kind: 'cancel', run_id, action: 'rollback' })}
      >
        Roll back
      </Button>
    </span>
  )
}

/** The newest runs of the thread, from any client: active ones can be cancelled, ended ones replayed. */
export function RunsPanel({
  name,
  thread,
  session,
  isWaiting,
}: {
  name: string
  thread: string
  session: StudioSession
  /** Whether the thread waits for an answer: its newest run then does. */
  isWaiting: boolean
}) {
  // Inputs are not selected, because they may be large.
  const path = `/threads/${thread}/runs?limit=20&select=run_id&select=status`
  const runs = useDeploymentRead<RunHead[]>(name, path, { every: EVERY_MS })
  const change = useThreadChange(name, thread)
  const found = runs.data ?? []
  const shown = found.filter((run, place) => isActive(run) || place < SHOWN)
  if (shown.length === 0 && runs.error === null) return null
  return (
    <section className={css['panel']} aria-label="Runs">
      <h2>Runs</h2>
      {change.error !== null && <Failure error={change.error} />}
      {runs.error !== null && <Failure error={runs.error} retry={() => void runs.refetch()} />}
      <ul className={css['runs']}>
        {shown.map((run) => (
          <li key={run.run_id} data-status={run.status}>
            <Link to={`/runs/${run.run_id}`} title={run.run_id}>
              <code>{run.run_id.slice(0, 13)}…</code>
            </Link>
            <span className={run.status === 'error' ? css['bad'] : undefined}>
              {run.status === 'pending' ? 'queued' : runWord(run.status, isWaiting && run === found[0])}
              {run.run_id === session.run && ' (shown)'}
            </span>
            <RunActions {...{ thread, run, session, change }} />
          </li>
        ))}
      </ul>
    </section>
  )
}
