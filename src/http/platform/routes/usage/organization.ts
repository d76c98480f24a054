import { inOrder, rangeOf } from '../../../../usage/report/granular-usage.ts'
import { strideMillis } from '../../../../usage/report/stride.ts'
import { formatUsageTime } from '../../../../usage/report/time.ts'
import { flagParameter, timeParameter } from '../../../api/parameters.ts'
import { route, type PlatformRoute } from '../../route.ts'
import { COMMON, PATH, RULES, sourcesOf } from './common.ts'

/** LangSmith names each number by an id; this one is made up and never changes. */
const TRACES = {
  billable_metric_id: '7ace5000-0000-4000-8000-000000000001',
  billable_metric_name: 'Traces',
}

/** The counts of the whole organization in the shape of LangSmith's billing, for clients that read only that. */
export function organizationUsageRoute(): PlatformRoute {
  return route({
    ...COMMON,
    path: `${PATH}/usage`,
    summary: 'Count the traces of all workspaces of the key per time bucket',
    description: `In the shape of LangSmith's billing; the same counts as granular-usage. ${RULES}`,
    query: {
      starting_on: timeParameter('Start of the range, ISO 8601; UTC without an offset.'),
      ending_before: timeParameter('End of the range, not included; must be after starting_on.'),
      on_current_plan: flagParameter('Taken and not used: there are no plans.', true),
    },
    reply: 'organization-usage',
    async handle({ deps, principal, query: { starting_on, ending_before } }) {
      const { organization_id: customer_id, workspace_ids } = principal
      const range = rangeOf(starting_on, ending_before)
      const { counts } = sourcesOf(deps)
      const found = await counts.count({ workspace_ids, ...range, group_by: 'workspace' })
      const buckets = new Map<number, Record<string, number>>()
      for (const { bucket, workspace_id, traces } of inOrder(found, (count) => count.workspace_id))
        buckets.set(bucket, { ...buckets.get(bucket), [workspace_id]: traces })
      const lines = [...buckets].map(([bucket, groups]) => ({
        customer_id,
        ...TRACES,
        start_timestamp: formatUsageTime(bucket),
        end_timestamp: formatUsageTime(bucket + strideMillis(range.stride)),
        value: Object.values(groups).reduce((sum, traces) => sum + traces, 0),
        groups,
      }))
      return { body: lines }
    },
  })
}
