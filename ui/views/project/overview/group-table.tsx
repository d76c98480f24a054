import type { Figures } from '../../../data/overview/figures.ts'
import { groupClause, rowsPath, slowerClause } from '../../../data/overview/selection.ts'
import { Swatch } from '../../../parts/chart/stacked-bars.tsx'
import { countText, durationText, shortCount } from '../../../parts/format/numbers.ts'
import { Money } from '../../../parts/money.tsx'
import { Table } from '../../../parts/table/table.tsx'
import { Link } from '../../../router/link.tsx'
import { Figure } from './chart-panel.tsx'
import type { ChartData, Mark } from './charts.ts'
import css from './overview.module.css'

const HEADS = ['Runs', 'Failed', 'p50', 'p95', 'First token p50', 'Tokens', 'Cost'] as const
const COLUMNS = ['Group', ...HEADS.map((name) => ({ name, isNumber: true }))]

function GroupRow({
  data: { selection, span },
  name,
  group: { figures, failed },
  place,
}: {
  data: ChartData
  name: string
  group: { figures: Figures; failed: number | undefined }
  place: number
}) {
  const range = { start: span.from, end: span.to }
  const rows = (...clauses: string[]): string =>
    rowsPath(selection, range, [groupClause(selection.group, name), ...clauses])
  const time = (field: 'latency' | 'ttft', value: number | null): Mark | undefined => {
    if (value === null) return undefined
    const isNamed = field === 'latency' || selection.subject !== 'traces'
    const to = isNamed ? rows(slowerClause(field, value)) : rows()
    return { size: value, text: durationText(Math.round(value * 1e6)), to }
  }
  const count = (size: number, to: string): Mark => ({ size, text: countText(size), to })
  const marks = [
    count(figures.run_count, rows()),
    failed === undefined ? undefined : count(failed, rows('eq(status, "error")')),
    time('latency', figures.latency_p50),
    time('latency', figures.latency_p95),
    time('ttft', figures.first_token_p50),
  ]
  return (
    <tr>
      <th scope="row">
        <span className={css['name']}>
          <Swatch series={place} />
          {name}
        </span>
      </th>
      {marks.map((mark, at) => (
        <td key={HEADS[at]} className="number">
          <Figure mark={mark} />
        </td>
      ))}
      <td className="number">
        <Link to={rows()}>{shortCount(figures.total_tokens)}</Link>
      </td>
      <td className="number">
        {figures.total_cost === null && figures.unpriced_runs === 0 ? (
          <Money value={null} />
        ) : (
          <Link to={rows()}>
            <Money value={figures.total_cost} unpriced={figures.unpriced_runs} />
          </Link>
        )}
      </td>
    </tr>
  )
}

/** The groups in the whole range, the largest first. */
export function GroupTable({ data }: { data: ChartData }) {
  const { selection, figures } = data
  if (figures.groups.size === 0)
    return <p className={css['note']}>No run of this range has a value to be grouped by.</p>
  return (
    <section aria-label="Groups">
      <Table label="Figures of the groups" columns={COLUMNS} className={css['table']}>
        {[...figures.groups].map(([name, group], place) => (
          <GroupRow key={name} {...{ data, name, group, place }} />
        ))}
      </Table>
      <p className={css['note']}>
        {selection.group === 'tag' && 'A run with several tags is in several groups. '}
        At most the 8 largest groups are shown; runs without a value are in none.
      </p>
    </section>
  )
}
