import { type Bucket, bucketsOf, type Interval, placeOfBucket } from '../../../data/overview/buckets.ts'
import type { Figures, OverviewFigures } from '../../../data/overview/figures.ts'
import { groupClause, rowsPath, type Selection, slowerClause } from '../../../data/overview/selection.ts'
import type { Tone } from '../../../parts/chart/scale.ts'
import { addDecimals, subtractDecimals } from '../../../parts/format/decimal.ts'
import { leastMoney } from '../../../parts/format/least-money.ts'
import { countText, durationText, shareText, shortCount, shortMoney } from '../../../parts/format/numbers.ts'

/** A figure: its height in a chart, its text, and the list of exactly its runs. */
export interface Mark {
  size: number
  text: string
  to: string
}

/** A series of a chart: one mark for each bucket that has a value, and one for the whole range. */
export interface Series {
  id: string
  name: string
  tone: Tone
  isDashed: boolean
  marks: readonly (Mark | undefined)[]
  whole: Mark | undefined
}

/** A chart, ready to be drawn. */
export interface Chart {
  id: string
  title: string
  /** A description of the figures, for charts whose title is not enough. */
  note?: string
  kind: 'bars' | 'lines'
  series: readonly Series[]
  /** Text that replaces a chart without marks. */
  empty: string
  axis(value: number): string
  /** The runs of a bucket, or of several, both included. */
  rows(first: number, last: number): string
}

/** Percentiles of which one can be chosen for groups, the usual one first. */
export const PERCENTILES = ['p95', 'p50', 'p99'] as const
export type Percentile = (typeof PERCENTILES)[number]

export interface ChartData {
  selection: Selection
  /** What the charts of times show of each group. */
  percentile: Percentile
  span: { from: string; to: string }
  interval: Interval
  figures: OverviewFigures
}

/**
 * Functions for one figure: its value as number or decimal text, its text, and further clauses that its runs satisfy.
 */
interface Reading {
  read(of: Figures): number | string | null | undefined
  text(value: number | string, of: Figures): string
  clauses?(value: number): string[]
}

/** The source of the figures of a series. */
interface Source {
  id: string
  name: string
  tone: Tone
  group?: string
  isDashed?: boolean
  reading: Reading
}

const FAILED = 'eq(status, "error")'
const seconds = (value: number | string): string => durationText(Math.round(Number(value) * 1e6))
const counts = (value: number | string): string => countText(Number(value))

interface Plan extends Omit<Chart, 'series' | 'rows'> {
  /** Conditions that all runs of a bucket satisfy. */
  clauses?: readonly string[]
  /** The figure that is read for each group. */
  grouped: Reading
  /** The series without groups. */
  plain: readonly Source[]
}

export function chartsOf(data: ChartData): Chart[] {
  const { selection, figures, percentile } = data
  const groups = [...figures.groups.keys()]
  const isGrouped = selection.group !== ''
  const plans = [
    ...countPlans(selection),
    ...timePlans(selection, percentile),
    ...sumPlans(),
    ...checkPlans(selection),
  ]
  return plans.map(({ clauses = [], grouped, plain, ...about }) => {
    const sources = isGrouped
      ? groups.map((name, place) => ({ id: name, name, tone: place, group: name, reading: grouped }))
      : plain
    return {
      ...about,
      series: [
        ...sources.map((source) => seriesOf(data, source)),
        ...(about.kind === 'bars' ? othersOf(data, grouped) : []),
      ],
      rows: (first, last) => rowsOf(data, first, last, clauses),
    }
  })
}

function countPlans({ subject }: Selection): Plan[] {
  return [
    {
      id: 'count',
      title: subject === 'traces' ? 'Traces' : 'Runs',
      kind: 'bars',
      empty: 'Nothing was sent',
      axis: shortCount,
      grouped: COUNT,
      plain: [
        { id: 'ok', name: 'No error', tone: 0, reading: WITHOUT_ERROR },
        { id: 'failed', name: 'Failed', tone: 'error', reading: FAILURES },
      ],
    },
    {
      id: 'errors',
      title: 'Error rate',
      note: 'share of those that have ended',
      kind: 'lines',
      clauses: [FAILED],
      empty: 'None has ended',
      axis: shareText,
      grouped: ERROR_RATE,
      plain: [{ id: 'rate', name: 'Failed', tone: 'error', reading: ERROR_RATE }],
    },
  ]
}

function timePlans(selection: Selection, percentile: Percentile): Plan[] {
  const plan = (
    id: string,
    title: string,
    empty: string,
    readings: Readonly<Record<Percentile, Reading>>,
  ): Plan => ({
    id,
    title,
    empty,
    kind: 'lines',
    ...(selection.group !== '' && { note: percentile }),
    axis: (value) => (value === 0 ? '0' : seconds(value)),
    grouped: readings[percentile],
    plain: [
      { id: 'p50', name: 'p50', tone: 0, reading: readings.p50 },
      { id: 'p95', name: 'p95', tone: 2, reading: readings.p95 },
      { id: 'p99', name: 'p99', tone: 4, isDashed: true, reading: readings.p99 },
    ],
  })
  return [
    plan('latency', 'Latency', 'None has ended', {
      p50: latency('latency_p50'),
      p95: latency('latency_p95'),
      p99: latency('latency_p99'),
    }),
    plan('first-token', 'Time to first token', 'No model call was streamed', {
      p50: firstToken(selection, 'first_token_p50'),
      p95: firstToken(selection, 'first_token_p95'),
      p99: firstToken(selection, 'first_token_p99'),
    }),
  ]
}

function sumPlans(): Plan[] {
  return [
    {
      id: 'tokens',
      title: 'Tokens',
      kind: 'bars',
      empty: 'No tokens were counted',
      axis: shortCount,
      grouped: { read: ({ total_tokens }) => total_tokens, text: counts },
      plain: [
        { id: 'prompt', name: 'Prompt', tone: 1, reading: PROMPT },
        { id: 'completion', name: 'Completion', tone: 2, reading: COMPLETION },
      ],
    },
    {
      id: 'cost',
      title: 'Cost',
      note: 'as far as prices are known',
      kind: 'bars',
      empty: 'No cost is known',
      axis: (value) => shortMoney(String(value)),
      grouped: COST,
      plain: [{ id: 'cost', name: 'US dollars', tone: 3, reading: COST }],
    },
  ]
}

const CHECKS = ['format', 'model', 'usage'] as const
const ALL_FAIL = `or(${['run_type', ...CHECKS].map((name) => `eq(check_${name}, false)`).join(', ')})`

/** The share of model calls that pass a check. The figure opens the calls that fail it. */
const held = (name: 'all' | (typeof CHECKS)[number]): Reading => ({
  read: ({ checks }) =>
    checks === undefined || checks.llm_runs === 0 ? null : checks[name] / checks.llm_runs,
  text: (value) => shareText(Number(value) === 1 ? 1 : Math.min(Number(value), 0.999)),
  clauses: () => [name === 'all' ? ALL_FAIL : `eq(check_${name}, false)`],
})

/** No charts of checks for traces: a trace is counted by its root, which is seldom a model call. */
function checkPlans({ subject }: Selection): Plan[] {
  if (subject !== 'llm' && subject !== 'all') return []
  const names = { format: 'Format', model: 'Model', usage: 'Usage' } as const
  return [
    {
      id: 'checks',
      title: 'Good model calls',
      note: 'share that meets the checks',
      kind: 'lines',
      clauses: [ALL_FAIL],
      empty: 'No model was called',
      axis: shareText,
      grouped: held('all'),
      plain: [
        { id: 'all', name: 'All four', tone: 0, reading: held('all') },
        ...CHECKS.map((name, place) => ({
          id: name,
          name: names[name],
          tone: place + 1,
          isDashed: true,
          reading: held(name),
        })),
      ],
    },
  ]
}

/** Figures with the number of failures in the same bucket and group. */
interface WithFailures extends Figures {
  failed?: number
}

const failedIn = (of: WithFailures): number => of.failed ?? 0
const COUNT: Reading = { read: ({ run_count }) => run_count, text: counts }
const WITHOUT_ERROR: Reading = {
  read: (of: WithFailures) => of.run_count - failedIn(of),
  text: counts,
  clauses: () => ['neq(status, "error")'],
}
const FAILURES: Reading = { read: failedIn, text: counts, clauses: () => [FAILED] }
const ERROR_RATE: Reading = {
  read: ({ error_rate }) => error_rate,
  text: (value) => shareText(Number(value)),
  clauses: () => [FAILED],
}
const PROMPT: Reading = { read: ({ prompt_tokens }) => prompt_tokens, text: counts }
const COMPLETION: Reading = { read: ({ completion_tokens }) => completion_tokens, text: counts }
const COST: Reading = {
  read: ({ total_cost, unpriced_runs }) => total_cost ?? (unpriced_runs > 0 ? 0 : null),
  text: (_, { total_cost, unpriced_runs }) =>
    unpriced_runs > 0 && Number(total_cost) === 0 ? 'no price' : leastMoney(total_cost, unpriced_runs),
}

const latency = (name: `latency_p${50 | 95 | 99}`): Reading => ({
  read: (of) => of[name],
  text: seconds,
  clauses: (value) => [slowerClause('latency', value)],
})

/**
 * For traces there is no link: the first token may come from any run below the root, and no filter selects traces by
 * it.
 */
const firstToken = ({ subject }: Selection, name: `first_token_p${50 | 95 | 99}`): Reading => ({
  read: (of) => of[name],
  text: seconds,
  ...(subject !== 'traces' && { clauses: (value: number) => [slowerClause('ttft', value)] }),
})

function markOf(
  { selection }: ChartData,
  bucket: Bucket,
  { reading, group }: Source,
  figures: WithFailures,
): Mark | undefined {
  const value = reading.read(figures)
  if (value === null || value === undefined) return undefined
  const clauses = [
    ...(group === undefined ? [] : [groupClause(selection.group, group)]),
    ...(reading.clauses?.(Number(value)) ?? []),
  ]
  return { size: Number(value), text: reading.text(value, figures), to: rowsPath(selection, bucket, clauses) }
}

function seriesOf(data: ChartData, source: Source): Series {
  const { span, interval, figures } = data
  const buckets = bucketsOf(span.from, span.to, interval)
  const { group } = source
  const isOwn = (one: { group: string | null }): boolean => (one.group ?? undefined) === group
  const place = ({ start_time }: { start_time: string }): number =>
    placeOfBucket(start_time, span.from, interval)
  const failed = new Map(
    figures.failures.filter(isOwn).map((one) => [place(one), one.figures.run_count] as const),
  )
  const marks: (Mark | undefined)[] = buckets.map(() => undefined)
  for (const one of figures.buckets.filter(isOwn)) {
    const at = place(one)
    const bucket = buckets[at]
    if (bucket !== undefined)
      marks[at] = markOf(data, bucket, source, { ...one.figures, failed: failed.get(at) ?? 0 })
  }
  const all =
    group === undefined ? { ...figures.all, failed: figures.failed } : figures.groups.get(group)?.figures
  const range = { start: span.from, end: span.to }
  return {
    id: source.id,
    name: source.name,
    tone: source.tone,
    isDashed: source.isDashed ?? false,
    marks,
    whole: all && markOf(data, range, source, all),
  }
}

/** Figures that add up over groups. */
type Sums = Pick<Figures, 'run_count' | 'total_tokens' | 'total_cost' | 'unpriced_runs'>

/** Subtracts the sums of the groups from those of the whole. Tokens or a cost are null when none are known. */
function withoutGroups(whole: Sums, groups: readonly Sums[]): Sums {
  const known = groups.flatMap(({ total_cost }) => total_cost ?? [])
  const { run_count, total_tokens, total_cost, unpriced_runs } = whole
  return {
    run_count: groups.reduce((left, group) => left - group.run_count, run_count),
    unpriced_runs: groups.reduce((left, group) => left - group.unpriced_runs, unpriced_runs),
    total_tokens:
      total_tokens === null
        ? null
        : groups.reduce((left, group) => left - (group.total_tokens ?? 0), total_tokens),
    total_cost:
      total_cost === null ? null : (subtractDecimals(total_cost, addDecimals(known) ?? '0') ?? null),
  }
}

/** The same colour as on the usage page. */
const OTHERS_TONE = 11

/**
 * The runs that are in no shown group, if there are any. Only bars have this series: it is the sum of all runs minus
 * the sums of the groups.
 */
function othersOf(data: ChartData, reading: Reading): Series[] {
  const { selection, span, interval, figures } = data
  const names = [...figures.groups.keys()]
  const clauses = names.map((name) => `not(${groupClause(selection.group, name)})`)
  const markOfRest = (bucket: Bucket, whole: Figures, groups: readonly Figures[]): Mark | undefined => {
    const rest = withoutGroups(whole, groups)
    const figuresOfRest = { ...whole, ...rest }
    const value = rest.run_count > 0 ? reading.read(figuresOfRest) : undefined
    if (value === null || value === undefined) return undefined
    return {
      size: Number(value),
      text: reading.text(value, figuresOfRest),
      to: rowsPath(selection, bucket, clauses),
    }
  }
  if (figures.totals.length === 0) return []
  const shown = [...figures.groups.values()].map((group) => group.figures)
  const whole = markOfRest({ start: span.from, end: span.to }, figures.all, shown)
  if (whole === undefined) return []
  const buckets = bucketsOf(span.from, span.to, interval)
  const marks: (Mark | undefined)[] = buckets.map(() => undefined)
  for (const { start_time, figures: all } of figures.totals) {
    const at = placeOfBucket(start_time, span.from, interval)
    const inBucket = figures.buckets.filter((one) => one.start_time === start_time)
    const bucket = buckets[at]
    const groups = inBucket.map((one) => one.figures)
    if (bucket !== undefined) marks[at] = markOfRest(bucket, all, groups)
  }
  return [{ id: 'others', name: 'Others', tone: OTHERS_TONE, isDashed: false, marks, whole }]
}

function rowsOf(data: ChartData, first: number, last: number, clauses: readonly string[]): string {
  const { selection, span, interval } = data
  const buckets = bucketsOf(span.from, span.to, interval)
  const [start = span.from, end = span.to] = [buckets[first]?.start, buckets[last]?.end]
  return rowsPath(selection, { start, end }, clauses)
}
