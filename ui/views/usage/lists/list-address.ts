import { type CountedQuery, SUMMED, type SummedQuery, type UsageQuery } from '../../../data/usage/lines.ts'
import type { UsageGroup } from '../table.ts'

const GROUPS = ['time_bucket', 'project_id', 'user_id', 'api_key'] as const
const EXCLUDED = ['exclude_project_id', 'exclude_user_id', 'exclude_api_key'] as const

/**
 * The path of a list: the traces that a number counts, or the runs that it adds up. The number is that of one group, of
 * all groups except the largest, of one bucket, or of the whole report.
 */
export function countedPath(query: UsageQuery, group?: UsageGroup, bucket?: string): string {
  const search = searchOf(query, {
    ...(query.measure !== 'traces' && { of: query.measure }),
    ...group?.selects,
    ...(bucket !== undefined && { time_bucket: bucket }),
    ...(group !== undefined && { name: group.name }),
  })
  return `/usage/${query.measure === 'traces' ? 'traces' : 'runs'}?${search}`
}

/** The page of the runs without a cost. */
export function unpricedPath(query: UsageQuery): string {
  return `/usage/runs?${searchOf(query, { of: 'unpriced' })}`
}

function searchOf(
  query: UsageQuery,
  more: Readonly<Record<string, string | readonly string[]>>,
): URLSearchParams {
  const { from, to, workspaces } = query
  const all = { start_time: from, end_time: to, workspace_ids: workspaces.join(','), ...more }
  return new URLSearchParams(
    Object.entries(all).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  )
}

/** The parameters in the address of the list of traces. */
export function countedQuery(search: URLSearchParams): CountedQuery {
  return {
    start_time: search.get('start_time') ?? '',
    end_time: search.get('end_time') ?? '',
    workspace_ids: (search.get('workspace_ids') ?? '').split(','),
    ...valuesOf(search, GROUPS),
    ...listsOf(search, EXCLUDED),
  }
}

const PROVIDER = ['provider'] as const
const MODELS = ['model', 'exclude_model'] as const

/** The parameters in the address of the list of runs. */
export function summedQuery(search: URLSearchParams): SummedQuery {
  const of = SUMMED.find((one) => one === search.get('of')) ?? 'tokens'
  return {
    ...countedQuery(search),
    ...valuesOf(search, PROVIDER),
    ...listsOf(search, MODELS),
    of,
  }
}

function valuesOf<N extends string>(
  search: URLSearchParams,
  names: readonly N[],
): Partial<Record<N, string>> {
  const found: Partial<Record<N, string>> = {}
  for (const name of names) {
    const value = search.get(name)
    if (value !== null) found[name] = value
  }
  return found
}

function listsOf<N extends string>(
  search: URLSearchParams,
  names: readonly N[],
): Partial<Record<N, string[]>> {
  const found: Partial<Record<N, string[]>> = {}
  for (const name of names) if (search.has(name)) found[name] = search.getAll(name)
  return found
}
