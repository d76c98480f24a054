import { NIL_UUID } from '../../../base/ids.ts'
import { DAY_OF_HOUR, TRACE_HOUR } from '../hours/trace-hour.ts'
import { PROVIDER } from '../provider-sql.ts'
import { countedSql, HAS_USAGE, isCallSql, type UsageShape } from '../usage/counted-sql.ts'
import { ESTIMATED_COLUMNS, wide } from '../usage/sums-sql.ts'
import { classOf, HELD, secondsTo, SUMMED_COLUMNS, usageAliases } from './stats-sql.ts'

/** Microseconds of the unit of run_hours, of which intervals must be multiples. */
export const HALF_HOUR = 1_800_000_000
/** Microseconds of the unit of rows of days in run_hours: the interval of a chart of a month. */
export const HALF_DAY = 24 * HALF_HOUR
/** The groupings that run_hours has, and their values in a row of `runs`. */
export const KEPT_GROUPINGS = { name: 'name', model: 'model', provider: PROVIDER } as const
export type KeptGrouping = keyof typeof KEPT_GROUPINGS

/** Relative error of percentiles, as in migration 0021. */
const ERROR = 0.01
const TIMES = `${ERROR}, 0.5, 0.99, 0.9, 0.95`
const EACH = `${ERROR}, 0.5, 0.99`
const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`

const SUMS = [
  'runs',
  'traces',
  'calls',
  'streams',
  'streamed',
  'prompt_tokens',
  'completion_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
  'unpriced_runs',
  'estimated_prompt_tokens',
  'estimated_completion_tokens',
  'estimated_cost',
] as const
/**
 * The percentiles. Values are multiplied, so that none is between 0 and 1, where the error of sketches is greater: times
 * are microseconds, costs have the unit of their decimals.
 */
const SKETCHES = {
  latency: { levels: TIMES, unit: 1e6 },
  first_token: { levels: TIMES, unit: 1e6 },
  prompt_tokens_each: { levels: EACH, unit: 1 },
  completion_tokens_each: { levels: EACH, unit: 1 },
  total_tokens_each: { levels: EACH, unit: 1 },
  total_cost_each: { levels: EACH, unit: 1e18 },
} as const
const MAPS = [
  'latency_classes',
  'first_token_classes',
  'prompt_token_details',
  'completion_token_details',
  'prompt_cost_details',
  'completion_cost_details',
] as const

/** The columns of run_hours that runHoursSql selects. */
export const RUN_HOUR_COLUMNS = [
  ...['hour', 'half_hour', 'subject', 'grouping', 'value', 'run_type', 'status', 'is_root'],
  ...['first_time', 'last_time', 'held', ...SUMS, ...Object.keys(SKETCHES), ...MAPS],
]

/** What is computed of the traces of some hours. */
export interface RunHours {
  /** Condition on rows of `runs`: all rows of the traces of some hours. */
  scope: string
  shape: UsageShape
  subject: 'trace' | 'run'
  /** '' for the rows without grouping. */
  groupings: readonly (KeptGrouping | '')[]
  /** Condition on roots, or on runs, by their time, type, status and parent; default: none. */
  selected?: string
  /** Parts that the reader does not need; they are left empty, which makes the statement shorter. Default: none. */
  without?: readonly ('estimates' | 'histograms')[]
}

/** SQL of rows like those of run_hours, with `project_id`. */
export function runHoursSql(of: RunHours): string {
  const { subject, without = [] } = of
  const hasEstimates = !without.includes('estimates')
  const counted = subject === 'run' ? 'counts' : 'is_first'
  const streams =
    subject === 'run' ? "run_type = 'llm' AND status != 'pending'" : 'is_first AND any_ended AND llm_runs > 0'
  const began = subject === 'run' ? 'start_time' : 'least_start'
  const latency = secondsTo('end_time', 'start_time')
  const firstToken = secondsTo('first_at', began)
  const hasFirst = `isNotNull(first_at)${subject === 'run' ? '' : ' AND is_first'}`
  const sketch = (name: keyof typeof SKETCHES, value: string, condition: string): string => {
    const { levels, unit } = SKETCHES[name]
    return `quantilesDDStateIf(${levels})(toFloat64(${value}) * ${unit}, ${condition}) AS ${name}`
  }
  const bears = `bears AND ${counted}`
  const classes = (name: string, seconds: string, condition: string): string =>
    without.includes('histograms')
      ? `CAST(map(), 'Map(UInt16, UInt64)') AS ${name}`
      : `sumMapIf(map(${classOf(seconds)}, toUInt64(1)), ${condition}) AS ${name}`
  return `SELECT project_id, trace_hour AS hour, half_hour, '${subject}' AS subject, grp.1 AS grouping, grp.2 AS value,
      run_type, status, is_root, min(sort_time) AS first_time, max(sort_time) AS last_time,
      [${HELD.map((condition) => `countIf(run_type = 'llm' AND ${condition})`).join(', ')}] AS held,
      count() AS runs, ${subject === 'run' ? 'toUInt64(0)' : 'countIf(is_first)'} AS traces, countIf(is_call) AS calls,
      countIf(${streams}) AS streams, countIf(${streams} AND isNotNull(first_at)) AS streamed,
      sumIf(prompt, ${bears}) AS prompt_tokens, sumIf(completion, ${bears}) AS completion_tokens,
      sumIf(prompt_usd, ${bears}) AS prompt_cost, sumIf(completion_usd, ${bears}) AS completion_cost,
      sumIf(total_usd, ${bears}) AS total_cost, sumIf(unpriced, ${bears}) AS unpriced_runs,
      ${hasEstimates ? `sumIf(toFloat64(ifNull(estimated_input, 0)), ${bears})` : 'toFloat64(0)'} AS estimated_prompt_tokens,
      ${hasEstimates ? `sumIf(toFloat64(ifNull(estimated_output, 0)), ${bears})` : 'toFloat64(0)'} AS estimated_completion_tokens,
      ${hasEstimates ? `sumIf(${wide('estimated_part')}, ${bears})` : "CAST(NULL, 'Nullable(Decimal(76, 18))')"} AS estimated_cost,
      ${sketch('latency', latency, 'isNotNull(end_time)')}, ${sketch('first_token', firstToken, hasFirst)},
      ${sketch('prompt_tokens_each', 'prompt', bears)}, ${sketch('completion_tokens_each', 'completion', bears)},
      ${sketch('total_tokens_each', 'prompt + completion', bears)},
      ${sketch('total_cost_each', 'assumeNotNull(total_usd)', `isNotNull(total_usd) AND ${bears}`)},
      ${classes('latency_classes', latency, 'isNotNull(end_time)')}, ${classes('first_token_classes', firstToken, hasFirst)},
      sumMapIf(prompt_parts, ${bears}) AS prompt_token_details, sumMapIf(completion_parts, ${bears}) AS completion_token_details,
      sumMapIf(prompt_usd_parts, ${bears}) AS prompt_cost_details,
      sumMapIf(completion_usd_parts, ${bears}) AS completion_cost_details
    FROM (SELECT *, toInt32(intDiv(toUnixTimestamp64Micro(sort_time), ${HALF_HOUR})) AS half_hour,
            arrayJoin([${of.groupings.map((one) => `('${one}', ${one === '' ? "''" : `toString(${one}_value)`})`).join(', ')}]) AS grp
          FROM (${subject === 'run' ? runsSql(of) : rootsSql(of)}))
    ${of.groupings.every((one) => one === '') ? '' : "WHERE grp.1 = '' OR grp.2 != ''"}
    GROUP BY project_id, hour, half_hour, grouping, value, run_type, status, is_root`
}

/** SQL of the rows of days in run_hours, by the half-days in which the runs start, from those of hours that satisfy `scope`. */
export function runDaysSql(scope: string): string {
  const keys = RUN_HOUR_COLUMNS.slice(2, RUN_HOUR_COLUMNS.indexOf('first_time'))
  const states = Object.entries(SKETCHES).map(
    ([name, { levels }]) => `quantilesDDMergeState(${levels})(kept.${name}) AS ${name}`,
  )
  const sums = SUMS.map((name) => `sum(kept.${name}) AS ${name}`)
  const maps = MAPS.map((name) => `sumMap(kept.${name}) AS ${name}`)
  return `SELECT project_id, ${DAY_OF_HOUR} AS day, toInt32(floor(half_hour / 24) * 24) AS first_half_hour, ${keys.join(', ')},
      min(kept.first_time) AS first_time, max(kept.last_time) AS last_time, sumForEach(kept.held) AS held,
      ${[...sums, ...states, ...maps].join(', ')}
    FROM run_hours AS kept FINAL WHERE ${scope}
    GROUP BY project_id, day, first_half_hour, ${keys.join(', ')}`
}

/** SQL of the values of the groupings, by the names of their columns. */
function groupValues({ groupings }: RunHours): { name: string; sql: string }[] {
  return groupings.flatMap((one) => (one === '' ? [] : [{ name: `${one}_value`, sql: KEPT_GROUPINGS[one] }]))
}

const ESTIMATES = ['estimated_input', 'estimated_output', 'estimated_part']
const estimatesOf = ({ without = [] }: RunHours): string[] => (without.includes('estimates') ? [] : ESTIMATES)

/** SQL of all runs, with their own usage. */
function runsSql(of: RunHours): string {
  const columns = [
    'project_id',
    'trace_hour',
    'sort_time',
    'start_time',
    'end_time',
    'run_type',
    'status',
    'checks',
  ]
  const values = groupValues(of).map(({ name, sql }) => `${sql} AS ${name}`)
  return `SELECT ${[...columns, 'is_root', 'counts', 'is_call', ...estimatesOf(of), ...values].join(', ')},
      first_token_time AS first_at, counts AS bears, ${usageAliases('row')}
    FROM (${rowsSql(of)}) WHERE ${of.selected ?? '1'}`
}

/** SQL of all roots. The usage of a trace is that of its first root (`is_first`), since some traces have several. */
function rootsSql(of: RunHours): string {
  const { selected = '1' } = of
  const columns = ['sort_time', 'start_time', 'end_time', 'status', 'run_type', 'checks']
  const root = [...columns.map((name) => ({ name, sql: name })), ...groupValues(of)]
  const values = root.map(({ name, sql }) => (name.endsWith('_value') ? `toString(${sql})` : sql))
  const estimates = estimatesOf(of).map(
    (name) => `sumIf(${name === 'estimated_part' ? wide(name) : name}, counts) AS ${name}`,
  )
  return `SELECT *, place = 1 AS is_first, ${root.map(({ name }, i) => `root.${i + 1} AS ${name}`).join(', ')} FROM (
      SELECT *, arrayJoin(arrayEnumerate(roots)) AS place, roots[place] AS root, toUInt8(1) AS is_root, toUInt8(0) AS is_call,
        arrayMin(one -> one.2, roots) AS least_start, arrayExists(one -> one.4 != 'pending', roots) AS any_ended
      FROM (
        SELECT project_id, trace_hour, trace_id,
          arraySort(one -> one.1, groupArrayIf((${values.join(', ')}), is_root AND ${selected})) AS roots,
          max(counts) AS bears, minIf(first_token_time, has_usage OR run_type = 'llm') AS first_at,
          countIf(run_type = 'llm') AS llm_runs, ${[...estimates, usageAliases('trace')].join(', ')}
        FROM (${rowsSql(of)})
        GROUP BY project_id, trace_hour, trace_id
        HAVING notEmpty(roots)))`
}

function rowsSql(of: RunHours): string {
  const { scope, shape, subject } = of
  const columns = [
    'name',
    'model',
    'provider',
    'checks',
    'status',
    'run_type',
    'sort_time',
    'start_time',
    'end_time',
  ]
  const hasEstimates = estimatesOf(of).length > 0
  const isCall = subject === 'run' && hasEstimates ? isCallSql(scope, shape.doubles) : 'toUInt8(0)'
  return `SELECT workspace_id, project_id, trace_id, run_id, parent_run_id, first_token_time, ${columns.join(', ')},
      ${SUMMED_COLUMNS.join(', ')}, ${TRACE_HOUR} AS trace_hour, ${IS_ROOT} AS is_root, ${HAS_USAGE} AS has_usage,
      ${countedSql(scope, shape)} AS counts, ${isCall} AS is_call ${hasEstimates ? `, ${ESTIMATED_COLUMNS}` : ''}
    FROM runs FINAL WHERE ${scope}`
}

/** SQL of sums and percentiles over rows like those of run_hours that satisfy `condition`. */
export const MERGED = {
  sum: (name: (typeof SUMS)[number], condition = '1'): string => `sumIf(${name}, ${condition})`,
  percentiles(name: keyof typeof SKETCHES, condition = '1'): string {
    const { levels, unit } = SKETCHES[name]
    return `arrayMap(value -> value / ${unit}, quantilesDDMergeIf(${levels})(${name}, ${condition}))`
  },
  map: (name: (typeof MAPS)[number]): string => `sumMap(${name})`,
}
