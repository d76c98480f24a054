import { NIL_UUID } from '../../../base/ids.ts'
import { TRACE_HOUR } from '../hours/trace-hour.ts'
import { countedSql, type UsageShape } from '../usage/counted-sql.ts'

const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`
/** Relative error of percentiles, as in migration 0018. */
const SKETCH_ERROR = 0.01

const TOKENS = ['prompt_tokens', 'completion_tokens'] as const
const COSTS = ['prompt_cost', 'completion_cost', 'total_cost'] as const
const COUNTS = ['unpriced_runs'] as const
const DETAILS = [
  'prompt_token_details',
  'completion_token_details',
  'prompt_cost_details',
  'completion_cost_details',
] as const
/** The columns of `runs` from which the sums of a thread are made. */
const SOURCES: Record<(typeof TOKENS | typeof COSTS | typeof COUNTS | typeof DETAILS)[number], string> = {
  prompt_tokens: 'toFloat64(ifNull(input_tokens, 0))',
  completion_tokens: 'toFloat64(ifNull(output_tokens, 0))',
  prompt_cost: 'toDecimal256(input_cost, 18)',
  completion_cost: 'toDecimal256(output_cost, 18)',
  total_cost: 'toDecimal256(total_cost, 18)',
  unpriced_runs: 'toUInt64(isNull(total_cost))',
  prompt_token_details: 'input_token_details',
  completion_token_details: 'output_token_details',
  prompt_cost_details: 'input_cost_details',
  completion_cost_details: 'output_cost_details',
}
const SUMS = [...TOKENS, ...COSTS, ...COUNTS]

/** The columns of `thread_hours` that threadHoursSql selects. */
export const THREAD_HOUR_COLUMNS = [
  'hour',
  'thread',
  'turns',
  'errored_turns',
  'first_root',
  'last_root',
  'last_failed',
  'last_end',
  'latency',
  ...SUMS,
  ...DETAILS,
]

/**
 * SQL of the figures of threads by hour, from the rows of `scope`: all rows of the traces of some hours of one project.
 * Which trace is in which thread is as in `turnsSql`. `turns` is a condition on `thread` and `root_time`.
 */
export function threadHoursSql(scope: string, shape: UsageShape, turns = '1'): string {
  const seconds = `greatest(0, toUnixTimestamp64Micro(assumeNotNull(root.5)) - toUnixTimestamp64Micro(root.4)) / 1000000`
  const place = 'tuple(root_time, trace_id, root.2)'
  const sums = SUMS.map((name) => `sum(${name}_of) AS ${name}`)
  const maps = DETAILS.map((name) => `sumMap(${name}_of) AS ${name}`)
  return `SELECT hour, thread, count() AS turns, countIf(root.6 = 'error') AS errored_turns,
      min(${place}) AS first_root, max(${place}) AS last_root, maxIf(${place}, root.6 = 'error') AS last_failed,
      max(root.5) AS last_end, quantilesDDStateIf(${SKETCH_ERROR}, 0.5, 0.99)(${seconds}, isNotNull(root.5)) AS latency,
      ${[...sums, ...maps].join(', ')}
    FROM (${turnsOfHoursSql(scope, shape)})
    WHERE ${turns}
    GROUP BY hour, thread`
}

/** SQL of the traces of `scope` that are in a thread, with their root and their usage. */
function turnsOfHoursSql(scope: string, shape: UsageShape): string {
  const used = SUMS.map((name) => `sumIf(${SOURCES[name]}, counts) AS ${name}_of`)
  const maps = DETAILS.map((name) => `sumMapIf(${SOURCES[name]}, counts) AS ${name}_of`)
  return `SELECT trace_hour AS hour, trace_id,
      argMaxIf((thread_id, run_id, sort_time, start_time, end_time, status), (run_id = trace_id, version), is_root) AS root,
      if(root.1 != '', root.1, argMinIf(thread_id, (start_time, toString(run_id)), NOT is_root AND thread_id != '')) AS thread,
      root.3 AS root_time, ${[...used, ...maps].join(', ')}
    FROM (SELECT *, ${TRACE_HOUR} AS trace_hour, ${IS_ROOT} AS is_root, ${countedSql(scope, shape)} AS counts
          FROM runs FINAL WHERE ${scope})
    GROUP BY hour, trace_id
    HAVING countIf(is_root) > 0 AND thread != ''`
}

/** SQL of the figures of each thread, from rows like those of `thread_hours`. A root without time is none. */
export function threadTotalsSql(rows: string): string {
  const sums = [
    ...[...TOKENS, ...COUNTS].map((name) => `sum(hours.${name}) AS ${name}`),
    ...COSTS.map((name) => `toString(sum(hours.${name})) AS ${name}`),
    ...DETAILS.map((name) => `${detailsSql(name)} AS ${name}`),
  ]
  return `SELECT hours.thread AS thread_id, sum(hours.turns) AS turns, sum(hours.errored_turns) AS errored_turns,
      ${placeSql('first', 'min(hours.first_root)')}, ${placeSql('last', 'max(hours.last_root)')},
      ${placeSql('failed', 'max(hours.last_failed)')}, toUnixTimestamp64Micro(max(hours.last_end)) AS last_end,
      quantilesDDMerge(${SKETCH_ERROR}, 0.5, 0.95, 0.99)(hours.latency) AS latency, ${sums.join(', ')}
    FROM (${rows}) AS hours
    GROUP BY hours.thread`
}

function placeSql(which: string, root: string): string {
  return `toUnixTimestamp64Micro((${root} AS ${which}).1) AS ${which}_start, ${which}.2 AS ${which}_trace_id, ${which}.3 AS ${which}_run_id`
}

/** Costs by category as decimal text, tokens as numbers. */
function detailsSql(name: (typeof DETAILS)[number]): string {
  const sum = `sumMap(hours.${name})`
  return name.includes('cost') ? `mapApply((k, v) -> (k, toString(v)), ${sum})` : sum
}
