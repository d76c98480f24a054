import { useState } from 'react'
import type { Alert } from '../../../api/platform.gen.ts'
import type { Bucket, Interval } from '../../../data/overview/buckets.ts'
import type { Selection } from '../../../data/overview/selection.ts'
import type { Cursor } from '../../../parts/chart/frame.tsx'
import { type ChartLimit, Lines } from '../../../parts/chart/lines.tsx'
import { StackedBars, Swatch } from '../../../parts/chart/stacked-bars.tsx'
import { UNKNOWN } from '../../../parts/format/numbers.ts'
import { Table } from '../../../parts/table/table.tsx'
import { Link } from '../../../router/link.tsx'
import { navigate } from '../../../router/location.ts'
import { alertsOf, ChartAlerts, limitsOf } from './alerts/chart-alerts.tsx'
import { bucketText, bucketTicks } from './bucket-text.ts'
import type { Chart, Mark } from './charts.ts'
import css from './overview.module.css'

/** A chart with its legend, which shows the figures at the cursor, and with a table of all of its figures. */
export function ChartPanel({
  chart,
  selection,
  alerts,
  buckets,
  interval,
  at,
  move,
  select,
}: {
  chart: Chart
  selection: Selection
  /** All alerts of the project. */
  alerts: readonly Alert[]
  buckets: readonly Bucket[]
  interval: Interval
  /** The bucket at the cursor, in all charts. */
  at: number | undefined
  move(at: number | undefined): void
  select(first: number, last: number): void
}) {
  const [hasFocus, setFocus] = useState(false)
  const isEmpty = chart.series.every(({ marks }) => marks.every((mark) => mark === undefined))
  const bucket = at === undefined ? undefined : buckets[at]
  const own = alertsOf(chart, selection.subject, alerts)
  return (
    <section
      className={css['panel']}
      aria-label={chart.title}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
    >
      <div className={css['caption']}>
        <h2>{chart.title}</h2>
        <span className={css['note']}>
          {bucket === undefined ? chart.note : bucketText(bucket, interval)}
        </span>
        <ChartAlerts chart={chart} selection={selection} alerts={own} />
      </div>
      {isEmpty ? (
        <p className={css['empty']}>{chart.empty} in this range.</p>
      ) : (
        <>
          <Legend chart={chart} at={at} isRead={hasFocus} />
          <Picture
            chart={chart}
            buckets={buckets}
            interval={interval}
            limits={limitsOf(own, selection)}
            cursor={{ at, move, select, open: (place) => navigate(chart.rows(place, place)) }}
          />
          <Numbers chart={chart} buckets={buckets} interval={interval} />
        </>
      )}
    </section>
  )
}

function Legend({ chart, at, isRead }: { chart: Chart; at: number | undefined; isRead: boolean }) {
  return (
    <ul className={css['legend']} aria-live={isRead ? 'polite' : 'off'}>
      {chart.series.map(({ id, name, tone, marks, whole }) => (
        <li key={id}>
          <Swatch series={tone} />
          <span className={css['series']} title={name}>
            {name}
          </span>
          <Figure mark={at === undefined ? whole : marks[at]} />
        </li>
      ))}
    </ul>
  )
}

/** A figure that opens its runs. */
export function Figure({ mark }: { mark: Mark | undefined }) {
  return mark === undefined ? <span>{UNKNOWN}</span> : <Link to={mark.to}>{mark.text}</Link>
}

function Picture({
  chart,
  buckets,
  interval,
  limits,
  cursor,
}: {
  chart: Chart
  buckets: readonly Bucket[]
  interval: Interval
  limits: readonly ChartLimit[]
  cursor: Cursor
}) {
  const [first, last] = [buckets.at(0), buckets.at(-1)]
  const ends = [first, last].map((one) => (one === undefined ? '' : bucketText(one, interval)))
  const shared = {
    label: `${chart.title} from ${ends[0]} to ${ends[1]}. Arrow keys go through time, Enter opens the runs; the table below has all figures.`,
    axis: chart.axis,
    ticks: bucketTicks(buckets, interval),
    cursor,
  }
  const titled = (name: string, mark: Mark, at: number) => {
    const bucket = buckets[at]
    const time = bucket === undefined ? '' : bucketText(bucket, interval)
    return { size: mark.size, title: `${name}, ${time}: ${mark.text}`, open: () => navigate(mark.to) }
  }
  if (chart.kind === 'lines') {
    const lines = chart.series.map(({ id, name, tone, isDashed, marks }) => ({
      id,
      series: tone,
      isDashed,
      points: marks.map((mark, at) => mark && titled(name, mark, at)),
    }))
    return <Lines {...shared} limits={limits} lines={lines} places={buckets.length} />
  }
  const bars = buckets.map(({ start }, at) => ({
    id: start,
    parts: chart.series.flatMap(({ id, name, tone, marks }) => {
      const mark = marks[at]
      return mark === undefined || mark.size <= 0 ? [] : [{ id, series: tone, ...titled(name, mark, at) }]
    }),
  }))
  return <StackedBars {...shared} bars={bars} />
}

function Numbers({
  chart,
  buckets,
  interval,
}: {
  chart: Chart
  buckets: readonly Bucket[]
  interval: Interval
}) {
  const [isOpen, setOpen] = useState(false)
  const used = buckets.flatMap((bucket, at) =>
    chart.series.some(({ marks }) => marks[at] !== undefined) ? [{ bucket, at }] : [],
  )
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Every figure of the chart</summary>
      {isOpen && (
        <Table
          label={`Figures: ${chart.title}`}
          columns={['Start', ...chart.series.map(({ name }) => ({ name, isNumber: true }))]}
          className={css['table']}
        >
          {used.toReversed().map(({ bucket, at }) => (
            <tr key={bucket.start}>
              <th scope="row" title={bucket.start}>
                {bucketText(bucket, interval)}
              </th>
              {chart.series.map(({ id, marks }) => (
                <td key={id} className="number">
                  <Figure mark={marks[at]} />
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </details>
  )
}
