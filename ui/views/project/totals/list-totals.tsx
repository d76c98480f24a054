import type { ReactNode } from 'react'
import { useListFigures } from '../../../data/list/list-figures.ts'
import { narrowed, slowerClause } from '../../../data/overview/selection.ts'
import type { RunQuery } from '../../../data/run-pages.ts'
import { countText, durationText, shareText, shortCount, UNKNOWN } from '../../../parts/format/numbers.ts'
import { Money } from '../../../parts/money.tsx'
import { Link } from '../../../router/link.tsx'
import { withParams } from '../../../router/params.ts'
import css from './list-totals.module.css'

interface TotalProps {
  name: string
  title?: string | undefined
  /** The address of the runs behind the figure; undefined if it is that of the list itself. */
  to?: string | undefined
  children: ReactNode
}

function Total({ name, title, to, children }: TotalProps) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{to === undefined ? children : <Link to={to}>{children}</Link>}</dd>
    </div>
  )
}

const seconds = (value: number | null): string =>
  value === null ? UNKNOWN : durationText(Math.round(value * 1e6))

/** The address of the same list with a further condition; undefined without one. */
function narrower({ project, filter }: RunQuery, clause: string | undefined): string | undefined {
  if (clause === undefined) return undefined
  return `/projects/${project}${withParams(location.search, { q: narrowed(filter, [clause]), peek: undefined })}`
}

/** The figures of all runs of a list, also of those that are not loaded. A figure opens the runs that it is about. */
export function ListTotals({ query }: { query: RunQuery }) {
  const { data: figures, isPlaceholderData, error } = useListFigures(query)
  if (error !== null) return <p className={css['totals']}>The figures of the list could not be read.</p>
  if (figures === undefined) return <div className={css['totals']} />
  const slower = (value: number | null): string | undefined =>
    narrower(query, value === null ? undefined : slowerClause('latency', value))
  return (
    <dl className={css['totals']} aria-label="Figures of the list" aria-busy={isPlaceholderData}>
      <Total name={query.isRoot ? 'Traces' : 'Runs'}>{countText(figures.run_count)}</Total>
      <Total
        name="Error rate"
        title={
          query.isRoot ? 'Share of the ended traces whose root failed' : 'Share of the ended runs that failed'
        }
        to={figures.error_rate ? narrower(query, 'eq(status, "error")') : undefined}
      >
        {shareText(figures.error_rate)}
      </Total>
      <Total
        name="p50"
        title="Median latency; opens those that took as long or longer"
        to={slower(figures.latency_p50)}
      >
        {seconds(figures.latency_p50)}
      </Total>
      <Total
        name="p95"
        title="95th percentile of the latency; opens those that took as long or longer"
        to={slower(figures.latency_p95)}
      >
        {seconds(figures.latency_p95)}
      </Total>
      <Total name="Tokens" title={countText(figures.total_tokens)}>
        {shortCount(figures.total_tokens)}
      </Total>
      <Total name="Cost">
        <Money value={figures.total_cost} unpriced={figures.unpriced_runs} />
      </Total>
    </dl>
  )
}
