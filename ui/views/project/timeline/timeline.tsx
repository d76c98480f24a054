import { useMemo, useState } from 'react'
import { type Bucket, bucketsOf, placeOfBucket } from '../../../data/overview/buckets.ts'
import { type TimelineCount, useFirstStart, useTimeline } from '../../../data/overview/queries.ts'
import { StackedBars } from '../../../parts/chart/stacked-bars.tsx'
import { countText, shortCount } from '../../../parts/format/numbers.ts'
import { bucketText, bucketTicks } from '../overview/bucket-text.ts'
import css from './timeline.module.css'

function countedText(count: TimelineCount | undefined): string {
  const { runs, failed } = count ?? { runs: 0, failed: 0 }
  return failed === 0 ? countText(runs) : `${countText(runs)}, ${countText(failed)} failed`
}

/** The runs of a list in time, in the bars of a small chart. A click or a drag narrows the range. */
export function RunsTimeline({
  project,
  filter,
  isRoot,
  since,
  until,
  narrow,
}: {
  project: string
  filter: string
  isRoot: boolean
  /** ISO times; '' for no limit. */
  since: string
  until: string
  narrow(range: { from: string; to: string }): void
}) {
  const first = useFirstStart(project)
  const from = since === '' ? first.data : since
  const { data, error } = useTimeline({ project, filter, isRoot }, { from, until })
  if (error !== null) return <p className={css['note']}>The timeline could not be read: {error.message}</p>
  if (data === undefined) return null
  return <Bars {...data} noun={isRoot ? 'Traces' : 'Runs'} narrow={narrow} />
}

function Bars({
  span,
  interval,
  counts,
  noun,
  narrow,
}: NonNullable<ReturnType<typeof useTimeline>['data']> & {
  noun: string
  narrow(range: { from: string; to: string }): void
}) {
  const [at, move] = useState<number | undefined>()
  const buckets = useMemo(() => bucketsOf(span.from, span.to, interval), [span, interval])
  const placed = new Map(counts.map((count) => [placeOfBucket(count.start, span.from, interval), count]))
  const textAt = (bucket: Bucket, place: number): string =>
    `${bucketText(bucket, interval)}: ${countedText(placed.get(place))}`
  const select = (first: number, last: number): void => {
    const [start, end] = [buckets[first]?.start, buckets[last]?.end]
    move(undefined)
    if (start !== undefined && end !== undefined) narrow({ from: start, to: end })
  }
  const open = (place: number): void => select(place, place)
  const bars = buckets.map((bucket, place) => ({
    id: bucket.start,
    parts: partsOf(placed.get(place)).map((part) => ({
      ...part,
      title: textAt(bucket, place),
      open: () => open(place),
    })),
  }))
  const [start, end] = [buckets.at(0), buckets.at(-1)]
  const ends = [start, end].map((one) => (one === undefined ? '' : bucketText(one, interval)))
  const looked = at === undefined ? undefined : buckets[at]
  return (
    <section className={css['timeline']} aria-label={`${noun} in time`}>
      <StackedBars
        label={`${noun} from ${ends[0]} to ${ends[1]}. Arrow keys go through time, with Shift they select a range, Enter shows it.`}
        axis={shortCount}
        ticks={bucketTicks(buckets, interval)}
        cursor={{ at, move, select, open }}
        bars={bars}
      />
      <p className={css['look']} aria-live="polite">
        {looked !== undefined && at !== undefined && textAt(looked, at)}
      </p>
    </section>
  )
}

function partsOf(count: TimelineCount | undefined) {
  if (count === undefined) return []
  const parts = [
    { id: 'ok', series: 0, size: count.runs - count.failed },
    { id: 'failed', series: 'error' as const, size: count.failed },
  ]
  return parts.filter(({ size }) => size > 0)
}
