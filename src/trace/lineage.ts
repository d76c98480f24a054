import type { Issue } from '../schema/issue.ts'
import { text } from '../schema/json.ts'
import { deriveDottedOrder, parseDottedOrder } from './dotted-order.ts'
import { type MergedTraceRun, headUuid } from './merge.ts'

/** Where a TraceRun stands in its trace. */
export interface Lineage {
  trace_id: string
  parent_run_id: string | undefined
  dotted_order: string
  /** The parent that must be known before trace_id and dotted_order are final. */
  awaits: string | undefined
}

/** What a child needs of its parent. */
export interface ParentLineage {
  trace_id: string
  dotted_order: string
}

/** The parent that `merged` needs to find its place, if it does not say it itself (REST, contract §1.5). */
export function neededParent(merged: MergedTraceRun): string | undefined {
  if (text(merged.head['dotted_order']) !== undefined) return undefined
  return headUuid(merged, 'parent_run_id')
}

/**
 * trace_id, parent and dotted_order as sent where they are sent, else derived: from the dotted_order, from the
 * parent, or, for a root, from the TraceRun itself. A child whose parent is unknown stands under its parent's id
 * until the parent comes.
 */
export function deriveLineage(
  merged: MergedTraceRun,
  start: number,
  parentOf: (id: string) => ParentLineage | undefined,
  issues: Issue[],
): Lineage {
  const sent = text(merged.head['dotted_order'])
  const order = sent === undefined ? undefined : parseDottedOrder(sent)
  const segments = order?.ok ? order.segments : undefined
  const parent_run_id = headUuid(merged, 'parent_run_id') ?? segments?.at(-2)?.id
  if (segments) {
    return {
      trace_id: headUuid(merged, 'trace_id') ?? segments[0]!.id,
      parent_run_id,
      dotted_order: sent!,
      awaits: undefined,
    }
  }
  const parent = parent_run_id === undefined ? undefined : parentOf(parent_run_id)
  const trace_id = headUuid(merged, 'trace_id') ?? parent?.trace_id ?? parent_run_id ?? merged.id
  const dotted_order = deriveDottedOrder({
    ...(parent ? { parent_dotted_order: parent.dotted_order } : {}),
    start_time: start,
    id: merged.id,
  })
  const awaits = parent_run_id !== undefined && !parent ? parent_run_id : undefined
  if (awaits !== undefined) {
    issues.push({
      code: 'parent_unknown',
      severity: 'info',
      path: 'parent_run_id',
      message: 'The parent has not been received, so the place in the trace is provisional.',
      fix: 'Send trace_id and dotted_order with every TraceRun, or send the parent as well.',
    })
  }
  return { trace_id, parent_run_id, dotted_order, awaits }
}
