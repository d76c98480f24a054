import type { StatsGrouping, StatsQuery } from '../../../ingest/store/stats-store.ts'
import { namesTypeWithCounts } from '../filter-sql.ts'
import { listConditions } from '../list-sql.ts'
import { PROVIDER } from '../provider-sql.ts'
import { checkBit } from '../../../trace/rows/trace-run-row.ts'
import { countedSql, HAS_USAGE, LINE, type UsageShape } from '../usage/counted-sql.ts'
import { wide, wideMap } from '../usage/sums-sql.ts'

/**
 * The TraceRuns whose usage is added up. `own`: the selected TraceRuns; `trace`: all TraceRuns in the traces of
 * selected roots; `below`: the selected TraceRuns and their descendants. A call that several TraceRuns record counts
 * once.
 */
export type UsageLink = 'own' | 'trace' | 'below'

/** SQL that selects the TraceRuns from which figures are computed. */
export interface StatsSelection {
  /** Condition on rows of table `runs`, read FINAL. */
  matched: string
  /** SQL condition on the rows of table `runs` that contain the usage of the matched TraceRuns. */
  scope: string
  link: UsageLink
  params: Record<string, unknown>
}

/** Further inputs of a statement of figures. */
export interface StatsForm {
  selection: StatsSelection
  group: StatsGrouping | undefined
  /** Length of a bucket in microseconds. */
  interval: number | undefined
  /** Whether percentiles are exact; otherwise they are estimated by sketches. */
  is_exact: boolean
  histograms: boolean
  shape: UsageShape
}

const DAY = 86_400_000_000
/**
 * Usage of a descendant counts if the descendant starts at most EARLY before the window of the selected TraceRuns, and
 * at most LATE after it.
 */
const EARLY = DAY
const LATE = 7 * DAY

/** The parts of the query that become SQL. The statements also have the parameter `workspace_id`. */
export function selectionOf(query: StatsQuery): StatsSelection {
  const { keys, rest, scope, params } = listConditions({ ...query, order: 'desc', limit: 1 })
  const around = [...scope]
  if (query.start_time !== undefined) {
    params['around_from'] = Math.max(0, query.start_time - EARLY)
    around.push('sort_time >= fromUnixTimestamp64Micro({around_from:Int64})')
  }
  if (query.end_time !== undefined) {
    params['around_to'] = query.end_time + LATE
    around.push('sort_time < fromUnixTimestamp64Micro({around_to:Int64})')
  }
  if (query.group_by?.by === 'metadata') params['group_key'] = query.group_by.key
  return {
    matched: [...keys, ...rest].join(' AND '),
    scope: around.join(' AND '),
    link: linkOf(query),
    params,
  }
}

export function linkOf(query: StatsQuery): UsageLink {
  const { group_by, run_type, filter, is_root } = query
  const bearsUsage =
    run_type === 'llm' || run_type === 'embedding' || (filter !== undefined && namesTypeWithCounts(filter))
  if (bearsUsage) return 'own'
  if (is_root === true) return 'trace'
  const { parent_run_id, run_ids, error } = query
  const isNarrow = [run_type, filter, is_root, parent_run_id, run_ids, error].some(
    (condition) => condition !== undefined,
  )
  return isNarrow && group_by === undefined ? 'below' : 'own'
}

/** Restricts the usage of a selection to these traces, which are the parameter `usage_traces`. */
export function amongTraces(selection: StatsSelection, traces: readonly string[]): StatsSelection {
  const scope = `workspace_id = {workspace_id:UUID} AND (project_id, sort_time, run_id) IN (
    SELECT project_id, sort_time, run_id FROM trace_runs FINAL
    WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {usage_traces:Array(UUID)})
    AND trace_id IN {usage_traces:Array(UUID)}`
  return { ...selection, scope, params: { ...selection.params, usage_traces: traces } }
}

/**
 * Counts the matching rows without FINAL, which is faster. Replaced rows are counted too, so the number may be too
 * high.
 */
export const countSql = ({ matched }: StatsSelection): string =>
  `SELECT count() AS found FROM runs WHERE ${matched}`

/** Selects up to `limit` ids of the traces of the TraceRuns. */
export const tracesSql = ({ matched }: StatsSelection, limit: number): string =>
  `SELECT DISTINCT trace_id FROM runs FINAL WHERE ${matched} LIMIT ${limit}`

/** Selects the groups with the most TraceRuns, the largest first. */
export const groupsSql = ({ matched }: StatsSelection, group: StatsGrouping): string =>
  `SELECT grp, count() AS found FROM (SELECT ${groupSql(group)} AS grp FROM runs FINAL WHERE ${matched})
   WHERE grp != '' GROUP BY grp ORDER BY found DESC, grp LIMIT ${group.max_groups}`

const FIGURE_COLUMNS = [
  ...['status', 'run_type', 'sort_time', 'start_time', 'end_time', 'first_token_time', 'checks'],
]

/** Counts, times and shares of each group and bucket. */
export function figuresSql(form: Omit<StatsForm, 'shape'>): string {
  return `SELECT grp, bucket, ${figures(form)} FROM (${matchedSql(form, FIGURE_COLUMNS)}) GROUP BY grp, bucket`
}

/**
 * Returns the results of figuresSql and usageSql in one pass over the TraceRuns, for queries that add up the
 * TraceRuns' own usage.
 */
export function ownSql(form: StatsForm): string {
  const { scope } = form.selection
  const columns = ['workspace_id', 'project_id', 'run_id', ...FIGURE_COLUMNS, ...SUMMED_COLUMNS]
  return `SELECT grp, bucket, ${figures(form)}, ${usage(form, 'bears')}
    FROM (SELECT *, ${countedSql(scope, form.shape)} AS bears, ${renamed(added)}
          FROM (${matchedSql(form, columns)}))
    GROUP BY grp, bucket`
}

function figures(form: Omit<StatsForm, 'shape'>): string {
  const ended = "status != 'pending'"
  const streams = `run_type = 'llm' AND ${ended}`
  return `toUInt64(count()) AS run_count, toUnixTimestamp64Micro(max(sort_time)) AS last_start,
      ${share("status = 'error'", ended)} AS error_rate,
      ${share('isNotNull(first_token_time)', streams)} AS streaming_rate,
      ${times(form, 'latency', secondsTo('end_time', 'start_time'), 'isNotNull(end_time)')},
      ${times(form, 'first_token', secondsTo('first_token_time', 'start_time'), 'isNotNull(first_token_time)')},
      [${HELD.map((condition) => `toUInt64(countIf(run_type = 'llm' AND ${condition}))`).join(', ')}] AS held`
}

const CHECKS = ['run_type', 'format', 'model', 'usage'] as const
const ALL_CHECKS = CHECKS.reduce((bits, check) => bits + 2 ** checkBit(check), 0)
/** The condition for each count of HeldChecks, in the order of HeldChecks. */
export const HELD = [
  '1',
  `bitAnd(checks, ${ALL_CHECKS}) = ${ALL_CHECKS}`,
  ...CHECKS.map((check) => `bitTest(checks, ${checkBit(check)})`),
]

const POWERS = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000, 10_000]
/** Lower bound of each class of a histogram, in seconds: 0, then 1, 2 and 5 times each power of ten. */
export const CLASSES = [0, ...POWERS.flatMap((power) => [power, 2 * power, 5 * power])]

/** SQL of the index of the class of a time. */
export function classOf(seconds: string): string {
  return `toUInt16(arrayCount(least -> least <= ${seconds}, [${CLASSES.join(', ')}]) - 1)`
}

/** SQL of the percentiles of a time, in the order of Times. With histograms, also the number of TraceRuns in each class. */
function times(form: Omit<StatsForm, 'shape'>, name: string, seconds: string, condition: string): string {
  const all = `${percentiles(form, seconds, condition, '0.5, 0.99, 0.9, 0.95')} AS ${name}`
  if (!form.histograms) return all
  return `${all},
      sumMapIf(map(${classOf(seconds)}, toUInt64(1)), ${condition}) AS ${name}_histogram`
}

/** Sums of usage, and percentiles over TraceRuns, for each group and bucket. For link `own`, use ownSql. */
export function usageSql(form: StatsForm): string {
  const first = form.selection.link === 'trace'
  return `SELECT grp, bucket, ${usage(form, '1')} ${first ? `, ${firstTokens(form)}` : ''}
    FROM (${eachSql(form)})
    GROUP BY grp, bucket`
}

/** Tokens and costs of the rows that satisfy `condition`. */
function usage(form: StatsForm, condition: string): string {
  const summed = (column: string): string => `sumIf(${column}, ${condition})`
  const parts = (column: string): string => `sumMapIf(${column}, ${condition})`
  return `${summed('prompt')} AS prompt_tokens, ${summed('completion')} AS completion_tokens,
      toString(${summed('prompt_usd')}) AS prompt_cost, toString(${summed('completion_usd')}) AS completion_cost,
      toString(${summed('total_usd')}) AS total_cost, toUInt64(${summed('unpriced')}) AS unpriced_runs,
      ${percentiles(form, 'prompt', 'bears')} AS prompt_tokens_each,
      ${percentiles(form, 'completion', 'bears')} AS completion_tokens_each,
      ${percentiles(form, 'prompt + completion', 'bears')} AS total_tokens_each,
      ${percentiles(form, 'toFloat64(assumeNotNull(total_usd))', `isNotNull(total_usd) AND ${condition}`)} AS total_cost_each,
      ${parts('prompt_parts')} AS prompt_token_details, ${parts('completion_parts')} AS completion_token_details,
      mapApply((k, v) -> (k, toString(v)), ${parts('prompt_usd_parts')}) AS prompt_cost_details,
      mapApply((k, v) -> (k, toString(v)), ${parts('completion_usd_parts')}) AS completion_cost_details`
}

/** SQL of figures about first tokens of whole traces. A trace has a first token if one of its llm TraceRuns has one. */
function firstTokens(form: StatsForm): string {
  return `${share('isNotNull(first_at)', 'ended AND calls > 0')} AS streaming_rate,
    ${times(form, 'first_token', secondsTo('first_at', 'root_start'), 'isNotNull(first_at)')}`
}

/**
 * SQL with one row for each matched trace, or for each matched TraceRun that has usage itself or in its descendants.
 */
function eachSql(form: StatsForm): string {
  const { link, scope } = form.selection
  const counted = countedSql(scope, form.shape)
  switch (link) {
    case 'trace':
      return `SELECT grp, bucket, trace_id, root_start, ended, max(counts) AS bears, min(first_token_time) AS first_at,
          countIf(run_type = 'llm') AS calls, ${renamed(summedIf)}
        FROM (SELECT trace_id, run_type, first_token_time, ${SUMMED_COLUMNS.join(', ')}, ${counted} AS counts
              FROM runs FINAL WHERE ${scope} AND (${HAS_USAGE} OR run_type = 'llm')) AS usage
        INNER JOIN (SELECT trace_id, grp, min(bucket) AS bucket, min(start_time) AS root_start,
                      max(status != 'pending') AS ended
                    FROM (${matchedSql(form, ['trace_id', 'start_time', 'status'])}) GROUP BY trace_id, grp) AS roots
        USING (trace_id)
        GROUP BY grp, bucket, trace_id, root_start, ended`
    default:
      return `SELECT grp, bucket, top, 1 AS bears, ${renamed((column) => SUMMED(column))} FROM (
          SELECT grp, usage_id, argMin(bucket, place) AS bucket, argMin(above, place) AS top,
            ${SUMMED_COLUMNS.map((column) => `any(${column}) AS ${column}`).join(', ')}
          FROM (SELECT run_id AS usage_id, ${SUMMED_COLUMNS.join(', ')}, ${LINE} AS line,
                  arrayJoin(arrayEnumerate(line)) AS place, line[place] AS above
                FROM runs FINAL WHERE ${scope} AND ${counted}) AS usage
          INNER JOIN (SELECT run_id AS above, grp, bucket FROM (${matchedSql(form, ['run_id'])})) AS tops USING (above)
          GROUP BY grp, usage_id)
        GROUP BY grp, bucket, top`
  }
}

export const SUMMED_COLUMNS = [
  'input_tokens',
  'output_tokens',
  'input_cost',
  'output_cost',
  'total_cost',
  'input_token_details',
  'output_token_details',
  'input_cost_details',
  'output_cost_details',
] as const

/** The name of a column that is 1 for a row without a known cost, as it is added up. */
const UNPRICED = 'unpriced'

/** SQL of a column as it is added up. */
function added(column: string): string {
  if (column === UNPRICED) return 'toUInt64(isNull(total_cost))'
  if (column.endsWith('_cost_details')) return wideMap(column)
  return column.endsWith('_cost') ? wide(column) : column
}

/** SQL of the sum of a column. */
const SUMMED = (column: string): string =>
  column.endsWith('_details') ? `sumMap(${added(column)})` : `sum(${added(column)})`
const summedIf = (column: string): string =>
  column.endsWith('_details') ? `sumMapIf(${added(column)}, counts)` : `sumIf(${added(column)}, counts)`

/**
 * SQL of the usage of a row, or of a trace: the sums over its rows whose column `counts` is true. The columns are those
 * that `usage` adds up.
 */
export const usageAliases = (of: 'row' | 'trace'): string => renamed(of === 'row' ? added : summedIf)

function renamed(of: (column: string) => string): string {
  const tokens = (column: string): string => `toFloat64(ifNull(${of(column)}, 0))`
  const cost = (column: string): string => of(column)
  return `${tokens('input_tokens')} AS prompt, ${tokens('output_tokens')} AS completion,
    ${cost('input_cost')} AS prompt_usd, ${cost('output_cost')} AS completion_usd, ${cost('total_cost')} AS total_usd, ${of(UNPRICED)} AS unpriced,
    ${of('input_token_details')} AS prompt_parts, ${of('output_token_details')} AS completion_parts,
    ${of('input_cost_details')} AS prompt_usd_parts, ${of('output_cost_details')} AS completion_usd_parts`
}

const AT = 'toUnixTimestamp64Micro(sort_time)'

/** SQL of the selected TraceRuns with group and bucket; a TraceRun with several tags is in several groups. */
function matchedSql(
  { selection, group, interval }: Omit<StatsForm, 'shape'>,
  columns: readonly string[],
): string {
  const grp = group === undefined ? "''" : groupSql(group)
  const bucket = interval === undefined ? '0' : `${AT} - positiveModulo(${AT}, ${interval})`
  const rows = `SELECT ${[...columns, `${grp} AS grp`, `toInt64(${bucket}) AS bucket`].join(', ')}
    FROM runs FINAL WHERE ${selection.matched}`
  return group === undefined ? rows : `SELECT * FROM (${rows}) WHERE grp IN {groups:Array(String)}`
}

function groupSql(group: StatsGrouping): string {
  switch (group.by) {
    case 'tag':
      return 'arrayJoin(arrayDistinct(tags))'
    case 'metadata':
      return 'metadata[{group_key:String}]'
    case 'thread':
      return 'thread_id'
    case 'provider':
      return PROVIDER
    case 'session':
      return 'toString(project_id)'
    default:
      return `toString(${group.by})`
  }
}

/** SQL of the share of rows that satisfy `part` among those that satisfy `whole`; null if there are none. */
function share(part: string, whole: string): string {
  return `if(countIf(${whole}) = 0, NULL, countIf(${whole} AND ${part}) / countIf(${whole}))`
}

function percentiles(
  { is_exact }: Pick<StatsForm, 'is_exact'>,
  value: string,
  condition: string,
  levels = '0.5, 0.99',
): string {
  const sketch = is_exact ? 'quantilesExactInclusiveIf' : 'quantilesTDigestIf'
  return `${sketch}(${levels})(${value}, ${condition})`
}

export function secondsTo(end: string, start: string): string {
  return `greatest(0, toUnixTimestamp64Micro(assumeNotNull(${end})) - toUnixTimestamp64Micro(${start})) / 1000000`
}
