import type { Principal } from '../../../../identity/principal.ts'
import { AppError } from '../../../../base/errors.ts'
import type { UsageNames } from '../../../../usage/report/dimensions.ts'
import type { DetailGrouping } from '../../../../usage/report/details-source.ts'
import type { AppDeps, UsageSources } from '../../app-deps.ts'
import { timeParameter, uuidsParameter } from '../../../api/parameters.ts'

const TAG = 'Usage'
/** The beginning of the paths of all usage routes. */
export const PATH = '/orgs/current/billing'
/** Sentence of the descriptions that names the page with the rules of all usage routes. */
export const RULES = 'See docs/protocol/usage.md for buckets, attribution and workspaces.'

/** The parameters that every usage route needs. */
export const RANGE = {
  start_time: timeParameter('Start of the range, ISO 8601; UTC without an offset.'),
  end_time: timeParameter('End of the range, not included; must be after start_time.'),
  workspace_ids: uuidsParameter(
    'Only these workspaces, repeated or separated by commas; those that the key may not read are left out.',
    1,
  ),
}

/** The sources of reports. @throws AppError usage_disabled */
export function sourcesOf({ usage }: AppDeps): UsageSources {
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
export async function readableOf({ identity }: AppDeps, principal: Principal, asked: readonly string[]) {
  const named = [...new Set(asked)]
  const mine = new Set(principal.workspace_ids)
  if (!principal.all_workspaces || named.every((id) => mine.has(id)))
    return named.filter((id) => mine.has(id))
  const { workspaces } = await identity.names(principal.organization_id)
  return named.filter((id) => mine.has(id) || workspaces.has(id))
}

/**
 * Reads the names of the records in a report, including deleted records; names of projects only for reports by project.
 */
export async function namesOf(
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

/** As `namesOf`, for the usage of deployments: projects are deployments. */
export async function deploymentNamesOf(
  deps: AppDeps,
  principal: Principal,
  workspace_ids: readonly string[],
): Promise<UsageNames> {
  const [known, projects] = await Promise.all([
    deps.identity.names(principal.organization_id),
    sourcesOf(deps).deployments.names(workspace_ids),
  ])
  return { ...known, projects }
}

/** The properties that all usage routes share. */
export const COMMON = {
  method: 'GET',
  needs: 'organization:read',
  tag: TAG,
  errors: ['usage_disabled', 'store_unavailable'],
  available,
} as const
