import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { bucketsOf, spanOf } from '../../../data/overview/buckets.ts'
import { useFigures, useFirstStart } from '../../../data/overview/queries.ts'
import {
  type ATTRIBUTES,
  type GroupBy,
  groupByOf,
  metadataKeyOf,
  type Selection,
  SUBJECTS,
} from '../../../data/overview/selection.ts'
import { Select } from '../../../parts/controls.tsx'
import { MetadataKey } from '../../../parts/forms/metadata-key.tsx'
import { useRowKeys } from '../../../parts/keyboard/row-keys.ts'
import { Empty, Failure, Loaded, Skeleton } from '../../../parts/states.tsx'
import { setParam, setParams, useParam } from '../../../router/location.ts'
import { textParam, wordParam } from '../../../router/params.ts'
import { NoRun } from '../no-run.tsx'
import { useAlerts } from '../../../data/alerts/alerts.ts'
import { ChartPanel } from './chart-panel.tsx'
import { type ChartData, chartsOf, type Percentile, PERCENTILES } from './charts.ts'
import { Distribution } from './distribution.tsx'
import { GroupTable } from './group-table.tsx'
import css from './overview.module.css'
import { Totals } from './totals.tsx'

const FormatDoctor = lazy(() =>
  import('./format-doctor.tsx').then((file) => ({ default: file.FormatDoctor })),
)

const SUBJECT = wordParam('of', SUBJECTS)
const GROUP = textParam('by')
const PERCENTILE = wordParam('p', PERCENTILES)
const METADATA = 'metadata'

const SUBJECT_NAMES = [
  ['traces', 'Traces'],
  ['llm', 'Model calls'],
  ['tool', 'Tool calls'],
  ['all', 'All runs'],
] as const
const GROUP_NAMES = [
  ['', 'Not grouped'],
  ['model', 'By model'],
  ['name', 'By name'],
  ['tag', 'By tag'],
  ['run_type', 'By type'],
  [METADATA, 'By metadata'],
] as const satisfies readonly (readonly [(typeof ATTRIBUTES)[number] | '' | 'metadata', string])[]

/** The kind of runs for a grouping: model calls for a grouping by model, since other runs have no model. */
function subjectOf(subject: Selection['subject'], group: GroupBy): Selection['subject'] {
  return group === 'model' && subject === 'traces' ? 'llm' : subject
}

/** Figures of a project over time; each figure opens the runs that it counts. */
export function ProjectOverview({
  project,
  filter,
  since,
  until,
}: {
  project: string
  filter: string
  /** ISO times; '' for no limit. */
  since: string
  until: string
}) {
  const group = groupByOf(useParam(GROUP))
  const subject = subjectOf(useParam(SUBJECT), group)
  const first = useFirstStart(project)
  const from = since === '' ? first.data : since
  const selection = useMemo(() => ({ project, filter, subject, group }), [project, filter, subject, group])
  const percentile = useParam(PERCENTILE)
  const figures = useFigures(selection, { from, until })
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  if (first.error !== null) return <Failure error={first.error} retry={() => void first.refetch()} />
  if (first.data === undefined) return <Skeleton />
  if (spanOf(from, until) === undefined)
    return first.data === null ? <NoRun /> : <Empty title="The range ends before it begins" />
  return (
    <div
      ref={page}
      className={css['page']}
      tabIndex={0}
      role="region"
      aria-label="Overview"
      data-scrolls="true"
    >
      <Choices {...{ subject, group, percentile }} />
      <Loaded from={figures}>
        {(data) => (
          <Figures
            data={{ ...data, percentile }}
            isOld={figures.isPlaceholderData || figures.error !== null}
          />
        )}
      </Loaded>
    </div>
  )
}

function Choices({
  subject,
  group,
  percentile,
}: {
  subject: Selection['subject']
  group: GroupBy
  percentile: Percentile
}) {
  const [isKeyAsked, askKey] = useState(false)
  const key = metadataKeyOf(group)
  const isByKey = key !== undefined || isKeyAsked
  const subjects = SUBJECT_NAMES.filter(([name]) => group !== 'model' || name !== 'traces')
  return (
    <div className={css['choices']}>
      <Select
        label="Subject"
        value={subject}
        options={subjects}
        onChange={(word) => setParam(SUBJECT, word)}
      />
      <Select
        label="Group"
        value={isByKey ? METADATA : (group as (typeof ATTRIBUTES)[number] | '')}
        options={GROUP_NAMES}
        onChange={(word) => {
          askKey(word === METADATA)
          setParam(GROUP, word === METADATA ? '' : word)
        }}
      />
      {group !== '' && (
        <Select
          label="Percentile of times"
          value={percentile}
          options={PERCENTILES.map((name) => [name, name] as const)}
          onChange={(word) => setParam(PERCENTILE, word)}
        />
      )}
      {isByKey && <MetadataKey value={key} choose={(asked) => setParam(GROUP, `metadata.${asked}`)} />}
    </div>
  )
}

function Figures({ data, isOld }: { data: ChartData; isOld: boolean }) {
  const [at, move] = useState<number | undefined>()
  const { span, interval, figures, selection, percentile } = data
  const charts = useMemo(
    () => chartsOf({ span, interval, figures, selection, percentile }),
    [span, interval, figures, selection, percentile],
  )
  const { data: alerts = [] } = useAlerts(selection.project)
  const buckets = useMemo(() => bucketsOf(span.from, span.to, interval), [span, interval])
  const select = (first: number, last: number): void => {
    move(undefined)
    setParams({ t: undefined, from: buckets[first]?.start, to: buckets[last]?.end }, { step: true })
  }
  if (data.figures.all.run_count === 0)
    return (
      <Empty title="Nothing fits the filter in this range">
        <p>Choose a longer range, or remove a part of the filter.</p>
      </Empty>
    )
  return (
    <div className={css['figures']} aria-busy={isOld}>
      <Totals data={data} />
      {data.selection.group !== '' && <GroupTable data={data} />}
      <div className={css['charts']}>
        {charts.map((chart) => (
          <ChartPanel key={chart.id} {...{ chart, selection, alerts, buckets, interval, at, move, select }} />
        ))}
        <Distribution title="Distribution of latency" field="latency" data={data} />
        {data.selection.subject !== 'traces' && (
          <Distribution title="Distribution of the first token" field="ttft" data={data} />
        )}
      </div>
      {(data.selection.subject === 'llm' || data.selection.subject === 'all') && (
        <Suspense>
          <FormatDoctor data={data} />
        </Suspense>
      )}
      <p className={css['note']}>
        A bar is {interval.text.replace(/(\d+)(\w)/, (_, n: string, unit: string) => lengthText(n, unit))}. A
        bar opens its runs; a point of a percentile opens those that took as long or longer. Drag over a chart
        to choose a range. Hours and days are those of UTC.
      </p>
    </div>
  )
}

const UNIT_NAMES: Readonly<Record<string, string>> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

function lengthText(count: string, unit: string): string {
  return `${count} ${UNIT_NAMES[unit] ?? unit}${count === '1' ? '' : 's'}`
}
