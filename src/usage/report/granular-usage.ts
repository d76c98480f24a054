import { AppError } from '../../base/errors.ts'
import type { GranularUsage } from '../../schema/types.gen.ts'
import { type UsageNames, dimensionsOf, orderOf } from './dimensions.ts'
import { bucketOf, bucketOrigin, chooseStride } from './stride.ts'
import type { DeploymentCounts, Group, Grouping, UsageCounts, UsageQuery } from './source.ts'
import { formatUsageTime } from './time.ts'

/** The parameters of a report, with readable workspaces only. Times are epoch milliseconds, with fractions. */
export interface UsageRequest<G> {
  workspace_ids: readonly string[]
  start: number
  end: number
  group_by: G
}

/** Range of times that a store can hold. */
const EARLIEST = Date.UTC(1900, 0, 1)
const LATEST = Date.UTC(2299, 0, 1)

/**
 * The range with its buckets. Fractions of a millisecond are rounded up, since the times of traces have none. @throws
 * AppError invalid_request unless `end` is after `start`
 */
export function rangeOf(start: number, end: number): Pick<UsageQuery, 'start' | 'end' | 'origin' | 'stride'> {
  if (end <= start) throw new AppError('invalid_request', { message: 'end_time must be after start_time' })
  const stride = chooseStride(start, end)
  const origin = bucketOrigin(start, stride)
  const first = Math.min(Math.max(Math.ceil(start), EARLIEST), LATEST)
  return {
    start: first,
    end: Math.max(Math.min(Math.ceil(end), LATEST), first),
    // An origin before the earliest time cannot be computed, so the same buckets are counted from a later origin.
    origin: origin < EARLIEST ? bucketOf(first, origin, stride) : origin,
    stride,
  }
}

/**
 * The report of traces. `loadNames` is called once, if the report has groups. @throws AppError invalid_request unless
 * `end` is after `start`
 */
export function reportUsage(
  source: UsageCounts,
  request: UsageRequest<Grouping>,
  loadNames: () => Promise<UsageNames>,
): Promise<GranularUsage> {
  return report(
    (query) => source.count(query),
    request,
    loadNames,
    ({ traces }) => ({ traces }),
  )
}

/** As `reportUsage`, of the runs of deployments. */
export function reportDeployments(
  source: DeploymentCounts,
  request: UsageRequest<Grouping>,
  loadNames: () => Promise<UsageNames>,
): Promise<GranularUsage> {
  return report(
    (query) => source.count(query),
    request,
    loadNames,
    ({ agent_runs, nodes_executed }) => ({
      traces: 0,
      agent_runs,
      nodes_executed,
      agent_uptime_seconds: null,
    }),
  )
}

type Line = GranularUsage['usage'][number]

async function report<C extends Group>(
  countGroups: (query: UsageQuery) => Promise<C[]>,
  { workspace_ids, start, end, group_by }: UsageRequest<Grouping>,
  loadNames: () => Promise<UsageNames>,
  sumsOf: (group: C) => Omit<Line, 'time_bucket' | 'dimensions'>,
): Promise<GranularUsage> {
  const range = rangeOf(start, end)
  const { stride } = range
  if (workspace_ids.length === 0) return { stride, usage: [] }
  const groups = await countGroups({ workspace_ids, ...range, group_by })
  if (groups.length === 0) return { stride, usage: [] }
  const names = await loadNames()
  const usage = inOrder(groups, (group) => orderOf(group_by, group, names)).map((group) => ({
    time_bucket: formatUsageTime(group.bucket),
    dimensions: dimensionsOf(group_by, group, names),
    ...sumsOf(group),
  }))
  return { stride, usage }
}

/** The groups sorted by bucket, then by key. */
export function inOrder<T extends { bucket: number }>(
  groups: readonly T[],
  keyOf: (group: T) => string,
): T[] {
  const keyed = groups.map((group) => ({ group, key: keyOf(group) }))
  keyed.sort((a, b) => a.group.bucket - b.group.bucket || (a.key < b.key ? -1 : Number(a.key > b.key)))
  return keyed.map(({ group }) => group)
}
