import { useMemo } from 'react'
import type { Reply } from '../../api/call.ts'
import { useCountedTraces } from '../../data/usage/queries.ts'
import { Button } from '../../parts/controls.tsx'
import { countText } from '../../parts/format/numbers.ts'
import { Empty, Failure, Skeleton } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { Link } from '../../router/link.tsx'
import { useParam } from '../../router/location.ts'
import { textParam } from '../../router/params.ts'
import { countedQuery } from './counted.ts'
import css from './usage.module.css'

type CountedTrace = Reply<'GET /api/v1/orgs/current/billing/usage-traces'>['items'][number]

const NAME = textParam('name')
const BUCKET = textParam('time_bucket')

const DECIDED = {
  root: 'its root run',
  child: 'its earliest run; no root has come',
  unplaced: 'a run without a place in a tree',
  under_parent: 'a run below a parent of an unknown trace',
} as const

function reasonOf({ counted_by, time_source }: CountedTrace): string {
  const time = time_source === 'start_time' ? 'start of' : 'arrival of'
  return `${time} ${DECIDED[counted_by]}`
}

/** A time of the report, which lies on a whole hour: `2026-03-01 14:00`. */
function utcText(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)}`
}

function Rows({ traces }: { traces: readonly CountedTrace[] }) {
  return (
    <div className={css['scroll']} tabIndex={0} role="region" aria-label="Counted traces">
      <table className={css['table']}>
        <thead>
          <tr>
            {['Trace', 'Counted at', 'Why then', 'Project', 'User', 'API key', 'Workspace'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {traces.map((trace) => (
            <tr key={`${trace.workspace_id} ${trace.trace_id}`}>
              <th scope="row">
                <Link to={`/traces/${trace.trace_id}?ws=${trace.workspace_id}`}>
                  <code>{trace.trace_id}</code>
                </Link>
              </th>
              <td>
                <Time time={trace.counted_at} />
              </td>
              <td>{reasonOf(trace)}</td>
              <td>
                <Link to={`/projects/${trace.project_id}?ws=${trace.workspace_id}`}>
                  {trace.project_name}
                </Link>
              </td>
              <td>{trace.user_email ?? 'service key'}</td>
              <td>
                <code>{trace.api_key_short_key}</code>
              </td>
              <td>{trace.workspace_name}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The traces that one number of the usage report counts, from the table in which they are counted. */
export function CountedTraces() {
  const [name, bucket] = [useParam(NAME), useParam(BUCKET)]
  const query = useMemo(() => countedQuery(new URLSearchParams(location.search)), [])
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useCountedTraces(query)
  const traces = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
  return (
    <div className={css['page']}>
      <div className={css['head']}>
        <h1>Counted traces{name !== '' && ` of ${name}`}</h1>
        <Link to="/usage">Usage</Link>
      </div>
      <p className={css['note']}>
        {countText(traces.length)} {traces.length === 1 ? 'trace' : 'traces'}
        {hasNextPage ? ' so far' : ''}, from {utcText(query.start_time)} to {utcText(query.end_time)} UTC
        {bucket !== '' && `, in the bar that begins ${utcText(bucket)}`}. Deleted traces stay counted.
      </p>
      {traces.length === 0 ? <Empty title="No trace was counted here" /> : <Rows traces={traces} />}
      {hasNextPage && (
        <p>
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more traces
          </Button>
        </p>
      )}
    </div>
  )
}
