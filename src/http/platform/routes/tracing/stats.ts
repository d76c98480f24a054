import type { TimeHistogram, RunFigures, StatsGrouping } from '../../../../ingest/store/stats-store.ts'
import type { TraceRunStats, TraceRunStatsQuery } from '../../../../query/trace-reads.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import { formatTime } from '../../../../trace/derive/time.ts'
import { type FeedbackStats, feedbackStatsJson } from '../../../../trace/json/feedback-stats.ts'
import { bodyFault } from '../../../body/json.ts'
import { type PlatformRoute, route } from '../../route.ts'
import { toTraceRunQuery } from './runs.ts'

type StatsBody = SchemaTypes['trace-run-stats-query']
type Figures = SchemaTypes['trace-run-figures']

const MICROS = { s: 1e6, m: 60e6, h: 3600e6, d: 86_400e6 } as const
const MAX_BUCKETS = 1500
const MAX_GROUPS = 5

/** `POST /runs/stats`: figures of the runs that match filters. The filters are the same as in lists. */
export function statsRoutes(): PlatformRoute[] {
  return [
    route({
      method: 'POST',
      path: '/runs/stats',
      needs: 'runs:read',
      summary: 'Figures of runs: counts, errors, latency, tokens and costs, by group and over time',
      description: STATS_DESCRIPTION,
      tag: 'Runs',
      body: 'trace-run-stats-query',
      reply: 'trace-run-stats',
      errors: ['store_unavailable', 'rate_limited'],
      async handle({ deps, principal, body, gone }) {
        const query = toStatsQuery(body, deps.clock.now())
        const asker = { holder: principal.api_key_id, gone: gone() }
        return { body: statsJson(await deps.reads.stats(principal.workspace_id, query, asker), query) }
      },
    }),
  ]
}

const STATS_DESCRIPTION =
  'Each call of a model counts once. Tokens and costs are those of whole traces with is_root, of the runs alone with group_by (so that groups add up), else of the runs and what is below them.'

/** The body with its defaults; `now` in epoch milliseconds. */
function toStatsQuery(body: StatsBody, now: number): TraceRunStatsQuery {
  const { limit: _limit, order: _order, order_by: _by, ...listed } = toTraceRunQuery(body)
  const query = { ...listed, ...(body.histograms === true && { histograms: true }) }
  const group_by = groupingOf(body)
  const interval = body.interval === undefined || body.interval === null ? undefined : microsOf(body.interval)
  if (interval === undefined) return { ...query, ...(group_by && { group_by }) }
  const { start_time, end_time = now * 1000 } = query
  if (start_time === undefined) throw fault('start_time', 'is required with interval')
  if ((end_time - start_time) / interval > MAX_BUCKETS)
    throw fault('interval', `makes more than ${MAX_BUCKETS} buckets between start_time and end_time`)
  return { ...query, start_time, end_time, interval, ...(group_by && { group_by }) }
}

function microsOf(interval: string): number {
  return Number(interval.slice(0, -1)) * MICROS[interval.slice(-1) as keyof typeof MICROS]
}

function groupingOf({ group_by }: StatsBody): StatsGrouping | undefined {
  if (!group_by) return undefined
  const max_groups = group_by.max_groups ?? MAX_GROUPS
  if (group_by.attribute !== 'metadata') return { by: group_by.attribute, max_groups }
  if (!group_by.path) throw fault('group_by.path', 'is required with the attribute metadata')
  return { by: 'metadata', key: group_by.path, max_groups }
}

function fault(path: string, message: string): Error {
  return bodyFault([{ code: 'value_error', path, message }])
}

function statsJson(
  { figures, is_exact, feedback }: TraceRunStats,
  { group_by, interval }: TraceRunStatsQuery,
): SchemaTypes['trace-run-stats'] {
  const shown = figures.map((one) => ({ one, json: figuresJson(one, is_exact, feedback) }))
  if (interval !== undefined) {
    const buckets = shown.map(({ one, json }) => ({
      start_time: formatTime(one.bucket ?? 0),
      group: one.group,
      figures: json,
    }))
    return { interval_seconds: interval / 1e6, buckets }
  }
  if (group_by) return Object.fromEntries(shown.map(({ one, json }) => [one.group ?? '', json]))
  return shown[0]!.json
}

/** Figures under LangSmith's names. */
export function figuresJson(
  one: RunFigures,
  is_exact: boolean,
  feedback: FeedbackStats | undefined,
): Figures {
  return {
    run_count: one.run_count,
    ...pair('latency', one.latency),
    ...pair('first_token', one.first_token),
    latency_p90: one.latency_p90,
    first_token_p90: one.first_token_p90,
    latency_p95: one.latency_p95,
    first_token_p95: one.first_token_p95,
    latency_histogram: histogramJson(one.latency_histogram),
    first_token_histogram: histogramJson(one.first_token_histogram),
    checks: one.checks,
    total_tokens: one.prompt_tokens + one.completion_tokens,
    prompt_tokens: one.prompt_tokens,
    completion_tokens: one.completion_tokens,
    median_tokens: one.total_tokens_each[0],
    tokens_p99: one.total_tokens_each[1],
    ...pair('prompt_tokens', one.prompt_tokens_each),
    ...pair('completion_tokens', one.completion_tokens_each),
    total_cost: one.total_cost,
    unpriced_runs: one.unpriced_runs,
    prompt_cost: one.prompt_cost,
    completion_cost: one.completion_cost,
    cost_p50: dollars(one.total_cost_each[0]),
    cost_p99: dollars(one.total_cost_each[1]),
    prompt_token_details: one.prompt_token_details,
    completion_token_details: one.completion_token_details,
    prompt_cost_details: one.prompt_cost_details,
    completion_cost_details: one.completion_cost_details,
    error_rate: one.error_rate,
    streaming_rate: one.streaming_rate,
    last_run_start_time: one.last_start === null ? null : formatTime(one.last_start),
    feedback_stats: feedback ? feedbackStatsJson(feedback) : null,
    run_facets: null,
    percentiles: is_exact ? 'exact' : 'approximate',
  }
}

function pair<N extends string>(name: N, [p50, p99]: RunFigures['latency']) {
  return { [`${name}_p50`]: p50, [`${name}_p99`]: p99 } as Record<`${N}_p50` | `${N}_p99`, number | null>
}

function histogramJson(histogram: TimeHistogram | undefined) {
  if (histogram === undefined) return null
  const classes = [...histogram].map(([from, run_count]) => ({ from, run_count }))
  return classes.toSorted((a, b) => a.from - b.from)
}

/** Converts a cost to text without an exponent, like all costs in responses. */
function dollars(value: number | null): string | null {
  return value === null ? null : value.toFixed(18).replace(/\.?0+$/, '')
}
