import { countedTraces } from './counted-trace.ts'
import { type UsageClaim, USAGE_CLAIM_ROWS } from './claim.ts'
import type { UsageCounts } from '../report/source.ts'
import type { TraceTally } from '../limits.ts'
import type { UsageStore } from './recorder.ts'

export interface TraceTallyDeps {
  source: UsageCounts
  store: UsageStore
  /** Ids of an organization's workspaces, including deleted ones. */
  workspaces(organization_id: string): Promise<readonly string[]>
}

/** A stride of a whole month, so that the counts of a month are one bucket. */
const MONTH = { days: 31, hours: 0 }

/** The counts with which limits are compared; the same as in usage reports. */
export function createTraceTally({ source, store, workspaces }: TraceTallyDeps): TraceTally {
  return {
    async count({ organization_id, workspace_id, api_key_id }, start, end) {
      const counts = await source.count({
        workspace_ids: workspace_id === null ? await workspaces(organization_id) : [workspace_id],
        start,
        end,
        origin: start,
        stride: MONTH,
        group_by: workspace_id === null ? 'api_key' : 'workspace',
      })
      const limited = workspace_id ?? api_key_id
      const own = counts.filter(({ dimension_id }) => dimension_id === limited)
      return own.reduce((sum, { traces }) => sum + traces, 0)
    },
    async known(workspace_id, trace_ids) {
      const claims = new Map<string, UsageClaim[]>()
      for (const claim of USAGE_CLAIM_ROWS.readAll(await store.claims(workspace_id, trace_ids))) {
        const known = claims.get(claim.trace_id)
        if (known) known.push(claim)
        else claims.set(claim.trace_id, [claim])
      }
      const counted = [...claims].filter(([, of]) =>
        countedTraces(of).some(({ is_deleted }) => is_deleted === 0),
      )
      return new Set(counted.map(([trace_id]) => trace_id))
    },
  }
}
