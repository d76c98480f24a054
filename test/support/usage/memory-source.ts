import { NIL_UUID } from '../../../src/base/ids.ts'
import { bucketOf } from '../../../src/usage/report/stride.ts'
import type { Grouping, UsageCount, UsageCounts } from '../../../src/usage/report/source.ts'

/** A counted trace: its time (epoch milliseconds) and its dimensions. */
export interface CountedTrace {
  workspace_id: string
  time: number
  project_id: string
  user_id: string | null
  api_key_id: string
}

function dimensionOf(group_by: Grouping, trace: CountedTrace): string {
  if (group_by === 'workspace') return trace.workspace_id
  if (group_by === 'project') return trace.project_id
  return group_by === 'user' ? (trace.user_id ?? NIL_UUID) : trace.api_key_id
}

/** Counts traces one by one, which is slow but obviously right. */
export function memoryUsageSource(traces: readonly CountedTrace[]): UsageCounts {
  return {
    async count({ workspace_ids, start, end, origin, stride, group_by }) {
      const counts = new Map<string, UsageCount>()
      for (const trace of traces) {
        if (!workspace_ids.includes(trace.workspace_id)) continue
        if (trace.time < start || trace.time >= end) continue
        const bucket = bucketOf(trace.time, origin, stride)
        const dimension_id = dimensionOf(group_by, trace)
        const hasWorkspace = group_by === 'workspace' || group_by === 'project'
        const workspace_id = hasWorkspace ? trace.workspace_id : NIL_UUID
        const key = `${bucket} ${workspace_id} ${dimension_id}`
        const known = counts.get(key) ?? { bucket, workspace_id, dimension_id, traces: 0 }
        counts.set(key, { ...known, traces: known.traces + 1 })
      }
      return [...counts.values()].toReversed()
    },
  }
}
