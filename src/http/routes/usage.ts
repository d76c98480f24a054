import type { Principal } from '../../auth/principal.ts'
import { AppError } from '../../base/errors.ts'
import type { GranularUsage, UsageDetails } from '../../schema/types.gen.ts'
import { usageCsv, usageDetailsCsv } from '../../usage/csv.ts'
import type { UsageNames } from '../../usage/dimensions.ts'
import { type UsageRequest, reportUsage } from '../../usage/granular-usage.ts'
import { DETAIL_GROUPINGS, type DetailGrouping } from '../../usage/usage-details-source.ts'
import { reportUsageDetails } from '../../usage/usage-details.ts'
import { GROUPINGS, type Grouping } from '../../usage/usage-source.ts'
import { formatUsageTime } from '../../usage/usage-time.ts'
import type { AppDeps, UsageSources } from '../app-deps.ts'
import type { Headers } from '../exchange.ts'
import { choiceParameter, timeParameter, uuidsParameter } from '../parameters.ts'
import { type Route, route } from '../route.ts'

const TAG = 'Usage'
const PATH = '/orgs/current/billing'
const CSV_TYPE = 'text/csv'

const RULES = 'See docs/protocol/usage.md for buckets, attribution and workspaces.'

const RANGE = {
  start_time: timeParameter('Start of the range, ISO 8601; UTC without an offset.'),
  end_time: timeParameter('End of the range, not included; must be after start_time.'),
  workspace_ids: uuidsParameter(
    'Only these workspaces, repeated or separated by commas; those that the key may not read are left out.',
    1,
  ),
}

const COUNTS_QUERY = { ...RANGE, group_by: choiceParameter('What traces are counted by.', GROUPINGS) }
const DETAILS_QUERY = {
  ...RANGE,
  group_by: choiceParameter('What tokens and costs are grouped by.', DETAIL_GROUPINGS),
}

interface Query<G> {
  start_time: number
  end_time: number
  workspace_ids: readonly string[]
  group_by: G
}

/** @throws AppError usage_disabled */
function sourcesOf({ usage }: AppDeps): UsageSources {
  if (usage === undefined) throw new AppError('usage_disabled')
  return usage
}

function available(deps: AppDeps): void {
  sourcesOf(deps)
}

/**
 * The named workspaces that the caller may read. A deleted one is nobody's to read but its usage remains: it is
 * shown to keys of all workspaces.
 */
async function readableOf({ identity }: AppDeps, principal: Principal, asked: readonly string[]) {
  const named = [...new Set(asked)]
  const mine = new Set(principal.workspace_ids)
  if (!principal.all_workspaces || named.every((id) => mine.has(id)))
    return named.filter((id) => mine.has(id))
  const { workspaces } = await identity.names(principal.organization_id)
  return named.filter((id) => mine.has(id) || workspaces.has(id))
}

async function namesOf(
  { identity, projects }: AppDeps,
  principal: Principal,
  workspace_ids: readonly string[],
  group_by: DetailGrouping,
): Promise<UsageNames> {
  const [known, byProject] = await Promise.all([
    identity.names(principal.organization_id),
    group_by === 'project' ? projects.names(workspace_ids) : new Map<string, string>(),
  ])
  return { ...known, projects: byProject }
}

/** What a handler hands to a report: the request, readable workspaces only, and the names for it. */
async function requestOf<G extends DetailGrouping>(
  deps: AppDeps,
  principal: Principal,
  { start_time, end_time, workspace_ids, group_by }: Query<G>,
): Promise<[request: UsageRequest<G>, loadNames: () => Promise<UsageNames>]> {
  const readable = await readableOf(deps, principal, workspace_ids)
  const request = { workspace_ids: readable, start: start_time, end: end_time, group_by }
  return [request, () => namesOf(deps, principal, readable, group_by)]
}

async function countsOf(deps: AppDeps, principal: Principal, query: Query<Grouping>): Promise<GranularUsage> {
  return await reportUsage(sourcesOf(deps).counts, ...(await requestOf(deps, principal, query)))
}

async function detailsOf(
  deps: AppDeps,
  principal: Principal,
  query: Query<DetailGrouping>,
): Promise<UsageDetails> {
  return await reportUsageDetails(sourcesOf(deps).details, ...(await requestOf(deps, principal, query)))
}

/** Saved by browsers under a name that tells what is in it; the last day is the last that has a part in it. */
function download(what: string, { start_time, end_time, group_by }: Query<DetailGrouping>): Headers {
  const day = (time: number): string => formatUsageTime(Math.floor(time)).slice(0, 10)
  const name = `${what}_${group_by}_${day(start_time)}_${day(Math.ceil(end_time) - 1)}.csv`
  return {
    'content-type': `${CSV_TYPE}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  }
}

const common = {
  method: 'GET',
  tag: TAG,
  errors: ['usage_disabled', 'store_unavailable'],
  available,
} as const

/** Who sent how much: traces, and tokens and costs, per bucket and group (interface part A). */
export function usageRoutes(): Route[] {
  return [
    route({
      ...common,
      path: `${PATH}/granular-usage`,
      summary: 'Count traces per time bucket and workspace, project, user or API key',
      description: RULES,
      query: COUNTS_QUERY,
      reply: 'granular-usage',
      handle: async ({ deps, principal, query }) => ({ body: await countsOf(deps, principal, query) }),
    }),
    route({
      ...common,
      path: `${PATH}/granular-usage/export`,
      summary: 'The same counts as a CSV file',
      description: RULES,
      query: COUNTS_QUERY,
      reply: 'bytes',
      reply_type: CSV_TYPE,
      async handle({ deps, principal, query }) {
        const body = usageCsv(await countsOf(deps, principal, query))
        return { headers: download('granular-usage', query), body }
      },
    }),
    route({
      ...common,
      path: `${PATH}/usage-details`,
      summary: 'Add up tokens and costs per time bucket and group, also by model',
      description: RULES,
      query: DETAILS_QUERY,
      reply: 'usage-details',
      handle: async ({ deps, principal, query }) => ({ body: await detailsOf(deps, principal, query) }),
    }),
    route({
      ...common,
      path: `${PATH}/usage-details/export`,
      summary: 'The same sums as a CSV file',
      description: RULES,
      query: DETAILS_QUERY,
      reply: 'bytes',
      reply_type: CSV_TYPE,
      async handle({ deps, principal, query }) {
        const body = usageDetailsCsv(await detailsOf(deps, principal, query))
        return { headers: download('usage-details', query), body }
      },
    }),
  ]
}
