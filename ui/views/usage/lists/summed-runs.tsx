import { useMemo, useRef } from 'react'
import type { UsageRuns } from '../../../api/platform.gen.ts'
import type { SummedQuery } from '../../../data/usage/lines.ts'
import { useSummedRuns } from '../../../data/usage/queries.ts'
import { addDecimals } from '../../../parts/format/decimal.ts'
import { countText, exactMoney, UNKNOWN } from '../../../parts/format/numbers.ts'
import { TypeIcon } from '../../../parts/icon.tsx'
import { Money } from '../../../parts/money.tsx'
import { useRowKeys } from '../../../parts/keyboard/row-keys.ts'
import { Empty, Failure, Skeleton } from '../../../parts/states.tsx'
import { type TableColumn, Table } from '../../../parts/table/table.tsx'
import { Time } from '../../../parts/time.tsx'
import { Link } from '../../../router/link.tsx'
import { summedQuery } from './list-address.ts'
import { CountedHead, MoreButton, rangeText } from './list-parts.tsx'
import css from '../usage.module.css'

type Run = UsageRuns['items'][number]

const TITLES = {
  tokens: 'Runs with tokens',
  cost: 'Runs with a cost',
  unpriced: 'Runs without a price',
} as const
const COLUMNS: readonly TableColumn[] = [
  ...['Run', 'Started', 'Model'],
  ...['Prompt', 'Completion', 'Tokens', 'Cost'].map((name) => ({ name, isNumber: true })),
  ...['Project', 'User', 'API key', 'Workspace'],
]

function tokensText(count: number | null): string {
  return count === null ? UNKNOWN : countText(count)
}

function Row({ run }: { run: Run }) {
  return (
    <tr>
      <th scope="row">
        <span className={css['name']}>
          <TypeIcon type={run.run_type} />
          <Link to={`/traces/${run.trace_id}?run=${run.run_id}&ws=${run.workspace_id}`}>{run.name}</Link>
        </span>
      </th>
      <td>
        <Time time={run.counted_at} />
      </td>
      <td>{[run.provider, run.model].filter(Boolean).join(' · ')}</td>
      <td className="number">{tokensText(run.prompt_tokens)}</td>
      <td className="number">{tokensText(run.completion_tokens)}</td>
      <td className="number">{countText(run.total_tokens)}</td>
      <td className="number">
        <Money
          value={run.total_cost}
          estimated={run.estimated_cost}
          unknown="No price is known for this model"
        />
      </td>
      <td>
        <Link to={`/projects/${run.project_id}?ws=${run.workspace_id}`}>{run.project_name}</Link>
      </td>
      <td>{run.user_email ?? 'service key'}</td>
      <td>
        <code>{run.api_key_short_key}</code>
      </td>
      <td>{run.workspace_name}</td>
    </tr>
  )
}

function Rows({ runs }: { runs: readonly Run[] }) {
  return (
    <Table label="Runs of the number" columns={COLUMNS}>
      {runs.map((run) => (
        <Row key={`${run.workspace_id} ${run.project_id} ${run.run_id}`} run={run} />
      ))}
    </Table>
  )
}

/** The sum over the runs shown so far. Once all pages are shown, it equals the number of the report. */
function sumText(runs: readonly Run[], { of }: SummedQuery): string {
  if (of === 'cost') return exactMoney(addDecimals(runs.flatMap(({ total_cost }) => total_cost ?? [])) ?? '0')
  return `${countText(runs.reduce((sum, { total_tokens }) => sum + total_tokens, 0))} tokens`
}

/** The runs whose tokens or costs one number of the usage report adds up. */
export function SummedRuns() {
  const query = useMemo(() => summedQuery(new URLSearchParams(location.search)), [])
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useSummedRuns(query)
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  const runs = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  if (data === undefined)
    return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
  return (
    <div ref={page} className={css['page']}>
      <CountedHead title={TITLES[query.of]} />
      <p className={css['note']}>
        {countText(runs.length)} {runs.length === 1 ? 'run' : 'runs'}
        {hasNextPage ? ' so far' : ''}, together {sumText(runs, query)}, {rangeText(query)}. A run that
        repeats the usage of another one is not counted.
      </p>
      {runs.length === 0 ? <Empty title="No run was counted here" /> : <Rows runs={runs} />}
      {hasNextPage && (
        <MoreButton isBusy={isFetchingNextPage} more={() => void fetchNextPage()}>
          Show more runs
        </MoreButton>
      )}
    </div>
  )
}
