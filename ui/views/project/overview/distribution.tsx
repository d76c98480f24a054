import type { Figures } from '../../../data/overview/figures.ts'
import { rowsPath, type Selection } from '../../../data/overview/selection.ts'
import { StackedBars } from '../../../parts/chart/stacked-bars.tsx'
import { countText, durationText, shortCount } from '../../../parts/format/numbers.ts'
import { Table } from '../../../parts/table/table.tsx'
import { Link } from '../../../router/link.tsx'
import { navigate } from '../../../router/location.ts'
import type { ChartData } from './charts.ts'
import css from './overview.module.css'

/** A class of times with the number of its runs, and the path of the list of exactly these runs. */
export interface TimeClass {
  /** Its shortest time. */
  first: string
  name: string
  count: number
  to: string
}

type Field = 'latency' | 'ttft'

/**
 * Classes begin at 1, 2 and 5 times each power of ten. Returns the beginning of the class after the one that begins at
 * `from`, in seconds.
 */
function nextClass(from: number): number {
  if (from === 0) return 0.001
  const power = 10 ** Math.floor(Math.log10(from) + 1e-9)
  const first = Math.round(from / power)
  const next = first === 1 ? 2 : first === 2 ? 5 : 10
  return Number((next * power).toPrecision(1))
}

const micros = (seconds: number): number => Math.round(seconds * 1e6)

/** Ticks that have room under a chart of half a page. */
const MOST_TICKS = 7

/** All classes from the first to the last one that has runs. */
export function classesOf(
  selection: Selection,
  span: { from: string; to: string },
  field: Field,
  histogram: Figures['latency_histogram'],
): TimeClass[] {
  const counts = new Map((histogram ?? []).map(({ from, run_count }) => [from, run_count]))
  const least = [...counts.keys()]
  const last = Math.max(...least)
  const classes: TimeClass[] = []
  for (let from = Math.min(...least); from <= last; from = nextClass(from)) {
    const to = nextClass(from)
    const clauses = [`gte(${field}, "${micros(from)}us")`, `lt(${field}, "${micros(to)}us")`]
    classes.push({
      first: durationText(micros(from)),
      name: `${durationText(micros(from))} to ${durationText(micros(to))}`,
      count: counts.get(from) ?? 0,
      to: rowsPath(selection, { start: span.from, end: span.to }, clauses),
    })
  }
  return classes
}

/** Draws a distribution of times: a bar for each class. A bar opens its runs. */
export function Distribution({
  title,
  field,
  data: { selection, span, figures },
}: {
  title: string
  field: Field
  data: ChartData
}) {
  const { all } = figures
  const histogram = field === 'latency' ? all.latency_histogram : all.first_token_histogram
  if (histogram === null || histogram.length === 0) return null
  const classes = classesOf(selection, span, field, histogram)
  const bars = classes.map(({ name, count, to }) => ({
    id: name,
    parts: [
      { id: name, series: 0, size: count, title: `${name}: ${countText(count)}`, open: () => navigate(to) },
    ],
  }))
  // The left edge of a bar is where its class begins.
  const every = Math.ceil(classes.length / MOST_TICKS)
  const ticks = classes.flatMap(({ first }, at) => (at % every === 0 ? [{ at, text: first }] : []))
  return (
    <section className={css['panel']} aria-label={title}>
      <div className={css['caption']}>
        <h2>{title}</h2>
        <span className={css['note']}>each bar stands for about twice the time of the one before</span>
      </div>
      <StackedBars
        label={`${title}: ${classes.length} classes; the table below has all figures.`}
        {...{ bars, ticks, axis: shortCount }}
      />
      <details>
        <summary>Every figure of the chart</summary>
        <Table label={`Classes: ${title}`}>
          {classes.map(({ name, count, to }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">
                <Link to={to}>{countText(count)}</Link>
              </td>
            </tr>
          ))}
        </Table>
      </details>
    </section>
  )
}
