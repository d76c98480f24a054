import type { ReactNode } from 'react'
import { rowsPath, slowerClause } from '../../../data/overview/selection.ts'
import { countText, durationText, shareText, shortCount, UNKNOWN } from '../../../parts/format/numbers.ts'
import { Money } from '../../../parts/money.tsx'
import { Link } from '../../../router/link.tsx'
import type { ChartData } from './charts.ts'
import css from './overview.module.css'

function Total({ name, to, children }: { name: string; to?: string | undefined; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{to === undefined ? children : <Link to={to}>{children}</Link>}</dd>
    </div>
  )
}

const seconds = (value: number | null): string =>
  value === null ? UNKNOWN : durationText(Math.round(value * 1e6))

/** The figures of the whole range. */
export function Totals({ data: { selection, span, figures } }: { data: ChartData }) {
  const { all, failed } = figures
  const range = { start: span.from, end: span.to }
  const rows = (...clauses: string[]): string => rowsPath(selection, range, clauses)
  const slower = (field: 'latency' | 'ttft', value: number | null): string | undefined => {
    if (value === null) return undefined
    return selection.subject === 'traces' && field === 'ttft' ? rows() : rows(slowerClause(field, value))
  }
  return (
    <dl className={css['totals']}>
      <Total name={selection.subject === 'traces' ? 'Traces' : 'Runs'} to={rows()}>
        {countText(all.run_count)}
      </Total>
      <Total name="Failed" to={rows('eq(status, "error")')}>
        {countText(failed)} <small>{shareText(all.error_rate)}</small>
      </Total>
      <Total name="Latency p50" to={slower('latency', all.latency_p50)}>
        {seconds(all.latency_p50)}
      </Total>
      <Total name="Latency p95" to={slower('latency', all.latency_p95)}>
        {seconds(all.latency_p95)}
      </Total>
      <Total name="First token p50" to={slower('ttft', all.first_token_p50)}>
        {seconds(all.first_token_p50)}
      </Total>
      <Total name="Tokens" to={rows()}>
        <span title={countText(all.total_tokens)}>{shortCount(all.total_tokens)}</span>
      </Total>
      <Total name="Cost" to={rows()}>
        <Money value={all.total_cost} unpriced={all.unpriced_runs} />
      </Total>
    </dl>
  )
}
