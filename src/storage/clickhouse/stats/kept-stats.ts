import { NIL_UUID } from '../../../base/ids.ts'
import type { StatsGrouping, StatsQuery } from '../../../ingest/store/stats-store.ts'
import type { Filter } from '../../../trace/filter/filter.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { filterSql } from '../filter-sql.ts'
import {
  type FigureWindow,
  type KeptFrom,
  type KnownRunHours,
  knownRunHours,
} from '../hours/known-run-hours.ts'
import { usageShape } from '../usage/counted-sql.ts'
import {
  HALF_DAY,
  HALF_HOUR,
  KEPT_GROUPINGS,
  type KeptGrouping,
  MERGED,
  RUN_HOUR_COLUMNS,
  type RunHours,
  runHoursSql,
} from './run-hours-sql.ts'
import { linkOf } from './stats-sql.ts'

/** What a query asks of run_hours. */
interface KeptForm {
  window: FigureWindow
  /** Conditions on rows of run_hours; those on `run_type`, `status` and roots are `narrow`. */
  where: string
  narrow: string
  params: SqlParams
  grouping: KeptGrouping | ''
  /** SQL of the group, and how many groups there are at most; undefined without groups. */
  group: { sql: string; max_groups: number } | undefined
  interval: number | undefined
  histograms: boolean
}

/** Undefined if run_hours does not have what the query asks. */
export function keptForm(query: StatsQuery): KeptForm | undefined {
  const {
    project_ids,
    start_time: from,
    end_time: to,
    run_type,
    is_root,
    error,
    filter,
    group_by,
    ...rest
  } = query
  const { interval, histograms = false, order_by: _by, offset: _offset, ...others } = rest
  if (project_ids === undefined || Object.values(others).some((value) => value !== undefined))
    return undefined
  const link = linkOf(query)
  if (link === 'below' || (filter !== undefined && !isKept(filter))) return undefined
  if (interval !== undefined && interval % HALF_HOUR !== 0) return undefined
  const group = group_by && groupOf(group_by)
  if (group_by !== undefined && group === undefined) return undefined
  const subject = link === 'trace' ? 'trace' : 'run'
  const grouping = group?.grouping ?? ''
  const narrow: string[] = []
  const params: Record<string, unknown> = {}
  if (run_type !== undefined) {
    narrow.push('run_type = {kept_type:String}')
    params['kept_type'] = run_type
  }
  if (is_root !== undefined) narrow.push(`is_root = ${is_root ? 1 : 0}`)
  if (error !== undefined) narrow.push(`status ${error ? '=' : '!='} 'error'`)
  if (filter !== undefined) {
    const condition = filterSql(filter, { prefix: 'kept' })
    narrow.push(condition.sql)
    Object.assign(params, condition.params)
  }
  return {
    window: { project_ids, from, to, subject, by_hours: isShort(query) },
    where: [`subject = '${subject}'`, `grouping = '${grouping}'`, ...narrow].join(' AND '),
    narrow: narrow.length === 0 ? '1' : narrow.join(' AND '),
    params,
    grouping,
    group: group && { sql: group.sql, max_groups: group.max_groups },
    interval,
    histograms,
  }
}

/** Whether the intervals are parts of half-days, or the window is at most a day: the hours of a day take as long to read. */
function isShort({ start_time: from, end_time: to, interval = HALF_DAY }: StatsQuery): boolean {
  return interval % HALF_DAY !== 0 || (from !== undefined && to !== undefined && to - from <= 2 * HALF_DAY)
}

/** Whether rows of run_hours satisfy the filter as a whole or not at all. */
function isKept(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.every(isKept)
    case 'not':
      return isKept(filter.of)
    case 'missing':
      return filter.field === 'parent_run_id'
    case 'compare':
    case 'in':
      return filter.field === 'run_type' || filter.field === 'status'
    default:
      return false
  }
}

function groupOf(
  group: StatsGrouping,
): { sql: string; grouping: KeptGrouping | ''; max_groups: number } | undefined {
  const { by, max_groups } = group
  if (by === 'session') return { sql: 'toString(project_id)', grouping: '', max_groups }
  if (by === 'run_type' || by === 'status') return { sql: `toString(${by})`, grouping: '', max_groups }
  return by in KEPT_GROUPINGS ? { sql: 'value', grouping: by as KeptGrouping, max_groups } : undefined
}

/** Rows of figures as run-stats.ts makes answers of, from kept figures. */
export interface KeptRows<Row> {
  rows: Row[]
  /** The groups, the largest first; undefined without groups. */
  names: string[] | undefined
}

/**
 * Figures from the kept figures of hours, and from the rows of the other hours. Undefined if the query asks for what is
 * not kept, if kept figures must not be used, or if there are few runs.
 */
export async function keptRows<Row>(
  clickhouse: ClickHouse,
  workspace_id: string,
  query: StatsQuery,
  least: KeptFrom,
): Promise<KeptRows<Row> | undefined> {
  const form = keptForm(query)
  const known = form && (await knownRunHours(clickhouse, workspace_id, form.window, least))
  if (form === undefined || known === undefined) return undefined
  // A trace with several roots is filed under its first one, which may be in another group, or not selected.
  const isNarrow = form.window.subject === 'trace' && form.narrow !== 'is_root = 1'
  const isGrouped = form.window.subject === 'trace' && form.group !== undefined
  if ((known.several_roots && (isNarrow || isGrouped)) || (known.live !== undefined && isGrouped))
    return undefined
  const params = { ...known.params, ...form.params }
  const source = await keptSource(clickhouse, known, {
    subjects: [form.window.subject],
    grouping: form.grouping,
    narrow: form.narrow,
    params,
    without: form.histograms ? ['estimates'] : ['estimates', 'histograms'],
  })
  const rows = `SELECT *, ${form.group?.sql ?? "''"} AS grp, ${bucketSql(form.interval)} AS bucket
    FROM (${source}) WHERE ${form.where}`
  if (form.group === undefined)
    return {
      rows: await clickhouse.rows<Row>(figuresSql(rows, form.histograms), { params }),
      names: undefined,
    }
  const named = `SELECT * FROM (${rows}) WHERE grp != ''`
  if (form.interval === undefined) {
    const sql = `SELECT * FROM (${figuresSql(named, form.histograms)}) ORDER BY run_count DESC, grp LIMIT ${form.group.max_groups}`
    const found = await clickhouse.rows<Row & { grp: string }>(sql, { params })
    return { rows: found, names: found.map(({ grp }) => grp) }
  }
  const groups = await clickhouse.rows<{ grp: string }>(
    `SELECT grp FROM (${named}) GROUP BY grp ORDER BY sum(runs) DESC, grp LIMIT ${form.group.max_groups}`,
    { params },
  )
  const names = groups.map(({ grp }) => grp)
  if (names.length === 0) return { rows: [], names }
  const ofGroups = `SELECT * FROM (${rows}) WHERE grp IN {kept_groups:Array(String)}`
  const found = await clickhouse.rows<Row>(figuresSql(ofGroups, form.histograms), {
    params: { ...params, kept_groups: names },
  })
  return { rows: found, names }
}

function bucketSql(interval: number | undefined): string {
  const at = `(toInt64(half_hour) * ${HALF_HOUR})`
  return interval === undefined ? 'toInt64(0)' : `${at} - positiveModulo(${at}, ${interval})`
}

/** SQL of rows of run_hours, with those of the live hours, which are computed. Reads which shape these have. */
export async function keptSource(
  clickhouse: ClickHouse,
  { live, kept, times }: KnownRunHours,
  of: {
    subjects: readonly RunHours['subject'][]
    grouping: KeptGrouping | ''
    /** Condition on the roots or runs that are computed. */
    narrow?: string
    params: SqlParams
    without?: RunHours['without']
  },
): Promise<string> {
  const columns = `project_id, ${RUN_HOUR_COLUMNS.join(', ')}`
  const parent = `if(is_root, toUUID('${NIL_UUID}'), toUUID('ffffffff-ffff-ffff-ffff-ffffffffffff')) AS parent_run_id`
  const keptRowsSql = `SELECT ${columns}, ${parent} FROM run_hours FINAL
    WHERE workspace_id = {workspace_id:UUID} AND project_id IN {figure_projects:Array(UUID)}
      AND subject IN (${of.subjects.map((one) => `'${one}'`).join(', ')}) AND grouping = '${of.grouping}'
      AND ${kept}`
  if (live === undefined) return keptRowsSql
  const shape = await usageShape(clickhouse, live, { params: of.params })
  const liveRows = of.subjects.map((subject) => {
    const { grouping, narrow = '1', without = [] } = of
    const rows = {
      scope: live,
      shape,
      subject,
      groupings: [grouping],
      selected: `${times} AND ${narrow}`,
      without,
    }
    return `SELECT ${columns}, ${parent} FROM (${runHoursSql(rows)})`
  })
  return [keptRowsSql, ...liveRows].join(' UNION ALL ')
}

function figuresSql(rows: string, histograms: boolean): string {
  const { sum, percentiles, map } = MERGED
  const ended = "sumIf(runs, status != 'pending')"
  const costs = (name: 'prompt_cost_details' | 'completion_cost_details'): string =>
    `mapApply((k, v) -> (k, toString(v)), ${map(name)}) AS ${name}`
  return `SELECT grp, bucket, toUInt64(${sum('runs')}) AS run_count, toUnixTimestamp64Micro(max(last_time)) AS last_start,
      if(${ended} = 0, NULL, sumIf(runs, status = 'error') / ${ended}) AS error_rate,
      if(${sum('streams')} = 0, NULL, ${sum('streamed')} / ${sum('streams')}) AS streaming_rate,
      ${percentiles('latency')} AS latency, ${percentiles('first_token')} AS first_token,
      ${histograms ? `${map('latency_classes')} AS latency_histogram, ${map('first_token_classes')} AS first_token_histogram,` : ''}
      sumForEach(held) AS held, ${USAGE.map((name) => `${sum(name)} AS ${name}`).join(', ')},
      ${COSTS.map((name) => `toString(${sum(name)}) AS ${name}`).join(', ')},
      ${EACH.map((name) => `${percentiles(name)} AS ${name}`).join(', ')},
      ${map('prompt_token_details')} AS prompt_token_details, ${map('completion_token_details')} AS completion_token_details,
      ${costs('prompt_cost_details')}, ${costs('completion_cost_details')}
    FROM (${rows}) GROUP BY grp, bucket`
}

const USAGE = ['prompt_tokens', 'completion_tokens', 'unpriced_runs'] as const
const COSTS = ['prompt_cost', 'completion_cost', 'total_cost'] as const
const EACH = ['prompt_tokens_each', 'completion_tokens_each', 'total_tokens_each', 'total_cost_each'] as const
