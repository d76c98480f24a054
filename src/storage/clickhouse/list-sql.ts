import { NIL_UUID } from '../../base/ids.ts'
import type { ThreadSelection, TurnFilters } from '../../ingest/store/thread-store.ts'
import type { ListQuery } from '../../ingest/store/trace-store.ts'
import type { Filter } from '../../trace/filter/filter.ts'
import { type FilterPlace, type SearchMode, type SqlCondition, filterSql } from './filter-sql.ts'
import { indexedSql } from './search/filter-indexes.ts'
import { turnsSql } from './threads/turns-sql.ts'

/** The key of a row of `runs` within its workspace. */
export const KEY = 'project_id, sort_time, run_id'
/** SQL of the time at which a feedback record was last modified: its `modified_at`, otherwise its receive time. */
const MODIFIED = `toUnixTimestamp64Micro(ifNull(parseDateTime64BestEffortOrNull(JSONExtractString(body, 'modified_at'), 6, 'UTC'), toDateTime64(received_at, 6, 'UTC')))`
const MAX_TIME = Number.MAX_SAFE_INTEGER
/** A child is found below its parent if it starts at most this number of microseconds before the parent. */
const CLOCK_SLACK = 86_400_000_000

interface ListForm {
  /** Columns of the result; default: all. */
  wanted?: readonly string[]
  search?: SearchMode | undefined
  /** Whether to look up the rows in the indexes for filters instead of reading them in the order of the list. */
  isFew?: boolean
}

/**
 * One page of lean rows. The statement needs the parameter `workspace_id` in addition to `params`. `columns` are all
 * columns of the table, `wanted` those of the result.
 *
 * The innermost query reads the rows in the order of the sort key and keeps the newest version of each TraceRun.
 * Conditions on other columns are applied to its result, so that an outdated version never matches. To find a page,
 * ClickHouse reads only the key and the columns of the conditions, and stops when the page is full. An ORDER BY around
 * the innermost query would make ClickHouse read everything. All columns are read only for the rows of the page,
 * because those of a million rows do not fit into memory.
 */
export function listSql(columns: readonly string[], query: ListQuery, form: ListForm = {}): SqlCondition {
  const { wanted = columns, search, isFew = false } = form
  const { keys, rest, params, found } = listConditions(query, { search })
  const order = orderSql(query)
  if (isFew) keys.push(`(${KEY}) IN (SELECT ${KEY} FROM runs WHERE ${[...keys, ...found].join(' AND ')})`)
  const sql = `
    SELECT ${wanted.join(', ')} FROM runs FINAL
    WHERE workspace_id = {workspace_id:UUID} AND (${KEY}) IN (
      SELECT ${KEY} FROM (${newestSql(columns, keys, order)})
      WHERE ${rest.join(' AND ')}
      LIMIT {limit:UInt32})
    ORDER BY ${order}`
  return { sql, params }
}

/**
 * Counts, up to `most`, the rows that the indexes for filters find for the list; outdated versions are counted too.
 * Undefined if the indexes have nothing for the list, or if it is short anyway.
 */
export function fewSql(query: ListQuery, most: number): SqlCondition | undefined {
  if (query.run_ids !== undefined || query.trace_ids !== undefined || query.of_threads !== undefined)
    return undefined
  const { keys, params, found } = listConditions(query)
  if (found.length === 0) return undefined
  const rows = `SELECT 1 FROM runs WHERE ${[...keys, ...found].join(' AND ')} LIMIT ${most}`
  return { sql: `SELECT count() AS count FROM (${rows} SETTINGS max_block_size = ${FEW_BLOCK})`, params }
}

/** Number of rows that are read at once while rows of a filter are counted, so that few rows are read of a frequent value. */
const FEW_BLOCK = 4096

/** The ORDER BY of the list. The rows of one project are stored in this order. */
export function orderSql(query: ListQuery): string {
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  return `${oneProject(query) ? `project_id ${direction}, ` : ''}sort_time ${direction}, run_id ${direction}`
}

/** The newest versions of the rows that satisfy conditions on the key. */
export function newestSql(columns: readonly string[], keys: readonly string[], order: string): string {
  return `SELECT ${columns.join(', ')} FROM runs WHERE ${keys.join(' AND ')}
    ORDER BY ${order}, version DESC, is_deleted DESC LIMIT 1 BY ${KEY}`
}

/**
 * The sort_time of the row at an offset of the list. The statement reads only the sort key, so outdated versions are
 * counted too.
 */
export function timeAtSql(query: ListQuery, offset: number): SqlCondition {
  const { filter: _filter, trace_filter: _trace, tree_filter: _tree, ...unfiltered } = query
  const { keys, params } = listConditions(unfiltered)
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  const order = `${oneProject(query) ? `project_id ${direction}, ` : ''}sort_time ${direction}`
  const sql = `SELECT toUnixTimestamp64Micro(sort_time) AS at FROM runs WHERE ${keys.join(' AND ')}
    ORDER BY ${order} LIMIT 1 OFFSET ${offset}`
  return { sql, params }
}

function oneProject(query: ListQuery): boolean {
  return query.project_ids?.length === 1
}

/** Conditions that select TraceRuns, on rows of table `runs`. */
interface Conditions {
  /** Conditions on the sort key. */
  keys: string[]
  /** The conditions of `keys` that determine where the rows are stored: workspace, projects and traces. */
  scope: string[]
  /** Conditions on columns that may differ between versions of a row. */
  rest: string[]
  /** Those of `rest` that the indexes for filters answer; empty if there are none. */
  found: string[]
  params: Record<string, unknown>
}

/**
 * The conditions of a query; statements with them also need the parameter `workspace_id`. Parameters of its filter
 * begin with `prefix`.
 */
export function listConditions(
  query: ListQuery,
  { prefix = 'f', search }: { prefix?: string; search?: SearchMode | undefined } = {},
): Conditions {
  const params: Record<string, unknown> = { limit: query.limit }
  const scope = scopeConditions(query, params)
  const keys = [...scope, ...keyConditions(query, params), ...threadCondition(query, params)]
  const rest = ['is_deleted = 0', ...rowConditions(query, params)]
  const feedback = feedbackCondition(query, params)
  const searched = searchedCondition(query, keys)
  const indexed = (filter: Filter, name: string): string[] => {
    const condition = indexedSql(filter, name)
    Object.assign(params, condition?.params)
    return condition ? [condition.sql] : []
  }
  const filterOn = (filter: Filter, place: FilterPlace & { prefix: string }): string => {
    const condition = filterSql(filter, { feedback, ...place })
    Object.assign(params, condition.params)
    return [...indexed(filter, place.prefix), condition.sql].join(' AND ')
  }
  const found = query.filter ? indexed(query.filter, prefix) : []
  if (query.error === true) found.push("status = 'error'")
  if (query.filter)
    rest.push(filterOn(query.filter, { scope: usageScope(query, scope, params), searched, search, prefix }))
  // These conditions have no times. A trace has no maximum duration, so its root and its other TraceRuns may lie
  // outside of the times of the list.
  const all = scope.join(' AND ')
  if (query.trace_filter) {
    const root = filterOn(query.trace_filter, { scope: all, prefix: 'root' })
    rest.push(tracesWhere(`${all} AND parent_run_id = toUUID('${NIL_UUID}') AND ${root}`))
  }
  if (query.tree_filter)
    rest.push(tracesWhere(`${all} AND ${filterOn(query.tree_filter, { scope: all, prefix: 'tree' })}`))
  return { keys, scope, rest, found, params }
}

/** SQL condition: the TraceRun is the root of a trace in a thread. */
function threadCondition({ of_threads }: ListQuery, params: Record<string, unknown>): string[] {
  if (of_threads === undefined) return []
  const roots = (turns: string) => `(sort_time, run_id) IN (SELECT root_time, run_id FROM (${turns}))`
  if (!('from' in of_threads)) {
    params['threads'] = of_threads
    return [roots(turnsSql({ named: true }))]
  }
  const turns = turnsSql({ times: THREAD_TIMES, named: false })
  const { having, params: more } = threadConditions(of_threads)
  Object.assign(params, more)
  if (having.length === 0) return [roots(turns)]
  const threads = `SELECT thread FROM (${turns}) GROUP BY thread HAVING ${having.join(' AND ')}`
  return [roots(`SELECT * FROM (${turns}) WHERE thread IN (${threads})`)]
}

/** Condition on `root_time` for the window of threads. */
export const THREAD_TIMES = `root_time >= fromUnixTimestamp64Micro({threads_from:Int64})
  AND root_time < fromUnixTimestamp64Micro({threads_to:Int64})`

/**
 * SQL condition: the trace (`trace_id`) is one of these threads' traces and satisfies the filters. Undefined without
 * filters.
 */
export function turnCondition({
  project_id,
  thread_ids,
  filter,
  trace_filter,
  tree_filter,
}: TurnFilters & { project_id: string; thread_ids: readonly string[] }): SqlCondition | undefined {
  const filters = {
    ...(filter && { filter }),
    ...(trace_filter && { trace_filter }),
    ...(tree_filter && { tree_filter }),
  }
  if (Object.keys(filters).length === 0) return undefined
  const of = { project_ids: [project_id], of_threads: thread_ids, ...filters }
  const { keys, rest, params } = listConditions({ ...of, order: 'desc', limit: 1 })
  return {
    sql: `trace_id IN (SELECT trace_id FROM runs FINAL WHERE ${[...keys, ...rest].join(' AND ')})`,
    params,
  }
}

/** The filters as HAVING conditions of a statement that groups traces by thread, with the parameters of the window. */
export function threadConditions(query: ThreadSelection): {
  having: string[]
  params: Record<string, unknown>
} {
  const { project_id, from, to, filter, trace_filter, tree_filter } = query
  const params: Record<string, unknown> = { project: project_id, threads_from: from, threads_to: to }
  const roots = { project_ids: [project_id], is_root: true, start_time: from, end_time: to } as const
  const having: string[] = []
  const someTrace = (condition: Partial<ListQuery>, prefix: string): void => {
    const {
      keys,
      rest,
      params: more,
    } = listConditions({ ...roots, ...condition, order: 'desc', limit: 1 }, { prefix })
    having.push(
      `max(trace_id IN (SELECT trace_id FROM runs FINAL WHERE ${[...keys, ...rest].join(' AND ')}))`,
    )
    Object.assign(params, more)
  }
  if (filter) someTrace({ filter }, 'thread_root')
  if (trace_filter) someTrace({ filter: trace_filter }, 'thread_trace')
  if (tree_filter) someTrace({ tree_filter }, 'thread_tree')
  return { having, params }
}

function tracesWhere(condition: string): string {
  return `trace_id IN (SELECT trace_id FROM runs FINAL WHERE ${condition})`
}

/**
 * SQL condition on the feedback that the filters compare; undefined, for all feedback, if the query has no times for
 * it.
 */
function feedbackCondition(
  { feedback_from, feedback_to }: ListQuery,
  params: Record<string, unknown>,
): string | undefined {
  if (feedback_from === undefined && feedback_to === undefined) return undefined
  Object.assign(params, { feedback_from: feedback_from ?? 0, feedback_to: feedback_to ?? MAX_TIME })
  return `workspace_id = {workspace_id:UUID} AND ${MODIFIED} >= {feedback_from:Int64} AND ${MODIFIED} < {feedback_to:Int64}`
}

/**
 * SQL condition on `run_id` of the fragments that a search reads: those of the listed ids, or of TraceRuns in the times of the
 * list. Undefined, for all fragments, if the list is open at its end: newest first without `start_time`, oldest first
 * without `end_time`.
 */
function searchedCondition(
  { start_time, end_time, order, run_ids }: ListQuery,
  keys: readonly string[],
): string | undefined {
  if (run_ids) return 'run_id IN {ids:Array(UUID)}'
  if ((order === 'desc' ? start_time : end_time) === undefined) return undefined
  return `run_id IN (SELECT run_id FROM runs WHERE ${keys.join(' AND ')})`
}

function scopeConditions(query: ListQuery, params: Record<string, unknown>): string[] {
  const sql = ['workspace_id = {workspace_id:UUID}']
  if (oneProject(query)) {
    sql.push('project_id = {project:UUID}')
    params['project'] = query.project_ids![0]
  } else if (query.project_ids) {
    sql.push('project_id IN {projects:Array(UUID)}')
    params['projects'] = query.project_ids
  }
  if (query.trace_ids) {
    sql.push(`(${KEY}) IN (
      SELECT ${KEY} FROM trace_runs FINAL
      WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {traces:Array(UUID)})`)
    params['traces'] = query.trace_ids
  }
  return sql
}

/**
 * SQL condition on the rows whose usage a condition on sums may need. Undefined if all listed TraceRuns have usage of
 * their own.
 */
export function usageScope(
  query: ListQuery,
  scope: string[],
  params: Record<string, unknown>,
): string | undefined {
  if (query.run_type === 'llm' || query.run_type === 'embedding') return undefined
  if (query.start_time === undefined) return scope.join(' AND ')
  params['usage_from'] = Math.max(0, query.start_time - CLOCK_SLACK)
  return [...scope, 'sort_time >= fromUnixTimestamp64Micro({usage_from:Int64})'].join(' AND ')
}

function keyConditions(query: ListQuery, params: Record<string, unknown>): string[] {
  const sql: string[] = []
  const where = (condition: string, name: string, value: unknown) => {
    if (value === undefined) return
    sql.push(condition)
    params[name] = value
  }
  where('sort_time >= fromUnixTimestamp64Micro({from:Int64})', 'from', query.start_time)
  where('sort_time < fromUnixTimestamp64Micro({to:Int64})', 'to', query.end_time)
  where('run_id IN {ids:Array(UUID)}', 'ids', query.run_ids)
  if (query.after) {
    const than = query.order === 'desc' ? '<' : '>'
    const time = 'fromUnixTimestamp64Micro({after_time:Int64})'
    where(`sort_time ${than}= ${time}`, 'after_time', query.after.sort_time)
    where(`(sort_time, run_id) ${than} (${time}, {after_id:UUID})`, 'after_id', query.after.run_id)
  }
  return sql
}

function rowConditions(query: ListQuery, params: Record<string, unknown>): string[] {
  const sql: string[] = []
  if (query.trace_ids) sql.push('trace_id IN {traces:Array(UUID)}')
  if (query.parent_run_id !== undefined) {
    sql.push('parent_run_id = {parent:UUID}')
    params['parent'] = query.parent_run_id
  }
  if (query.run_type !== undefined) {
    sql.push('run_type = {run_type:String}')
    params['run_type'] = query.run_type
  }
  if (query.is_root !== undefined)
    sql.push(`parent_run_id ${query.is_root ? '=' : '!='} toUUID('${NIL_UUID}')`)
  if (query.error !== undefined) sql.push(`status ${query.error ? '=' : '!='} 'error'`)
  return sql
}
