import type { ReadRun } from '../../../data/runs.ts'
import { useSession } from '../../../data/session.ts'
import { type CountedTrace, dayOf, reasonOf, useCountedTrace } from '../../../data/usage/counted-trace.ts'
import { Failure, Skeleton } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { Link } from '../../../router/link.tsx'
import css from './run.module.css'

function dayText(from: string): string {
  return `${from.slice(0, 10)} (UTC)`
}

/** The path of the list of traces that count on the same day in the same project, including this trace. */
function tracesPath({ counted_at, workspace_id, project_id, project_name }: CountedTrace): string {
  const { from, to } = dayOf(counted_at)
  const search = {
    start_time: from,
    end_time: to,
    time_bucket: from,
    workspace_ids: workspace_id,
    project_id,
  }
  return `/usage/traces?${new URLSearchParams({ ...search, name: project_name })}`
}

function reportPath(time: string, more: Readonly<Record<string, string>> = {}): string {
  return `/usage?${new URLSearchParams({ ...dayOf(time), ...more })}`
}

function TraceFacts({ counted }: { counted: CountedTrace }) {
  const { from } = dayOf(counted.counted_at)
  return (
    <dl className={css['pairs']}>
      <dt>Trace counts at</dt>
      <dd>
        <Time time={counted.counted_at} />, the {reasonOf(counted)}
      </dd>
      <dt>Project</dt>
      <dd>{counted.project_name}</dd>
      <dt>User</dt>
      <dd>{counted.user_email ?? 'none: a service key sent it'}</dd>
      <dt>API key</dt>
      <dd>
        <code>{counted.api_key_short_key}</code>
      </dd>
      <dt>Counted with</dt>
      <dd>
        <Link to={tracesPath(counted)}>the traces of the project on {dayText(from)}</Link>
        {', in '}
        <Link to={reportPath(counted.counted_at)}>the usage of that day</Link>
      </dd>
    </dl>
  )
}

/** Shows where a run's tokens and costs count: at the start of the run, although the trace may count on another day. */
function RunFacts({ run: { start_time, total_tokens, total_cost } }: { run: ReadRun }) {
  if (!start_time || (!total_tokens && (total_cost ?? null) === null)) return null
  const of = (total_cost ?? null) === null ? 'tokens' : 'cost'
  return (
    <p>
      Tokens and cost count at the start of each model call; those of this run in{' '}
      <Link to={reportPath(start_time, { by: 'model', of })}>
        the usage by model on {dayText(dayOf(start_time).from)}
      </Link>
      .
    </p>
  )
}

/** Shows the numbers of the usage report in which a run and its trace are counted, with the reasons. */
export function UsageFacts({ run }: { run: ReadRun }) {
  const { data: session } = useSession()
  const { data, error, refetch } = useCountedTrace(run.trace_id ?? '')
  if (session?.features.usage === false) return <p>Usage is not counted on this server.</p>
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton />
  return (
    <>
      {data === null ? (
        <p>This trace is not counted: it came before counting was switched on.</p>
      ) : (
        <TraceFacts counted={data} />
      )}
      <RunFacts run={run} />
    </>
  )
}
