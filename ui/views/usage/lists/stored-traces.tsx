import { useMemo, useRef } from 'react'
import type { ListedRun } from '../../../data/run-pages.ts'
import { useProjectNames } from '../../../data/projects/projects.ts'
import { type StoredQuery, storedFilter } from '../../../data/usage/stored.ts'
import { useStoredTraces } from '../../../data/usage/queries.ts'
import { columnDuration, countText } from '../../../parts/format/numbers.ts'
import { previewText } from '../../../parts/format/preview-text.ts'
import { microsBetween } from '../../../parts/format/times.ts'
import { OutcomeIcon } from '../../../parts/icon.tsx'
import { useRowKeys } from '../../../parts/keyboard/row-keys.ts'
import { MoneyCell } from '../../../parts/money.tsx'
import { Empty, Failure, Skeleton } from '../../../parts/states.tsx'
import { type TableColumn, Table } from '../../../parts/table/table.tsx'
import { Time } from '../../../parts/time.tsx'
import { Link } from '../../../router/link.tsx'
import { CountedHead, MoreButton, rangeText } from './list-parts.tsx'
import { storedQuery } from './stored-address.ts'
import css from '../usage.module.css'

const COLUMNS: readonly TableColumn[] = [
  ...['Trace', 'Input'],
  ...['Started', 'Took', 'Tokens', 'Cost'].map((name) => ({ name, isNumber: true })),
  'Project',
]

/** The traces of the same number in the list of one project. */
function projectPath(project: string, query: StoredQuery): string {
  const q = storedFilter(query)
  return `/projects/${project}?${new URLSearchParams({ from: query.from, to: query.to, ...(q !== '' && { q }) })}`
}

function Rows({ traces, query }: { traces: readonly ListedRun[]; query: StoredQuery }) {
  const nameOf = useProjectNames(traces.map(({ session_id }) => session_id ?? ''))
  return (
    <Table label="Traces of the number" columns={COLUMNS}>
      {traces.map((trace) => (
        <tr key={`${trace.session_id} ${trace.id}`}>
          <th scope="row">
            <span className={css['name']}>
              <OutcomeIcon status={trace.status} error_runs={trace.error_runs} />
              <Link to={`/traces/${trace.trace_id}`}>{trace.name}</Link>
            </span>
          </th>
          <td className={css['input']}>
            <span dir="auto" title={previewText(trace.inputs_preview ?? '')}>
              {previewText(trace.inputs_preview ?? '')}
            </span>
          </td>
          <td className="number">
            <Time time={trace.start_time} />
          </td>
          <td className="number">{columnDuration(microsBetween(trace.start_time, trace.end_time))}</td>
          <td className="number">{countText(trace.total_tokens)}</td>
          <td className="number">
            <MoneyCell
              value={trace.total_cost}
              estimated={trace.estimated_cost}
              unpriced={trace.unpriced_runs}
            />
          </td>
          <td>
            <Link
              to={projectPath(trace.session_id ?? '', query)}
              title="The traces of this number in the list of the project"
            >
              {nameOf.get(trace.session_id ?? '') ?? 'Project'}
            </Link>
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The stored traces behind one number of a report by a key of the metadata, of all projects of the workspace. */
export function StoredTraces() {
  const query = useMemo(() => storedQuery(new URLSearchParams(location.search)), [])
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useStoredTraces(query)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const traces = useMemo(() => data?.pages.flatMap(({ runs }) => runs) ?? [], [data])
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
  const range = rangeText({ start_time: query.from, end_time: query.to, workspace_ids: [] })
  return (
    <div ref={page} className={css['page']}>
      <CountedHead title={`Traces by ${query.key}`} before=": " />
      <p className={css['note']}>
        {countText(traces.length)} {traces.length === 1 ? 'trace' : 'traces'}
        {hasNextPage ? ' so far' : ''}, {range}, newest first.{' '}
        {query.isUnpriced && 'Each has a call without a price. '}
        The name of a project opens the same traces in its list.
      </p>
      {traces.length === 0 ? (
        <Empty title="No stored trace is here any more" />
      ) : (
        <Rows traces={traces} query={query} />
      )}
      {hasNextPage && (
        <MoreButton isBusy={isFetchingNextPage} more={() => void fetchNextPage()}>
          Show more traces
        </MoreButton>
      )}
    </div>
  )
}
