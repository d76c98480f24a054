import { useMemo } from 'react'
import {
  isOfDeployments,
  usageKeyOf,
  type Stride,
  type UsageLine,
  type UsageQuery,
} from '../../data/usage/lines.ts'
import { leastMoney } from '../../parts/format/least-money.ts'
import {
  callsText,
  countText,
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
import { storedPath, unpricedStoredPath } from './lists/stored-address.ts'
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
  'Stored traces of the open workspace by the key of their roots; a number opens its traces. Deleted traces are not in it.'

/** A number in words; a cost that leaves out `unpriced` calls is marked. */
function textOf(query: UsageQuery, value: string | null | undefined, unpriced = 0): string {
  if (value === null || value === undefined) return unpriced > 0 ? 'no price' : UNKNOWN
  return query.measure === 'cost' ? leastMoney(value, unpriced) : countText(Number(value))
}

/** The start of a bucket, in UTC, because buckets are aligned to UTC. */
function bucketText(bucket: string, hours: number): string {
  return hours > 0 ? `${bucket.slice(0, 10)} ${bucket.slice(11, 16)}` : bucket.slice(0, 10)
}

/** The list behind a number; undefined if it has none. */
function listOf(
  { query, stride }: Pick<ReportProps, 'query' | 'stride'>,
  group?: UsageGroup,
  bucket?: string,
): string | undefined {
  if (isOfDeployments(query.measure)) return undefined
  if (usageKeyOf(query.grouping) !== undefined) return storedPath(query, stride, group, bucket)
  return countedPath(query, group, bucket)
}

interface ReportProps {
  query: UsageQuery
  stride: Stride
  lines: readonly UsageLine[]
}

interface FigureProps {
  query: UsageQuery
  value: string | null | undefined
  /** Calls without a price, which the number leaves out. */
  unpriced: number
  to: string | undefined
}

/** A number that opens the traces or runs behind it. */
function Figure({ query, value, unpriced, to }: FigureProps) {
  if (value === undefined) return null
  const text = textOf(query, value, unpriced)
  const isPartial = query.measure === 'cost' && unpriced > 0
  const title = isPartial ? `${callsText(unpriced)} without a price` : undefined
  if (value === null) return <span title={title ?? 'The cost is not known'}>{text}</span>
  if (to === undefined) return text
  return (
    <Link to={to} title={title}>
      {text}
    </Link>
  )
}

function barsOf(
  { query, stride }: Pick<ReportProps, 'query' | 'stride'>,
  buckets: readonly string[],
  series: readonly UsageGroup[],
): Bar[] {
  return buckets.map((bucket) => ({
    id: bucket,
    parts: series.flatMap((group, place) => {
      const value = group.values.get(bucket)
      if (value === undefined || value === null) return []
      const to = listOf({ query, stride }, group, bucket)
      const number = textOf(query, value, group.gaps.get(bucket))
      const title = `${group.name}, ${bucketText(bucket, stride.hours)}: ${number} ${UNITS[query.measure]}`
      const open = to === undefined ? undefined : () => navigate(to)
      return [{ id: group.id, series: Math.min(place, MOST_SERIES), size: Number(value), title, open }]
    }),
  }))
}

const COLUMNS = ['Group', { name: 'Sum', isNumber: true }, { name: 'Share', isNumber: true }, 'Of the whole']

function Groups({ query, stride, table }: Pick<ReportProps, 'query' | 'stride'> & { table: UsageTable }) {
  const all = Number(table.total ?? 0)
  return (
    <Table label="Sums of the groups" columns={COLUMNS}>
      {table.groups.flatMap((group, place) => [
        <GroupRow key={group.id} {...{ query, stride, group, all }} series={place} />,
        ...(group.versions ?? []).map((version) => (
          <GroupRow key={`version ${version.id}`} {...{ query, stride, all }} group={version} />
        )),
      ])}
    </Table>
  )
}

interface GroupRowProps extends Pick<ReportProps, 'query' | 'stride'> {
  group: UsageGroup
  /** The sum of all groups. */
  all: number
  /** Place of its series in the chart; absent for a version of the model above, which is part of that series. */
  series?: number
}

function GroupRow({ query, stride, group, all, series }: GroupRowProps) {
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
        <Figure
          query={query}
          value={group.total}
          unpriced={group.unpriced}
          to={listOf({ query, stride }, group)}
        />
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
  stride,
  buckets,
  series,
}: Pick<ReportProps, 'query' | 'stride'> & {
  buckets: readonly string[]
  series: readonly UsageGroup[]
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
            <th scope="row">{bucketText(bucket, stride.hours)}</th>
            {series.map((group) => (
              <td key={group.id} className="number">
                <Figure
                  query={query}
                  value={group.values.get(bucket)}
                  unpriced={group.gaps.get(bucket) ?? 0}
                  to={listOf({ query, stride }, group, bucket)}
                />
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
export function UsageReport({ query, stride, lines, isOld }: ReportProps & { isOld: boolean }) {
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
  const whole = listOf({ query, stride })
  const isByKey = usageKeyOf(query.grouping) !== undefined
  return (
    <section className={css['section']} aria-busy={isOld} aria-label="Report">
      <p className={css['total']}>
        <Figure query={query} value={total} unpriced={table.unpriced} to={whole} />{' '}
        <small>{WORDS[query.measure]}</small>
      </p>
      <StackedBars
        label={`Chart: ${WORDS[query.measure]} from ${ends[0]} to ${ends[1]}. The tables below have its numbers.`}
        bars={barsOf({ query, stride }, buckets, series)}
        axis={short}
        ticks={timeTicks(buckets, 'utc')}
      />
      <p className={css['note']}>
        {strideText(stride)} {isByKey ? BY_KEY : NOTES[query.measure]}
        {query.measure === 'cost' && table.unpriced > 0 && (
          <>
            {' '}
            <Link to={isByKey ? unpricedStoredPath(query, stride) : unpricedPath(query)}>
              {callsText(table.unpriced)} without a price
            </Link>{' '}
            {table.unpriced === 1 ? 'is' : 'are'} not in these sums.
          </>
        )}
      </p>
      <Groups {...{ query, stride, table }} />
      <Buckets {...{ query, stride, buckets, series }} />
    </section>
  )
}
