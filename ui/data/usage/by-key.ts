import { call } from '../../api/call.ts'
import type { TraceRunStatsBucket } from '../../api/platform.gen.ts'
import type { Measure, Stride, UsageLine, UsageQuery } from './lines.ts'

const HOUR_MS = 3_600_000
/** Ranges up to this length have bars of hours. */
const HOURS_OF_MS = 72 * HOUR_MS
/** Maximum number of groups in a response of the server. */
const MOST_GROUPS = 100

type Figures = TraceRunStatsBucket['figures']

function valueOf(measure: Measure, { run_count, total_tokens, total_cost }: Figures): string | null {
  if (measure === 'cost') return total_cost
  return String(measure === 'tokens' ? (total_tokens ?? 0) : run_count)
}

/**
 * The lines of the stored traces of the open workspace, by a key of the metadata of their roots, and lines of all of
 * these traces: what is left of them has no value, or one that is not among the 100 most frequent.
 */
export async function readByKey(
  { from, to, measure }: UsageQuery,
  path: string,
  signal: AbortSignal,
): Promise<{ stride: Stride; lines: UsageLine[]; whole: UsageLine[] }> {
  const isByHour = Date.parse(to) - Date.parse(from) <= HOURS_OF_MS
  const range = { is_root: true, start_time: from, end_time: to, interval: isByHour ? '1h' : '1d' }
  const group_by = { attribute: 'metadata' as const, path, max_groups: MOST_GROUPS }
  const [grouped = [], all = []] = (
    await Promise.all([
      call('POST /api/v1/runs/stats', { body: { ...range, group_by }, signal }),
      call('POST /api/v1/runs/stats', { body: range, signal }),
    ])
  ).map((stats) => ('buckets' in stats ? (stats.buckets as TraceRunStatsBucket[]) : []))
  const line = (
    { start_time, figures }: TraceRunStatsBucket,
    dimensions: UsageLine['dimensions'],
  ): UsageLine => ({
    time_bucket: start_time,
    dimensions,
    value: valueOf(measure, figures),
    unpriced: figures.unpriced_runs,
    traces: figures.run_count,
  })
  const values = [...new Set(grouped.map(({ group }) => group ?? ''))]
  const left = values.length < MOST_GROUPS ? [] : values
  return {
    stride: isByHour ? { days: 0, hours: 1 } : { days: 1, hours: 0 },
    lines: grouped.map((one) => line(one, { metadata_value: one.group ?? '' })),
    whole: all.map((one) => line(one, { metadata_value: null, left_out: left })),
  }
}
