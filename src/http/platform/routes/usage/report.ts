import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import { NIL_UUID, parseUuid } from '../../../../base/ids.ts'
import type { GranularUsage, UsageDetails } from '../../../../schema/types.gen.ts'
import { usageCsv, usageDetailsCsv } from '../../../../usage/report/csv.ts'
import type { UsageNames } from '../../../../usage/report/dimensions.ts'
import { type UsageRequest, reportUsage } from '../../../../usage/report/granular-usage.ts'
import { DETAIL_GROUPINGS, type DetailGrouping } from '../../../../usage/report/details-source.ts'
import { reportUsageDetails } from '../../../../usage/report/details.ts'
import { GROUPINGS, type Grouping } from '../../../../usage/report/source.ts'
import { listUsageTraces } from '../../../../usage/report/traces.ts'
import { formatUsageTime } from '../../../../usage/report/time.ts'
import type { AppDeps, UsageSources } from '../../app-deps.ts'
import type { Headers } from '../../../server/exchange.ts'
import {
  choiceParameter,
  integerParameter,
  optionalTimeParameter,
  optionalUuidParameter,
  textParameter,
  timeParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'

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
 * The named workspaces that the caller may read. A deleted workspace can no longer be assigned to keys, but its usage
 * remains: keys of all workspaces may read it.
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

/**
 * Headers for a download: the file name contains the range; its last day is the last one of which a part is included.
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

const common = {
  method: 'GET',
  tag: TAG,
  errors: ['usage_disabled', 'store_unavailable'],
  available,
} as const

const TRACES_QUERY = {
  ...RANGE,
  time_bucket: optionalTimeParameter('Only this bucket of the report with the same range, by its start.'),
  project_id: optionalUuidParameter('Only traces of this project.'),
  user_id: textParameter('Only traces of this user; `null` for those without one.'),
  api_key: textParameter('Only traces of this key, by its short key.'),
  cursor: textParameter('`next_cursor` of the page before.'),
  limit: integerParameter('At most so many.', { minimum: 1, maximum: 1000, otherwise: 100 }),
}

/** The user of a list: NIL_UUID for none. @throws AppError invalid_request */
function userOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const user_id = text === 'null' ? NIL_UUID : parseUuid(text)
  if (user_id !== undefined) return user_id
  const fault = { loc: ['query', 'user_id'], msg: 'must be a UUID or null', type: 'invalid_uuid' }
  throw new AppError('invalid_request', { details: [fault] })
}

function tracesRoute(): PlatformRoute {
  return route({
    ...common,
    path: `${PATH}/usage-traces`,
    summary: 'The traces that a number of granular-usage counts',
    description: `Read from the table in which they are counted: the pages of a bucket and group have as many traces as the report says. ${RULES}`,
    query: TRACES_QUERY,
    reply: 'usage-traces',
    async handle({ deps, principal, query }) {
      const { start_time, end_time, time_bucket, user_id, ...others } = query
      const readable = await readableOf(deps, principal, query.workspace_ids)
      const request = {
        ...others,
        ...{ workspace_ids: readable, start: start_time, end: end_time, bucket: time_bucket },
        user_id: userOf(user_id),
      }
      const loadNames = () => namesOf(deps, principal, readable, 'project')
      return { body: await listUsageTraces(sourcesOf(deps).traces, request, loadNames) }
    },
  })
}

/** Usage reports: traces, and tokens and costs, per bucket and group (interface part A). */
export function usageRoutes(): PlatformRoute[] {
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
    tracesRoute(),
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
