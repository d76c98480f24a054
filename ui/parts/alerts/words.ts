import type { Alert } from '../../api/platform.gen.ts'
import { leastShort } from '../format/least-money.ts'
import { countText, durationText, UNKNOWN } from '../format/numbers.ts'

type Figure = Alert['figure']

/** What figures are called, in the order of the charts. */
export const FIGURE_NAMES: Readonly<Record<Figure, string>> = {
  run_count: 'Number',
  failed_count: 'Failures',
  error_rate: 'Error rate',
  latency_p50: 'Latency p50',
  latency_p95: 'Latency p95',
  latency_p99: 'Latency p99',
  first_token_p50: 'First token p50',
  first_token_p95: 'First token p95',
  first_token_p99: 'First token p99',
  total_tokens: 'Tokens',
  total_cost: 'Known cost',
  good_calls: 'Good model calls',
}

export const SUBJECT_NAMES: Readonly<Record<Alert['subject'], string>> = {
  traces: 'traces',
  llm: 'model calls',
  tool: 'tool calls',
  all: 'all runs',
}

/** Characters that the name of an alert may have. */
export const MOST_NAME = 100

/** What an alert is called until somebody enters a name. */
export function alertName(figure: Figure, subject: Alert['subject'], group?: string): string {
  const of = `${FIGURE_NAMES[figure]} of ${SUBJECT_NAMES[subject]}`
  return (group === undefined ? of : `${of}, ${group}`).slice(0, MOST_NAME)
}

/** The figures that a chart of the overview shows, by the chart's id. */
export const CHART_FIGURES: Readonly<Record<string, readonly Figure[]>> = {
  count: ['run_count', 'failed_count'],
  errors: ['error_rate'],
  latency: ['latency_p95', 'latency_p50', 'latency_p99'],
  'first-token': ['first_token_p95', 'first_token_p50', 'first_token_p99'],
  tokens: ['total_tokens'],
  cost: ['total_cost'],
  checks: ['good_calls'],
}

const isShare = (figure: Figure): boolean => figure === 'error_rate' || figure === 'good_calls'
const isTime = (figure: Figure): boolean => /^(latency|first_token)/.test(figure)

/** Whether a value means the same in a window and in a bucket of a chart: counts and sums grow with the time. */
export const isRate = (figure: Figure): boolean => isShare(figure) || isTime(figure)

/** The unit in which a threshold is entered. */
export function unitOf(figure: Figure): string {
  if (isShare(figure)) return '%'
  if (isTime(figure)) return 'seconds'
  return figure === 'total_cost' ? 'dollars' : ''
}

const plain = (value: number): string => value.toFixed(12).replace(/\.?0+$/, '')

/** A threshold as it is entered: shares as percent. */
export function enteredText(figure: Figure, threshold: string): string {
  return isShare(figure) ? plain(Number(threshold) * 100) : threshold
}

/** The threshold that was entered. */
export function thresholdOf(figure: Figure, entered: string): string {
  return isShare(figure) ? plain(Number(entered) / 100) : entered.trim()
}

/** A value of a figure with its unit. */
export function figureText(figure: Figure, value: string): string {
  if (isShare(figure)) return `${plain(Number((Number(value) * 100).toFixed(2)))}%`
  if (isTime(figure)) return durationText(Math.round(Number(value) * 1e6))
  return figure === 'total_cost' ? `$${value}` : countText(Number(value))
}

/** The value at the last evaluation; a cost that leaves out calls without a price is marked. */
export function valueText({ figure, value, unpriced_runs }: Alert): string {
  if (figure === 'total_cost') return leastShort(value, unpriced_runs ?? 0)
  return value === null ? UNKNOWN : figureText(figure, value)
}

export function windowText(minutes: number): string {
  if (minutes % 60 !== 0 || minutes === 0) return `${minutes} min`
  return `${minutes / 60} h`
}

/** `Error rate of traces above 5% in 15 min`. */
export function ruleText({ figure, subject, comparison, threshold, window_minutes }: Alert): string {
  const limit = `${comparison} ${figureText(figure, threshold)}`
  return `${FIGURE_NAMES[figure]} of ${SUBJECT_NAMES[subject]} ${limit} in ${windowText(window_minutes)}`
}
