import type { Issue } from '../../../schema/issue.ts'
import { text } from '../../../schema/json.ts'
import {
  deriveDottedOrder,
  dottedSegment,
  dottedTime,
  normalDottedOrder,
  parseDottedOrder,
} from './dotted-order.ts'
import { headUuid } from '../merge.ts'
import type { MergedTraceRun } from '../merged-trace-run.ts'
import { spanIdOf } from '../../otel/span/ids.ts'

/** The place of a TraceRun in its trace. */
export interface Lineage {
  trace_id: string
  parent_run_id: string | undefined
  dotted_order: string
  /** The parent that must arrive before trace_id and dotted_order are final. */
  awaits: string | undefined
  /** The nearest ancestor that is unknown. */
  missing: string | undefined
  placed_by: PlacedBy
  /**
   * Number of other roots of the trace that were known when the TraceRun was placed. A row with a higher number
   * replaces a row with a lower one.
   */
  other_roots: number
}

/**
 * The source of trace_id. `statement`: it was sent for this TraceRun or an ancestor. `itself`: it is the id of the
 * topmost known TraceRun, which has no parent. `unknown_parent`: it is the id of an unknown parent.
 */
export type PlacedBy = 'statement' | 'itself' | 'unknown_parent'

/** Facts about a parent that its children need. */
export interface ParentLineage {
  trace_id: string
  dotted_order: string
  /** The id of the parent, if it may differ from the requested one. */
  id?: string
  /** The span id of the parent, if the parent was sent as a span. */
  span_id?: string | undefined
  /** True if the parent of the parent is unknown, so that the dotted_order may change. */
  provisional?: boolean
  missing?: string | undefined
  /** Set for a parent that a filter left out: the place above it, where its children are placed instead. */
  above?: PlaceAbove
  placed_by?: PlacedBy
  other_roots?: number
}

/** The nearest ancestor that is kept. */
export interface PlaceAbove {
  /** Undefined if no ancestor is kept. */
  id: string | undefined
  /** '' if no ancestor is kept. */
  dotted_order: string
}

/** Finds a parent's place; undefined while the parent is unknown. */
export type ParentOf = (id: string) => ParentLineage | undefined

/**
 * The ids under which the parent of `merged` may be stored. Empty if the place of `merged` was sent (REST), or if it
 * has no parent. A span names its parent by span id, but a root span is stored under the id of its trace, so that id
 * is included.
 */
export function neededParents(merged: MergedTraceRun): string[] {
  if (text(merged.head['dotted_order']) !== undefined) return []
  const parent = parentIn(merged)
  if (parent === undefined) return []
  const trace = headUuid(merged, 'trace_id')
  return spanIdOf(parent) === undefined || trace === undefined ? [parent] : [parent, trace]
}

/** The parent that was sent. A TraceRun that names itself as its parent has none. */
function parentIn(merged: MergedTraceRun): string | undefined {
  const parent = headUuid(merged, 'parent_run_id')
  return parent === merged.id ? undefined : parent
}

/** A position that later fragments cannot change. */
const SETTLED = { awaits: undefined, missing: undefined, other_roots: 0 } as const

/**
 * The trace_id, parent and dotted_order of a TraceRun. Fields that were not sent are derived from the
 * dotted_order or from the parent; those of a root are derived from the TraceRun itself. A child whose parent
 * is unknown is placed under its parent's id until the parent arrives.
 */
export function deriveLineage(
  merged: MergedTraceRun,
  start: number,
  parentOf: ParentOf,
  issues: Issue[],
): Lineage {
  const sent = text(merged.head['dotted_order'])
  const order = sent === undefined ? undefined : parseDottedOrder(sent)
  const segments = order?.ok ? order.segments : undefined
  const parent_run_id = parentIn(merged) ?? segments?.at(-2)?.id
  const trace = headUuid(merged, 'trace_id')
  if (segments) {
    const trace_id = trace ?? segments[0]!.id
    const dotted_order = normalDottedOrder(sent!, segments)
    return { trace_id, parent_run_id, dotted_order, ...SETTLED, placed_by: 'statement' }
  }
  const stated = trace === undefined ? undefined : ('statement' as const)
  if (parent_run_id === undefined) {
    const dotted_order = dottedSegment(start, merged.id)
    const placed_by = stated ?? 'itself'
    return { trace_id: trace ?? merged.id, parent_run_id, dotted_order, ...SETTLED, placed_by }
  }
  const parent = findParent(merged, parent_run_id, trace, parentOf)
  if (parent === undefined) {
    issues.push(parentUnknown())
    return {
      trace_id: trace ?? parent_run_id,
      parent_run_id,
      dotted_order: provisionalOrder(merged, start, parent_run_id, trace),
      awaits: parent_run_id,
      missing: parent_run_id,
      placed_by: stated ?? 'unknown_parent',
      other_roots: 0,
    }
  }
  const id = parent.id ?? parent_run_id
  const above = parent.above ?? { id, dotted_order: parent.dotted_order }
  return {
    trace_id: trace ?? parent.trace_id,
    parent_run_id: above.id,
    dotted_order: deriveDottedOrder({
      parent_dotted_order: above.dotted_order,
      start_time: start,
      id: merged.id,
    }),
    awaits: parent.provisional ? id : undefined,
    missing: parent.missing,
    placed_by: stated ?? parent.placed_by ?? 'statement',
    other_roots: parent.other_roots ?? 0,
  }
}

/**
 * The parent with this id. If the parent's span is the root of the trace, the parent has the id of the trace instead.
 */
function findParent(
  merged: MergedTraceRun,
  parentId: string,
  trace: string | undefined,
  parentOf: ParentOf,
): ParentLineage | undefined {
  const direct = parentOf(parentId)
  const spanId = spanIdOf(parentId)
  if (direct || spanId === undefined || trace === undefined || trace === merged.id) return direct
  const root = parentOf(trace)
  return root?.span_id === spanId ? root : undefined
}

/**
 * The provisional dotted_order of a span, whose trace id is always known: trace, parent and the span itself, all with
 * the span's start time.
 */
function provisionalOrder(
  merged: MergedTraceRun,
  start: number,
  parent: string,
  trace: string | undefined,
): string {
  const above = spanIdOf(parent) === undefined || trace === undefined ? [] : [trace, parent]
  const time = dottedTime(start)
  return [...above, merged.id].map((id) => time + id).join('.')
}

function parentUnknown(): Issue {
  return {
    code: 'parent_unknown',
    severity: 'info',
    path: 'parent_run_id',
    message: 'The parent has not been received, so the place in the trace is provisional.',
    fix: 'Send trace_id and dotted_order with every TraceRun, or send the parent as well.',
  }
}
