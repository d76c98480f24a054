import type { CountedQuery, UsageQuery } from '../../data/usage/lines.ts'
import type { UsageGroup } from './table.ts'

const NAMES = ['time_bucket', 'project_id', 'user_id', 'api_key'] as const

/** The page of the traces that a number counts; undefined for numbers that do not count traces of one group. */
export function countedPath(query: UsageQuery, group?: UsageGroup, bucket?: string): string | undefined {
  const isWhole = group === undefined
  if (query.measure !== 'traces' || (!isWhole && group.traces === undefined)) return undefined
  const search = new URLSearchParams({
    start_time: query.from,
    end_time: query.to,
    workspace_ids: query.workspaces.join(','),
    ...group?.traces,
    ...(bucket !== undefined && { time_bucket: bucket }),
    ...(!isWhole && { name: group.name }),
  })
  return `/usage/traces?${search}`
}

/** The parameters in the address of that page. */
export function countedQuery(search: URLSearchParams): CountedQuery {
  const query: CountedQuery = {
    start_time: search.get('start_time') ?? '',
    end_time: search.get('end_time') ?? '',
    workspace_ids: (search.get('workspace_ids') ?? '').split(','),
  }
  for (const name of NAMES) {
    const value = search.get(name)
    if (value !== null) query[name] = value
  }
  return query
}
