import { dashed, parseUuid } from '../../../base/ids.ts'
import { text } from '../../../schema/json.ts'
import { parseDottedOrder } from '../../derive/lineage/dotted-order.ts'
import type { IncomingSpan } from '../wire/record.ts'

/**
 * Field in the head of a span whose TraceRun id the client sent. It is set only if that id is the id of the trace:
 * without the field, such a span would look like a span without a parent, which gets the same id.
 */
export const ID_SENT = 'id_sent'

/** The place of a span, in the ids of TraceRuns. */
export interface SpanIds {
  id: string
  trace_id: string
  /**
   * The parent's span id as a uuid. If the parent is the root of its trace, the parent's TraceRun has the trace's id
   * instead.
   */
  parent_run_id?: string
  /** Absent if the client sent none. */
  dotted_order?: string
  /** True when the client sent the id of the trace as the TraceRun id of this span (ID_SENT). */
  [ID_SENT]?: true
}

const PADDING = '00000000-0000-0000-'
const NOT_ZERO = /[^0]/

/** The TraceRun id of the span with this id (16 hex digits), unless it is the root of its trace. */
export function spanUuid(spanId: string): string {
  return `${PADDING}${spanId.slice(0, 4)}-${spanId.slice(4)}`
}

/** The span id (16 hex digits) from which `spanUuid` made this uuid; undefined for others. */
export function spanIdOf(uuid: string): string | undefined {
  return uuid.startsWith(PADDING) ? uuid.slice(19, 23) + uuid.slice(24) : undefined
}

/**
 * The ids of a span whose own ids are valid. Ids in `langsmith.*` attributes take precedence over those of
 * the span.
 */
export function spanIds(span: IncomingSpan): SpanIds {
  const { marks } = span
  const trace_id = parseUuid(marks['langsmith.trace.id']) ?? dashed(span.trace_id)
  const parent = parentOf(span)
  const sentId = parseUuid(marks['langsmith.span.id'])
  const id = sentId ?? (parent === undefined ? trace_id : spanUuid(span.span_id))
  const dotted_order = text(marks['langsmith.span.dotted_order'])
  const sent = dotted_order === undefined ? undefined : parseDottedOrder(dotted_order)
  // A dotted_order that contradicts the ids is ignored, and the place is derived.
  if (sent?.ok && sent.segments.at(-1)!.id === id && sent.segments[0]!.id === trace_id) {
    const above = sent.segments.at(-2)?.id
    return {
      id,
      trace_id,
      ...(above === undefined ? {} : { parent_run_id: above }),
      dotted_order: dotted_order!,
      ...(id === trace_id ? { [ID_SENT]: true } : {}),
    }
  }
  return {
    id,
    trace_id,
    ...(parent === undefined || parent === id ? {} : { parent_run_id: parent }),
    ...(sentId === trace_id ? { [ID_SENT]: true } : {}),
  }
}

function parentOf({ marks, parent_span_id }: IncomingSpan): string | undefined {
  const isRoot = marks['langsmith.is_root']
  if (isRoot === true || isRoot === 'true') return undefined
  const sent = parseUuid(marks['langsmith.span.parent_id'])
  if (sent !== undefined) return sent
  return NOT_ZERO.test(parent_span_id) ? spanUuid(parent_span_id) : undefined
}
