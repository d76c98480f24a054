import { useMemo, useRef } from 'react'
import { type CountedTrace, reasonOf } from '../../../data/usage/counted-trace.ts'
import { useCountedTraces } from '../../../data/usage/queries.ts'
import { countText } from '../../../parts/format/numbers.ts'
import { useRowKeys } from '../../../parts/keyboard/row-keys.ts'
import { Empty, Failure, Skeleton } from '../../../parts/states.tsx'
import { Time } from '../../../parts/time.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { Link } from '../../../router/link.tsx'
import { countedQuery } from './list-address.ts'
import { CountedHead, MoreButton, rangeText } from './list-parts.tsx'
import css from '../usage.module.css'

const COLUMNS = ['Trace', 'Counted at', 'Why then', 'Project', 'User', 'API key', 'Workspace']

function Rows({ traces }: { traces: readonly CountedTrace[] }) {
  return (
    <Table label="Counted traces" columns={COLUMNS}>
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
            <Link to={`/projects/${trace.project_id}?ws=${trace.workspace_id}`}>{trace.project_name}</Link>
          </td>
          <td>{trace.user_email ?? 'service key'}</td>
          <td>
            <code>{trace.api_key_short_key}</code>
          </td>
          <td>{trace.workspace_name}</td>
        </tr>
      ))}
    </Table>
  )
}

/** The traces that one number of the usage report counts, from the table in which they are counted. */
export function CountedTraces() {
  const query = useMemo(() => countedQuery(new URLSearchParams(location.search)), [])
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useCountedTraces(query)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const traces = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
  return (
    <div ref={page} className={css['page']}>
      <CountedHead title="Counted traces" />
      <p className={css['note']}>
        {countText(traces.length)} {traces.length === 1 ? 'trace' : 'traces'}
        {hasNextPage ? ' so far' : ''}, {rangeText(query)}. Deleted traces stay counted.
      </p>
      {traces.length === 0 ? <Empty title="No trace was counted here" /> : <Rows traces={traces} />}
      {hasNextPage && (
        <MoreButton isBusy={isFetchingNextPage} more={() => void fetchNextPage()}>
          Show more traces
        </MoreButton>
      )}
    </div>
  )
}
