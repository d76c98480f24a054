import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import type { Overriding } from '../settings/organization.ts'
import { monthOf, type UsageRange } from './range.ts'
import { readByKey } from './by-key.ts'
import { storedFilter, type StoredQuery } from './stored.ts'
import { type CountedQuery, type SummedQuery, type UsageLine, type UsageQuery, usageKeyOf } from './lines.ts'

const PATH = '/api/v1/orgs/current/billing'
const REPORT_EVERY_MS = 30_000

/** What is counted for a measure, and the property of a line that has the number. */
const COUNTED = {
  traces: { kind: 'traces', property: 'traces' },
  runs: { kind: 'langsmith_deployments', property: 'agent_runs' },
  nodes: { kind: 'langsmith_deployments', property: 'nodes_executed' },
} as const

/** How the counts of a report are read; undefined for tokens and costs, which reports by model always show. */
function countedOf({ grouping, measure }: UsageQuery) {
  if (grouping === 'model' || measure === 'tokens' || measure === 'cost') return undefined
  return { ...COUNTED[measure], group_by: grouping }
}

function parametersOf({ from, to, workspaces }: UsageRange & { workspaces: readonly string[] }) {
  return { start_time: from, end_time: to, workspace_ids: [...workspaces] }
}

async function readLines(
  query: UsageQuery,
  signal: AbortSignal,
): Promise<{
  stride: Reply<'GET /api/v1/orgs/current/billing/usage-details'>['stride']
  lines: UsageLine[]
  /** Lines of all groups together, for reports whose lines lack what is in no group. */
  whole?: UsageLine[]
}> {
  const { grouping, measure } = query
  const key = usageKeyOf(grouping)
  if (key !== undefined) return await readByKey(query, key, signal)
  const counted = countedOf(query)
  if (counted !== undefined) {
    const { kind, property, group_by } = counted
    const found = await call('GET /api/v1/orgs/current/billing/granular-usage', {
      query: { ...parametersOf(query), group_by, kind },
      signal,
    })
    const lines = found.usage.map(({ time_bucket, dimensions, ...numbers }) => ({
      time_bucket,
      dimensions,
      value: String(numbers[property] ?? 0),
      unpriced: 0,
    }))
    return { stride: found.stride, lines }
  }
  const found = await call('GET /api/v1/orgs/current/billing/usage-details', {
    query: { ...parametersOf(query), group_by: grouping },
    signal,
  })
  const lines = found.usage.map(({ time_bucket, dimensions, total_tokens, total_cost, unpriced_runs }) => ({
    time_bucket,
    dimensions,
    unpriced: unpriced_runs,
    value: measure === 'cost' ? total_cost : String(total_tokens),
  }))
  return { stride: found.stride, lines }
}

/** The lines of a report. */
export function useUsage(query: UsageQuery) {
  return useQuery({
    queryKey: ['usage', query],
    queryFn: async ({ signal }) => {
      const { stride, lines, whole = [] } = await readLines(query, signal)
      return { query, stride, lines, whole }
    },
    placeholderData: keepPreviousData,
    refetchInterval: REPORT_EVERY_MS,
  })
}

/** Address of the report as a CSV file. */
export function csvAddress(query: UsageQuery): string {
  const counted = countedOf(query)
  const search = new URLSearchParams({
    start_time: query.from,
    end_time: query.to,
    workspace_ids: query.workspaces.join(','),
    group_by: query.grouping,
    ...(counted !== undefined && { kind: counted.kind }),
  })
  return `${PATH}/${counted === undefined ? 'usage-details' : 'granular-usage'}/export?${search}`
}

const PAGE_SIZE = 200
const STORED_PAGE_SIZE = 100
/** Model calls with tokens and without a price. */
const UNPRICED = 'eq(issue, "no_price")'

/**
 * A list behind a number of the report, page by page. It is read again when it is opened, so that it matches the
 * number.
 */
const LIST = {
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }: { next_cursor?: string | null }) => next_cursor ?? undefined,
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnMount: 'always',
  refetchOnWindowFocus: false,
} as const

/** The traces that a number of the report counts, page by page. */
export function useCountedTraces(query: CountedQuery) {
  return useInfiniteQuery({
    ...LIST,
    queryKey: ['usage-traces', query],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/v1/orgs/current/billing/usage-traces', {
        query: { ...query, limit: PAGE_SIZE, cursor: pageParam || undefined },
        signal,
      }),
  })
}

/** The runs whose tokens or costs a number of the report adds up, page by page. */
export function useSummedRuns(query: SummedQuery) {
  return useInfiniteQuery({
    ...LIST,
    queryKey: ['usage-runs', query],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/v1/orgs/current/billing/usage-runs', {
        query: { ...query, limit: PAGE_SIZE, cursor: pageParam || undefined },
        signal,
      }),
  })
}

/** The stored traces behind a number of a report by a key of the metadata, page by page, newest first. */
export function useStoredTraces(query: StoredQuery) {
  const filter = storedFilter(query)
  return useInfiniteQuery({
    ...LIST,
    queryKey: ['usage-stored', query],
    queryFn: ({ pageParam, signal }) =>
      call('POST /api/v1/runs/query', {
        body: {
          is_root: true,
          start_time: query.from,
          end_time: query.to,
          ...(filter !== '' && { filter }),
          ...(query.isUnpriced && { tree_filter: UNPRICED }),
          limit: STORED_PAGE_SIZE,
          ...(pageParam !== '' && { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ cursors }) => cursors.next ?? undefined,
  })
}

const LIMITS = ['usage-limits'] as const

/** A monthly limit of traces. */
export type Limit = Reply<'GET /api/v1/usage-limits'>[number]

/** The limits, and the traces of this month: of workspaces by id, of keys by their short form. */
export function useLimits(workspaces: readonly string[]) {
  return useQuery({
    queryKey: [...LIMITS, workspaces],
    queryFn: async ({ signal }) => {
      const month = parametersOf({ ...monthOf(Date.now()), workspaces })
      const counted = (group_by: 'workspace' | 'api_key') =>
        call('GET /api/v1/orgs/current/billing/granular-usage', { query: { ...month, group_by }, signal })
      const limits = await call('GET /api/v1/usage-limits', { signal })
      const hasKeys = limits.some(({ api_key_id }) => api_key_id !== null)
      const answers = await Promise.all([counted('workspace'), hasKeys ? counted('api_key') : undefined])
      const used = new Map<string, number>()
      for (const { dimensions, traces } of answers.flatMap((answer) => answer?.usage ?? [])) {
        const group =
          'workspace_id' in dimensions
            ? dimensions.workspace_id
            : 'api_key_short_key' in dimensions
              ? dimensions.api_key_short_key
              : undefined
        if (group === undefined) continue
        used.set(group, (used.get(group) ?? 0) + traces)
      }
      return { limits, used }
    },
    refetchInterval: REPORT_EVERY_MS,
  })
}

export type NewLimit = ({ workspace_id: string } | { api_key_id: string }) & {
  limit_value: number
  mode: 'soft' | 'hard'
}

/** Sets and removes limits. */
export function useLimitChanges() {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => await queries.invalidateQueries({ queryKey: LIMITS })
  const save = useMutation({
    mutationFn: ({ override, ...limit }: NewLimit & { override: boolean }) =>
      call('PUT /api/v1/usage-limits', { query: { override }, body: limit }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: ({ id, override }: Overriding) =>
      call('DELETE /api/v1/usage-limits/{id}', { params: { id }, query: { override } }),
    onSuccess,
  })
  return { save, remove }
}

const REBUILD = ['usage-rebuild'] as const
const REBUILD_EVERY_MS = 1000

/** The last rebuild of the usage rollups by this server, and how to start one. */
export function useRebuild() {
  const queries = useQueryClient()
  const last = useQuery({
    queryKey: REBUILD,
    queryFn: ({ signal }) => call('GET /api/v1/orgs/current/billing/usage-rebuild', { signal }),
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? REBUILD_EVERY_MS : false),
  })
  const start = useMutation({
    mutationFn: () => call('POST /api/v1/orgs/current/billing/usage-rebuild', {}),
    onSuccess: (found) => queries.setQueryData(REBUILD, found),
  })
  return { last, start }
}
