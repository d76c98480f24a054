import type { Principal } from '../../../../identity/principal.ts'
import type { GranularUsage, UsageDetails } from '../../../../schema/types.gen.ts'
import { deploymentUsageCsv, usageCsv, usageDetailsCsv } from '../../../../usage/report/csv.ts'
import type { UsageNames } from '../../../../usage/report/dimensions.ts'
import { type UsageRequest, reportDeployments, reportUsage } from '../../../../usage/report/granular-usage.ts'
import { DETAIL_GROUPINGS, type DetailGrouping } from '../../../../usage/report/details-source.ts'
import { reportUsageDetails } from '../../../../usage/report/details.ts'
import { GROUPINGS, type Grouping } from '../../../../usage/report/source.ts'
import { formatUsageTime } from '../../../../usage/report/time.ts'
import { actorOf } from '../../actor.ts'
import type { AppDeps } from '../../app-deps.ts'
import type { Headers } from '../../../api/route.ts'
import { choiceParameter, unsupportedParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { COMMON, deploymentNamesOf, namesOf, PATH, RANGE, readableOf, RULES, sourcesOf } from './common.ts'
import { organizationUsageRoute } from './organization.ts'
import { usageListRoutes } from './lists.ts'

const CSV_TYPE = 'text/csv'

const KINDS = ['traces', 'langsmith_deployments'] as const

const COUNTS_QUERY = {
  ...RANGE,
  group_by: choiceParameter('What traces or runs are counted by.', GROUPINGS),
  kind: choiceParameter('What is counted: traces, or runs of deployments and their nodes.', KINDS),
  trace_tier: unsupportedParameter(),
}
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

type CountsQuery = Query<Grouping> & { kind: (typeof KINDS)[number] }

/** The input of a report: the request, readable workspaces only, and their names. */
async function requestOf<G extends DetailGrouping>(
  deps: AppDeps,
  principal: Principal,
  { start_time, end_time, workspace_ids, group_by }: Query<G>,
): Promise<[request: UsageRequest<G>, loadNames: () => Promise<UsageNames>]> {
  const readable = await readableOf(deps, principal, workspace_ids)
  const request = { workspace_ids: readable, start: start_time, end: end_time, group_by }
  return [request, () => namesOf(deps, principal, readable, group_by)]
}

async function countsOf(deps: AppDeps, principal: Principal, query: CountsQuery): Promise<GranularUsage> {
  if (query.kind === 'langsmith_deployments') {
    const [request] = await requestOf(deps, principal, query)
    const loadNames = () => deploymentNamesOf(deps, principal, request.workspace_ids)
    return await reportDeployments(sourcesOf(deps).deployments, request, loadNames)
  }
  return await reportUsage(sourcesOf(deps).counts, ...(await requestOf(deps, principal, query)))
}

async function detailsOf(
  deps: AppDeps,
  principal: Principal,
  query: Query<DetailGrouping>,
): Promise<UsageDetails> {
  return await reportUsageDetails(sourcesOf(deps).details, ...(await requestOf(deps, principal, query)))
}

/**
 * Headers for a download. The file name contains the first and the last day of the range, even if the range has only a
 * part of these days.
 */
function download(what: string, { start_time, end_time, group_by }: Query<DetailGrouping>): Headers {
  const day = (time: number): string => formatUsageTime(Math.floor(time)).slice(0, 10)
  const name = `${what}_${group_by}_${day(start_time)}_${day(Math.ceil(end_time) - 1)}.csv`
  return {
    'content-type': `${CSV_TYPE}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  }
}

/** Writes the export to the audit (TEAM-14). */
async function recordExport(
  { identity, clock }: AppDeps,
  principal: Principal,
  { report, start_time, end_time }: { report: string; start_time: number; end_time: number },
): Promise<void> {
  const { organization_id } = principal
  const iso = (time: number): string => new Date(Math.floor(time)).toISOString()
  const details = { report, start_time: iso(start_time), end_time: iso(end_time) }
  const change = { organization_id, action: 'usage.export', subject_id: organization_id, details }
  await identity.recordChange(change, actorOf(principal, clock))
}

/** Usage reports: traces, and tokens and costs, per bucket and group (interface part A). */
export function usageRoutes(): PlatformRoute[] {
  return [
    route({
      ...COMMON,
      path: `${PATH}/granular-usage`,
      summary:
        'Count traces, or runs of deployments, per time bucket and workspace, project, user or API key',
      description: RULES,
      query: COUNTS_QUERY,
      reply: 'granular-usage',
      handle: async ({ deps, principal, query }) => ({ body: await countsOf(deps, principal, query) }),
    }),
    route({
      ...COMMON,
      path: `${PATH}/granular-usage/export`,
      summary: 'The same counts as a CSV file',
      description: RULES,
      query: COUNTS_QUERY,
      reply: 'bytes',
      reply_type: CSV_TYPE,
      async handle({ deps, principal, query }) {
        const report = await countsOf(deps, principal, query)
        const isOfTraces = query.kind === 'traces'
        const headers = download(isOfTraces ? 'granular-usage' : 'deployment-usage', query)
        await recordExport(deps, principal, { report: 'granular-usage', ...query })
        return { headers, body: isOfTraces ? usageCsv(report) : deploymentUsageCsv(report) }
      },
    }),
    route({
      ...COMMON,
      path: `${PATH}/usage-details`,
      summary: 'Add up tokens and costs per time bucket and group, also by model',
      description: RULES,
      query: DETAILS_QUERY,
      reply: 'usage-details',
      handle: async ({ deps, principal, query }) => ({ body: await detailsOf(deps, principal, query) }),
    }),
    route({
      ...COMMON,
      path: `${PATH}/usage-details/export`,
      summary: 'The same sums as a CSV file',
      description: RULES,
      query: DETAILS_QUERY,
      reply: 'bytes',
      reply_type: CSV_TYPE,
      async handle({ deps, principal, query }) {
        const body = usageDetailsCsv(await detailsOf(deps, principal, query))
        await recordExport(deps, principal, { report: 'usage-details', ...query })
        return { headers: download('usage-details', query), body }
      },
    }),
    organizationUsageRoute(),
    ...usageListRoutes(),
  ]
}
