import { parseUuid } from '../../../base/ids.ts'
import { type JsonObject, text } from '../../../schema/json.ts'
import type { MergedTraceRun } from '../../derive/merged-trace-run.ts'
import { spanUuid } from './ids.ts'

/**
 * A fragment that is stored under the id of a span, but belongs to a TraceRun with another id. The ids differ if the
 * TraceRun is the root, which has the id of the trace, or if the client sent an id. Such parts are log records, which
 * contain only a trace id and a span id, and the alias of the span, which contains the id of the TraceRun.
 */
export interface SpanParts {
  /** Ids of TraceRuns, one of which is the owner of the fragment. */
  owners: string[]
  span_id: string
}

/** Fields of a head that name the owner of a part. */
export const PART_FIELDS = { trace: 'otel_trace_id', alias: 'alias_of' } as const

export function isPartHead(head: JsonObject): boolean {
  return head[PART_FIELDS.trace] !== undefined || head[PART_FIELDS.alias] !== undefined
}

/** The candidates for the owner of `merged`, if it is only a part; undefined if it is a TraceRun itself. */
export function spanParts(merged: MergedTraceRun): SpanParts | undefined {
  const { head, created } = merged
  const span_id = text(head['span_id'])
  const owners = Object.values(PART_FIELDS).flatMap((field) => parseUuid(head[field]) ?? [])
  if (created || span_id === undefined || owners.length === 0) return undefined
  return { owners, span_id }
}

/** The id under which parts of this TraceRun may be stored, if it is not the TraceRun's own id. */
export function aliasOf(merged: MergedTraceRun): string | undefined {
  const span_id = text(merged.head['span_id'])
  if (!merged.created || span_id === undefined) return undefined
  const alias = spanUuid(span_id)
  return alias === merged.id ? undefined : alias
}
