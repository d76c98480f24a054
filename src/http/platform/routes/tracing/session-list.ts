import type { AppDeps } from '../../app-deps.ts'
import { NEXT_PAGE, nextHeader } from '../../next-page.ts'
import { defined } from '../../request/body-fields.ts'
import {
  choiceParameter,
  flagParameter,
  type ParameterValues,
  partQuery,
  textParameter,
  unsupportedParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { readSessionsAt, type SessionSelection } from '../v2/session-list.ts'
import { extentOf, withFigures } from './sessions.ts'

const STATS =
  'true adds up the runs of each project, which takes half a second for a million; false is quickest. Not sent: runs are counted.'

const QUERY = {
  id: uuidsParameter('Only these.'),
  name: textParameter('Only the one of this name.'),
  name_contains: textParameter('Only those whose name contains it, whatever the case.'),
  reference_dataset: uuidsParameter('Only those of these datasets.'),
  reference_free: flagParameter('Only those without a dataset, or only those with one.', undefined),
  metadata: textParameter('JSON of an object that the metadata must contain.'),
  filter: textParameter('LangSmith filter expression on id, name, start_time and metadata.'),
  sort_by: choiceParameter('What the list is ordered by.', [
    'start_time',
    'name',
    'last_run_start_time',
    'error_rate',
    'latency_p50',
    'latency_p95',
    'latency_p99',
    'trace_count',
    'total_tokens',
    'total_cost',
  ]),
  sort_by_desc: flagParameter('The highest value first.', true),
  include_stats: flagParameter(STATS, undefined),
  facets: unsupportedParameter(),
  dataset_version: unsupportedParameter(),
  sort_by_feedback_key: unsupportedParameter(),
  stats_filter: unsupportedParameter(),
  stats_start_time: unsupportedParameter(),
  tag_value_id: unsupportedParameter(),
  ...partQuery(100),
}

type Query = ParameterValues<typeof QUERY>

/** The conditions that the store of projects knows. */
function whereOf({ id, reference_dataset, ...query }: Query): SessionSelection['where'] {
  const { name, name_contains, reference_free } = query
  return defined({
    ids: id.length > 0 ? id : undefined,
    reference_dataset_ids: reference_dataset.length > 0 ? reference_dataset : undefined,
    name,
    name_contains,
    reference_free,
  })
}

/** A page of projects. Conditions on metadata, and other orders than by start, read all projects of the workspace. */
async function listed(deps: AppDeps, workspace_id: string, query: Query) {
  const { metadata, filter, sort_by, sort_by_desc, limit, offset } = query
  const where = whereOf(query)
  const isPlain = metadata === undefined && filter === undefined && sort_by === 'start_time' && sort_by_desc
  if (isPlain) return await deps.projects.list(workspace_id, { ...where, limit, offset })
  const order = { sort_by: sort_by.toUpperCase() as Uppercase<typeof sort_by>, isAscending: !sort_by_desc }
  return await readSessionsAt(deps, workspace_id, { where, metadata, filter, ...order }, { limit, offset })
}

export function sessionListRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/sessions',
    needs: 'projects:read',
    revalidates: true,
    summary: 'List projects, newest first',
    description: `${NEXT_PAGE} At most 1,000 projects can be sorted by figures of runs.`,
    tag: 'Projects',
    query: QUERY,
    reply: 'session-list',
    errors: ['not_implemented', 'store_unavailable'],
    async handle({ deps, principal, query }) {
      const { include_stats, offset } = query
      const { projects, more } = await listed(deps, principal.workspace_id, query)
      const extent = include_stats === undefined ? 'counts' : extentOf(include_stats)
      const headers = nextHeader({ offset, shown: projects.length, more })
      return { headers, body: await withFigures(deps, principal.workspace_id, projects, extent) }
    },
  })
}
