import { startTimeOf } from '../derive.ts'
import { type ParentLineage, type ParentOf, deriveLineage } from './lineage.ts'
import type { MergedTraceRun } from '../merged-trace-run.ts'

/**
 * Maximum depth of final places in a trace that was sent without any dotted_order. Deeper places stay provisional,
 * because the length of a dotted_order grows with the depth.
 */
export const MAX_DEPTH = 256

/** The facts about a TraceRun that its children need; undefined until it has been created. */
export function parentLineage(merged: MergedTraceRun, parentOf: ParentOf): ParentLineage | undefined {
  if (!merged.created) return undefined
  const lineage = deriveLineage(merged, startTimeOf(merged), parentOf, [])
  const { trace_id, parent_run_id, dotted_order, awaits, missing, placed_by } = lineage
  if (dotted_order.length >= MAX_DEPTH * 60) return undefined
  const span_id = merged.head['span_id']
  return {
    id: merged.id,
    trace_id,
    dotted_order,
    provisional: awaits !== undefined,
    missing,
    placed_by,
    ...(merged.filtered ? { above: { id: parent_run_id, dotted_order: orderAbove(dotted_order) } } : {}),
    span_id: typeof span_id === 'string' ? span_id : undefined,
  }
}

/** The dotted_order without its last segment; '' for that of a root. */
export function orderAbove(dotted_order: string): string {
  return dotted_order.slice(0, Math.max(0, dotted_order.lastIndexOf('.')))
}
