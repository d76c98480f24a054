import type { RunFigures } from '../ingest/store/stats-store.ts'
import type { TraceRunStatsQuery } from '../query/trace-reads.ts'
import { parseDecimal } from '../trace/price/decimal.ts'
import type { Alert, AlertFields, AlertFigure, AlertState, AlertWindow, Evaluation } from './alert.ts'

const MINUTE_MS = 60_000
/**
 * A window ends this long before it is read: runs are sent in batches, and derived after that. Later ones count in the
 * following windows that contain their start.
 */
export const ALLOWED_LATE_MS = 60_000

export function evaluationWindow(
  { window_minutes }: Pick<Alert, 'window_minutes'>,
  now: number,
): AlertWindow {
  const to = now - ALLOWED_LATE_MS
  return { from: to - window_minutes * MINUTE_MS, to }
}

const FAILED = 'eq(status, "error")'

/** The query whose figures have the value of a rule. */
export function figuresQuery(
  { project_id, subject, filter, figure }: Pick<Alert, 'project_id' | 'subject' | 'filter' | 'figure'>,
  { from, to }: AlertWindow,
): TraceRunStatsQuery {
  const clauses = [
    ...(filter === null ? [] : [filter]),
    ...(subject === 'llm' || subject === 'tool' ? [`eq(run_type, "${subject}")`] : []),
    ...(figure === 'failed_count' ? [FAILED] : []),
  ]
  return {
    session: [project_id],
    start_time: from * 1000,
    end_time: to * 1000,
    ...(subject === 'traces' && { is_root: true }),
    ...(clauses.length > 0 && { filter: clauses.length === 1 ? clauses[0]! : `and(${clauses.join(', ')})` }),
  }
}

const READ: Record<AlertFigure, (of: RunFigures) => number | string | null> = {
  run_count: (of) => of.run_count,
  failed_count: (of) => of.run_count,
  error_rate: (of) => of.error_rate,
  latency_p50: (of) => of.latency[0],
  latency_p95: (of) => of.latency_p95,
  latency_p99: (of) => of.latency[1],
  first_token_p50: (of) => of.first_token[0],
  first_token_p95: (of) => of.first_token_p95,
  first_token_p99: (of) => of.first_token[1],
  total_tokens: (of) => of.prompt_tokens + of.completion_tokens,
  // Without runs the sum is 0; with runs whose prices are unknown it is unknown.
  total_cost: (of) => (of.run_count === 0 ? 0 : of.total_cost),
  good_calls: ({ checks }) => (checks.llm_runs === 0 ? null : checks.all / checks.llm_runs),
}

/** The value of a rule as decimal text; null if the window has none, such as a latency without a run that ended. */
export function figureValue(figure: AlertFigure, figures: RunFigures): string | null {
  const value = READ[figure](figures)
  return value === null ? null : String(value)
}

/** Number of calls that the value of a rule leaves out, because their cost is not known; null if it is no cost. */
export function unpricedRuns(figure: AlertFigure, figures: RunFigures): number | null {
  return figure === 'total_cost' ? figures.unpriced_runs : null
}

/** The state after an evaluation. A value at the threshold is neither above nor below. */
export function stateAfter(
  { comparison, threshold, no_data, state }: AlertFields & { state: AlertState },
  value: string | null,
): Pick<Evaluation, 'state' | 'reason'> {
  const [found, limit] = [parseDecimal(value), parseDecimal(threshold)]
  if (found === undefined || limit === undefined) {
    if (no_data === 'keep') return { state: state === 'unknown' ? 'ok' : state, reason: 'no_data' }
    return { state: no_data === 'fire' ? 'firing' : 'ok', reason: 'no_data' }
  }
  const isOver = comparison === 'above' ? found > limit : found < limit
  return { state: isOver ? 'firing' : 'ok', reason: 'threshold' }
}
