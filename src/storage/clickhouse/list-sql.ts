import { NIL_UUID } from '../../base/ids.ts'
import type { ListQuery } from '../../ingest/trace-store.ts'
import { type SqlCondition, filterSql } from './filter-sql.ts'

const KEY = 'project_id, sort_time, run_id'
/** A child that starts this much before its parent is still counted to it. In microseconds. */
const CLOCK_SLACK = 86_400_000_000

/**
 * One page of lean rows; parameters besides `workspace_id` are in `params`. The innermost query walks the sort key
 * in order and keeps the newest version of each TraceRun; conditions on other columns come after that, so that an
 * outdated version never matches. It reads only the key and what the conditions name, and stops after a page: an
 * ORDER BY around it would make it read all, and all columns of a million rows do not fit into memory.
 */
export function listSql(columns: string, query: ListQuery): SqlCondition {
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  const { keys, rest, params } = conditions(query)
  // Rows of one project lie in list order already.
  const order = `${oneProject(query) ? `project_id ${direction}, ` : ''}sort_time ${direction}, run_id ${direction}`
  const newest = `ORDER BY ${order}, version DESC, is_deleted DESC LIMIT 1 BY ${KEY}`
  const sql = `
    SELECT ${columns} FROM runs FINAL
    WHERE workspace_id = {workspace_id:UUID} AND (${KEY}) IN (
      SELECT ${KEY} FROM (SELECT ${columns} FROM runs WHERE ${keys.join(' AND ')} ${newest})
      WHERE ${rest.join(' AND ')}
      LIMIT {limit:UInt32})
    ORDER BY ${order}`
  return { sql, params }
}

function oneProject(query: ListQuery): boolean {
  return query.project_ids?.length === 1
}

interface Conditions {
  /** On the sort key. */
  keys: string[]
  /** On what may differ between versions of a row. */
  rest: string[]
  params: Record<string, unknown>
}

function conditions(query: ListQuery): Conditions {
  const params: Record<string, unknown> = { limit: query.limit }
  const scope = scopeConditions(query, params)
  const keys = [...scope, ...keyConditions(query, params)]
  const rest = ['is_deleted = 0', ...rowConditions(query, params)]
  if (query.filter) {
    const filter = filterSql(query.filter, usageScope(query, scope, params))
    rest.push(filter.sql)
    Object.assign(params, filter.params)
  }
  return { keys, rest, params }
}

/** Where the rows of the list are. */
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

/** Where the usage is that a condition on sums may need; undefined when the rows have their own. */
function usageScope(query: ListQuery, scope: string[], params: Record<string, unknown>): string | undefined {
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
