import { useMemo } from 'react'
import {
  isOfDeployments,
  usageKeyOf,
  type Stride,
  type UsageLine,
  type UsageQuery,
} from '../../data/usage/lines.ts'
import {
  countText,
  exactMoney,
  shareText,
  shortCount,
  shortMoney,
  UNKNOWN,
} from '../../parts/format/numbers.ts'
import { type Bar, StackedBars, Swatch } from '../../parts/chart/stacked-bars.tsx'
import { timeTicks } from '../../parts/chart/time-ticks.ts'
import { Empty } from '../../parts/states.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Link } from '../../router/link.tsx'
import { navigate } from '../../router/location.ts'
import { countedPath, unpricedPath } from './lists/list-address.ts'
import { MOST_SERIES, seriesOf, tableOf, type UsageGroup, type UsageTable } from './table.ts'
import css from './usage.module.css'

const UNITS = { traces: 'traces', tokens: 'tokens', cost: '', runs: 'runs', nodes: 'nodes' } as const
const WORDS = { ...UNITS, cost: 'US dollars' } as const
const NOTES = {
  traces: 'A number opens the traces that it counts.',
  tokens: 'A number opens the runs that it adds up.',
  cost: 'A number opens the runs that it adds up.',
  runs: 'A run counts when it has ended, at the time of its first start.',
  nodes: 'Nodes of graphs and their subgraphs count when they are completed and their run has ended.',
} as const
const BY_KEY =
  'Stored traces of the open workspace whose root has the key, at most 100 values; deleted traces are not in it.'

function textOf(query: UsageQuery, value: string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  return query.measure === 'cost' ? exactMoney(value) : countText(Number(value))
}

/** The start of a bucket, in UTC, because buckets are aligned to UTC. */
function bucketText(bucket: string, hours: number): string {
  return hours > 0 ? `${bucket.slice(0, 10)} ${bucket.slice(11, 16)}` : bucket.slice(0, 10)
}

/** The list behind a number; undefined if it has none. */
function listOf(query: UsageQuery, group?: UsageGroup, bucket?: string): string | undefined {
  const hasList = !isOfDeployments(query.measure) && usageKeyOf(query.grouping) === undefined
  return !hasList ? undefined : countedPath(query, group, bucket)
}

interface FigureProps {
  query: UsageQuery
  value: string | null | undefined
  to: string | undefined
}

/** A number that opens the traces or runs behind it. */
function Figure({ query, value, to }: FigureProps) {
  if (value === undefined) return null
  const text = textOf(query, value)
  if (value === null) return <span title="The cost is not known: a model had no price">{text}</span>
  return to === undefined ? text : <Link to={to}>{text}</Link>
}

function barsOf(
  query: UsageQuery,
  buckets: readonly string[],
  series: readonly UsageGroup[],
  hours: number,
): Bar[] {
  return buckets.map((bucket) => ({
    id: bucket,
    parts: series.flatMap((group, place) => {
      const value = group.values.get(bucket)
      if (value === undefined || value === null) return []
      const to = listOf(query, group, bucket)
      const title = `${group.name}, ${bucketText(bucket, hours)}: ${textOf(query, value)} ${UNITS[query.measure]}`
      const open = to === undefined ? undefined : () => navigate(to)
      return [{ id: group.id, series: Math.min(place, MOST_SERIES), size: Number(value), title, open }]
    }),
  }))
}

const COLUMNS = ['Group', { name: 'Sum', isNumber: true }, { name: 'Share', isNumber: true }, 'Of the whole']

function Groups({ query, table }: { query: UsageQuery; table: UsageTable }) {
  const all = Number(table.total ?? 0)
  return (
    <Table label="Sums of the groups" columns={COLUMNS}>
      {table.groups.flatMap((group, place) => [
        <GroupRow key={group.id} query={query} group={group} all={all} series={place} />,
        ...(group.versions ?? []).map((version) => (
          <GroupRow key={`version ${version.id}`} query={query} group={version} all={all} />
        )),
      ])}
    </Table>
  )
}

interface GroupRowProps {
  query: UsageQuery
  group: UsageGroup
  /** The sum of all groups. */
  all: number
  /** Place of its series in the chart; absent for a version of the model above, which is part of that series. */
  series?: number
}

function GroupRow({ query, group, all, series }: GroupRowProps) {
  const share = group.total === null || all === 0 ? undefined : Number(group.total) / all
  return (
    <tr>
      <th scope="row">
        <span className={css[series === undefined ? 'version' : 'name']}>
          {series !== undefined && <Swatch series={Math.min(series, MOST_SERIES)} />}
          {group.name}
        </span>
      </th>
      <td className="number">
        <Figure query={query} value={group.total} to={listOf(query, group)} />
      </td>
      <td className="number">{shareText(share)}</td>
      <td className={css['share']}>
        <ShareBar share={share ?? 0} />
      </td>
    </tr>
  )
}

/** A bar for a share between 0 and 1, shown beside the number. */
export function ShareBar({ share, isFull = false }: { share: number; isFull?: boolean }) {
  return (
    <svg
      className={css['bar']}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      aria-hidden="true"
      data-state={isFull ? 'full' : undefined}
    >
      <rect width="100" height="8" />
      <rect width={100 * Math.min(1, share)} height="8" />
    </svg>
  )
}

function Buckets({
  query,
  buckets,
  series,
  hours,
}: {
  query: UsageQuery
  buckets: readonly string[]
  series: readonly UsageGroup[]
  hours: number
}) {
  const used = buckets.filter((bucket) => series.some(({ values }) => values.has(bucket)))
  return (
    <details>
      <summary>Every number of the chart</summary>
      <Table
        label="Numbers of the chart"
        columns={['Start (UTC)', ...series.map(({ name }) => ({ name, isNumber: true }))]}
      >
        {used.toReversed().map((bucket) => (
          <tr key={bucket}>
            <th scope="row">{bucketText(bucket, hours)}</th>
            {series.map((group) => (
              <td key={group.id} className="number">
                <Figure query={query} value={group.values.get(bucket)} to={listOf(query, group, bucket)} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  )
}

function strideText({ days, hours }: { days: number; hours: number }): string {
  if (hours > 0) return 'One bar is an hour of UTC.'
  return days === 1 ? 'One bar is a day of UTC.' : `One bar is ${days} days of UTC, counted from the first.`
}

/** A report: chart, sums of the groups, and all numbers. */
export function UsageReport({
  query,
  stride,
  lines,
  isOld,
}: {
  query: UsageQuery
  stride: Stride
  lines: readonly UsageLine[]
  isOld: boolean
}) {
  const table = useMemo(
    () => tableOf({ from: query.from, to: query.to, stride }, lines),
    [query, stride, lines],
  )
  const { buckets, groups, total } = table
  if (groups.length === 0)
    return (
      <Empty title="Nothing was counted in this range">
        <p>
          {isOfDeployments(query.measure)
            ? 'A run of a deployment counts when it has ended. Choose a longer range.'
            : 'A trace counts within a second of being sent. Choose a longer range, or send one.'}
        </p>
      </Empty>
    )
  const series = seriesOf(groups, buckets)
  const short = (value: number): string =>
    query.measure === 'cost' ? shortMoney(String(value)) : shortCount(value)
  const ends = [buckets.at(0) ?? '', buckets.at(-1) ?? ''].map((bucket) => bucketText(bucket, stride.hours))
  const whole = listOf(query)
  return (
    <section className={css['section']} aria-busy={isOld} aria-label="Report">
      <p className={css['total']}>
        <Figure query={query} value={total} to={whole} /> <small>{WORDS[query.measure]}</small>
      </p>
      <StackedBars
        label={`Chart: ${WORDS[query.measure]} from ${ends[0]} to ${ends[1]}. The tables below have its numbers.`}
        bars={barsOf(query, buckets, series, stride.hours)}
        axis={short}
        ticks={timeTicks(buckets, 'utc')}
      />
      <p className={css['note']}>
        {strideText(stride)} {usageKeyOf(query.grouping) === undefined ? NOTES[query.measure] : BY_KEY}
        {query.measure === 'cost' && table.unpriced > 0 && (
          <>
            {' '}
            <Link to={unpricedPath(query)}>
              {countText(table.unpriced)} {table.unpriced === 1 ? 'run has' : 'runs have'} no price
            </Link>{' '}
            and are not in these sums.
          </>
        )}
      </p>
      <Groups query={query} table={table} />
      <Buckets {...{ query, buckets, series }} hours={stride.hours} />
    </section>
  )
}
